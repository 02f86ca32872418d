//! Timestamps where the processor's counter can't be used: each one comes from the kernel.
//!
//! A separate process, since the runtime chooses the clock once per process.
#![allow(unsafe_code)] // prctl, clock_gettime.

mod common;

use common::record;
use protolog_core::recorder::ClockSource;
use protolog_reader::{Recording, Rendering};
use protolog_rt::{Level, ProtoLogGroup, Session, i};
use std::process::Command;
use std::thread;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// The kernel's own time, in nanoseconds.
fn boottime() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) }, 0);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Makes `prctl(PR_GET_TSC)` fail in this process, so that the runtime does not use the counter.
/// False if the system permits no seccomp filter.
fn hide_counter() -> bool {
    const ARGS_AT: u32 = 16;
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUALS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let op = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut filter = [
        op(LOAD, 0, 0, 0),
        op(EQUALS, 0, 3, libc::SYS_prctl as u32),
        op(LOAD, 0, 0, ARGS_AT),
        op(EQUALS, 0, 1, libc::PR_GET_TSC as u32),
        op(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        op(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the call takes only integers.
    let granted = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0;
    let (set, mode) = (libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER);
    // SAFETY: `program` and the filter that it points to live until the call returns; the kernel
    // copies them.
    granted && unsafe { libc::prctl(set, mode, &raw const program) } == 0
}

/// The clock that the header of a recording of this process names.
fn clock_of_recordings() -> Option<ClockSource> {
    let session = Session::builder().record().start().expect("start a session");
    let bytes = std::fs::read(session.recording()?).expect("read the recording");
    Some(Recording::parse(&bytes).expect("a recording").header().clock)
}

#[test]
fn without_the_counter_timestamps_come_from_the_kernel() {
    const NAME: &str = "without_the_counter_timestamps_come_from_the_kernel";
    const CHILD: &str = "PROTOLOG_CLOCK_CHILD";
    if std::env::var_os(CHILD).is_none() {
        let mut own = Command::new(std::env::current_exe().expect("the test itself"));
        own.args(["--exact", NAME, "--nocapture", "--test-threads=1"]).env(CHILD, "1");
        protolog_testkit::run(&mut own);
        return;
    }
    if !hide_counter() {
        return protolog_testkit::skip(
            "times without the counter",
            "seccomp filters are not permitted here",
        );
    }
    assert_eq!(clock_of_recordings(), Some(ClockSource::Kernel));
    let recording = record(|session| session.group("Work", Level::Info).buffer_size(16 << 20));
    // Each message has the kernel's time from just before it, and the thread's next message has one
    // from after it.
    let log = || (0..2_000).for_each(|_| i!(Log::Work, "%d", boottime()));
    thread::scope(|scope| {
        scope.spawn(log);
        log();
    });
    let end = boottime();
    let trace = recording.stop();
    assert_eq!((trace.summary.messages, trace.summary.lost()), (4_000, 0));
    let read = trace.log();
    let mut threads: Vec<_> = read.entries().map(|entry| entry.thread().tid).collect();
    threads.sort_unstable();
    threads.dedup();
    assert_eq!(threads.len(), 2);
    for thread in threads {
        let of_thread = read.entries().filter(|entry| entry.thread().tid == thread);
        let logged = |entry: protolog_reader::Entry<'_>| -> u64 {
            entry.values().text(Rendering::Bare).parse().expect("a time")
        };
        let times: Vec<(u64, u64)> =
            of_thread.map(|entry| (logged(entry), entry.time() as u64)).collect();
        let nexts = times.iter().skip(1).map(|next| next.0).chain([end]);
        for ((earliest, time), latest) in times.iter().zip(nexts) {
            assert!(
                (earliest..=&latest).contains(&time),
                "{time} is not from {earliest} to {latest}"
            );
        }
    }
    trace.check_stats();
}
