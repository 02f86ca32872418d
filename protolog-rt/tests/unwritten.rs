//! Files for which there is no room: what is in them can be read, and what is not is counted by group.
//!
//! A test of its own, since a limit on the size of files is the whole process's.
#![allow(unsafe_code)] // setrlimit.

mod common;

use common::alone;
use protolog_reader::Trace as Reading;
use protolog_rt::{Builder, Cause, Error, Level, ProtoLogGroup, Session, Summary, i};
use protolog_testkit::temp_dir;
use std::fs;
use std::path::Path;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
    Other,
}

/// The most bytes of a file here.
const ROOM: u64 = 150_000;
const SENT: u64 = 30_000;
/// So many messages have room.
const SOME: u64 = 1_500;

/// While it lives no file of this process gets larger. Session threads block the signal that says so.
struct Limit(libc::rlimit);

impl Limit {
    fn new() -> Self {
        let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the kernel writes to a value of ours.
        assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut before) }, 0);
        Self::set(libc::rlimit { rlim_cur: ROOM, ..before });
        Self(before)
    }

    fn set(limit: libc::rlimit) {
        // SAFETY: the kernel reads a value of ours.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        Self::set(self.0);
    }
}

/// The messages of all files in a directory.
fn read(dir: &Path) -> u64 {
    let files = fs::read_dir(dir).expect("list the files").map(|file| file.expect("a file").path());
    let count = |path: std::path::PathBuf| {
        let log = Reading::open(&path).expect("open the trace").read().expect("read the trace");
        let summary = log.summary().to_string();
        assert_eq!(summary, "", "nothing is cut off in {}", path.display());
        log.entries().count() as u64
    };
    files.map(count).sum()
}

#[track_caller]
fn check(summary: &Summary, there: u64) {
    assert_eq!(summary.messages, there, "{summary:?}");
    assert_eq!(summary.messages + summary.lost(), SENT, "{summary:?}");
    assert!(summary.losses.iter().any(|loss| loss.cause == Cause::Unwritten), "{summary:?}");
    let expected = [("unwritten::Log::Other", SENT / 10), ("unwritten::Log::Work", SENT / 10 * 9)];
    let groups = summary.groups.iter();
    let groups: Vec<(&str, u64)> = groups
        .map(|group| (group.group.as_deref().unwrap_or(""), group.messages + group.lost()))
        .collect();
    assert_eq!(groups, expected);
}

/// Logs so much that the file, or one of the files, has no room for it.
fn run(path: &Path, make: fn(Builder) -> Builder) -> Summary {
    let session = make(Session::builder().file(path).log_from(Level::Info));
    let session = session.start().expect("start a session");
    for number in 0..SENT {
        if number % 10 == 0 {
            i!(Log::Other, "%d", number);
        } else {
            i!(Log::Work, "%d %s", number, "of many");
        }
        if number == SOME {
            session.flush().expect("so many have room");
        } else if number == SENT / 2 {
            // What comes after the error is counted too.
            let _ = session.flush();
        }
    }
    assert!(matches!(session.flush(), Err(Error::Resources(_))));
    let summary = session.so_far();
    let error = session.stop().expect_err("there was no room");
    assert!(matches!(error, Error::File { .. }), "{error}");
    assert!(error.to_string().ends_with(": file too large"), "{error}");
    summary
}

#[test]
fn what_finds_no_room_is_counted() {
    let _alone = alone();
    let makes: [fn(Builder) -> Builder; 3] = [
        |session| session,
        // Nobody waits for room in a file.
        |session| session.buffer_size(64 << 10).wait_at_most(std::time::Duration::MAX),
        |session| session.segment_bytes(2 * ROOM),
    ];
    for make in makes {
        let dir = temp_dir();
        let limit = Limit::new();
        let summary = run(&dir.path().join("app.pftrace"), make);
        drop(limit);
        let there = read(dir.path());
        assert!(there > SOME, "{there}");
        check(&summary, there);
    }
    let summary = {
        let session = Session::builder().file("/dev/full").log_from(Level::Info).start().unwrap();
        (0..SENT).for_each(|number| {
            if number % 10 == 0 { i!(Log::Other, "%d", number) } else { i!(Log::Work, "x") }
        });
        session.so_far()
    };
    check(&summary, 0);
}
