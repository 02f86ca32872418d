//! Giving up rights, for a child: another user, system calls that are refused (seccomp), and
//! memory.

use std::io;
use std::ptr;

/// Becomes another user, for good.
pub(crate) fn become_user(id: u32) {
    // SAFETY: takes and gives numbers.
    let done = unsafe { libc::setresuid(id, id, id) };
    assert_eq!(done, 0, "{}", io::Error::last_os_error());
}

/// Refuses system calls, by their names with commas between, to this thread and those that it
/// starts from now on: as without the right to.
pub(crate) fn refuse(names: &str) {
    let number = |name: &str| match name {
        "socket" => libc::SYS_socket,
        "memfd_create" => libc::SYS_memfd_create,
        "clone" => libc::SYS_clone,
        "clone3" => libc::SYS_clone3,
        "membarrier" => libc::SYS_membarrier,
        other => panic!("the system call `{other}`"),
    };
    let step =
        |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    // The number of the call is the first word.
    let mut program = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for name in names.split(',') {
        program.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, number(name) as u32));
        let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
        program.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, refused));
    }
    program.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW));
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: takes and gives numbers.
    let done = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(done, 0, "{}", io::Error::last_os_error());
    // SAFETY: the filter points to its steps, which live through the call.
    let done = unsafe {
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, ptr::from_ref(&filter))
    };
    assert_eq!(done, 0, "{}", io::Error::last_os_error());
}

/// Lets this process have so many bytes of addresses more than it has now.
pub(crate) fn limit_memory(more: u64) {
    let status = std::fs::read_to_string("/proc/self/status").expect("this process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).expect("its size");
    let size = line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10;
    let limit = libc::rlimit { rlim_cur: size + more, rlim_max: size + more };
    // SAFETY: reads the limit.
    let done = unsafe { libc::setrlimit(libc::RLIMIT_AS, ptr::from_ref(&limit)) };
    assert_eq!(done, 0, "{}", io::Error::last_os_error());
}

/// Closes all files but the standard ones, whoever opened them.
pub(crate) fn close_files() {
    // SAFETY: nobody in this process uses them any more.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
    assert_eq!(done, 0, "{}", io::Error::last_os_error());
}
