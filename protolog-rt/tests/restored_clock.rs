//! The clock of a process that was restored from a checkpoint: BOOTTIME may go back, to that of
//! another machine. A time namespace that a process joins while it records plays that; it has to
//! have one thread.
#![allow(unsafe_code)] // unshare, setns, fork.

use protolog_reader::{Rendering, Trace};
use protolog_rt::{ProtoLogGroup, Session, i};
use protolog_testkit::{run, skip, temp_dir};
use std::process::Command;
use std::time::Duration;
use std::{env, fs, io, thread};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

const TRACE: &str = "PROTOLOG_RESTORED_TRACE";
/// Seconds; less than machines run before anybody tests on them.
const BACK: u64 = 30;
const NAME: &str = "times_go_on_though_the_clock_was_set_back";

/// Moves this process into a namespace where the machine was started so much later.
fn set_back(seconds: u64) -> io::Result<()> {
    let check = |result| if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    // SAFETY: it concerns children, and this thread when it joins.
    check(unsafe { libc::unshare(libc::CLONE_NEWTIME) })?;
    fs::write("/proc/self/timens_offsets", format!("boottime -{seconds} 0\n"))?;
    let namespace = fs::File::open("/proc/self/ns/time_for_children")?;
    // SAFETY: the descriptor is open.
    check(unsafe { libc::setns(std::os::fd::AsRawFd::as_raw_fd(&namespace), libc::CLONE_NEWTIME) })
}

#[test]
fn times_go_on_though_the_clock_was_set_back() {
    if let Some(path) = env::var_os(TRACE) {
        // A child has one thread.
        // SAFETY: it allocates, which the C library allows in a child.
        let child = unsafe { libc::fork() };
        if child != 0 {
            let mut status = -1;
            // SAFETY: the number is this function's.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            assert_eq!(status, 0);
            return;
        }
        let session = Session::builder().keep_newest().file(path).enable_all().start();
        let session = session.expect("start");
        i!(Log::Work, "before");
        if let Err(error) = set_back(BACK) {
            i!(Log::Work, "%s", error.to_string());
        }
        for number in 0..4 {
            // Longer than the clock goes without the kernel.
            thread::sleep(Duration::from_millis(150));
            i!(Log::Work, "after %d", number);
        }
        let is_stopped = session.stop().is_ok();
        // SAFETY: it ends the child.
        unsafe { libc::_exit(i32::from(!is_stopped)) }
    }
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let mut own = Command::new(env::current_exe().expect("the test itself"));
    run(own.args(["--exact", NAME]).env(TRACE, &path));
    let log = Trace::open(&path).expect("open").read().expect("read");
    let entries: Vec<_> =
        log.entries().map(|it| (it.time(), it.values().text(Rendering::Bare))).collect();
    if entries.len() > 5 {
        return skip("a clock that is set back", &entries[1].1);
    }
    let texts: Vec<&str> = entries.iter().map(|(_, text)| &**text).collect();
    assert_eq!(texts, ["before", "after 0", "after 1", "after 2", "after 3"]);
    // The first one after it may be at the end of a piece of the clock that began before.
    let steps: Vec<i64> = entries.windows(2).skip(1).map(|two| two[1].0 - two[0].0).collect();
    assert!(steps.iter().all(|step| (10_000_000..10_000_000_000).contains(step)), "{steps:?}");
}
