//! Java threads of every kind, each of which logs two messages and ends: nothing is lost without being counted, or there twice.

use super::{classes, messages};
use protolog_testkit::{java_25, run_any, temp_dir};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The threads of a kind; `cargo xtask soak java` has 100,000 of each.
fn threads() -> u64 {
    std::env::var("PROTOLOG_JAVA_THREADS").map_or(2_000, |threads| threads.parse().unwrap())
}

/// Runs so many threads of a kind, of which `alive` live at once; returns how many messages are lost.
fn run_threads(java: &Path, options: &[&str], kind: &str, count: u64, alive: u64) -> u64 {
    let dir = temp_dir();
    let trace = dir.path().join("threads.pftrace");
    let mut java = Command::new(java);
    java.args(options).arg("-cp").arg(classes().unwrap()).arg("app.Threads").arg(&trace);
    let output = run_any(java.args([&count.to_string(), &alive.to_string(), kind]));
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
    let lost = run_threads("java".as_ref(), &[], "platform", threads(), 64);
    assert_eq!(lost, 0);
}

/// Each thread that lives has a chunk, and more live than there are chunks: what they lose is counted.
#[test]
fn virtual_threads_leave_their_messages_or_count_them() {
    let (Some(java), Some(_)) = (java_25(), classes()) else { return };
    run_threads(&java, &[], "virtual", threads(), threads());
    let carriers = ["-Djdk.virtualThreadScheduler.parallelism=2"];
    assert_eq!(run_threads(&java, &carriers, "virtual", threads(), 500), 0);
}

/// Threads that sleep on their carrier: others can't run there meanwhile.
#[test]
fn pinned_threads_leave_their_messages() {
    let (Some(java), Some(_)) = (java_25(), classes()) else { return };
    let carriers = ["-Djdk.virtualThreadScheduler.parallelism=8"];
    assert_eq!(run_threads(&java, &carriers, "pinned", threads() / 4, 500), 0);
}
