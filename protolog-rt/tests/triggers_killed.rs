//! Triggers of a process that ends: killed while a file is written, it leaves no half file, and its
//! ring can be recovered; where it exits, what has fired is written.
//!
//! The process is this program, run again.

use protolog_reader::{Recording, Rendering, Trace};
use protolog_rt::{ProtoLogGroup, Session, Triggers, d};
use protolog_testkit::{run, temp_dir};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// The directory of the process that ends.
const CHILD: &str = "PROTOLOG_TEST_TRIGGERS";

/// Longer than a file takes.
const LONG: Duration = Duration::from_secs(60);

/// Number of processes that are killed; `cargo xtask soak` sets a higher one.
fn rounds() -> u64 {
    env::var("PROTOLOG_KILL_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(12)
}

fn triggers(dir: &Path) -> Triggers {
    let triggers = Triggers::to(dir.join("app.pftrace")).after(Duration::ZERO);
    triggers.interval(Duration::ZERO).keep_files(4)
}

fn command(test: &str, dir: &Path) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--exact", test, "--nocapture"]).env(CHILD, dir);
    command
}

fn child_directory() -> Option<PathBuf> {
    env::var_os(CHILD).map(PathBuf::from)
}

/// Writes one file after the other.
fn write_files(dir: &Path) -> ! {
    let builder = Session::builder().enable_all().triggers(triggers(dir));
    let session = builder.record_at(dir.join("ring.rec")).start().expect("start a session");
    for round in 0.. {
        for number in 0..2000u64 {
            d!(Log::Work, "message %d of %d", number, round);
        }
        session.trigger("again").expect("a session with triggers");
    }
    unreachable!("it is killed")
}

/// The names in a directory: complete files of triggers, and all others but the recording.
fn names(dir: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let entries = fs::read_dir(dir).expect("a directory");
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let others = paths.filter(|path| !name(path).starts_with("ring.rec"));
    others.partition(|path| name(path).starts_with("app.again."))
}

#[test]
fn a_killed_process_leaves_no_half_file() {
    if let Some(dir) = child_directory() {
        write_files(&dir);
    }
    let dir = temp_dir();
    let mut stale = 0;
    for round in 0..rounds() {
        let mut child = command("a_killed_process_leaves_no_half_file", dir.path());
        let child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("start a process");
        let before = names(dir.path()).0;
        let end = Instant::now() + LONG;
        while names(dir.path()).0.iter().all(|path| before.contains(path)) {
            assert!(Instant::now() < end, "a file appears");
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_micros(round * 1_700 % 20_000));
        child.kill().expect("kill it");
        child.wait().expect("wait for it");
        let (files, others) = names(dir.path());
        for path in &files {
            let log = Trace::open(path).expect("open").read().expect("read");
            assert!(log.is_complete(), "{}", path.display());
            let summary = log.summary().to_string();
            assert!(summary.lines().all(|line| line.starts_with("lost: ")), "{summary}");
        }
        stale = stale.max(others.len());
        let bytes = fs::read(dir.path().join("ring.rec")).expect("the recording");
        let mut trace = Vec::new();
        let report = Recording::parse(&bytes).expect("a recording").write(&mut trace);
        assert_eq!(report.expect("write to memory").flaws, []);
        assert!(Trace::from_bytes(trace).read().expect("read").entries().count() > 0);
    }
    assert!(stale <= 1, "each next start removes what the last one left: {stale}");
    let session = Session::builder().enable_all().triggers(triggers(dir.path())).start();
    assert_eq!(names(dir.path()).1, Vec::<PathBuf>::new(), "what is not complete is gone");
    session.expect("start").stop().expect("stop");
}

#[test]
fn a_process_that_exits_writes_what_has_fired() {
    const TEST: &str = "a_process_that_exits_writes_what_has_fired";
    if let Some(dir) = child_directory() {
        let triggers = triggers(&dir).after(LONG);
        let session = Session::builder().enable_all().triggers(triggers).start().expect("start");
        d!(Log::Work, "before");
        session.trigger("again").expect("a session with triggers");
        d!(Log::Work, "after");
        std::mem::forget(session);
        std::process::exit(0);
    }
    let dir = temp_dir();
    run(&mut command(TEST, dir.path()));
    let (files, others) = names(dir.path());
    assert_eq!((files.len(), others.len()), (1, 0));
    let log = Trace::open(&files[0]).expect("open").read().expect("read");
    let texts: Vec<_> = log.entries().map(|it| it.values().text(Rendering::Bare)).collect();
    assert_eq!(texts, ["before", "trigger: again", "after"]);
}
