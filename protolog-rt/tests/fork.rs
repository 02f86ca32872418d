//! Forks: the parent's trace is as if there were no child, the child may have sessions of its own,
//! and nobody waits for a thread that is not there. A test of its own, since it forks the whole
//! process.
//!
//! A lock of Rust's library that is held while a thread starts or ends stays held in a child that
//! is forked meanwhile, and then no thread can start there. So children that start threads are
//! forked while none of their parent's starts or ends, which other tests' threads may do at any
//! time: these tests have processes of their own.
#![allow(unsafe_code)] // fork, clone, waitpid, _exit.

mod common;
#[path = "common/fork.rs"]
mod fork;

use common::{SetOnDrop, record};
use fork::{fork, has_process_of_its_own, spawn, wait};
use protolog_reader::{Log as Read, Rendering, Trace as Reading};
use protolog_rt::{Builder, Error, Level, ProtoLogGroup, Session, Summary, i, v};
use protolog_testkit::temp_dir;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Parent,
    Child,
}

#[derive(ProtoLogGroup)]
enum Late {
    Group,
}

/// The numbers of the messages `thread:number` of a trace, by group and thread.
fn numbers(path: &Path) -> BTreeMap<(String, u64), Vec<u64>> {
    let log: Read = Reading::open(path).expect("open the trace").read().expect("read the trace");
    let mut all = BTreeMap::<_, Vec<u64>>::new();
    for entry in log.entries() {
        let values = entry.values();
        let tag = values.group(&log).expect("a group").tag.clone();
        let text = values.text(Rendering::Bare);
        let (thread, number) = text.split_once(':').expect("two numbers");
        let key = (tag, thread.parse().unwrap());
        all.entry(key).or_default().push(number.parse().unwrap());
    }
    all
}

fn up_to(count: u64) -> Vec<u64> {
    (0..count).collect()
}

/// A session of the child's own, with messages of four threads.
fn child_session(path: &Path) -> Summary {
    i!(Log::Child, "%d:%d", 0, 1_000_000);
    let session = Session::builder().file(path).log_from(Level::Info).start().expect("start");
    thread::scope(|scope| {
        for thread in 1..4u64 {
            scope.spawn(move || {
                for number in 0..200u64 {
                    i!(Log::Child, "%d:%d", thread, number);
                }
            });
        }
        for number in 0..200u64 {
            i!(Log::Child, "%d:%d", 0, number);
        }
    });
    session.stop().expect("stop")
}

#[test]
fn both_traces_are_complete_and_disjoint() {
    const THREADS: u64 = 8;
    if !has_process_of_its_own("both_traces_are_complete_and_disjoint") {
        return;
    }
    let recording = record(|session| session.log_from(Level::Info).buffer_size(16 << 20));
    let dir = temp_dir();
    let done = &AtomicBool::new(false);
    let sent: Vec<AtomicU64> = (0..THREADS).map(|_| AtomicU64::new(0)).collect();
    let mut children: Vec<PathBuf> = Vec::new();
    i!(Log::Parent, "%d:%d", THREADS, 0);
    recording.session().flush().expect("flush");
    let begun = &Barrier::new(THREADS as usize + 1);
    thread::scope(|scope| {
        let _done = SetOnDrop(done);
        for (thread, sent) in sent.iter().enumerate() {
            scope.spawn(move || {
                begun.wait();
                while !done.load(Ordering::Relaxed) {
                    i!(Log::Parent, "%d:%d", thread, sent.fetch_add(1, Ordering::Relaxed));
                    thread::sleep(Duration::from_micros(50));
                }
            });
        }
        begun.wait();
        for number in 0..10 {
            let path = dir.path().join(format!("child{number}.pftrace"));
            let pid = spawn(fork, || {
                let summary = child_session(&path);
                (summary.messages, summary.lost()) == (800, 0)
            });
            wait(pid);
            children.push(path);
            thread::sleep(Duration::from_millis(5));
        }
    });
    i!(Log::Parent, "%d:%d", THREADS, 1);
    let trace = recording.stop();
    assert_eq!(trace.summary.lost(), 0, "{:?}", trace.summary);
    let parent = numbers(&trace.path);
    let expected = sent.iter().map(|sent| up_to(sent.load(Ordering::Relaxed)));
    let expected = expected.chain([up_to(2)]).zip(0..);
    let key = |thread| ("Parent".to_owned(), thread);
    assert_eq!(parent, expected.map(|(numbers, thread)| (key(thread), numbers)).collect());
    for path in children {
        let of = |thread| (("Child".to_owned(), thread), up_to(200));
        assert_eq!(numbers(&path), (0..4).map(of).collect(), "the child's");
    }
    trace.check_stats();
}

