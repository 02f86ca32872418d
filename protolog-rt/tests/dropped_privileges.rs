//! Programs that give up their privileges after they started a session: the trace is whole, the
//! stop is no error, and the recording, which such a program may not remove, goes with the next run
//! that may.
#![allow(unsafe_code)] // fork, setuid, chroot.

#[path = "common/fork.rs"]
mod fork;

use fork::{fork, has_process_of_its_own, spawn, wait};
use protolog_reader::Trace as TraceFile;
use protolog_rt::{ProtoLogGroup, RecordingPlace, Session, i};
use protolog_testkit::{TempDir, skip, temp_dir};
use std::ffi::CString;
use std::path::Path;

#[derive(ProtoLogGroup)]
enum Log {
    Net,
}

const NOBODY: libc::uid_t = 65534;

/// The recordings in a directory.
fn recordings(dir: &Path) -> usize {
    let entries = std::fs::read_dir(dir).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".rec")).count()
}

/// A run that gives up what it may do by `drop`, and logs before and after.
fn run(dir: &TempDir, name: &str, give_up: impl FnOnce()) {
    let path = dir.path().join(name);
    let builder = Session::builder().file(&path).enable_all();
    let builder = builder.recording_in(RecordingPlace::BesideTrace).truncate();
    wait(spawn(fork, || {
        let session = builder.start().expect("start");
        i!(Log::Net, "as root");
        give_up();
        for number in 0..1_000 {
            i!(Log::Net, "as nobody %d", number);
        }
        session.flush().expect("flush");
        let summary = session.stop().expect("stop");
        (summary.messages, summary.lost()) == (1_001, 0)
    }));
    let log = TraceFile::open(&path).expect("open the trace").read().expect("read the trace");
    assert_eq!(log.entries().count(), 1_001);
}

fn become_nobody() {
    // SAFETY: takes a number; no other thread of the test's runs.
    assert_eq!(unsafe { libc::setgid(NOBODY) }, 0);
    // SAFETY: the same.
    assert_eq!(unsafe { libc::setuid(NOBODY) }, 0);
}

#[test]
fn a_session_outlives_its_privileges() {
    // SAFETY: it takes nothing.
    if unsafe { libc::geteuid() } != 0 {
        skip("privileges that are dropped", "only root has any");
        return;
    }
    if !has_process_of_its_own("a_session_outlives_its_privileges") {
        return;
    }
    let dir = temp_dir();
    run(&dir, "user.pftrace", become_nobody);
    assert_eq!(recordings(dir.path()), 1, "nobody may not remove it");
    let empty = dir.path().join("empty");
    std::fs::create_dir(&empty).expect("a directory");
    let empty = CString::new(empty.into_os_string().into_encoded_bytes()).expect("a path");
    run(&dir, "root.pftrace", || {
        // SAFETY: the path ends with a zero.
        assert_eq!(unsafe { libc::chroot(empty.as_ptr()) }, 0);
        become_nobody();
    });
    assert_eq!(recordings(dir.path()), 1, "the first one went when the second run began");
    run(&dir, "all.pftrace", || {});
    assert_eq!(recordings(dir.path()), 0);
}
