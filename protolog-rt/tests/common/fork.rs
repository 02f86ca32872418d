//! Children by fork: a process of its own for a test that forks, and children that are waited for,
//! with a limit.
#![allow(dead_code)] // Each test binary uses a part.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// True in the process of the test `name` alone; elsewhere the test is run in such a process, and
/// must succeed.
///
/// Rust's library locks something while a thread starts or ends, which other tests' threads may do
/// at any time.
pub(crate) fn has_process_of_its_own(name: &str) -> bool {
    const CHILD: &str = "PROTOLOG_FORK_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let mut own = Command::new(std::env::current_exe().expect("the test itself"));
    own.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    protolog_testkit::run(&mut own);
    false
}

/// Forks.
pub(crate) fn fork() -> libc::pid_t {
    // SAFETY: the child does what the runtime promises to work, and ends.
    unsafe { libc::fork() }
}

/// Runs `child` in a child that `fork` makes, which ends when it returns. Returns the child's id.
pub(crate) fn spawn(
    fork: impl FnOnce() -> libc::pid_t,
    child: impl FnOnce() -> bool,
) -> libc::pid_t {
    let pid = fork();
    assert!(pid >= 0, "{}", std::io::Error::last_os_error());
    if pid == 0 {
        let good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(false);
        // SAFETY: nothing of the test's runs after it.
        unsafe { libc::_exit(!good as i32) };
    }
    pid
}

/// Waits for a child, and returns its status. A child that runs for longer than `limit` is killed:
/// none.
pub(crate) fn wait_at_most(limit: Duration, pid: libc::pid_t) -> Option<i32> {
    let end = Instant::now() + limit;
    let mut status = 0;
    loop {
        // SAFETY: the pointer is to an integer of ours.
        let ended = unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) };
        if ended == pid {
            return Some(status);
        }
        if Instant::now() > end {
            // SAFETY: the child is there until it was waited for.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            // SAFETY: the pointer is to an integer of ours.
            unsafe { libc::waitpid(pid, &raw mut status, 0) };
            return None;
        }
        thread::sleep(Duration::from_micros(200));
    }
}

/// Waits for a child, which must end well and soon.
pub(crate) fn wait(pid: libc::pid_t) {
    assert_eq!(wait_at_most(Duration::from_secs(60), pid), Some(0), "the child's status");
}
