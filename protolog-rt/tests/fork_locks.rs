//! Locks of the process and forks: while one thread of the parent takes such a lock again and
//! again, another one forks, and no child may wait for a thread that it does not have. Each test
//! has a process of its own, in which nobody else forks.
//!
//! A child of these tests starts no thread while one of its parent's may start or end, which Rust's
//! library does with locks of its own; [`init`](protolog_rt::init) in the child starts one, and its
//! parent none at that time.
#![allow(unsafe_code)] // fork, waitpid, kill, _exit.

#[path = "common/fork.rs"]
mod fork;

use fork::{fork, has_process_of_its_own, spawn, wait_at_most};
use protolog_rt::text::{RotatingFile, set_sink};
use protolog_rt::{Init, Level, ProtoLogGroup, Session, i, print_group};
use protolog_testkit::{temp_dir, temp_dir_for_sockets};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Any,
}

/// A child that is not over by then hangs: what it does takes milliseconds.
const LIMIT: Duration = Duration::from_secs(10);

/// With so many that hang, the rest need not be tried.
const ENOUGH: u32 = 10;

/// Forks while another thread runs `busy` again and again. Each child runs `child`, which must
/// return true.
fn check(busy: impl Fn() + Sync, child: impl Fn() -> bool) {
    let tries = if std::env::var_os("PROTOLOG_SOAK").is_some() { 3_000 } else { 300 };
    let (done, begun) = (&AtomicBool::new(false), &Barrier::new(2));
    let (mut hung, mut failed, mut tried) = (0, 0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            begun.wait();
            while !done.load(Ordering::Relaxed) {
                busy();
            }
        });
        begun.wait();
        while tried < tries && hung < ENOUGH {
            match wait_at_most(LIMIT, spawn(fork, &child)) {
                Some(0) => {}
                Some(_) => failed += 1,
                None => hung += 1,
            }
            tried += 1;
        }
        done.store(true, Ordering::Relaxed);
    });
    println!("of {tried} children {hung} hang, {failed} fail");
    assert_eq!((hung, failed), (0, 0), "of {tried} children, how many hang and how many fail");
}

/// Starts and stops a session without a thread.
fn run_session(name: &std::path::Path) -> bool {
    let session = Session::builder().file(name).log_from(Level::Info).buffer_size(64 << 10);
    let Ok(session) = session.keep_newest().start() else { return false };
    i!(Log::Any, "%d", 1);
    session.stop().is_ok_and(|summary| summary.messages == 1)
}

#[cfg(feature = "log")]
#[test]
fn followers_of_the_log_bridge() {
    if !has_process_of_its_own("followers_of_the_log_bridge") {
        return;
    }
    protolog_rt::bridge::install_log().expect("the first logger");
    check_sessions();
}

#[cfg(feature = "tracing")]
#[test]
fn followers_of_the_tracing_bridge() {
    use tracing_subscriber::layer::SubscriberExt as _;
    if !has_process_of_its_own("followers_of_the_tracing_bridge") {
        return;
    }
    let subscriber = tracing_subscriber::registry().with(protolog_rt::bridge::tracing_layer());
    tracing::subscriber::set_global_default(subscriber).expect("the first subscriber");
    check_sessions();
}

#[test]
fn sessions() {
    if has_process_of_its_own("sessions") {
        check_sessions();
    }
}

/// Parent and child start and stop sessions, of which followers are told.
fn check_sessions() {
    let dir = temp_dir();
    let path = |name: &str| dir.path().join(name);
    let parent = || {
        let session = Session::builder().file(path("parent.pftrace")).log_from(Level::Info);
        let session = session.keep_newest().buffer_size(64 << 10).start().expect("start");
        session.stop().expect("stop");
    };
    check(parent, || run_session(&path("child.pftrace")));
}

#[test]
fn init_again() {
    if !has_process_of_its_own("init_again") {
        return;
    }
    let dir = temp_dir_for_sockets();
    let init =
        || Init::new().persistent_settings(false).directory(dir.path().join("run")).start().is_ok();
    assert!(init());
    check(|| assert!(init()), init);
}

#[test]
fn rotating_files() {
    if !has_process_of_its_own("rotating_files") {
        return;
    }
    let dir = temp_dir();
    let file = RotatingFile::open(dir.path().join("app.log"), 1 << 16, 2).expect("a file");
    set_sink(file).expect("the first sink");
    print_group(&Log::Any, Some(Level::Info));
    let line = || i!(Log::Any, "%d", 7);
    check(line, || {
        line();
        true
    });
}

/// A handler of another library, which was registered before the runtime's, runs in the child
/// before those.
#[test]
fn another_librarys_child_handler_prints_a_line() {
    if !has_process_of_its_own("another_librarys_child_handler_prints_a_line") {
        return;
    }
    extern "C" fn print() {
        i!(Log::Any, "of the child's handler");
    }
    // SAFETY: the handler is a function of this program.
    assert_eq!(unsafe { libc::pthread_atfork(None, None, Some(print)) }, 0);
    let dir = temp_dir();
    let path = dir.path().join("app.log");
    set_sink(RotatingFile::open(&path, 1 << 20, 1).expect("open the file")).expect("no sink yet");
    print_group(&Log::Any, Some(Level::Info));
    i!(Log::Any, "of the parent");
    let child = || {
        i!(Log::Any, "of the child");
        true
    };
    assert_eq!(wait_at_most(LIMIT, spawn(fork, child)), Some(0), "the child's handler waits");
    let lines = std::fs::read_to_string(path).expect("read the lines");
    let texts: Vec<_> = lines.lines().filter_map(|line| line.rsplit(": ").next()).collect();
    assert_eq!(texts, ["of the parent", "of the child's handler", "of the child"]);
}