#[test]
fn no_child_waits_for_a_thread_that_is_not_there() {
    if !has_process_of_its_own("no_child_waits_for_a_thread_that_is_not_there") {
        return;
    }
    let dir = &temp_dir();
    let (done, begun) = (&AtomicBool::new(false), &Barrier::new(4));
    // Set while threads are to start and end; set while they do.
    let (churn, churns) = (&AtomicBool::new(true), &AtomicBool::new(true));
    let forks = if std::env::var_os("PROTOLOG_SOAK").is_some() { 3_000 } else { 300 };
    let path = |name: &str| dir.path().join(name);
    let session = |name: &str| {
        Session::builder().file(path(name)).log_from(Level::Info).buffer_size(64 << 10)
    };
    thread::scope(|scope| {
        let _done = SetOnDrop(done);
        // Sessions start and stop, threads come and go, so that every lock is held now and then.
        let churner = scope.spawn(move || {
            begun.wait();
            while !done.load(Ordering::Relaxed) {
                // Said before it is asked, so that no fork takes place in between.
                churns.store(true, Ordering::SeqCst);
                if !churn.load(Ordering::SeqCst) {
                    churns.store(false, Ordering::SeqCst);
                    thread::sleep(Duration::from_micros(50));
                    continue;
                }
                let session = session("stream.pftrace").start().expect("start");
                for _ in 0..4 {
                    thread::spawn(|| i!(Log::Parent, "%d:%d", 0, 0)).join().unwrap();
                }
                session.stop().expect("stop");
            }
        });
        scope.spawn(move || {
            begun.wait();
            while !done.load(Ordering::Relaxed) {
                // A session without a thread.
                let session = session("kept.pftrace").keep_newest().start().expect("start");
                protolog_rt::dynamic::log(&Log::Parent, Level::Info, "a %d", &[]);
                session.stop().expect("stop");
            }
        });
        scope.spawn(move || {
            begun.wait();
            while !done.load(Ordering::Relaxed) {
                i!(Log::Parent, "%d:%d", 0, 0);
                thread::sleep(Duration::from_micros(5));
            }
        });
        begun.wait();
        for number in 0..forks {
            let path = path("child.pftrace");
            let starts_threads = number % 5 == 0;
            churn.store(!starts_threads, Ordering::SeqCst);
            while starts_threads && churns.load(Ordering::SeqCst) {
                assert!(!churner.is_finished(), "it panicked");
                thread::sleep(Duration::from_micros(50));
            }
            wait(spawn(fork, || {
                i!(Log::Child, "%d:%d", 0, 1_000_000);
                !starts_threads || child_session(&path).messages == 800
            }));
        }
    });
}

#[test]
fn an_inherited_session_is_over_in_the_child() {
    let recording = record(|session| session.log_from(Level::Info));
    let path = recording.path.clone();
    i!(Log::Parent, "%d:%d", 0, 0);
    recording.session().flush().expect("flush");
    let before = std::fs::read(&path).expect("the file");
    wait(spawn(fork, || {
        i!(Log::Child, "%d:%d", 0, 0);
        let refused = Session::builder().file(&path).start().is_err();
        let session = recording.session();
        assert!(matches!(session.flush(), Err(Error::Forked)));
        assert!(matches!(session.snapshot(path.with_extension("child")), Err(Error::Forked)));
        let summary = session.summary();
        assert_eq!((summary.messages, summary.groups.len()), (0, 0));
        let why = "the session is that of the parent process; start one in the child";
        assert_eq!(summary.why_empty.as_deref(), Some(why));
        // Its parent's file has what it had; the parent may have gone on meanwhile.
        refused && std::fs::read(&path).is_ok_and(|now| now.starts_with(&before))
    }));
    i!(Log::Parent, "%d:%d", 0, 1);
    let trace = recording.stop();
    assert_eq!(numbers(&trace.path), [(("Parent".to_owned(), 0), up_to(2))].into());
}

