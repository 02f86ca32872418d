//! Java threads that count, over the smallest buffer: nothing is lost without being counted, there twice or torn.

use super::{classes, messages, run_java, tool};
use protolog_testkit::temp_dir;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const THREADS: u64 = 6;
const COUNT: u64 = 20_000;

/// Runs the program; the trace, and what it has printed.
fn stress(dir: &Path, classes: &Path, mode: &str) -> (PathBuf, String) {
    let (threads, count) = (THREADS.to_string(), COUNT.to_string());
    let args = [dir.to_str().unwrap(), &threads, &count, mode];
    let output = run_java(&[classes.to_path_buf()], "app.Stress", &args).unwrap();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    (dir.join("stress.pftrace"), output.stdout)
}

/// The messages of each thread, in their order; the number of short threads' messages.
fn count(trace: &Path) -> (BTreeMap<u64, Vec<u64>>, u64) {
    let (mut threads, mut short) = (BTreeMap::<u64, Vec<u64>>::new(), 0);
    for message in messages(trace) {
        if message == "WARN Net: short" {
            short += 1;
            continue;
        }
        let text = message.strip_prefix("INFO Disk: ").unwrap_or_else(|| panic!("{message}"));
        let (number, rest) = text.split_once(" of ").unwrap();
        let (thread, texts) = rest.split_once(": ").unwrap();
        let number: u64 = number.parse().unwrap();
        let is_long = number % 1000 == 999;
        let one = if is_long { "x".repeat(3900) } else { format!("text {}", number % 50) };
        assert_eq!(texts, format!("{one} {one}"));
        threads.entry(thread.parse().unwrap()).or_default().push(number);
    }
    (threads, short)
}

#[test]
fn all_messages_are_there_or_counted() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    for mode in ["keep", "stream"] {
        let (trace, printed) = stress(dir.path(), classes, mode);
        let (threads, short) = count(&trace);
        let logged = threads.values().map(|it| it.len() as u64).sum::<u64>() + short;
        for numbers in threads.values() {
            assert!(numbers.is_sorted_by(|one, next| one < next), "{mode}");
        }
        let all = THREADS * COUNT + COUNT / 10;
        assert_eq!(printed, format!("{logged} {}\n", all - logged), "{mode}");
        let shown = tool(&["read-log", trace.to_str().unwrap()]);
        assert!(!shown.stderr.contains("no end"), "{}", shown.stderr);
    }
}

#[test]
fn a_program_that_exits_completes_its_trace() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let (trace, _) = stress(dir.path(), classes, "exit");
    let (threads, _) = count(&trace);
    assert_eq!(threads.len() as u64, THREADS);
    for numbers in threads.values() {
        assert!(numbers.iter().copied().eq(0..numbers.len() as u64));
    }
    let shown = tool(&["read-log", trace.to_str().unwrap()]);
    assert!(!shown.stderr.contains("no end"), "{}", shown.stderr);
}
