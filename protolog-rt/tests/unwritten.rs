//! Files for which there is no room: what is in them can be read, what is not is counted by group, and they go on when there
//! is room again.
//!
//! A test of its own, since a limit on the size of files is the whole process's.
#![allow(unsafe_code)] // setrlimit.

mod common;

use common::{Trace, lock_sessions, wire};
use protolog_reader::Trace as Reading;
use protolog_rt::text::{RotatingFile, set_sink};
use protolog_rt::{Builder, Level, LossCause, ProtoLogGroup, Session, Summary, dynamic, i};
use protolog_testkit::{TempDir, temp_dir};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
    Other,
    #[protolog(log_to_text = true)]
    Text,
}

/// The most bytes of a file here.
const ROOM: u64 = 150_000;
const SENT: u64 = 30_000;
/// So many messages have room.
const SOME: u64 = 1_500;

/// While it lives no file of this process gets larger. Session threads block the signal that says so.
struct Limit(libc::rlimit);

impl Limit {
    fn new(room: u64) -> Self {
        let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the kernel writes to a value of ours.
        assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut before) }, 0);
        Self::set(libc::rlimit { rlim_cur: room, ..before });
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

/// The messages of all files in a directory, and those that they say are missing.
fn read(dir: &Path) -> (u64, u64) {
    let (mut there, mut missing) = (0, 0);
    for file in fs::read_dir(dir).expect("list the files").map(|file| file.expect("a file").path())
    {
        let log = Reading::open(&file).expect("open the trace").read().expect("read the trace");
        let summary = log.summary().to_string();
        let wrong = summary.lines().find(|line| !line.starts_with("lost: "));
        assert_eq!(wrong, None, "nothing is cut off in {}", file.display());
        there += log.entries().count() as u64;
        missing += log.stats().lost.values().sum::<u64>();
    }
    (there, missing)
}

#[track_caller]
fn check(summary: &Summary, there: u64) {
    assert_eq!(summary.messages, there, "{summary:?}");
    assert_eq!(summary.messages + summary.lost(), SENT, "{summary:?}");
    assert!(summary.losses.iter().any(|loss| loss.cause == LossCause::WriteFailed), "{summary:?}");
    let expected = [("unwritten::Log::Other", SENT / 10), ("unwritten::Log::Work", SENT / 10 * 9)];
    let groups = summary.groups.iter();
    let groups: Vec<(&str, u64)> = groups
        .map(|group| (group.group.as_deref().unwrap_or(""), group.messages + group.lost()))
        .collect();
    assert_eq!(groups, expected);
}

/// Logs so much that the file, or one of the files, has no room for it.
fn run(path: &Path, make: fn(Builder) -> Builder) -> Summary {
    let limit = Limit::new(ROOM);
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
    // What is missing has to be said.
    drop(limit);
    let so_far = session.summary();
    let summary = session.stop().expect("a trace that says what is missing");
    assert_eq!((so_far.messages, &so_far.losses), (summary.messages, &summary.losses));
    summary
}

#[test]
fn what_finds_no_room_is_counted() {
    let _lock = lock_sessions();
    let makes: [fn(Builder) -> Builder; 3] = [
        |session| session,
        // Nobody waits for room in a file.
        |session| session.buffer_size(64 << 10).wait_at_most(Duration::MAX),
        |session| session.segment_bytes(2 * ROOM),
    ];
    for make in makes {
        let dir = temp_dir();
        let summary = run(&dir.path().join("app.pftrace"), make);
        let (there, missing) = read(dir.path());
        assert!(there > SOME, "{there}");
        assert_eq!(missing, summary.lost());
        check(&summary, there);
    }
    // What a device takes can't be taken back, so that is the end of it.
    let session = Session::builder().file("/dev/full").log_from(Level::Info).start().unwrap();
    (0..SENT).for_each(|number| {
        if number % 10 == 0 { i!(Log::Other, "%d", number) } else { i!(Log::Work, "x") }
    });
    check(&session.summary(), 0);
    assert!(session.flush().is_err());
    let error = session.stop().expect_err("there is no room").to_string();
    assert_eq!(error, "can't write `/dev/full`: no space left on device");
}

/// A session whose file has room for a while, then not, then again.
struct Gap {
    session: Session,
    dir: TempDir,
    expected: Vec<String>,
}

impl Gap {
    fn begin(make: fn(Builder) -> Builder) -> Self {
        let dir = temp_dir();
        let session = Session::builder().file(dir.path().join("app.pftrace"));
        let session = make(session.log_from(Level::Info)).start().expect("start a session");
        Self { session, dir, expected: Vec::new() }
    }

    /// Logs so many messages, which are there or not.
    fn log(&mut self, what: &str, count: u64, there: bool) {
        for number in 0..count {
            i!(Log::Work, "%d %s of %s", number, what, "many");
            if there {
                self.expected.push(format!("INFO Work {number} {what} of many"));
            }
        }
    }

    fn file(&self) -> PathBuf {
        let mut files: Vec<PathBuf> =
            fs::read_dir(self.dir.path()).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        files.pop().expect("a file")
    }

