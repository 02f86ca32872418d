//! A trace file is written by one process at a time; others are told so. Each test runs itself as the other process.
#![allow(unsafe_code)] // fork, kill.

use protolog_reader::{Log as Read, Trace};
use protolog_rt::{Error, Level, ProtoLogGroup, Session, i};
use protolog_testkit::temp_dir;
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

#[derive(ProtoLogGroup)]
enum Log {
    Net,
}

/// What the other process is told: the file.
const FILE: &str = "PROTOLOG_ONE_WRITER_FILE";

/// The file, in the other process.
fn file() -> Option<PathBuf> {
    std::env::var_os(FILE).map(PathBuf::from)
}

fn start(path: &Path) -> Result<Session, Error> {
    Session::builder().file(path).log_from(Level::Info).start()
}

/// The other process.
struct Other {
    process: Child,
    /// What it said.
    number: libc::pid_t,
    /// Kept, since the test's runner prints more.
    _output: Lines<BufReader<ChildStdout>>,
}

/// Runs `test` of this binary as the other process, until it says a number.
fn run(test: &str, path: &Path) -> Other {
    let mut own = Command::new(std::env::current_exe().expect("the test itself"));
    own.args(["--exact", test, "--nocapture"]).env(FILE, path);
    let mut process =
        own.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("run the test itself");
    let mut output = BufReader::new(process.stdout.take().expect("its output")).lines();
    let number = output.by_ref().map_while(Result::ok).find_map(|line| line.parse().ok());
    Other { process, number: number.expect("the other process has a session"), _output: output }
}

/// What [`run`] waits for, on a line of its own, whatever the test's runner has printed.
fn say(number: libc::pid_t) {
    println!("\n{number}");
}

fn check(path: &Path, message: &str) {
    let log: Read = Trace::open(path).expect("open the trace").read().expect("read the trace");
    let text = |entry: protolog_reader::Entry<'_>| {
        entry.values().text(protolog_reader::Rendering::Bare).clone()
    };
    assert_eq!(log.entries().map(text).collect::<Vec<_>>(), [message]);
}

#[test]
fn who_comes_while_another_process_writes_is_refused_and_harms_nothing() {
    if let Some(path) = file() {
        let session = start(&path).expect("start");
        i!(Log::Net, "of the other process");
        let error = start(&path).expect_err("this process writes it");
        assert!(matches!(error, Error::FileInUse { .. }), "{error}");
        say(0);
        // Until the input ends.
        let _ = std::io::stdin().read_line(&mut String::new());
        session.stop().expect("stop");
        return;
    }
    let dir = temp_dir();
    let path = dir.path().join("trace");
    let test = "who_comes_while_another_process_writes_is_refused_and_harms_nothing";
    let mut other = run(test, &path);
    for _ in 0..2 {
        let error = start(&path).expect_err("another process writes it");
        assert!(matches!(error, Error::FileInUse { .. }), "{error}");
    }
    drop(other.process.stdin.take());
    assert!(other.process.wait().expect("wait for the other process").success());
    check(&path, "of the other process");

    let session = start(&path).expect("nobody writes it any more");
    i!(Log::Net, "of this process");
    session.stop().expect("stop");
    check(&path, "of this process");
}

#[test]
fn a_forked_child_does_not_keep_the_file_of_a_process_that_died() {
    if let Some(path) = file() {
        let _session = start(&path).expect("start");
        // SAFETY: the child only sleeps, until it is killed.
        let child = unsafe { libc::fork() };
        if child == 0 {
            std::thread::sleep(std::time::Duration::from_secs(600));
            std::process::abort();
        }
        say(child);
        let _ = std::io::stdin().read_line(&mut String::new());
        return;
    }
    let dir = temp_dir();
    let path = dir.path().join("trace");
    let test = "a_forked_child_does_not_keep_the_file_of_a_process_that_died";
    let mut other = run(test, &path);
    other.process.kill().expect("kill the other process");
    other.process.wait().expect("wait for the other process");
    let session = start(&path);
    // SAFETY: the child sleeps until this.
    assert_eq!(unsafe { libc::kill(other.number, libc::SIGKILL) }, 0, "it outlived its parent");
    session.expect("its writer is dead").stop().expect("stop");
}
