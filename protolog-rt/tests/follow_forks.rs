//! Sessions that go on in forked children: each child that logs has a whole trace of its own, from
//! its first message on, and the parent's is as if there were no child. Each test has a process of
//! its own: it forks.
#![allow(unsafe_code)] // fork, _exit, abort, dup2.

#[path = "common/fork.rs"]
mod fork;

use fork::{fork, has_process_of_its_own, spawn, wait, wait_at_most};
use protolog_reader::{Rendering, Trace as TraceFile};
use protolog_rt::{Builder, Error, Init, Level, ProtoLogGroup, Session, i, stop_on_signals};
use protolog_testkit::{TempDir, temp_dir, temp_dir_for_sockets};
use std::cell::Cell;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::{fs::DirBuilderExt, net::UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Net,
}

fn texts(path: &Path) -> Vec<String> {
    let log = TraceFile::open(path).expect("open the trace").read().expect("read the trace");
    log.entries().map(|entry| entry.values().text(Rendering::Bare)).collect()
}

/// The names in a directory, in order.
fn names(dir: &TempDir) -> Vec<String> {
    names_in(dir.path())
}

fn names_in(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a directory");
    let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
    names.sort();
    names
}

fn follower(dir: &TempDir) -> Builder {
    Session::builder().file(dir.path().join("app.pftrace")).log_from(Level::Info).follow_forks()
}

fn of_child(dir: &TempDir, pid: libc::pid_t) -> PathBuf {
    dir.path().join(format!("app-{pid}.pftrace"))
}

#[test]
fn each_worker_has_a_trace_of_its_own() {
    const THREADS: u64 = 4;
    const MESSAGES: u64 = 200;
    if !has_process_of_its_own("each_worker_has_a_trace_of_its_own") {
        return;
    }
    let dir = temp_dir();
    let session = follower(&dir).start().expect("start");
    i!(Log::Net, "parent %d", 0);
    let mut session = Some(session);
    let workers: Vec<_> = (0..4)
        .map(|_| {
            spawn(fork, || {
                let session = session.take().expect("a session");
                // All threads wait for the one whose message is first.
                thread::scope(|scope| {
                    for thread in 0..THREADS {
                        scope.spawn(move || {
                            for number in 0..MESSAGES {
                                i!(Log::Net, "worker %d %d", thread, number);
                            }
                        });
                    }
                });
                session.flush().expect("flush");
                let so_far = session.summary().messages;
                let summary = session.stop().expect("stop");
                let all = THREADS * MESSAGES;
                (so_far, summary.messages, summary.lost()) == (all, all, 0)
            })
        })
        .collect();
    for &pid in &workers {
        wait(pid);
    }
    i!(Log::Net, "parent %d", 1);
    let summary = session.take().expect("a session").stop().expect("stop");
    assert_eq!((summary.messages, summary.lost()), (2, 0));
    assert_eq!(texts(&dir.path().join("app.pftrace")), ["parent 0", "parent 1"]);
    for pid in workers {
        let mut found = texts(&of_child(&dir, pid));
        let all = |thread| (0..MESSAGES).map(move |number| format!("worker {thread} {number}"));
        let mut expected: Vec<String> = (0..THREADS).flat_map(all).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }
    assert_eq!(names(&dir).len(), 5, "{:?}", names(&dir));
}

#[test]
fn a_child_counts_what_a_limit_suppresses_from_its_first_message_on() {
    if !has_process_of_its_own("a_child_counts_what_a_limit_suppresses_from_its_first_message_on") {
        return;
    }
    let (dir, log) = (temp_dir(), |number: u64| i!(Log::Net, "flood %d", number));
    let mut session = Some(follower(&dir).limit("group Log::Net", "1/h").start().expect("start"));
    let mut end = |count: u64| {
        (0..count).for_each(log);
        let summary = session.take().expect("a session").stop().expect("stop");
        (summary.messages, summary.lost())
    };
    log(0);
    wait(spawn(fork, || end(5) == (0, 5)));
    assert_eq!(end(0), (1, 0));
}

