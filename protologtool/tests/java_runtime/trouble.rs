//! A Java program whose heap is full while it logs: no call throws, and each message is in the trace or counted.

use super::{classes, messages};
use protolog_testkit::{run_any, temp_dir};
use std::process::Command;

#[test]
fn a_full_heap_costs_messages_that_are_counted() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let trace = dir.path().join("memory.pftrace");
    let mut java = Command::new("java");
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
