//! Trace files of which another program takes a part away while they are written: only what was in
//! that part is lost, and counted by a cause of its own.

mod common;

use common::lock_sessions;
use protolog_core::recorder::{REMOVED_AT, TRACE_FILE_AT, TRACE_FILE_SIZE};
use protolog_reader::{LossReason, Rendering, Trace};
use protolog_rt::{
    Builder, Level, LossCause, ProtoLogGroup, Session, Summary, i, recover_previous,
};
use protolog_testkit::temp_dir;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
    Rest,
}

/// Losses by group and cause.
type Losses = BTreeMap<(String, LossCause), u64>;

fn kinds() -> Vec<fn(Builder) -> Builder> {
    vec![
        |session| session,
        #[cfg(feature = "compression")]
        |session| session.compress(6),
    ]
}

fn session() -> Builder {
    Session::builder().log_from(Level::Info).buffer_size(1 << 20).max_string_bytes(100)
}

fn log(round: u32) {
    for number in 0..50u32 {
        i!(Log::Work, "%d of round %d, %s", number, round, "a text that is interned");
    }
    i!(Log::Rest, "the end of round %d", round);
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).expect("a file").len()
}

fn cut(path: &Path, left: u64) {
    fs::File::options().write(true).open(path).and_then(|file| file.set_len(left)).expect("cut");
}

/// The messages of a trace that can all be read, and what it says that it lacks.
fn read(path: &Path) -> (Vec<String>, Losses) {
    let log = Trace::open(path).expect("open").read().expect("read");
    assert!(log.is_complete(), "{}", log.summary());
    let mut losses = Losses::new();
    for loss in log.losses() {
        let LossReason::Reported(cause) = loss.reason else { panic!("{loss:?}") };
        let group = loss.group.map(|id| log.dictionary().group_name(id).to_string());
        *losses.entry((group.unwrap_or_default(), cause)).or_default() += loss.count.expect("one");
    }
    let text = |entry: protolog_reader::Entry<'_>| entry.values().text(Rendering::Bare);
    (log.entries().map(text).collect(), losses)
}

fn losses(summary: &Summary) -> Losses {
    let loss = |loss: &protolog_rt::Loss| {
        ((loss.group.clone().unwrap_or_default(), loss.cause), loss.count)
    };
    summary.losses.iter().map(loss).collect()
}

fn of<const N: usize>(all: [(&str, LossCause, u64); N]) -> Losses {
    let full = |group: &str| format!("cut_files::Log::{group}");
    all.into_iter().map(|(group, cause, count)| ((full(group), cause), count)).collect()
}

#[test]
fn only_what_was_cut_off_is_lost() {
    let _lock = lock_sessions();
    for kind in kinds() {
        let dir = temp_dir();
        let path = dir.path().join("app.pftrace");
        let session = kind(session()).file(&path).start().expect("start a session");
        log(1);
        session.flush().expect("flush");
        let first = length(&path);
        log(2);
        session.flush().expect("flush");
        let second = length(&path);
        log(3);
        session.flush().expect("flush");
        // Within a packet of round 2, as a program that rounds to blocks does; then all that came
        // with round 4.
        cut(&path, first + 3);
        session.flush().expect("flush");
        assert_eq!(session.summary().lost(), 102, "{:?}", session.summary());
        assert!(length(&path) < second + 4096);
        let third = length(&path);
        log(4);
        session.flush().expect("flush");
        cut(&path, third);
        log(5);
        let summary = session.stop().expect("stop");
        let expected = of([("Work", LossCause::Removed, 150), ("Rest", LossCause::Removed, 3)]);
        assert_eq!((summary.messages, losses(&summary)), (102, expected.clone()), "{summary:?}");
        let (messages, reported) = read(&path);
        let rounds =
            |round: u32| messages.iter().filter(|it| it.ends_with(&format!("{round}"))).count();
        assert_eq!((messages.len(), rounds(1), rounds(5)), (102, 1, 1), "{messages:?}");
        assert_eq!(reported, expected);
    }
}

/// A chunk begins with the drops of its thread before. Those that another program cut off are
/// reported once more, and the others are not.
#[test]
fn drops_that_were_cut_off_are_reported_again() {
    let _lock = lock_sessions();
    for keeps in [true, false] {
        let dir = temp_dir();
        let path = dir.path().join("app.pftrace");
        let session = session().file(&path).start().expect("start a session");
        let start = length(&path);
        // As many as fill a chunk, so that the next one reports those that were truncated.
        for number in 0..500u32 {
            i!(Log::Work, "%d %s", number, "x".repeat(200));
        }
        session.flush().expect("flush");
        let left = if keeps { length(&path) } else { start };
        i!(Log::Rest, "one more");
        session.flush().expect("flush");
        cut(&path, left);
        session.flush().expect("flush");
        let summary = session.stop().expect("stop");
        let truncated = ("Work", LossCause::Truncated, 500);
        let rest = ("Rest", LossCause::Removed, 1);
        let expected = if keeps {
            of([truncated, rest])
        } else {
            of([truncated, rest, ("Work", LossCause::Removed, 500)])
        };
        assert_eq!(losses(&summary), expected);
        assert_eq!(read(&path).1, expected);
    }
}

