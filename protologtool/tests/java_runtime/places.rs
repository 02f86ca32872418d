//! Places of calls and stack traces in traces of Java programs: of sessions that ask for them, and
//! of no others.

use super::{classes, run_java, tool};
use protolog_testkit::{temp_dir, trace_processor};
use serde_json::Value;
use std::path::Path;

/// Text, location and stack trace of each message.
fn rows(trace: &Path) -> Vec<[String; 3]> {
    let output = tool(&["read-log", "--format", "json", trace.to_str().unwrap()]);
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        ["message", "location", "stack_trace"].map(|key| row[key].as_str().unwrap_or("").to_owned())
    };
    output.stdout.lines().map(row).collect()
}

/// The line of the program that has `code`.
fn line(code: &str) -> usize {
    let lines = include_str!("app/Places.java").lines();
    let found: Vec<_> = lines.zip(1..).filter(|(line, _)| line.contains(code)).collect();
    assert_eq!(found.len(), 1, "{code}");
    found[0].1
}

fn frame(method: &str, code: &str) -> String {
    format!("at app.Places.{method}(Places.java:{})\n", line(code))
}

#[test]
fn sessions_that_ask_have_places_and_stack_traces() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let args = [dir.path().to_str().unwrap()];
    let output = run_java(&[classes.to_path_buf()], "app.Places", &args).unwrap();
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "0 0\n"), "{}", output.stderr);
    let plain = rows(&dir.path().join("plain.pftrace"));
    assert!(plain.iter().all(|row| row[1..] == ["", ""]), "{plain:?}");
    let trace = dir.path().join("places.pftrace");
    let asked = rows(&trace);
    assert!(plain.iter().map(|row| &row[0]).eq(asked.iter().map(|row| &row[0])));
    let of = |text: &str| {
        let row = asked.iter().find(|row| row[0].starts_with(text)).expect(text);
        (row[1].as_str(), row[2].as_str())
    };
    let at = |code: &str| format!("app/Places.java:{}", line(code));
    let first = line("\"block %d\", i)");
    assert_eq!(
        of("block 0"),
        (&*format!("{};{}", at("\"block %d\", i)"), at("\"block %d\", 2)")), "")
    );
    assert_eq!(of("block 2").0, format!("app/Places.java:{first};app/Places.java:{}", first + 2));
    assert_eq!(of("in a lambda"), (&*at("\"in a lambda\""), ""));
    assert_eq!(of("to another logger").0, at("\"another logger\""));
    let main = frame("main", "nested(3);");
    let (inner, outer) = (frame("nested", "\"nested\""), frame("nested", "nested(depth - 1)"));
    assert_eq!(of("nested"), (&*at("\"nested\""), &*format!("{inner}{}{main}", outer.repeat(3))));
    let main = frame("main", "thrown(new ");
    let call = frame("thrown", "failed: %s, %s");
    let name = "java.lang.IllegalStateException: no memory\n";
    let cause = "Caused by: java.lang.RuntimeException: the cause\n... 1 more\n";
    assert_eq!(
        of("failed: java.lang.IllegalStateException: no memory, ").1,
        format!("{call}{main}{name}{main}{cause}")
    );
    assert_eq!(of("#0000000000001234").1, frame("main", "0x1234"));
    let deep = of("java.lang.IllegalStateException: as deep").1;
    assert!((2500..=4096).contains(&deep.len()), "{deep}");
    // Frames are left out, and no cause.
    assert!(deep.ends_with(" more\nCaused by: java.lang.RuntimeException: deep\n... 2 more\n"));
    assert_eq!(deep.matches("as deep\n").count(), 1, "{deep}");
    let query = "SELECT stacktrace, location FROM protolog WHERE message LIKE 'nested'";
    if let Some(tables) = trace_processor(&trace, &[query]) {
        assert_eq!(tables[0].texts("stacktrace"), [of("nested").1]);
        assert_eq!(tables[0].texts("location"), [of("nested").0]);
    }
}
