//! The lock of a trace file: a second process that opens it gets an error. Each test runs itself as
//! the other process.
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

/// The environment variable that gives the other process the path of the file.
const FILE: &str = "PROTOLOG_ONE_WRITER_FILE";

/// The path of the file, in the other process only.
fn file_from_environment() -> Option<PathBuf> {
    std::env::var_os(FILE).map(PathBuf::from)
}

fn start(path: &Path) -> Result<Session, Error> {
    Session::builder().file(path).log_from(Level::Info).start()
}

/// The other process.
struct OtherProcess {
    process: Child,
    /// The number that it printed.
    number: libc::pid_t,
    /// Kept open, since the test harness prints more.
    _output: Lines<BufReader<ChildStdout>>,
}

/// Runs `test` of this binary as the other process, and waits until it prints a number.
fn run(test: &str, path: &Path) -> OtherProcess {
    let mut own = Command::new(std::env::current_exe().expect("the test itself"));
    own.args(["--exact", test, "--nocapture"]).env(FILE, path);
    let mut process =
        own.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("run the test itself");
    let mut output = BufReader::new(process.stdout.take().expect("its output")).lines();
    let number = output.by_ref().map_while(Result::ok).find_map(|line| line.parse().ok());
    OtherProcess {
        process,
        number: number.expect("the other process has a session"),
        _output: output,
    }
}

/// Prints the number that [`run`] waits for, on a line of its own after the output of the test
/// harness.
fn print_number(number: libc::pid_t) {
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
fn a_second_process_is_refused_and_the_trace_of_the_first_is_complete() {
    if let Some(path) = file_from_environment() {
        let session = start(&path).expect("start");
        i!(Log::Net, "of the other process");
        let error = start(&path).expect_err("this process writes it");
        assert!(matches!(error, Error::FileInUse { .. }), "{error}");
        print_number(0);
        // Wait for the end of the input.
        let _ = std::io::stdin().read_line(&mut String::new());
        session.stop().expect("stop");
        return;
    }
    let dir = temp_dir();
    let path = dir.path().join("trace");
    let test = "a_second_process_is_refused_and_the_trace_of_the_first_is_complete";
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

/// Starts a session in another process, which forks and is killed while its child lives; then one
/// here.
fn outlive(test: &str, start: fn(&Path) -> Result<Session, Error>) {
    if let Some(path) = file_from_environment() {
        let _session = start(&path).expect("start");
        // SAFETY: the child only sleeps, until it is killed.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // Not before it runs, and holds nothing of its parent any more.
            print_number(libc::pid_t::try_from(std::process::id()).expect("a process id"));
            std::thread::sleep(std::time::Duration::from_secs(600));
            std::process::abort();
        }
        let _ = std::io::stdin().read_line(&mut String::new());
        return;
    }
    let dir = temp_dir();
    let path = dir.path().join("trace");
    let mut other = run(test, &path);
    other.process.kill().expect("kill the other process");
    other.process.wait().expect("wait for the other process");
    let session = start(&path);
    // SAFETY: the child sleeps until this.
    assert_eq!(unsafe { libc::kill(other.number, libc::SIGKILL) }, 0, "it outlived its parent");
    session.expect("the first process is dead").stop().expect("stop");
}

#[test]
fn a_forked_child_does_not_hold_the_lock_of_a_process_that_died() {
    outlive("a_forked_child_does_not_hold_the_lock_of_a_process_that_died", start);
}

#[test]
fn a_forked_child_does_not_hold_the_recording_of_a_process_that_died() {
    let record = |path: &Path| Session::builder().record_at(path).log_from(Level::Info).start();
    outlive("a_forked_child_does_not_hold_the_recording_of_a_process_that_died", record);
}
