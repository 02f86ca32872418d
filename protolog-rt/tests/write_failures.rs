//! Files on a full device: the written part is readable, the rest is counted by group, and writing
//! continues when there is space again.
//!
//! A separate binary, since the limit on file sizes is that of the whole process.
#![allow(unsafe_code)] // setrlimit.

mod common;
#[path = "common/limit.rs"]
mod limit;

use common::{Trace, wire};
use limit::{Limit, ran_in_child};
use protolog_reader::{Rendering, Trace as TraceFile};
use protolog_rt::text::{RotatingFile, flush, set_sink};
use protolog_rt::{Builder, Level, LossCause, ProtoLogGroup, Session, Summary, dynamic, i};
use protolog_testkit::{TempDir, temp_dir};
use std::fs;
use std::iter;
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

/// Maximum size of a file in bytes.
const LIMIT: u64 = 150_000;
const SENT: u64 = 30_000;
/// Longer than text takes.
const LONG: Duration = Duration::from_secs(60);
/// A number of messages that fits into the file.
const FITTING: u64 = 1_500;

/// Limits the size of files.
fn limit_file_size(limit: u64) -> Limit {
    Limit::new(libc::RLIMIT_FSIZE, limit)
}

/// The number of messages in all files of a directory, and the number of losses that they report.
fn read(dir: &Path) -> (u64, u64) {
    let (mut there, mut missing) = (0, 0);
    for file in fs::read_dir(dir).expect("list the files").map(|file| file.expect("a file").path())
    {
        let log = TraceFile::open(&file).expect("open the trace").read().expect("read the trace");
        let summary = log.summary().to_string();
        let wrong = summary.lines().find(|line| !line.starts_with("lost: "));
        assert_eq!(wrong, None, "{} is readable to its end", file.display());
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
    let (work, other) = ("write_failures::Log::Work", "write_failures::Log::Other");
    let expected = [(other, SENT / 10), (work, SENT / 10 * 9)];
    let groups = summary.groups.iter();
    let groups: Vec<(&str, u64)> = groups
        .map(|group| (group.group.as_deref().unwrap_or(""), group.messages + group.lost()))
        .collect();
    assert_eq!(groups, expected);
}

/// Logs more than fits into the file, or into one of the files.
fn run(path: &Path, make: fn(Builder) -> Builder) -> Summary {
    let limit = limit_file_size(LIMIT);
    let session = make(Session::builder().file(path).log_from(Level::Info));
    let session = session.start().expect("start a session");
    for number in 0..SENT {
        if number % 10 == 0 {
            i!(Log::Other, "%d", number);
        } else {
            i!(Log::Work, "%d %s", number, "of many");
        }
        if number == FITTING {
            session.flush().expect("so many fit");
        } else if number == SENT / 2 {
            // Messages after the error are counted too.
            let _ = session.flush();
        }
    }
    // The report of the losses needs space in the file.
    drop(limit);
    let so_far = session.summary();
    let summary = session.stop().expect("a trace that reports its losses");
    assert_eq!((so_far.messages, &so_far.losses), (summary.messages, &summary.losses));
    summary
}

#[test]
fn messages_that_do_not_fit_into_the_file_are_counted() {
    if ran_in_child("messages_that_do_not_fit_into_the_file_are_counted") {
        return;
    }
    let makes: [fn(Builder) -> Builder; 3] = [
        |session| session,
        // A full device does not stall a writer.
        |session| session.buffer_size(64 << 10).wait_at_most(Duration::MAX),
        |session| session.segment_bytes(2 * LIMIT),
    ];
    for make in makes {
        let dir = temp_dir();
        let summary = run(&dir.path().join("app.pftrace"), make);
        let (there, missing) = read(dir.path());
        assert!(there > FITTING, "{there}");
        assert_eq!(missing, summary.lost());
        check(&summary, there);
    }
    // A device can't be truncated to its last complete packet, so the session fails for good.
    let session = Session::builder().file("/dev/full").log_from(Level::Info).start().unwrap();
    (0..SENT).for_each(|number| {
        if number % 10 == 0 { i!(Log::Other, "%d", number) } else { i!(Log::Work, "x") }
    });
    check(&session.summary(), 0);
    assert!(session.flush().is_err());
    let error = session.stop().expect_err("the device is full").to_string();
    assert_eq!(error, "can't write `/dev/full`: no space left on device");
}

/// A session whose file can't grow for a while.
struct GapTest {
    session: Session,
    dir: TempDir,
    expected: Vec<String>,
}

impl GapTest {
    fn begin(make: fn(Builder) -> Builder) -> Self {
        let dir = temp_dir();
        let session = Session::builder().file(dir.path().join("app.pftrace"));
        let session = make(session.log_from(Level::Info)).start().expect("start a session");
        Self { session, dir, expected: Vec::new() }
    }

    /// Logs `count` messages, and expects them in the trace if `is_written`.
    fn log(&mut self, what: &str, count: u64, is_written: bool) {
        for number in 0..count {
            i!(Log::Work, "%d %s of %s", number, what, "many");
            if is_written {
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

    /// Limits files to the present size of this one.
    fn fill(&self) -> Limit {
        self.session.flush().expect("there is space");
        limit_file_size(fs::metadata(self.file()).unwrap().len())
    }

    /// Checks that the trace has the expected messages, and that the rest of `sent` is lost.
    #[track_caller]
    fn end(self, sent: u64) {
        let file = self.file();
        let summary = self.session.stop().expect("there is space again");
        let there = self.expected.len() as u64;
        assert_eq!((summary.messages, summary.lost()), (there, sent - there), "{summary:?}");
        let path = if file.exists() { file } else { file.with_extension("") };
        let trace = Trace::of(path, summary, self.dir);
        assert_eq!(trace.messages(), self.expected);
        assert!(trace.losses().keys().all(|(_, cause)| *cause == wire(LossCause::WriteFailed)));
    }
}

#[test]
fn a_file_continues_when_there_is_space_again() {
    if ran_in_child("a_file_continues_when_there_is_space_again") {
        return;
    }
    let makes: [fn(Builder) -> Builder; 2] =
        [|session| session, |session| session.segment_bytes(1 << 20)];
    for make in makes {
        let mut test = GapTest::begin(make);
        test.log("before", 10, true);
        let limit = test.fill();
        test.log("without space", 100, false);
        // The template and the thread that first appear in the gap are in the trace all the same.
        let template = "a template of the gap, %d";
        dynamic::log(&Log::Other, Level::Info, template, &[dynamic::Arg::Int(1)]);
        thread::scope(|scope| _ = scope.spawn(|| i!(Log::Other, "a thread of the gap")));
        for _ in 0..3 {
            let error = test.session.flush().expect_err("the device is full").to_string();
            assert!(error.ends_with("app.pftrace`: file too large"), "{error}");
        }
        assert_eq!(test.session.summary().lost(), 102);
        drop(limit);
        test.log("after", 10, true);
        dynamic::log(&Log::Other, Level::Info, template, &[dynamic::Arg::Int(2)]);
        test.expected.push("INFO Other a template of the gap, 2".into());
        test.session.flush().expect("there is space again");
        assert_eq!((test.session.summary().messages, test.session.summary().lost()), (21, 102));
        let limit = test.fill();
        test.log("without space again", 5, false);
        test.session.flush().expect_err("the device is full");
        drop(limit);
        test.log("at the end", 1, true);
        test.end(129);
    }
}

/// A session that ends without room: the file has what fits, and what was logged since is in the
/// recording.
#[test]
fn what_has_no_room_at_the_end_is_recovered() {
    if ran_in_child("what_has_no_room_at_the_end_is_recovered") {
        return;
    }
    /// More than the longest packet here, and less than the beginning of a trace.
    const PACKET: u64 = 64;
    let mut test = GapTest::begin(|session| session);
    test.log("before", 10, true);
    test.session.flush().expect("there is space");
    let room = fs::metadata(test.file()).unwrap().len() + 2_000;
    let limit = limit_file_size(room);
    test.log("without space", 200, false);
    for _ in 0..3 {
        let error = test.session.flush().expect_err("there is no room").to_string();
        assert!(error.ends_with("app.pftrace`: file too large"), "{error}");
    }
    let size = fs::metadata(test.file()).unwrap().len();
    assert!((room - PACKET..=room).contains(&size), "{size} of {room} bytes");
    let lost = test.session.summary().lost();
    for number in 0..200 - lost {
        test.expected.push(format!("INFO Work {number} without space of many"));
    }
    test.log("at the end", 10, true);
    let (file, recording) =
        (test.file(), test.session.recording().expect("a recording").to_owned());
    let error = test.session.stop().expect_err("there is no room").to_string();
    assert!(error.ends_with("app.pftrace`: file too large"), "{error}");
    assert!(recording.exists(), "it has what the file lacks");
    drop(limit);
    let recovered = protolog_rt::recover_previous(&file).expect("recover the trace");
    assert_eq!((recovered.len(), recovered[0].messages, recovered[0].lost), (1, 10, lost));
    assert!(!recording.exists());
    let log = TraceFile::open(&file).expect("open").read().expect("read");
    let found: Vec<String> =
        log.entries().map(|entry| entry.values().text(Rendering::Bare)).collect();
    let expected = test.expected.iter().map(|line| line.replace("INFO Work ", ""));
    assert_eq!(found, expected.collect::<Vec<_>>());
}

#[test]
fn a_session_retries_without_a_flush() {
    if ran_in_child("a_session_retries_without_a_flush") {
        return;
    }
    let mut test =
        GapTest::begin(|session| session.buffer_size(64 << 10).wait_at_most(Duration::MAX));
    test.log("before", 10, true);
    let limit = test.fill();
    let (mut sent, size) = (10, fs::metadata(test.file()).unwrap().len());
    test.log("without space", 3_000, false);
    drop(limit);
    while fs::metadata(test.file()).unwrap().len() == size {
        test.log("maybe", 100, false);
        sent += 100;
        assert!(sent < 100_000_000, "the session never retries");
        thread::sleep(Duration::from_millis(1));
    }
    let summary = test.session.stop().expect("there is space again");
    assert_eq!(summary.messages + summary.lost(), sent + 3_000);
    assert!(summary.messages > 10 && summary.lost() > 0, "{summary:?}");
    assert_eq!(read(test.dir.path()), (summary.messages, summary.lost()));
}

/// Has the signal of a file that is too large end the process.
fn end_at_file_size_signal() {
    // SAFETY: the default action runs no code of this process.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_DFL) };
}

#[test]
fn start_fails_if_the_recording_exceeds_the_file_size_limit() {
    if ran_in_child("start_fails_if_the_recording_exceeds_the_file_size_limit") {
        return;
    }
    end_at_file_size_signal();
    let dir = temp_dir();
    let at = Session::builder().record_at(dir.path().join("app.rec"));
    for session in [Session::builder().record(), at] {
        let limit = limit_file_size(LIMIT);
        let started = session.buffer_size(2 * LIMIT as usize).start();
        drop(limit);
        let error = started.expect_err("the device is full").to_string();
        assert!(error.contains("file too large"), "{error}");
    }
}

/// Files are also written by threads of the program: by whoever starts, stops or copies a session,
/// or logs a new template.
#[test]
fn no_write_ends_the_program() {
    if ran_in_child("no_write_ends_the_program") {
        return;
    }
    end_at_file_size_signal();
    let dir = temp_dir();
    let path = |name: &str| dir.path().join(name);
    #[track_caller]
    fn check<T: std::fmt::Debug>(result: Result<T, protolog_rt::Error>) {
        let error = result.expect_err("there is no room").to_string();
        assert!(error.contains("file too large"), "{error}");
    }
    let session = || Session::builder().log_from(Level::Info);
    let ring = session().file(path("ring.pftrace")).keep_newest().start().expect("start");
    let recording = session().record_at(path("app.rec")).start().expect("start");
    i!(Log::Work, "%d", 1);
    let limit = limit_file_size(100);
    let number = dynamic::Arg::Int(7);
    dynamic::log(&Log::Work, Level::Info, "a new template: %d", &[number]);
    check(ring.snapshot(path("copy.pftrace")));
    check(ring.stop());
    match session().file(path("stream.pftrace")).start() {
        Ok(stream) => check(stream.stop()),
        started => check(started),
    }
    drop(limit);
    recording.stop().expect("a recording that is not needed");
}

#[test]
fn a_text_line_after_a_failed_one_starts_on_a_new_line() {
    if ran_in_child("a_text_line_after_a_failed_one_starts_on_a_new_line") {
        return;
    }
    end_at_file_size_signal();
    let dir = temp_dir();
    let path = dir.path().join("app.log");
    set_sink(RotatingFile::open(&path, 1 << 20, 1).unwrap()).expect("no sink yet");
    i!(Log::Text, "the first");
    assert!(flush(LONG));
    let size = fs::metadata(&path).unwrap().len();
    for more in [0, 20] {
        let limit = limit_file_size(fs::metadata(&path).unwrap().len() + more);
        i!(Log::Text, "of this %s", "there is a part at most");
        assert!(flush(LONG));
        drop(limit);
        i!(Log::Text, "after %d", more);
        assert!(flush(LONG));
    }
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let [first, report, whole, torn, next_report, last] = lines[..] else { panic!("{lines:#?}") };
    for report in [report, next_report] {
        let text = "W protolog: 1 message was dropped: the text sink did not take it";
        assert!(report.ends_with(text), "{report}");
    }
    assert!(first.ends_with(": the first") && first.len() as u64 + 1 == size);
    assert!(whole.ends_with(": after 0") && last.ends_with(": after 20"), "{lines:#?}");
    assert_eq!(torn.len(), 20);
}

/// The remains of a session whose file could not be written when its process died, with the next
/// messages still in the buffer: the file lacks the strings and clocks of the chunks that these are
/// in.
#[test]
fn a_process_may_die_while_its_file_can_not_be_written() {
    // The session's thread may have tried to write some of the later messages, too; then once more.
    let found = iter::repeat_with(die_without_room).take(100).find_map(|dir| {
        let path = dir.path().join("app.pftrace");
        let recovered = protolog_rt::recover_previous(&path).expect("recover the trace");
        (recovered.len() == 1 && recovered[0].lost == 10).then_some((dir, path))
    });
    let (_dir, path) = found.expect("a process that lost 10 messages");
    let log = TraceFile::open(&path).expect("open").read().expect("read");
    let expected = (0..30).filter_map(|number| match number {
        0..10 => Some(format!("{number} before")),
        10..20 => None,
        _ if number % 2 == 0 => Some(format!("{number} meanwhile")),
        _ => Some(format!("{number} after")),
    });
    let found = log.entries().map(|entry| entry.values().text(Rendering::Bare));
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

/// The files of a process that could not write 10 of its 30 messages, and has the last 10 in its
/// buffer.
fn die_without_room() -> TempDir {
    // SAFETY: the name is a constant with its zero.
    let file = unsafe { libc::memfd_create(c"trace".as_ptr(), libc::MFD_ALLOW_SEALING) };
    let file = path_of(file);
    let dir = temp_dir();
    let session = Session::builder().file(&file.0).log_from(Level::Info).report_losses(false);
    let session = session.start().expect("a session");
    let log = |text: &str, number: u64| i!(Log::Work, "%d %s", number, text);
    (0..10).for_each(|number| log("before", number));
    session.flush().expect("there is room");
    // SAFETY: takes numbers.
    assert_eq!(unsafe { libc::fcntl(file.1, libc::F_ADD_SEALS, libc::F_SEAL_GROW) }, 0);
    (10..20).for_each(|number| log("meanwhile", number));
    session.flush().expect_err("there is no room");
    (20..30).for_each(|number| log(if number % 2 == 0 { "meanwhile" } else { "after" }, number));
    fs::copy(&file.0, dir.path().join("app.pftrace")).expect("copy the trace");
    let recording = session.recording().expect("a recording");
    fs::copy(recording, dir.path().join("protolog-app-1-0.rec")).expect("copy the recording");
    dir
}

/// The path of an open file, and its descriptor.
fn path_of(descriptor: i32) -> (PathBuf, i32) {
    assert!(descriptor >= 0, "a file in memory");
    (format!("/proc/self/fd/{descriptor}").into(), descriptor)
}
