//! System calls that are refused, as in a sandbox.
#![allow(unsafe_code)] // prctl.

use std::ptr;

/// Refuses a system call, with this error, to the calling thread and those that it starts from now
/// on; only with this third argument, if there is one. False where the system has no filters.
pub(crate) fn refuse(call: libc::c_long, third: Option<libc::c_int>, error: libc::c_int) -> bool {
    const NUMBER_AT: u32 = 0;
    const THIRD_AT: u32 = 32;
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUALS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let op = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let (at, value) = third.map_or((NUMBER_AT, call as u32), |it| (THIRD_AT, it as u32));
    let mut filter = [
        op(LOAD, 0, 0, NUMBER_AT),
        op(EQUALS, 0, 3, call as u32),
        op(LOAD, 0, 0, at),
        op(EQUALS, 0, 1, value),
        op(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | error as u32),
        op(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the call takes only integers.
    let granted = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0;
    let (set, mode) = (libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER);
    // SAFETY: the kernel copies the program and its filter, which live until the call returns.
    granted && unsafe { libc::prctl(set, mode, ptr::from_ref(&program)) } == 0
}
