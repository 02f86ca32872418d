//! Sessions with unusual files: a named pipe, a directory, a file that is deleted or renamed
//! meanwhile.
#![allow(unsafe_code)] // mkfifo.

mod common;

use common::lock_sessions;
use protolog_reader::{Rendering, Trace as TraceFile};
use protolog_rt::{Builder, Error, Init, Level, ProtoLogGroup, Session, i};
use protolog_testkit::{TempDir, temp_dir};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

fn session() -> Builder {
    Session::builder().log_from(Level::Info).buffer_size(64 << 10)
}

/// The messages of a trace.
fn messages(trace: Vec<u8>) -> Vec<String> {
    let log = TraceFile::from_bytes(trace).read().expect("a trace");
    log.entries().map(|entry| entry.values().text(Rendering::Bare)).collect()
}

/// Creates a named pipe.
fn pipe(dir: &TempDir) -> PathBuf {
    let path = dir.path().join("pipe");
    let name = std::ffi::CString::new(path.to_str().expect("a name")).expect("no zero");
    // SAFETY: the name is a C string.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    path
}

#[test]
fn a_session_writes_to_a_named_pipe() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = &pipe(&dir);
    for make in [(|session| session) as fn(Builder) -> Builder, Builder::keep_newest] {
        // The reader stops at the first end of file.
        let read = thread::scope(|scope| {
            let reader = scope.spawn(move || fs::read(path).expect("read the pipe"));
            let session = make(session()).file(path).start().expect("start a session");
            i!(Log::Work, "through a pipe");
            let summary = session.stop().expect("stop the session");
            let read = reader.join().expect("the reader");
            assert_eq!((summary.messages, summary.bytes), (1, read.len() as u64));
            read
        });
        assert_eq!(messages(read), ["through a pipe"]);
    }
}

#[track_caller]
fn refused(builder: Builder, expected: &str) {
    let error = builder.start().expect_err("the path is no file");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn paths_that_are_no_file_are_refused_at_the_start() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let shown = dir.path().display();
    for keeps in [(|session| session) as fn(Builder) -> Builder, Builder::keep_newest] {
        let builder = |path: &Path| keeps(session()).file(path);
        refused(builder(Path::new("")), "can't write ``: no such file or directory");
        refused(builder(dir.path()), &format!("can't write `{shown}`: is a directory"));
    }
    assert_eq!(fs::read_dir(dir.path()).expect("list").count(), 0, "nothing is left");
}

/// The messages of a trace, and the number of those that it reports as lost. Nothing of it can't be
/// read.
fn read(path: &Path) -> (Vec<String>, u64) {
    let log = protolog_reader::Trace::open(path).expect("open").read().expect("read");
    let lost = log.losses().iter().map(|loss| loss.count.unwrap_or(0)).sum();
    let summary = log.summary().to_string();
    assert!(log.is_complete(), "{summary}");
    (messages(fs::read(path).expect("read")), lost)
}

#[test]
fn a_file_that_is_emptied_or_cut_goes_on_with_a_trace_that_can_be_read() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let session = session().file(&path).start().expect("start a session");
    let mut lost = 0;
    for (round, left) in [(1u32, 0), (2, 0), (3, 300)] {
        for number in 0..50u32 {
            i!(Log::Work, "%d of round %d, %s", number, round, "a text that is interned");
        }
        session.flush().expect("flush");
        lost += 50;
        // As `copytruncate` does.
        fs::copy(&path, dir.path().join("copy")).expect("copy");
        let file = fs::File::options().write(true).open(&path).expect("open");
        file.set_len(left).expect("cut");
    }
    // In the chunk that was begun before.
    i!(Log::Work, "%d of round %d, %s", 7u32, 4u32, "a text that is interned");
    session.flush().expect("flush");
    i!(Log::Work, "the last one");
    let summary = session.stop().expect("stop");
    assert_eq!((summary.messages, summary.lost()), (2, lost), "{summary:?}");
    let (messages, reported) = read(&path);
    assert_eq!(messages, ["7 of round 4, a text that is interned", "the last one"]);
    assert_eq!(reported, lost);
}

#[test]
fn a_file_that_is_deleted_is_followed_by_a_new_one() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let session = session().file(&path).start().expect("start a session");
    i!(Log::Work, "before the file is deleted");
    session.flush().expect("flush");
    fs::remove_file(&path).expect("remove the file");
    i!(Log::Work, "after the file is deleted");
    session.flush().expect("flush");
    assert_eq!(messages(fs::read(&path).expect("read")), ["after the file is deleted"]);
    fs::remove_file(&path).expect("remove the file");
    i!(Log::Work, "at the end");
    let summary = session.stop().expect("there is a file");
    assert_eq!((summary.messages, summary.lost()), (1, 2), "{summary:?}");
    assert_eq!(read(&path), (vec!["at the end".to_owned()], 2));
}

#[test]
fn stop_fails_if_the_file_was_deleted_and_there_is_no_place_for_another_one() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let inner = dir.path().join("logs");
    fs::create_dir(&inner).expect("a directory");
    let path = inner.join("app.pftrace");
    let session = session().file(&path).start().expect("start a session");
    i!(Log::Work, "before the file is deleted");
    fs::remove_dir_all(&inner).expect("remove the directory");
    i!(Log::Work, "after the file is deleted");
    let error = session.stop().expect_err("there is no file");
    assert!(matches!(error, Error::File { .. }), "{error}");
    let shown = path.display();
    let expected = format!("can't write `{shown}`: the file was deleted meanwhile");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_renamed_file_is_complete_under_its_new_name() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let (path, other) = (dir.path().join("app.pftrace"), dir.path().join("other.pftrace"));
    let session = session().file(&path).start().expect("start a session");
    i!(Log::Work, "one");
    session.flush().expect("flush");
    fs::rename(&path, &other).expect("rename the file");
    session.reopen().expect("another one");
    i!(Log::Work, "two");
    assert_eq!(session.stop().expect("stop the session").messages, 2);
    for (file, expected) in [(other, "one"), (path, "two")] {
        assert_eq!(read(&file), (vec![expected.to_owned()], 0));
    }
}

#[test]
fn settings_are_not_read_from_a_named_pipe() {
    let dir = temp_dir();
    let path = pipe(&dir);
    let (send, started) = std::sync::mpsc::channel();
    let init = Init::new().control(false).persistent_settings(false).config_file(&path);
    thread::spawn(move || send.send(init.start()));
    // Nobody ever writes to the pipe.
    let result = started.recv_timeout(Duration::from_secs(60)).expect("it waits for a writer");
    let error = result.expect_err("it is no file").to_string();
    let expected = format!("can't read `{}`: it is a pipe, not a file", path.display());
    assert!(error.starts_with(&expected), "{error}");
}