    /// No file gets larger than this one is.
    fn fill(&self) -> Limit {
        self.session.flush().expect("there is room");
        Limit::new(fs::metadata(self.file()).unwrap().len())
    }

    /// Checks that the trace has what it should have, and lacks the rest of `sent`.
    #[track_caller]
    fn end(self, sent: u64) {
        let file = self.file();
        let summary = self.session.stop().expect("there is room again");
        let there = self.expected.len() as u64;
        assert_eq!((summary.messages, summary.lost()), (there, sent - there), "{summary:?}");
        let path = if file.exists() { file } else { file.with_extension("") };
        let trace = Trace::of(path, summary, self.dir);
        assert_eq!(trace.messages(), self.expected);
        assert!(trace.losses().keys().all(|(_, cause)| *cause == wire(LossCause::WriteFailed)));
    }
}

#[test]
fn a_file_goes_on_when_there_is_room_again() {
    let _lock = lock_sessions();
    let makes: [fn(Builder) -> Builder; 2] =
        [|session| session, |session| session.segment_bytes(1 << 20)];
    for make in makes {
        let mut gap = Gap::begin(make);
        gap.log("before", 10, true);
        let limit = gap.fill();
        gap.log("without room", 100, false);
        // Texts and threads of the gap alone are known all the same.
        let template = "a template of the gap, %d";
        dynamic::log(&Log::Other, Level::Info, template, &[dynamic::Arg::Int(1)]);
        thread::scope(|scope| _ = scope.spawn(|| i!(Log::Other, "a thread of the gap")));
        for _ in 0..3 {
            let error = gap.session.flush().expect_err("there is no room").to_string();
            assert!(error.ends_with("app.pftrace`: file too large"), "{error}");
        }
        assert_eq!(gap.session.summary().lost(), 102);
        drop(limit);
        gap.log("after", 10, true);
        dynamic::log(&Log::Other, Level::Info, template, &[dynamic::Arg::Int(2)]);
        gap.expected.push("INFO Other a template of the gap, 2".into());
        gap.session.flush().expect("there is room again");
        assert_eq!((gap.session.summary().messages, gap.session.summary().lost()), (21, 102));
        let limit = gap.fill();
        gap.log("without room again", 5, false);
        gap.session.flush().expect_err("there is no room");
        drop(limit);
        gap.log("at the end", 1, true);
        gap.end(129);
    }
}

#[test]
fn nobody_has_to_ask_for_it() {
    let _lock = lock_sessions();
    let mut gap = Gap::begin(|session| session.buffer_size(64 << 10).wait_at_most(Duration::MAX));
    gap.log("before", 10, true);
    let limit = gap.fill();
    let (mut sent, size) = (10, fs::metadata(gap.file()).unwrap().len());
    gap.log("without room", 3_000, false);
    drop(limit);
    while fs::metadata(gap.file()).unwrap().len() == size {
        gap.log("maybe", 100, false);
        sent += 100;
        assert!(sent < 100_000_000, "it is never tried again");
        thread::sleep(Duration::from_millis(1));
    }
    let summary = gap.session.stop().expect("there is room again");
    assert_eq!(summary.messages + summary.lost(), sent + 3_000);
    assert!(summary.messages > 10 && summary.lost() > 0, "{summary:?}");
    assert_eq!(read(gap.dir.path()), (summary.messages, summary.lost()));
}

#[test]
fn a_recording_that_may_not_be_as_large_ends_no_program() {
    let _lock = lock_sessions();
    // SAFETY: nothing is called when it comes: it would end this process.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_DFL) };
    let dir = temp_dir();
    let at = Session::builder().record_at(dir.path().join("app.rec"));
    for session in [Session::builder().record(), at] {
        let limit = Limit::new(ROOM);
        let started = session.buffer_size(2 * ROOM as usize).start();
        drop(limit);
        let error = started.expect_err("there is no room").to_string();
        assert!(error.contains("file too large"), "{error}");
    }
}

#[test]
fn lines_of_text_begin_anew_after_one_that_had_no_room() {
    let _lock = lock_sessions();
    // SAFETY: nothing is called when it comes. Lines are written by the thread that logs, which does not block it.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let dir = temp_dir();
    let path = dir.path().join("app.log");
    set_sink(RotatingFile::open(&path, 1 << 20, 1).unwrap()).expect("no sink yet");
    i!(Log::Text, "the first");
    let size = fs::metadata(&path).unwrap().len();
    for more in [0, 20] {
        let limit = Limit::new(fs::metadata(&path).unwrap().len() + more);
        i!(Log::Text, "of this %s", "there is a part at most");
        drop(limit);
        i!(Log::Text, "after %d", more);
    }
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let [first, whole, torn, last] = lines[..] else { panic!("{lines:#?}") };
    assert!(first.ends_with(": the first") && first.len() as u64 + 1 == size);
    assert!(whole.ends_with(": after 0") && last.ends_with(": after 20"), "{lines:#?}");
    assert_eq!(torn.len(), 20);
}
