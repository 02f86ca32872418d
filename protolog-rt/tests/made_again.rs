//! Directories of logs that are removed or renamed while a program writes there, and names that
//! others take meanwhile.

mod common;

use common::lock_sessions;
use protolog_rt::text::{RotatingFile, set_sink};
use protolog_rt::{Builder, Error, Level, ProtoLogGroup, Session, i, print_group};
use protolog_testkit::{skip, temp_dir};
use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// A user other than root.
const NOBODY: u32 = 65534;

fn session() -> Builder {
    Session::builder().log_from(Level::Info).buffer_size(64 << 10)
}

/// The names in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("it"));
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

#[test]
fn what_is_written_later_goes_to_the_directory_that_was_made_again() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let logs = dir.path().join("logs");
    fs::create_dir(&logs).expect("a directory");
    set_sink(RotatingFile::open(logs.join("app.log"), 1000, 2).expect("open")).expect("no sink");
    print_group(&Log::Work, Some(Level::Info));
    let kept = session().file(logs.join("kept.pftrace")).keep_newest().start().expect("start");
    let segments = session().file(logs.join("app.pftrace")).segment_bytes(20_000);
    let segments = segments.start().expect("start");
    let stream = session().file(logs.join("one.pftrace")).start().expect("start");
    i!(Log::Work, "before");
    for session in [&segments, &stream] {
        session.flush().expect("flush");
    }
    assert_eq!(names(&logs), ["app.0001.pftrace.part", "app.log", "one.pftrace"]);
    fs::remove_dir_all(&logs).expect("remove");
    i!(Log::Work, "there is no directory");
    fs::create_dir(&logs).expect("a directory");
    for number in 0..2000 {
        i!(Log::Work, "after %d %s", number, "x".repeat(40));
    }
    assert!(segments.stop().expect("stop").lost() > 0, "the first one was deleted");
    assert!(stream.stop().expect("stop").lost() > 0, "so was this one");
    kept.stop().expect("stop");
    let names = names(&logs);
    for name in
        ["app.log", "app.log.1", "app.log.2", "kept.pftrace", "app.0002.pftrace", "one.pftrace"]
    {
        assert!(names.iter().any(|it| it == name), "{name}: {names:?}");
    }
}

#[test]
fn a_directory_that_is_renamed_keeps_its_files() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let [logs, moved] = ["logs", "moved"].map(|name| dir.path().join(name));
    fs::create_dir(&logs).expect("a directory");
    let kept = session().file(logs.join("kept.pftrace")).keep_newest().start().expect("start");
    fs::rename(&logs, &moved).expect("rename");
    fs::create_dir(&logs).expect("a directory");
    kept.stop().expect("stop");
    assert_eq!((names(&logs), names(&moved)), (vec![], vec!["kept.pftrace".to_owned()]));
}

#[test]
fn a_segment_takes_no_name_of_a_file_that_appeared_meanwhile() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let segments = session().file(&path).segment_bytes(1 << 20).start().expect("start");
    i!(Log::Work, "a message");
    fs::write(dir.path().join("app.0001.pftrace"), "precious").expect("write");
    let Err(Error::File { error, .. }) = segments.stop() else { panic!("the name is taken") };
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(dir.path().join("app.0001.pftrace")).expect("a file"), b"precious");
    // It is complete there.
    assert!(dir.path().join("app.0001.pftrace.part").exists());
}

#[test]
fn a_recording_takes_no_file_of_another_user_away() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("app.rec");
    let old = dir.path().join("app.rec.old");
    for name in [&path, &old] {
        fs::write(name, "before").expect("write");
    }
    session().record_at(&path).start().expect("start").stop().expect("stop");
    assert_eq!(fs::read(&old).expect("a file"), b"before", "an own one is replaced");
    fs::write(&path, "again").expect("write");
    if chown(&old, Some(NOBODY), None).is_err() {
        return skip("files of another user", "only root can make them");
    }
    let error = session().record_at(&path).start().map(drop).expect_err("it is another user's");
    assert!(error.to_string().ends_with("it belongs to another user"), "{error}");
    assert_eq!(fs::read(&old).expect("a file"), b"before");
    assert_eq!(fs::read(&path).expect("a file"), b"again");
}
