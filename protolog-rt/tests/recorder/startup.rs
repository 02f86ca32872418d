//! A process that is stopped at every system call while it starts a recording and logs messages
//! with dynamic templates. The file is a recording only once its header is complete, and it then
//! has the templates of all its messages.
//!
//! Everything in the file except the ring is written by system calls, so stops at system calls
//! suffice.

use crate::child::{self, DYNAMIC_MESSAGES};
use crate::single_step::TracedThread;
use protolog_reader::{Recording, Rendering, Trace};
use protolog_testkit::{skip, temp_dir};
use std::fs;
use std::io::Read;
use std::path::Path;

/// The messages in the recording at `path`; none if the file is no recording yet.
#[track_caller]
fn recover(path: &Path) -> Option<Vec<String>> {
    let bytes = fs::read(path).ok()?;
    if !Recording::matches(&bytes) {
        return None;
    }
    let recording = Recording::parse(&bytes).expect("a file with the magic number is complete");
    let mut trace = Vec::new();
    let report = recording.write(&mut trace).expect("memory");
    assert_eq!(report.flaws, []);
    let log = Trace::from_bytes(trace).read().expect("a trace");
    assert!(log.dictionary().len() > 1, "it has the program's dictionary");
    Some(log.entries().map(|entry| entry.values().text(Rendering::Bare)).collect())
}

#[test]
fn a_recording_is_complete_from_its_start() {
    let dir = temp_dir();
    let path = dir.path().join("begun.rec");
    let mut running = child::start("startup", &path);
    let mut pipe = running.child.stderr.take().expect("a pipe");
    let mut read_number = || {
        let mut frame = [0; 12];
        pipe.read_exact(&mut frame).expect("a frame");
        u64::from_ne_bytes(frame[4..].try_into().unwrap())
    };
    let thread = TracedThread(read_number() as libc::pid_t);
    if read_number() != 0 {
        skip("stopping a process at every system call", "ptrace is not permitted here");
        return running.die(child::Death::Kill);
    }
    assert_eq!(thread.wait(), Some(libc::SIGSTOP));
    let (mut calls, mut incomplete, mut before) = (0, 0, 0);
    loop {
        thread.continue_to_system_call();
        match thread.wait() {
            Some(libc::SIGTRAP) => calls += 1,
            Some(libc::SIGSTOP) => break,
            other => panic!("stopped by {other:?}"),
        }
        let Some(messages) = recover(&path) else {
            assert_eq!(before, 0, "it was a recording before");
            incomplete += 1;
            continue;
        };
        assert!(messages.len() >= before, "it had {before} before");
        assert!(
            (0..)
                .map(|number| format!("number {number} is {number}"))
                .zip(&messages)
                .all(|(a, b)| a == *b)
        );
        before = messages.len();
    }
    let messages = recover(&path).expect("a recording");
    thread.detach();
    println!("{calls} stops, {incomplete} of them before the recording exists");
    assert_eq!(messages.len() as u64, DYNAMIC_MESSAGES);
    assert!(
        incomplete > 10 && calls > incomplete + 2 * DYNAMIC_MESSAGES,
        "{calls} stops, {incomplete} before"
    );
    running.die(child::Death::Kill);
}