#[test]
fn a_daemon_goes_on_where_its_second_fork_leaves_it() {
    if !has_process_of_its_own("a_daemon_goes_on_where_its_second_fork_leaves_it") {
        return;
    }
    let dir = temp_dir();
    let session = Cell::new(Some(follower(&dir).start().expect("start")));
    i!(Log::Net, "parent %d", 0);
    let (pid_file, chdir) = (dir.path().join("pid"), std::env::set_current_dir);
    wait(spawn(fork, || {
        wait(spawn(fork, || {
            chdir("/").expect("the root");
            i!(Log::Net, "daemon %d", 0);
            std::fs::write(&pid_file, std::process::id().to_string()).expect("write");
            let session = session.take().expect("a session");
            // Its own children go on as well, and so do theirs.
            let child = Cell::new(Some(&session));
            wait(spawn(fork, || {
                i!(Log::Net, "the daemon's child %d", 0);
                child.take().expect("a session").flush().is_ok()
            }));
            i!(Log::Net, "daemon %d", 1);
            let messages = session.stop().expect("stop").messages;
            // That session is nobody's any more.
            wait(spawn(fork, || {
                i!(Log::Net, "nobody records this");
                true
            }));
            messages == 2
        }));
        true
    }));
    assert_eq!(session.take().expect("a session").stop().expect("stop").messages, 1);
    let pid = std::fs::read_to_string(&pid_file).expect("a pid").parse().expect("a number");
    assert_eq!(texts(&of_child(&dir, pid)), ["daemon 0", "daemon 1"]);
    let last = names(&dir)
        .into_iter()
        .find(|name| name.starts_with("app-") && *name != format!("app-{pid}.pftrace"));
    let last = dir.path().join(last.expect("the child's file"));
    assert_eq!(texts(&last), ["the daemon's child 0"]);
    assert_eq!(names(&dir).len(), 4, "three traces and the pid: {:?}", names(&dir));
}

#[test]
fn the_recording_of_a_session_is_that_of_the_process() {
    if !has_process_of_its_own("the_recording_of_a_session_is_that_of_the_process") {
        return;
    }
    let dir = temp_dir();
    for follows in [true, false] {
        let path = dir.path().join(format!("{follows}.pftrace"));
        let builder = Session::builder().enable_all().file(&path).report_losses(false);
        let builder = if follows { builder.follow_forks() } else { builder };
        let session = builder.start().expect("start");
        let own = session.recording().expect("a recording").to_path_buf();
        wait(spawn(fork, || {
            let before = session.recording().is_none();
            i!(Log::Net, "in the child");
            let after = session.recording();
            let is_there = after.is_some_and(|path| path != own && path.exists());
            before && is_there == follows && after.is_some() == follows
        }));
        assert_eq!(session.recording(), Some(own.as_path()));
        drop(session);
    }
}

#[test]
fn a_child_without_a_message_has_no_file() {
    if !has_process_of_its_own("a_child_without_a_message_has_no_file") {
        return;
    }
    let dir = temp_dir();
    let mut session = Some(follower(&dir).start().expect("start"));
    i!(Log::Net, "parent %d", 0);
    // It runs another program.
    assert!(std::process::Command::new("true").status().expect("a program").success());
    // It ends, and drops what it has of the session.
    wait(spawn(fork, || {
        drop(session.take());
        true
    }));
    assert_eq!(names(&dir), ["app.pftrace"]);
    let session = session.take().expect("a session");
    // A session that has ended is nobody's any more.
    session.stop().expect("stop");
    wait(spawn(fork, || {
        i!(Log::Net, "nobody records this");
        true
    }));
    assert_eq!(names(&dir), ["app.pftrace"]);
}

