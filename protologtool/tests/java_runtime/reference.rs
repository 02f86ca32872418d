//! The runtime beside a reference printer that shares no code with it: a program as written,
//! compiled with the printer, says what the rewritten one leaves in its trace, by
//! `trace_processor`'s rows and ours, while operators switch what that prints.

use super::switched::{Program, done};
use super::{classes, compile, messages, rewritten, sources};
use protolog_testkit::{java_sources, run_java, temp_dir, temp_dir_for_sockets, trace_processor};
use std::collections::BTreeMap;

/// All is printed in the first, switches are made during the second, one group is printed in the
/// third.
const PHASES: usize = 3;

/// Lines by the thread that their text names, each thread's in order.
type ByThread = BTreeMap<String, Vec<String>>;

#[test]
fn rows_are_what_a_reference_printer_prints() {
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let Some(expected) = reference() else { return };
    let path = rewritten(dir, classes().unwrap(), &["app/Workers.java", "app/AppLog.java"]);
    let trace = dir.join("workers.pftrace");
    let classpath = std::env::join_paths(path).unwrap();
    let args = [trace.to_str().unwrap()];
    let mut java = Program::run(dir, &classpath, "app.SwitchedWorkers", &args);
    let first = by_thread(java.instruct("all"));
    java.send("switched meanwhile");
    for switch in ["disable", "enable", "disable"] {
        done(dir, &["logcat", switch, "NET"], &[]);
    }
    let second = by_thread(java.printed());
    let third = by_thread(java.instruct("one group"));
    java.end();

    assert_eq!(by_thread(messages(&trace)), expected, "read-log");
    let rows =
        "SELECT level || ' ' || tag || ': ' || message AS line FROM protolog ORDER BY ts, id";
    if let Some(tables) = trace_processor(&trace, &[rows]) {
        assert_eq!(by_thread(tables[0].texts("line")), expected, "trace_processor");
    }
    for (thread, lines) in &expected {
        let is_of = |phase: usize| thread.starts_with(&format!("worker {phase}."));
        if is_of(0) {
            assert_eq!(&first[thread], lines);
        } else if is_of(1) {
            let mut rest = lines.iter();
            assert!(second[thread].iter().all(|line| rest.any(|it| it == line)), "{thread}");
        } else {
            let disk = lines.iter().filter(|line| line.contains(" Disk: "));
            assert!(third[thread].iter().eq(disk), "{thread}");
        }
    }
}

/// The lines of the program as written, printed by the reference printer; none without javac.
fn reference() -> Option<ByThread> {
    let dir = temp_dir();
    let own = java_sources(&sources().join("reference"));
    let written = ["Workers.java", "AppLog.java"].map(|name| sources().join("app").join(name));
    if !compile(&[own, written.to_vec()].concat(), &[], dir.path()) {
        return None;
    }
    let phases = PHASES.to_string();
    let output = run_java(&[dir.path().to_path_buf()], "app.Reference", &[&phases])?;
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let lines = by_thread(output.stdout.lines().map(str::to_owned).collect());
    assert_eq!(lines.len(), 4 * PHASES);
    Some(lines)
}

fn by_thread(lines: Vec<String>) -> ByThread {
    let mut threads = ByThread::new();
    for line in lines {
        let line = without_hash_codes(&line);
        let text = line.split_once(": ").unwrap().1;
        let end = ["worker 0.0".len(), text.len()].into_iter().min().unwrap();
        threads.entry(text[..end].to_owned()).or_default().push(line);
    }
    threads
}

/// The text of an array ends in a number that is another one in each process.
fn without_hash_codes(line: &str) -> String {
    let parts = line.split('@').enumerate().map(|(at, part)| match at {
        0 => part,
        _ => part.trim_start_matches(|it: char| it.is_ascii_hexdigit()),
    });
    parts.collect::<Vec<_>>().join("@")
}