#[test]
fn a_child_whose_messages_are_lost_says_so_once() {
    if !has_process_of_its_own("a_child_whose_messages_are_lost_says_so_once") {
        return;
    }
    let dir = temp_dir();
    let said = |name: &str, builder: Builder, child: &dyn Fn(Session) -> bool| {
        let session = builder.log_from(Level::Info).start().expect("start");
        i!(Log::Parent, "%d:%d", 0, 0);
        let errors = dir.path().join(name);
        let mut session = Some(session);
        wait(spawn(fork, || {
            let file = std::fs::File::create(&errors).expect("a file");
            // SAFETY: takes numbers; the child has no other use for standard error.
            assert!(unsafe { libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&file), 2) } == 2);
            child(session.take().expect("a session"))
        }));
        assert_eq!(session.take().expect("a session").stop().expect("stop").messages, 1);
        std::fs::read_to_string(&errors).expect("text")
    };
    let file = || Session::builder().file(dir.path().join("trace"));
    let logs = |session: Session| {
        v!(Log::Child, "nobody records this");
        let was_enabled = Log::Child.is_enabled(Level::Info);
        for number in 0..3 {
            i!(Log::Child, "%d:%d", 0, number);
        }
        let is_over = matches!(session.stop(), Err(Error::Forked));
        was_enabled && !Log::Child.is_enabled(Level::Info) && is_over
    };
    let lines = said("once", file(), &logs);
    let (start, end) = ("protolog: process ", "start a session in it\n");
    assert!(lines.starts_with(start) && lines.ends_with(end), "{lines}");
    assert_eq!(lines.lines().count(), 1, "{lines}");
    assert_eq!(said("off", file().report_losses(false), &logs), "");
    // A group that is new in the child has the parent's levels.
    let late = |session: Session| {
        v!(Late::Group, "nobody records this");
        let is_silent = std::fs::read(dir.path().join("late")).is_ok_and(|said| said.is_empty());
        i!(Late::Group, "the parent would");
        is_silent && matches!(session.stop(), Err(Error::Forked))
    };
    assert_eq!(said("late", file(), &late).lines().count(), 1);
    // One that logs nothing, and one that starts a session.
    assert_eq!(said("silent", file(), &|session| matches!(session.stop(), Err(Error::Forked))), "");
    // As `daemon(3)` does: it forks twice.
    let twice = |session: Session| {
        let session = std::cell::Cell::new(Some(session));
        wait(spawn(fork, || logs(session.take().expect("a session"))));
        true
    };
    assert_eq!(said("twice", file(), &twice).lines().count(), 1);
    let own = dir.path().join("child");
    let starts = |_parents: Session| {
        let session = Session::builder().file(&own).log_from(Level::Info).start().expect("start");
        i!(Log::Child, "%d:%d", 0, 0);
        session.stop().expect("stop").messages == 1
    };
    assert_eq!(said("own", file(), &starts), "");
}

#[test]
fn a_bare_clone_is_found_out_at_its_next_chunk() {
    let recording = record(|session| session.log_from(Level::Info));
    i!(Log::Parent, "%d:%d", 0, 0);
    let clone = || {
        let flags = libc::SIGCHLD;
        // SAFETY: without a stack and flags it is a fork, but for the handlers.
        unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) as libc::pid_t }
    };
    wait(spawn(clone, || {
        for number in 0..10_000u64 {
            i!(Log::Child, "%d:%d", 0, number);
        }
        true
    }));
    for number in 1..1_000u64 {
        i!(Log::Parent, "%d:%d", 0, number);
    }
    let trace = recording.stop();
    assert_eq!(trace.summary.lost(), 0, "{:?}", trace.summary);
    assert_eq!(numbers(&trace.path), [(("Parent".to_owned(), 0), up_to(1_000))].into());
}