#[test]
fn a_worker_that_dies_loses_nothing() {
    if !has_process_of_its_own("a_worker_that_dies_loses_nothing") {
        return;
    }
    let dir = temp_dir();
    let session = follower(&dir).start().expect("start");
    let pid = spawn(fork, || {
        for number in 0..1_000 {
            i!(Log::Net, "worker %d", number);
        }
        let own = std::process::id() as libc::pid_t;
        // SAFETY: ends the process at once.
        unsafe { libc::kill(own, libc::SIGKILL) };
        false
    });
    assert_eq!(wait_at_most(Duration::from_secs(60), pid), Some(libc::SIGKILL));
    session.stop().expect("stop");
    let path = of_child(&dir, pid);
    protolog_rt::recover_previous(&path).expect("recover");
    let expected: Vec<String> = (0..1_000).map(|number| format!("worker {number}")).collect();
    assert_eq!(texts(&path), expected);
}

#[test]
fn an_exit_completes_the_child_s_trace() {
    if !has_process_of_its_own("an_exit_completes_the_child_s_trace") {
        return;
    }
    let dir = temp_dir();
    let session = follower(&dir).keep_newest().start().expect("start");
    let pid = spawn(fork, || {
        i!(Log::Net, "worker %d", 7);
        std::process::exit(0)
    });
    wait(pid);
    assert_eq!(session.stop().expect("stop").messages, 0);
    assert_eq!(texts(&of_child(&dir, pid)), ["worker 7"]);
}

#[test]
fn a_child_that_cannot_go_on_says_so() {
    if !has_process_of_its_own("a_child_that_cannot_go_on_says_so") {
        return;
    }
    let dir = temp_dir();
    let errors = temp_dir();
    let errors = errors.path().join("errors");
    let session = Cell::new(Some(follower(&dir).start().expect("start")));
    let gone = dir.path().with_extension("gone");
    std::fs::rename(dir.path(), &gone).expect("rename");
    let pid = spawn(fork, || {
        let file = std::fs::File::create(&errors).expect("a file");
        // SAFETY: takes numbers; the child has no other use for standard error.
        assert!(unsafe { libc::dup2(file.as_raw_fd(), 2) } == 2);
        for number in 0..3 {
            i!(Log::Net, "worker %d", number);
        }
        matches!(session.take().expect("a session").stop(), Err(Error::Forked))
    });
    wait(pid);
    std::fs::rename(&gone, dir.path()).expect("rename");
    session.take().expect("a session").stop().expect("stop");
    let said = std::fs::read_to_string(errors).expect("text");
    let lines: Vec<&str> = said.lines().collect();
    let start =
        format!("protolog: process {pid} was forked from one that records, and can't go on: ");
    assert_eq!(lines.len(), 3, "{said}");
    assert!(lines[0].starts_with(&start), "{said}");
    assert!(lines[1].starts_with("help: "), "{said}");
    assert!(lines[2].ends_with("start a session in it"), "{said}");
}

#[test]
fn operators_reach_a_child_that_goes_on() {
    if !has_process_of_its_own("operators_reach_a_child_that_goes_on") {
        return;
    }
    let (dir, parent) = (temp_dir(), temp_dir_for_sockets());
    let sockets = parent.path().join("private");
    std::fs::DirBuilder::new().mode(0o700).create(&sockets).expect("a directory");
    Init::new().persistent_settings(false).directory(&sockets).start().expect("listen");
    let session = Cell::new(Some(follower(&dir).start().expect("start")));
    let has_socket = |pid: libc::pid_t| {
        let pid = pid.to_string();
        names_in(&sockets).iter().any(|name| name.contains(".sock") && name.contains(&pid))
    };
    wait(spawn(fork, || {
        i!(Log::Net, "worker %d", 0);
        session.take().expect("a session").stop().is_ok()
            && has_socket(std::process::id() as libc::pid_t)
    }));
    drop(session.take());
}

