//! Commands that run until they are told to end, as the first process of a container.

use protolog_rt::{ProtoLogGroup, Session, d};
use protolog_testkit::{run_any, skip, temp_dir, tool};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

/// Makes a namespace of processes for the command that follows.
const NAMESPACE: [&str; 5] = ["--user", "--map-root-user", "--pid", "--fork", "--"];

/// Has the command handle signals that whoever runs the tests ignores, as a shell does for what
/// runs in the background.
const DEFAULTS: &str = "--default-signal=HUP,INT,TERM";

/// Longer than a busy machine takes.
const LIMIT: Duration = Duration::from_secs(60);

/// The bits of SIGINT and SIGTERM in a mask of signals.
const HANDLED: u64 = 1 << 1 | 1 << 14;

/// The only child of a process, once it handles signals.
fn child(of: u32) -> u32 {
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < LIMIT, "it does not handle signals");
        let children = fs::read_to_string(format!("/proc/{of}/task/{of}/children"));
        let child = children.ok().and_then(|it| it.split_whitespace().next()?.parse().ok());
        let status = child.map(|it: u32| fs::read_to_string(format!("/proc/{it}/status")));
        let status = status.and_then(Result::ok).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = mask.and_then(|it| u64::from_str_radix(it.trim(), 16).ok()).unwrap_or(0);
        if let Some(child) = child.filter(|_| mask & HANDLED == HANDLED) {
            return child;
        }
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn signals_end_what_would_run_for_ever() {
    let Some(unshare) = tool("unshare") else { return };
    if run_any(Command::new(&unshare).args(NAMESPACE).arg("true")).code != Some(0) {
        return skip("the first process of a container", "there are no namespaces");
    }
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let session = Session::builder().file(&trace).enable_all().start().unwrap();
    d!(AppLog::Net, "one");
    session.stop().unwrap();
    let trace = trace.to_str().unwrap();
    for words in
        [&["read-log", "--follow", trace][..], &["view", "--no-browser", trace], &["top", "--json"]]
    {
        for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
            let mut command = Command::new("env");
            command
                .arg(DEFAULTS)
                .arg(&unshare)
                .args(NAMESPACE)
                .arg(env!("CARGO_BIN_EXE_protologtool"))
                .args(words);
            command.env("PROTOLOG_RUNTIME_DIR", dir.path().join("none"));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut running = command.spawn().unwrap();
            let id = child(running.id()).to_string();
            assert_eq!(run_any(Command::new("kill").args([signal, &id])).code, Some(0));
            assert_eq!(running.wait().unwrap().code(), Some(code), "{words:?} {signal}");
        }
    }
}

/// The variable that has the trace of a first process.
const DYING: &str = "PROTOLOG_TEST_FIRST_PROCESS";

/// Outside, there is always a process 1, so that number does not say whether the one of a container
/// lives.
#[test]
fn the_last_messages_of_a_containers_first_process_are_shown() {
    if let Some(path) = std::env::var_os(DYING) {
        let session = Session::builder().file(path).enable_all().start().unwrap();
        d!(AppLog::Net, "the first message of process %d", std::process::id());
        session.flush().unwrap();
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
        d!(AppLog::Net, "the last message");
        std::process::abort();
    }
    let Some(unshare) = tool("unshare") else { return };
    if run_any(Command::new(&unshare).args(NAMESPACE).arg("true")).code != Some(0) {
        return skip("the first process of a container", "there are no namespaces");
    }
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let mut program = Command::new(unshare);
    program.args(NAMESPACE).arg(std::env::current_exe().unwrap());
    program.args(["--exact", "the_last_messages_of_a_containers_first_process_are_shown"]);
    program.env(DYING, &path).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut program = program.spawn().unwrap();
    let begun = Instant::now();
    while !fs::metadata(&path).is_ok_and(|file| file.len() > 0) {
        assert!(begun.elapsed() < LIMIT, "it does not log");
        sleep(Duration::from_millis(5));
    }
    let mut following = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    following.args(["read-log", "--follow", "--columns", "message"]).arg(&path);
    let mut following = following.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert_eq!(next(), "the first message of process 1");
    program.stdin.take().unwrap().write_all(b"\n").unwrap();
    program.wait().unwrap();
    assert_eq!(next(), "the last message");
    following.kill().unwrap();
    following.wait().unwrap();
}