/// Copies the trace of a session and its recording into `to`, as a process leaves them that is
/// killed, and completes the copy. Returns its path.
fn recovered(session: &Session, path: &Path, to: &Path) -> PathBuf {
    let (trace, recording) = (to.join("app.pftrace"), to.join("protolog-app-1-0.rec"));
    fs::copy(session.recording().expect("a recording"), &recording).expect("copy");
    fs::copy(path, &trace).expect("copy");
    let file = fs::File::options().read(true).write(true).open(&recording).expect("open");
    // No process of today has this number.
    file.write_all_at(&0x7fff_fff0u32.to_ne_bytes(), 16).expect("write");
    let name = trace.as_os_str().as_bytes();
    for copy in 0..2 {
        let at = (TRACE_FILE_AT + copy * TRACE_FILE_SIZE) as u64;
        let mut old = [0; TRACE_FILE_SIZE];
        file.read_exact_at(&mut old, at).expect("read");
        // The losses that earlier files report come after the path.
        let losses = 2 + usize::from(u16::from_ne_bytes([old[0], old[1]]));
        let mut new = [&(name.len() as u16).to_ne_bytes(), name, &old[losses..]].concat();
        new.truncate(TRACE_FILE_SIZE);
        file.write_all_at(&new, at).expect("write");
    }
    recover_previous(&trace).expect("recover");
    assert!(!recording.exists(), "the trace is complete");
    trace
}

#[test]
fn a_recovered_trace_has_the_same_losses() {
    let _lock = lock_sessions();
    let (live, dead) = (temp_dir(), temp_dir());
    let path = live.path().join("app.pftrace");
    let session = session().file(&path).start().expect("start a session");
    log(1);
    session.flush().expect("flush");
    let first = length(&path);
    log(2);
    session.flush().expect("flush");
    cut(&path, first);
    session.flush().expect("flush");
    let recording = fs::File::open(session.recording().expect("a recording")).expect("open");
    let mut removed = [0; 8];
    recording.read_exact_at(&mut removed, REMOVED_AT as u64).expect("read");
    assert_eq!(u64::from_ne_bytes(removed), 51);
    let trace = recovered(&session, &path, dead.path());
    session.stop().expect("stop");
    let (messages, reported) = read(&trace);
    let expected = of([("Work", LossCause::Removed, 50), ("Rest", LossCause::Removed, 1)]);
    assert_eq!((messages.len(), reported), (51, expected));
}

/// The file after a deleted one reports its drops again, until one that comes after them does not.
#[test]
fn a_recovered_trace_has_the_drops_of_deleted_files() {
    let _lock = lock_sessions();
    let truncated = |round: u32| {
        for number in 0..500u32 {
            i!(Log::Work, "%d of round %d: %s", number, round, "x".repeat(200));
        }
    };
    for (deletions, is_cut, is_moved) in
        [(1, false, false), (2, false, false), (1, true, false), (1, false, true)]
    {
        let (live, dead) = (temp_dir(), temp_dir());
        let path = live.path().join("app.pftrace");
        let session = session().file(&path).start().expect("start a session");
        truncated(0);
        session.flush().expect("flush");
        for round in 1..=deletions {
            fs::remove_file(&path).expect("delete");
            session.flush().expect("flush");
            truncated(round);
            session.flush().expect("flush");
        }
        if is_cut {
            cut(&path, 0);
            session.flush().expect("flush");
        }
        let mut elsewhere = Losses::new();
        if is_moved {
            let moved = live.path().join("moved.pftrace");
            fs::rename(&path, &moved).expect("rename");
            session.flush().expect("flush");
            elsewhere = read(&moved).1;
        }
        truncated(9);
        let trace = recovered(&session, &path, dead.path());
        let summary = session.stop().expect("stop");
        let mut all = read(&trace).1;
        for (what, count) in elsewhere {
            *all.entry(what).or_default() += count;
        }
        let case = format!("{deletions} {is_cut} {is_moved}");
        assert_eq!(all, losses(&summary), "{case}");
        let count = 500 * (u64::from(deletions) + 2);
        let truncated = all.iter().find(|((_, cause), _)| *cause == LossCause::Truncated);
        assert_eq!(truncated.map(|(_, count)| *count), Some(count), "{case}");
    }
}