#[test]
fn a_session_that_a_child_dropped_is_over_there() {
    if !has_process_of_its_own("a_session_that_a_child_dropped_is_over_there") {
        return;
    }
    let dir = temp_dir();
    let session = Cell::new(Some(follower(&dir).start().expect("start")));
    wait(spawn(fork, || {
        drop(session.take());
        i!(Log::Net, "nobody records this");
        // Nor does its child.
        wait(spawn(fork, || {
            i!(Log::Net, "nobody records this");
            true
        }));
        true
    }));
    // The parent's, and those of other children, go on.
    let pid = spawn(fork, || {
        i!(Log::Net, "worker %d", 0);
        session.take().expect("a session").stop().is_ok()
    });
    wait(pid);
    session.take().expect("a session").stop().expect("stop");
    assert_eq!(names(&dir).len(), 2, "{:?}", names(&dir));
    assert_eq!(texts(&of_child(&dir, pid)), ["worker 0"]);
}

#[test]
fn a_child_with_a_session_of_its_own_has_no_other_and_its_children_follow_that() {
    if !has_process_of_its_own(
        "a_child_with_a_session_of_its_own_has_no_other_and_its_children_follow_that",
    ) {
        return;
    }
    let dir = temp_dir();
    let session = Cell::new(Some(follower(&dir).start().expect("start")));
    wait(spawn(fork, || {
        let own = Session::builder().file(dir.path().join("own.pftrace")).log_from(Level::Info);
        let own = Cell::new(Some(own.follow_forks().start().expect("start")));
        i!(Log::Net, "child %d", 0);
        let pid = spawn(fork, || {
            i!(Log::Net, "grandchild %d", 0);
            own.take().expect("a session").stop().expect("stop").messages == 1
        });
        wait(pid);
        own.take().expect("a session").stop().expect("stop").messages == 1
    }));
    session.take().expect("a session").stop().expect("stop");
    let names = names(&dir);
    assert!(names.len() == 3 && !names.iter().any(|it| it.starts_with("app-")), "{names:?}");
}

static OF_HANDLER: Mutex<Option<Session>> = Mutex::new(None);
static IS_FORKED: AtomicBool = AtomicBool::new(false);

extern "C" fn flush_in_child() {
    let session = OF_HANDLER.try_lock().expect("nobody else has it");
    if let Some(session) = &*session {
        let is_forked = matches!(session.flush(), Err(Error::Forked));
        IS_FORKED.store(is_forked, Ordering::Relaxed);
    }
}

#[test]
fn a_handler_of_the_fork_does_not_wait_for_it() {
    if !has_process_of_its_own("a_handler_of_the_fork_does_not_wait_for_it") {
        return;
    }
    // First, so that it runs in the child before the runtime's.
    // SAFETY: the handler is a function of this program.
    assert_eq!(unsafe { libc::pthread_atfork(None, None, Some(flush_in_child)) }, 0);
    let dir = temp_dir();
    let session = follower(&dir).start().expect("start");
    *OF_HANDLER.lock().expect("nobody has it") = Some(session);
    let pid = spawn(fork, || IS_FORKED.load(Ordering::Relaxed));
    assert_eq!(wait_at_most(Duration::from_secs(10), pid), Some(0), "the child's status");
    let session = OF_HANDLER.lock().expect("nobody has it").take();
    session.expect("a session").stop().expect("stop");
}

#[test]
fn a_signal_completes_the_trace_of_a_worker() {
    if !has_process_of_its_own("a_signal_completes_the_trace_of_a_worker") {
        return;
    }
    let dir = temp_dir();
    stop_on_signals().expect("handlers");
    let session = follower(&dir).start().expect("start");
    let pid = spawn(fork, || {
        i!(Log::Net, "worker %d", 0);
        let own = std::process::id() as libc::pid_t;
        // SAFETY: ends the process, once its sessions have ended.
        unsafe { libc::kill(own, libc::SIGTERM) };
        thread::sleep(Duration::from_secs(60));
        false
    });
    assert_eq!(wait_at_most(Duration::from_secs(60), pid), Some(libc::SIGTERM));
    session.stop().expect("stop");
    let bytes = std::fs::read(of_child(&dir, pid)).expect("read the trace");
    let end = b"protolog session stopped";
    assert!(bytes.windows(end.len()).any(|part| part == end), "it has no end");
    assert_eq!(texts(&of_child(&dir, pid)), ["worker 0"]);
}

