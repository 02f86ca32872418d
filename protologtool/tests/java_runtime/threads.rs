//! Java threads of every kind, each of which logs two messages and ends: nothing is lost without
//! being counted, or there twice.

use super::{classes, messages, tool};
use protolog_testkit::{java_25, run_any, temp_dir};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The threads of a kind; `cargo xtask soak java` has 100,000 of each.
fn threads() -> u64 {
    std::env::var("PROTOLOG_JAVA_THREADS").map_or(2_000, |threads| threads.parse().unwrap())
}

/// Runs so many threads of a kind, of which `alive` live at once; returns how many messages are
/// lost.
fn run_threads(
    java: &Path,
    options: &[&str],
    kind: &str,
    count: u64,
    alive: u64,
    buffer: u64,
) -> u64 {
    let dir = temp_dir();
    let trace = dir.path().join("threads.pftrace");
    let mut java = Command::new(java);
    java.args(options).arg("-cp").arg(classes().unwrap()).arg("app.Threads").arg(&trace);
    java.args([&count.to_string(), &alive.to_string(), kind, &buffer.to_string()]);
    let output = run_any(&mut java);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let (recorded, lost) = output.stdout.trim().split_once(' ').unwrap();
    let lost: u64 = lost.parse().unwrap();
    let texts = messages(&trace);
    assert_eq!(
        (texts.len().to_string().as_str(), texts.len() as u64 + lost),
        (recorded, 2 * count)
    );
    let mut begun = BTreeSet::new();
    let mut ended = BTreeSet::new();
    for text in texts {
        let (message, number) = text.split_once(" of ").unwrap();
        let number: u64 = number.parse().unwrap();
        assert!(number < count);
        let is_first = message == "INFO Net: first";
        assert!(is_first || message == "INFO Net: second", "{text}");
        let is_new = if is_first { &mut begun } else { &mut ended }.insert(number);
        assert!(is_new, "{text}, again");
        assert!(!is_first || !ended.contains(&number), "{text}, too late");
    }
    lost
}

#[test]
fn threads_that_live_shortly_leave_their_messages() {
    if classes().is_none() {
        return;
    }
    let lost = run_threads("java".as_ref(), &[], "platform", threads(), 64, 16 << 20);
    assert_eq!(lost, 0);
}

/// More threads live at once than the buffer has chunks. It has room for all messages, whenever the
/// session's thread has its turn.
#[test]
fn virtual_threads_leave_their_messages() {
    let (Some(java), Some(_)) = (java_25(), classes()) else { return };
    let many = 4 * threads();
    assert_eq!(run_threads(&java, &[], "virtual", many, many, (many * 512).next_power_of_two()), 0);
    let carriers = ["-Djdk.virtualThreadScheduler.parallelism=2"];
    assert_eq!(run_threads(&java, &carriers, "virtual", threads(), 500, 16 << 20), 0);
}

/// Threads that sleep on their carrier: others can't run there meanwhile.
#[test]
fn pinned_threads_leave_their_messages() {
    let (Some(java), Some(_)) = (java_25(), classes()) else { return };
    let carriers = ["-Djdk.virtualThreadScheduler.parallelism=8"];
    assert_eq!(run_threads(&java, &carriers, "pinned", threads() / 4, 500, 16 << 20), 0);
}

/// A thread that forgets its thread locals between two tasks is the same thread. There are more
/// tasks than a trace has numbers for threads.
#[test]
fn tasks_of_the_common_pool_leave_their_messages() {
    let (Some(java), Some(classes)) = (java_25(), classes()) else { return };
    let dir = temp_dir();
    let trace = dir.path().join("pooled.pftrace");
    let mut java = Command::new(java);
    java.arg("-cp").arg(classes).arg("app.Pooled").arg(&trace).arg("40000");
    let output = run_any(&mut java);
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "40000 0\n"), "{output:?}");
    assert_eq!(messages(&trace).len(), 40_000);
}

/// A pool's thread may have another name for each request, and virtual threads share their chunks.
#[test]
fn each_message_has_the_name_that_its_thread_had() {
    let (Some(newer), Some(classes)) = (java_25(), classes()) else { return };
    for (java, kind) in [("java".as_ref(), "platform"), (newer.as_path(), "virtual")] {
        let dir = temp_dir();
        let trace = dir.path().join("names.pftrace");
        let mut java = Command::new(java);
        java.arg("-cp").arg(classes).arg("app.Renamed").arg(&trace).arg(kind);
        let output = run_any(&mut java);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
        let output = tool(&["read-log", "--format", "json", trace.to_str().unwrap()]);
        let rows = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        let mut seen = 0;
        for row in rows.filter(|row: &serde_json::Value| row["type"] == "message") {
            let message = row["message"].as_str().unwrap();
            assert_eq!(message, format!("of {}", row["thread"].as_str().unwrap()));
            seen += 1;
        }
        assert_eq!(seen, 3_000, "{kind}");
    }
}
