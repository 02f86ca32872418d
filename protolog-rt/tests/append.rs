//! Packets that are made of a complete file, and appended to it.

use protolog_reader::Trace;
use protolog_rt::{Builder, Error, ProtoLogGroup, Session, d};
use protolog_testkit::temp_dir;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

/// Held while a session runs: a call goes to all sessions of the process.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A packet of sequence 9 with an unknown field.
const PACKET: [u8; 8] = [0x0a, 6, 0x50, 9, 0xc0, 0xbb, 0x01, 7];

type Seen = Arc<Mutex<Vec<Vec<u8>>>>;

/// A builder that appends [`PACKET`], and what it has made that of.
fn appending(builder: Builder) -> (Builder, Seen) {
    let seen = Seen::default();
    let to = Arc::clone(&seen);
    let builder = builder.enable_all().append_when_complete(move |trace: &[u8]| {
        to.lock().unwrap().push(trace.to_vec());
        Ok::<_, io::Error>(PACKET.to_vec())
    });
    (builder, seen)
}

#[track_caller]
fn check(path: &Path, seen: &[u8], messages: usize) {
    let bytes = fs::read(path).unwrap();
    assert!(bytes == [seen, &PACKET].concat(), "{} and {} bytes", bytes.len(), seen.len());
    let log = Trace::from_bytes(bytes).read().unwrap();
    assert_eq!((log.entries().len(), log.is_complete()), (messages, true));
    assert!(log.stats().unended.is_empty(), "the trace was complete before");
}

#[test]
fn packets_are_appended_to_each_file_when_it_is_complete() {
    let _alone = alone();
    let dir = temp_dir();
    let (path, link) = (dir.path().join("app.pftrace"), dir.path().join("link"));
    fs::write(&path, "").unwrap();
    std::os::unix::fs::symlink(dir.path(), &link).unwrap();
    let (builder, seen) = appending(Session::builder().file(link.join("app.pftrace")));
    let session = builder.start().unwrap();
    (0..100).for_each(|number| d!(AppLog::Net, "message %d", number));
    session.flush().unwrap();
    assert!(seen.lock().unwrap().is_empty(), "it is not complete yet");
    let summary = session.stop().unwrap();
    check(&path, &seen.lock().unwrap()[0], 100);
    assert_eq!(summary.bytes, fs::metadata(&path).unwrap().len());

    // At the end of a session that nobody stops, and of one that keeps its messages; and in a
    // snapshot.
    let (path, copy) = (dir.path().join("kept.pftrace"), dir.path().join("copy.pftrace"));
    let (builder, seen) = appending(Session::builder().file(&path).keep_newest());
    let session = builder.start().unwrap();
    d!(AppLog::Net, "message %d", 1);
    session.snapshot(&copy).unwrap();
    d!(AppLog::Net, "message %d", 2);
    drop(session);
    let seen = seen.lock().unwrap();
    check(&copy, &seen[0], 1);
    check(&path, &seen[1], 2);
}

#[test]
fn each_segment_has_its_own() {
    let _alone = alone();
    let dir = temp_dir();
    let builder = Session::builder().file(dir.path().join("app.pftrace"));
    let (builder, seen) = appending(builder.segment_bytes(64 << 10).buffer_size(4 << 20));
    let session = builder.start().unwrap();
    for number in 0..20_000 {
        d!(AppLog::Net, "message %d", number);
    }
    session.stop().unwrap();
    let seen = seen.lock().unwrap();
    let mut files: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 2 && files.len() == seen.len(), "{files:?}");
    for (file, seen) in files.iter().zip(seen.iter()) {
        assert!(fs::read(file).unwrap() == [&seen[..], &PACKET].concat(), "{}", file.display());
    }
}

#[test]
fn a_file_is_whole_without_what_can_not_be_made() {
    let _alone = alone();
    let dir = temp_dir();
    type Make = fn(&[u8]) -> Result<Vec<u8>, String>;
    let fails: Make = |_| Err("no wall clock".to_owned());
    let panics: Make = |_| panic!("of the test");
    for (name, make, expected) in [
        ("fails", fails, "nothing was appended: no wall clock"),
        ("panics", panics, "nothing was appended: the function that makes it panicked"),
    ] {
        for keeps in [false, true] {
            let path = dir.path().join(format!("{name}-{keeps}.pftrace"));
            let builder = Session::builder().file(&path).enable_all().append_when_complete(make);
            let builder = if keeps { builder.keep_newest() } else { builder };
            let session = builder.start().unwrap();
            d!(AppLog::Net, "message %d", 1);
            let error = session.stop().unwrap_err();
            assert!(matches!(&error, Error::File { path: of, .. } if *of == path), "{error:?}");
            assert!(error.to_string().contains(expected), "{error}");
            let log = Trace::open(&path).unwrap().read().unwrap();
            assert_eq!((log.entries().len(), log.is_complete()), (1, true));
            assert!(log.stats().unended.is_empty());
        }
    }
}
