//! Commands that run until they are told to end, as the first process of a container.

use protolog_rt::{ProtoLogGroup, Session, d};
use protolog_testkit::{run_any, skip, temp_dir, tool};
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

/// Makes a namespace of processes for the command that follows.
const NAMESPACE: [&str; 5] = ["--user", "--map-root-user", "--pid", "--fork", "--"];

/// Has the command handle signals that whoever runs the tests ignores, as a shell does for what runs in the background.
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
