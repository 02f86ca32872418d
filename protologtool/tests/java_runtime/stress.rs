//! Java threads that count, over the smallest buffer: nothing is lost without being counted, there
//! twice or torn.

use super::{classes, tool};
use protolog_testkit::{run_any, temp_dir};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const THREADS: u64 = 8;

/// Messages of a run, or of a part of one, as many for each thread; `cargo xtask soak java` has 10
/// million.
fn all_messages(part: u64) -> u64 {
    let all = std::env::var("PROTOLOG_JAVA_MESSAGES")
        .map_or(120_000, |messages| messages.parse::<u64>().unwrap());
    all / part / THREADS * THREADS
}

/// Runs the program with options of the JVM; the trace, and what it has printed.
fn stress(dir: &Path, options: &[&str], mode: &str, messages: u64) -> (PathBuf, String) {
    assert_eq!(messages % THREADS, 0, "each thread logs as many");
    let mut java = Command::new("java");
    java.args(options).arg("-cp").arg(classes().unwrap()).arg("app.Stress").arg(dir);
    let output =
        run_any(java.args([&THREADS.to_string(), &(messages / THREADS).to_string(), mode]));
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    (dir.join("stress.pftrace"), output.stdout)
}

/// Messages of each thread that are there: their count, and the number of the last. They must be
/// whole and in order.
fn count(trace: &Path) -> BTreeMap<u64, (u64, u64)> {
    let mut read = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    read.args(["read-log", "--columns", "message"]).arg(trace);
    let mut child = read.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut threads = BTreeMap::<u64, (u64, u64)>::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap) {
        // The reader says where messages are lost.
        let second = line.split(' ').nth(1).unwrap_or_default();
        if second.starts_with("message") {
            continue;
        }
        let (number, rest) = line.split_once(" of ").unwrap_or_else(|| panic!("{line}"));
        let (thread, texts) = rest.split_once(": ").unwrap_or_else(|| panic!("{line}"));
        let number: u64 = number.parse().unwrap_or_else(|_| panic!("{line}"));
        let is_long = number % 1000 == 999;
        let one = if is_long { "x".repeat(3900) } else { format!("text {}", number % 50) };
        assert_eq!(texts, format!("{one} {one}"));
        let state = threads.entry(thread.parse().unwrap()).or_default();
        assert!(state.0 == 0 || number > state.1, "{number} of {thread} after {}", state.1);
        *state = (state.0 + 1, number);
    }
    child.wait().unwrap();
    threads
}

/// The messages of a thread, for a person who looks for those that are missing.
#[derive(Default)]
struct ThreadMessages {
    /// Its number in the program, once a message has said it.
    number: Option<u64>,
    there: BTreeSet<u64>,
    /// Losses that its packets report, and the messages that were there before each report.
    losses: Vec<(u64, usize)>,
}

/// A line for each thread: messages that are there, those that it reports as lost, and the gaps
/// between them, the shortest first.
fn describe(trace: &Path, logged: u64) -> String {
    let rows = tool(&["read-log", "--format", "json", trace.to_str().unwrap()]).stdout;
    let mut threads = BTreeMap::<u64, ThreadMessages>::new();
    for row in rows.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
        let thread = threads.entry(row["tid"].as_u64().unwrap_or_default()).or_default();
        if row["type"] == "loss" {
            thread.losses.push((row["count"].as_u64().unwrap_or_default(), thread.there.len()));
        } else if row["type"] == "message" {
            thread.number = row["args"][1].as_u64();
            thread.there.extend(row["args"][0].as_u64());
        }
    }
    let line = |thread: &ThreadMessages| {
        let ends = thread.there.iter().copied().chain([logged]);
        let begins = std::iter::once(0).chain(thread.there.iter().map(|number| number + 1));
        let mut gaps: Vec<_> = begins.zip(ends).filter(|(begin, end)| begin < end).collect();
        gaps.sort_by_key(|(begin, end)| end - begin);
        gaps.truncate(20);
        let lost: u64 = thread.losses.iter().map(|loss| loss.0).sum();
        format!(
            "thread {:?}: {} there, {lost} reported as lost, gaps {gaps:?}, reports {:?}\n",
            thread.number,
            thread.there.len(),
            &thread.losses[..thread.losses.len().min(20)],
        )
    };
    threads.values().map(line).collect()
}

/// Each message must be in the trace, or counted as lost by the session.
fn assert_all_counted(dir: &Path, options: &[&str], mode: &str, messages: u64) {
    let (trace, printed) = stress(dir, options, mode, messages);
    let there: u64 = count(&trace).values().map(|state| state.0).sum();
    assert!(there > 0);
    let expected = format!("{there} {}\n", messages - there);
    if printed != expected {
        let each = describe(&trace, messages / THREADS);
        panic!("{mode} {options:?} printed {printed}not {expected}{each}");
    }
    let shown = tool(&["read-log", "-n", "1", trace.to_str().unwrap()]);
    assert!(!shown.stderr.contains("no end"), "{}", shown.stderr);
}

#[test]
fn all_messages_are_there_or_counted() {
    let dir = temp_dir();
    if classes().is_none() {
        return;
    }
    for mode in ["keep", "stream", "record"] {
        assert_all_counted(dir.path(), &[], mode, all_messages(1));
    }
}

/// Heaps that are hardly large enough, of each collector, with a thread that fills them.
#[test]
fn collectors_under_pressure_lose_nothing() {
    let dir = temp_dir();
    if classes().is_none() {
        return;
    }
    for (collector, heap) in [
        ("-XX:+UseSerialGC", "-Xmx16m"),
        ("-XX:+UseParallelGC", "-Xmx16m"),
        ("-XX:+UseG1GC", "-Xmx24m"),
        ("-XX:+UseZGC", "-Xmx48m"),
    ] {
        let options = [collector, heap, "-Dgarbage=true"];
        assert_all_counted(dir.path(), &options, "stream", all_messages(6));
    }
}

#[test]
fn a_program_that_exits_completes_its_trace() {
    let dir = temp_dir();
    if classes().is_none() {
        return;
    }
    let (trace, _) = stress(dir.path(), &[], "exit", 160_000);
    let threads = count(&trace);
    assert_eq!(threads.len() as u64, THREADS);
    for (count, last) in threads.into_values() {
        assert_eq!(count, last + 1);
    }
    let shown = tool(&["read-log", "-n", "1", trace.to_str().unwrap()]);
    assert!(!shown.stderr.contains("no end"), "{}", shown.stderr);
}
