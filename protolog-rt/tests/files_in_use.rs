//! A file that is being written is neither written nor replaced by anything else: each pair of the
//! ways to write a file, in one process and in two. Each test runs itself as the other process.

mod common;

use common::lock_sessions;
use protolog_rt::text::RotatingFile;
use protolog_rt::{Builder, Error, Level, ProtoLogGroup, Session, i, recover_previous};
use protolog_testkit::temp_dir;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

fn session() -> Builder {
    Session::builder().log_from(Level::Info).buffer_size(64 << 10)
}

/// A writer of a file.
#[derive(Debug)]
#[allow(dead_code)] // Kept until it is dropped.
enum Use {
    Session(Session),
    Text(Box<RotatingFile>),
}

/// The ways to write a file from now on.
const USES: [&str; 4] = ["stream", "keep", "record", "text"];

fn begin(how: &str, path: &Path) -> Result<Use, Error> {
    match how {
        "stream" => session().file(path).start().map(Use::Session),
        "keep" => session().file(path).keep_newest().start().map(Use::Session),
        "record" => session().record_at(path).start().map(Use::Session),
        "text" => RotatingFile::open(path, 1 << 20, 1).map(|it| Use::Text(Box::new(it))).map_err(
            |error| {
                *error.into_inner().expect("an inner error").downcast().expect("of the runtime")
            },
        ),
        _ => unreachable!("{how}"),
    }
}

/// Tries all ways to write or replace `path`, which must be refused.
#[track_caller]
fn check_all_refused(used: &str, path: &Path, second: &[&str]) {
    let before = fs::metadata(path).ok().map(|file| (file.len(), file.modified().expect("a time")));
    let mut tried: Vec<_> = second.iter().map(|how| (*how, begin(how, path).map(drop))).collect();
    let other = session().keep_newest().record().start().expect("record");
    tried.push(("snapshot", other.snapshot(path).map(drop)));
    for (how, result) in tried {
        let Err(Error::FileInUse { path: named }) = &result else {
            panic!("{how} while {used} has the file: {result:?}");
        };
        assert_eq!(named, path);
    }
    let after = fs::metadata(path).ok().map(|file| (file.len(), file.modified().expect("a time")));
    assert_eq!(before, after, "while {used} has the file");
}

#[test]
fn a_file_is_written_in_one_way_at_a_time() {
    let _lock = lock_sessions();
    for used in USES {
        let dir = temp_dir();
        let path = dir.path().join("file");
        let first = begin(used, &path).expect("start");
        i!(Log::Work, "a message");
        check_all_refused(used, &path, &USES);
        drop(first);
        for how in USES {
            begin(how, &path).unwrap_or_else(|error| panic!("{how} after {used}: {error}"));
        }
    }
}

/// The variables of the other process: how it writes which file.
const HOW: &str = "PROTOLOG_IN_USE_HOW";
const FILE: &str = "PROTOLOG_IN_USE_FILE";

/// A process that writes a file, until its input ends.
struct Other(Child);

impl Other {
    fn run(how: &str, path: &Path) -> Self {
        let mut own = Command::new(std::env::current_exe().expect("the test itself"));
        own.args(["--exact", "a_file_is_written_by_one_process_at_a_time", "--nocapture"]);
        own.env(HOW, how).env(FILE, path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = own.spawn().expect("run the test itself");
        let output = BufReader::new(process.stdout.as_mut().expect("its output"));
        let is_ready = output.lines().map_while(Result::ok).any(|line| line == "ready");
        assert!(is_ready, "the other process writes {how}");
        Self(process)
    }

    fn end(mut self) {
        drop(self.0.stdin.take());
        self.0.wait().expect("wait for the other process");
    }
}

#[test]
fn a_file_is_written_by_one_process_at_a_time() {
    if let (Ok(how), Some(path)) = (std::env::var(HOW), std::env::var_os(FILE)) {
        let path = PathBuf::from(path);
        let _used = begin(&how, &path).expect("start");
        i!(Log::Work, "of the other process");
        // As a program does that sends its log somewhere, or is asked to complete what an earlier
        // run left.
        fs::read(&path).expect("read what it writes");
        assert_eq!(recover_previous(&path).expect("look at it"), []);
        println!("\nready");
        // Wait for the end of the input.
        let _ = std::io::stdin().read_line(&mut String::new());
        return;
    }
    let _lock = lock_sessions();
    // A session that keeps its messages has no file before its end.
    for used in ["stream", "record", "text"] {
        let dir = temp_dir();
        let path = dir.path().join("file");
        let other = Other::run(used, &path);
        check_all_refused(used, &path, &USES);
        check_all_refused(used, &path, &USES);
        other.end();
        drop(begin("stream", &path).expect("nobody writes it any more"));
    }
}

#[test]
fn a_kept_session_does_not_replace_the_file_of_another_process() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("file");
    let kept = session().file(&path).keep_newest().start().expect("start");
    i!(Log::Work, "a message");
    let other = Other::run("stream", &path);
    let error = kept.stop().expect_err("another process writes it");
    assert!(matches!(error, Error::FileInUse { .. }), "{error}");
    other.end();
    let log = protolog_reader::Trace::open(&path).expect("open").read().expect("read");
    assert_eq!(log.entries().count(), 1, "the other process's trace is there");
    let files = fs::read_dir(dir.path()).expect("list").count();
    assert_eq!(files, 1, "no temporary file is left");
}

#[test]
fn a_session_may_write_snapshots_to_its_own_file() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("file");
    let kept = session().file(&path).keep_newest().start().expect("start");
    for _ in 0..2 {
        i!(Log::Work, "a message");
        kept.snapshot(&path).expect("snapshot");
    }
    assert_eq!(kept.stop().expect("stop").messages, 2);
}

#[test]
fn segments_in_use_are_not_removed() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = |name: &str| dir.path().join(name);
    let stream = session().file(path("app.0001.pftrace")).start().expect("start");
    for number in [2, 3, 4] {
        let earlier = session().file(path("app.pftrace")).keep_segments(9).start().expect("start");
        i!(Log::Work, "of an earlier run");
        earlier.stop().expect("stop");
        assert!(path(&format!("app.{number:04}.pftrace")).exists());
    }
    let segments = session().file(path("app.pftrace")).keep_segments(1).start().expect("start");
    let taken = session().file(path("app.pftrace")).keep_segments(1).start();
    let error = taken.expect_err("another session writes them");
    assert!(matches!(error, Error::FileInUse { .. }), "{error}");
    let part = path("app.0005.pftrace.part");
    let error = session().file(&part).start().expect_err("the segment is being written");
    assert!(matches!(error, Error::FileInUse { .. }), "{error}");
    segments.stop().expect("stop");
    stream.stop().expect("the file was not removed");
    assert!(path("app.0001.pftrace").exists() && !path("app.0002.pftrace").exists());
}
