//! Steps that fail half way, for want of a thread or a descriptor: nothing that was there before goes, and the next attempt goes on.
//!
//! A separate binary, since limits are those of the whole process.
#![allow(unsafe_code)] // setrlimit.

#[path = "common/limit.rs"]
mod limit;

use limit::{Limit, ran_in_child};
use protolog_rt::{Builder, Error, Level, ProtoLogGroup, Session, i};
use protolog_testkit::temp_dir;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// The names and contents of all files in a directory.
fn contents(directory: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let files = fs::read_dir(directory).unwrap().map(|file| file.unwrap());
    files.map(|file| (file.file_name(), fs::read(file.path()).unwrap())).collect()
}

#[test]
fn a_start_that_fails_leaves_the_files_of_earlier_runs() {
    if ran_in_child("a_start_that_fails_leaves_the_files_of_earlier_runs") {
        return;
    }
    let dir = temp_dir();
    let whole = || Session::builder().file(dir.path().join("whole.pftrace")).log_from(Level::Info);
    let parts = || whole().file(dir.path().join("parts.pftrace")).keep_segments(2);
    let run = |session: Builder| {
        let session = session.buffer_size(64 << 10).start().expect("start a session");
        i!(Log::Work, "of an earlier run");
        session.stop().expect("stop the session");
    };
    run(whole());
    (0..2).for_each(|_| run(parts()));
    let before = contents(dir.path());
    assert_eq!(before.len(), 3);
    // They take the stacks that are left of the threads above.
    let (end, is_ended) = sync_channel::<()>(0);
    let is_ended = Arc::new(Mutex::new(is_ended));
    for _ in 0..8 {
        let is_ended = Arc::clone(&is_ended);
        thread::spawn(move || is_ended.lock().map(|it| it.recv().is_ok()).unwrap_or(true));
    }
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').next().unwrap().parse().unwrap();
    // Room for the buffer, and not for the stack of a thread.
    let limit = Limit::new(libc::RLIMIT_AS, pages * 4096 + (1 << 20));
    let failed = |session: Builder| {
        let error = session.buffer_size(64 << 10).without_recording().start();
        error.expect_err("there is no room for a thread")
    };
    let errors: Vec<Error> = (0..4).flat_map(|_| [failed(whole()), failed(parts())]).collect();
    drop((limit, end));
    assert!(errors.iter().all(|error| matches!(error, Error::Resources(_))), "{errors:?}");
    assert!(contents(dir.path()) == before);
    // Runs that die soon leave incomplete segments, which take no complete one away.
    for number in 7..11 {
        fs::write(dir.path().join(format!("parts.{number:04}.pftrace.part")), "").unwrap();
    }
    run(parts());
    let names: Vec<_> = contents(dir.path()).into_keys().collect();
    let expected = [
        "parts.0001.pftrace",
        "parts.0002.pftrace",
        "parts.0009.pftrace.part",
        "parts.0010.pftrace.part",
        "parts.0011.pftrace",
        "whole.pftrace",
    ];
    assert_eq!(names, expected);
}