/// Another user makes what has a child's name. It waits for that before its first message.
#[test]
fn a_name_that_others_have_costs_no_messages() {
    if !has_process_of_its_own("a_name_that_others_have_costs_no_messages") {
        return;
    }
    let dir = temp_dir();
    let precious = dir.path().join("precious");
    std::fs::write(&precious, "precious").expect("write");
    let session = follower(&dir).start().expect("start");
    let (mut linked, mut gate) = UnixStream::pair().expect("a pair");
    let pid = spawn(fork, || {
        gate.read_exact(&mut [0]).expect("a byte");
        i!(Log::Net, "worker %d", 0);
        session.flush().is_ok()
    });
    std::os::unix::fs::symlink(&precious, of_child(&dir, pid)).expect("make a link");
    linked.write_all(&[1]).expect("go on");
    wait(pid);
    session.stop().expect("stop");
    assert_eq!(std::fs::read(of_child(&dir, pid)).expect("read it"), b"precious");
    let begin = format!("app-{pid}-");
    let names: Vec<_> = names(&dir).into_iter().filter(|name| name.starts_with(&begin)).collect();
    let [name] = &names[..] else { panic!("{names:?}") };
    assert_eq!(texts(&dir.path().join(name)), ["worker 0"]);
}

#[test]
fn a_session_that_was_stopped_goes_on_in_no_child() {
    if !has_process_of_its_own("a_session_that_was_stopped_goes_on_in_no_child") {
        return;
    }
    let dir = temp_dir();
    let mut stopped = follower(&dir).start().expect("start");
    let full = Session::builder().file("/dev/full").follow_forks().start();
    let mut full = full.expect("start");
    let other = Session::builder().file(dir.path().join("other.pftrace")).enable_all();
    let other = other.report_losses(false).start().expect("start");
    i!(Log::Net, "parent");
    stopped.try_stop().expect("stop");
    full.try_stop().expect_err("the disk is full");
    let child = spawn(fork, || {
        i!(Log::Net, "child");
        matches!(stopped.flush(), Err(Error::Forked)) && matches!(full.flush(), Err(Error::Forked))
    });
    wait(child);
    other.stop().expect("stop");
    assert_eq!(names(&dir), ["app.pftrace", "other.pftrace"]);
}

/// Ends of spans that its parent has entered are neither messages nor ends of spans of its own.
#[cfg(feature = "tracing")]
#[test]
fn a_child_leaves_the_spans_of_its_parent_without_a_trace() {
    use protolog_rt::bridge::tracing_layer;
    use tracing_subscriber::layer::SubscriberExt as _;
    if !has_process_of_its_own("a_child_leaves_the_spans_of_its_parent_without_a_trace") {
        return;
    }
    let dir = temp_dir();
    let mut session = Some(follower(&dir).start().expect("start"));
    let subscriber = tracing_subscriber::registry().with(tracing_layer());
    let _subscribed = tracing::subscriber::set_default(subscriber);
    let mut entered = Some(tracing::info_span!("request").entered());
    let silent = spawn(fork, || {
        drop(entered.take());
        true
    });
    let other = spawn(fork, || {
        tracing::info_span!("of the child").in_scope(|| drop(entered.take()));
        session.take().expect("a session").stop().is_ok()
    });
    [silent, other].into_iter().for_each(wait);
    drop(entered);
    session.expect("a session").stop().expect("stop");
    assert!(!of_child(&dir, silent).exists(), "it has nothing to record");
    let slices = |path: &Path| {
        let trace = TraceFile::open(path).expect("open the trace").with_slices();
        let log = trace.read().expect("read the trace");
        let slices = log.slices().iter().map(|it| (it.name.to_string(), it.end.is_some()));
        (slices.collect::<Vec<_>>(), log.slices_without_begin())
    };
    assert_eq!(slices(&of_child(&dir, other)), (vec![("of the child".into(), true)], 0));
    let parent = slices(&dir.path().join("app.pftrace"));
    assert_eq!(parent, (vec![("request".into(), true)], 0));
}
