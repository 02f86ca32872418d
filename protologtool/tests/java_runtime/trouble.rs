//! A Java program whose heap is full while it logs: no call throws, and each message is in the
//! trace or counted.

use super::{classes, messages};
use protolog_testkit::{java, run_any, temp_dir};
use std::fs::{self, File};

#[test]
fn a_full_heap_costs_messages_that_are_counted() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let trace = dir.path().join("memory.pftrace");
    let mut java = java().expect("java");
    java.args(["-Xmx32m", "-XX:+UseSerialGC", "-cp"]).arg(classes);
    let output = run_any(java.arg("app.Trouble").arg(&trace));
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "0 true\n"), "{}", output.stderr);
    assert!(!output.stderr.contains("drain"), "{}", output.stderr);
    let texts = messages(&trace);
    let of_program = |text: &String| {
        text.ends_with(": 1 of x") || text.ends_with("(1)") || text.ends_with(": round over")
    };
    assert!(texts.iter().all(of_program), "{texts:?}");
}

/// A dictionary that fills the heap, as a few bytes of a jar can expand to.
#[test]
fn a_dictionary_without_end_costs_no_message() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let dictionary = dir.path().join("META-INF/protolog/dictionary.pb");
    fs::create_dir_all(dictionary.parent().unwrap()).unwrap();
    File::create(dictionary).unwrap().set_len(1 << 30).unwrap();
    let trace = dir.path().join("app.pftrace");
    let path = std::env::join_paths([classes, dir.path()]).unwrap();
    let mut java = java().expect("java");
    java.args(["-Xmx64m", "-XX:+UseSerialGC", "-cp"]).arg(path);
    let output = run_any(java.arg("app.Plain").arg(&trace));
    assert_eq!((output.code, &*output.stdout), (Some(0), "5\n"), "{}", output.stderr);
    let said = output
        .stderr
        .matches("META-INF/protolog/dictionary.pb`: java.io.IOException: it has more than");
    assert_eq!(said.count(), 1, "{}", output.stderr);
    assert_eq!(messages(&trace).len(), 5);
}

/// A ring that is larger than the heap: nothing of it is copied there, neither for a snapshot nor
/// in the end.
#[test]
fn a_ring_may_be_larger_than_the_heap() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let mut java = java().expect("java");
    java.args(["-Xmx24m", "-XX:+UseSerialGC", "-cp"]).arg(classes).arg("app.Kept").arg(dir.path());
    let output = run_any(&mut java);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let lines: Vec<_> = output.stdout.lines().collect();
    assert!(lines.len() == 2 && lines[0] == lines[1], "{lines:?}");
    let numbers: Vec<usize> = lines[0].split(' ').map(|number| number.parse().unwrap()).collect();
    assert_eq!(numbers.iter().sum::<usize>(), 16_000, "{lines:?}");
    let read = messages(&dir.path().join("a.pftrace"));
    assert_eq!(read.len(), numbers[0]);
    assert!(read.last().unwrap().starts_with("INFO Work: 15999 15999 "));
}

/// The thread that writes files of triggers outlives a heap that is full: what fires later is
/// written.
#[test]
fn triggers_outlive_a_full_heap() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let mut java = java().expect("java");
    // Without buffers of threads, in which small objects may still have room.
    java.args(["-Xmx12m", "-XX:+UseSerialGC", "-XX:-UseTLAB", "-cp"]).arg(classes);
    let output = run_any(java.arg("app.Exhausted").arg(dir.path()));
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "true\n"), "{}", output.stderr);
}
