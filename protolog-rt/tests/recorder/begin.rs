//! A process that is stopped at every system call while it starts a recording and logs messages that no tool has seen: its
//! recording is one only when it is whole, and whoever finds one finds the texts of all that is in it.
//!
//! All that comes into the file but for the ring comes by system calls, and between two of them little else happens.

use crate::child::{self, NEW};
use crate::step::Traced;
use protolog_reader::{Recording, Rendering, Trace};
use protolog_testkit::{skip, temp_dir};
use std::fs;
use std::io::Read;
use std::path::Path;

/// The texts in a recording, if the file at `path` is one yet.
#[track_caller]
fn look(path: &Path) -> Option<Vec<String>> {
    let bytes = fs::read(path).ok()?;
    if !Recording::matches(&bytes) {
        return None;
    }
    let recording =
        Recording::parse(&bytes).expect("a recording says so of itself when it is whole");
    let mut trace = Vec::new();
    let report = recording.write(&mut trace).expect("memory");
    assert_eq!(report.flaws, []);
    let log = Trace::from_bytes(trace).read().expect("a trace");
    assert!(log.dictionary().len() > 1, "the texts of the program are there");
    Some(log.entries().map(|entry| entry.values().text(Rendering::Bare)).collect())
}

#[test]
fn a_recording_is_whole_from_the_beginning() {
    let dir = temp_dir();
    let path = dir.path().join("begun.rec");
    let mut running = child::start("begin", &path);
    let mut pipe = running.child.stderr.take().expect("a pipe");
    let mut say = || {
        let mut frame = [0; 12];
        pipe.read_exact(&mut frame).expect("a frame");
        u64::from_ne_bytes(frame[4..].try_into().unwrap())
    };
    let thread = Traced(say() as libc::pid_t);
    if say() != 0 {
        skip("stopping a process at every system call", "ptrace is not permitted here");
        return running.die(child::Death::Kill);
    }
    assert_eq!(thread.wait(), Some(libc::SIGSTOP));
    let (mut calls, mut none, mut before) = (0, 0, 0);
    loop {
        thread.call();
        match thread.wait() {
            Some(libc::SIGTRAP) => calls += 1,
            Some(libc::SIGSTOP) => break,
            other => panic!("stopped by {other:?}"),
        }
        let Some(texts) = look(&path) else {
            assert_eq!(before, 0, "it was one before");
            none += 1;
            continue;
        };
        assert!(texts.len() >= before, "{before} were there");
        assert!(
            (0..)
                .map(|number| format!("number {number} is {number}"))
                .zip(&texts)
                .all(|(a, b)| a == *b)
        );
        before = texts.len();
    }
    let texts = look(&path).expect("a recording");
    thread.detach();
    println!("{calls} stops, {none} of them before there is a recording");
    assert_eq!(texts.len() as u64, NEW);
    assert!(none > 10 && calls > none + 2 * NEW, "{calls} stops, {none} before");
    running.die(child::Death::Kill);
}
