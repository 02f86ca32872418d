//! Pinned rings of Java programs that are killed, end or start again: each error whose call has
//! returned is in what is read, however much chatter came after it, and all else is counted. The
//! rest is in `PinnedTest` of `java/test`.

use super::{classes, messages, tool};
use protolog_testkit::serde_json::{self, Value};
use protolog_testkit::{java, java_25, run_any, temp_dir, trace_processor};
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const CHATTER: u64 = 100_000;

fn start(dir: &Path, work: &str) -> Option<(Child, Lines<BufReader<ChildStdout>>)> {
    let mut java = java()?;
    java.arg("-Dprotolog.level=off").arg("-cp").arg(classes()?).arg("app.Pinning").arg(dir);
    let mut child = java.arg(work).stdout(Stdio::piped()).spawn().expect("start java");
    let out = BufReader::new(child.stdout.take().expect("its output")).lines();
    Some((child, out))
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn recover(recording: &Path) -> PathBuf {
    let trace = recording.with_extension("pftrace");
    tool(&["recover", recording.to_str().unwrap(), "-o", trace.to_str().unwrap()]);
    trace
}

/// The messages that a trace says are missing.
fn lost(trace: &Path) -> u64 {
    let json = tool(&["read-log", "--format", "json", trace.to_str().unwrap()]).stdout;
    let rows = json.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let losses = rows.filter(|row| row["type"] == "loss");
    losses.map(|row| row["count"].as_u64().unwrap()).sum()
}

/// Two errors are the first and the last message, and all others are there or counted.
fn check_chatter(trace: &Path) {
    let read = messages(trace);
    assert_eq!(read[0], "ERROR Disk: disk sda is full");
    assert_eq!(read.last().unwrap(), "ERROR Disk: the last error");
    let others = &read[1..read.len() - 1];
    assert!(others.iter().all(|line| line.starts_with("DEBUG Net: chatter")));
    assert!((5_000..50_000).contains(&others.len()), "{}", others.len());
    assert_eq!(read.len() as u64 + lost(trace), CHATTER + 2);
}

#[test]
fn a_killed_program_leaves_its_errors() {
    let dir = temp_dir();
    let Some((child, mut out)) = start(dir.path(), "chatter") else { return };
    assert_eq!(out.next().unwrap().unwrap(), "ready");
    kill(child);
    check_chatter(&recover(&dir.path().join("ring.rec")));
    // The next run leaves the recording, under another name.
    let (child, mut out) = start(dir.path(), "chatter").unwrap();
    assert_eq!(out.next().unwrap().unwrap(), "ready");
    kill(child);
    for name in ["ring.rec", "ring.rec.old"] {
        check_chatter(&recover(&dir.path().join(name)));
    }
}

#[test]
fn a_program_that_ends_leaves_one_log() {
    let dir = temp_dir();
    let Some((mut child, _)) = start(dir.path(), "end") else { return };
    assert!(child.wait().unwrap().success());
    let trace = dir.path().join("app.pftrace");
    check_chatter(&trace);
    assert!(!dir.path().join("ring.rec").exists(), "its messages are in the trace");
    // A ring that has wrapped has the names, too, of whoever wrote what is left.
    let json = tool(&["read-log", "--format", "json", trace.to_str().unwrap()]).stdout;
    let rows = json.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut rows = rows.filter(|row| row["type"] == "message");
    assert!(rows.all(|row| row["thread"] == "main" && row["group"] != ""), "{json}");
    let sql = [
        "SELECT message, level FROM protolog ORDER BY ts",
        "SELECT sum(value) AS value FROM stats WHERE name = 'traced_buf_chunks_overwritten'",
    ];
    if let Some(tables) = trace_processor(&trace, &sql) {
        let (texts, levels) = (tables[0].texts("message"), tables[0].texts("level"));
        assert_eq!((texts.len(), &*texts[0]), (messages(&trace).len(), "disk sda is full"));
        let ends = [&*levels[0], &*levels[1], &*levels[levels.len() - 1]];
        assert_eq!(ends, ["ERROR", "DEBUG", "ERROR"]);
        assert!(tables[1].texts("value")[0].parse::<f64>().unwrap() > 100.0);
    }
}

/// Of threads that have chunks left in the pinned ring, that have none, and that share a counter.
#[test]
fn what_a_pinned_ring_overwrote_is_counted_after_a_kill() {
    let dir = temp_dir();
    let Some((child, mut out)) = start(dir.path(), "threads") else { return };
    assert_eq!(out.next().unwrap().unwrap(), "ready");
    kill(child);
    let trace = recover(&dir.path().join("ring.rec"));
    let read = messages(&trace);
    assert_eq!(read.last().unwrap(), "ERROR Disk: error 59999");
    assert!(read.len() < 40_000, "{}", read.len());
    assert_eq!(read.len() as u64 + lost(&trace), 700 + 60_000);
}

#[test]
fn a_program_that_is_killed_at_any_instant_loses_no_error() {
    // `cargo xtask soak kill` has more of them.
    let rounds = std::env::var("PROTOLOG_KILL_ROUNDS").map_or(3, |rounds| rounds.parse().unwrap());
    let mut count = 0;
    for round in 0..rounds {
        let dir = temp_dir();
        let Some((child, mut out)) = start(dir.path(), "work") else { return };
        let mut said = vec![out.next().unwrap().unwrap(), out.next().unwrap().unwrap()];
        // "ready" is among the lines of the threads.
        let reader = std::thread::spawn(move || out.map_while(Result::ok).collect::<Vec<_>>());
        sleep(Duration::from_millis(20) + Duration::from_micros(round * 7_919 % 90_000));
        kill(child);
        said.extend(reader.join().unwrap());
        let read = messages(&recover(&dir.path().join("ring.rec")));
        let pairs = said.iter().filter_map(|line| line.split_once(' '));
        // The last line may be half of one.
        let is_whole = |thread: &str| ["0", "1", "2"].contains(&thread);
        for (error, thread) in pairs.filter(|(_, thread)| is_whole(thread)) {
            let line = format!("ERROR Disk: error {error} of {thread}");
            assert!(read.contains(&line), "{line} of {}", said.len());
            count += 1;
        }
    }
    assert!(count > 0, "errors were logged before a kill");
}

/// They share writers, in each ring some of its own.
#[test]
fn virtual_threads_lose_no_error() {
    let (Some(java), Some(classes)) = (java_25(), classes()) else { return };
    let dir = temp_dir();
    let mut java = Command::new(java);
    java.arg("-Dprotolog.level=off").arg("-cp").arg(classes).arg("app.Pinning");
    let output = run_any(java.arg(dir.path()).arg("virtual"));
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let trace = dir.path().join("app.pftrace");
    let read = messages(&trace);
    let errors = read.iter().filter(|line| line.starts_with("ERROR Disk: error of thread"));
    assert_eq!(errors.count(), 700);
    assert_eq!(read.len() as u64 + lost(&trace), CHATTER + 2 * 700);
}
