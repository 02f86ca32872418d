//! Single calls of a running Java program, switched and limited from outside, as they are written
//! and rewritten: what the tool reads back is what it reads of a program in Rust.

use super::switched::{Program, done};
use super::{classes, messages, rewritten, tool};
use protolog_testkit::serde_json::{self, Value};
use protolog_testkit::temp_dir_for_sockets;
use std::env::join_paths;
use std::path::{Path, PathBuf};

#[test]
fn calls_are_switched_and_limited_as_they_are_written() {
    let dir = temp_dir_for_sockets();
    let Some(classes) = classes() else { return };
    let mut program = program(dir.path(), &[classes.to_path_buf()], &[]);
    // They are known once they have logged, or where the dictionary of the jar has them.
    program.instruct("log 1");
    check(dir.path(), program, false);
}

#[test]
fn calls_are_switched_and_limited_rewritten() {
    let dir = temp_dir_for_sockets();
    let Some(written) = classes() else { return };
    let classes = rewritten(dir.path(), written, &["app/Limited.java", "app/AppLog.java"]);
    let program = program(dir.path(), &classes, &[]);
    check(dir.path(), program, true);
}

fn program(dir: &Path, classes: &[PathBuf], args: &[&str]) -> Program {
    let trace = dir.join("app.pftrace");
    let all: Vec<&str> =
        std::iter::once(trace.to_str().unwrap()).chain(args.iter().copied()).collect();
    Program::run(dir, &join_paths(classes).unwrap(), "app.Limited", &all)
}

fn check(dir: &Path, mut program: Program, is_rewritten: bool) {
    let before = usize::from(!is_rewritten);
    let site = |args: &[&str]| done(dir, &[&["site"], args].concat(), &[]);
    if is_rewritten {
        let list = site(&["list", "Limited.java"]);
        assert_eq!(list.matches("retry").count(), 2, "{list}");
        assert!(list.contains("Limited.java:"), "{list}");
    }
    site(&["enable", "\"retry %d\""]);
    program.instruct("log 5");
    site(&["disable", "\"/var is full\" and warn"]);
    program.instruct("log 5");
    let rules = site(&["rules"]);
    assert!(
        rules.contains("\"retry %d\"") && rules.contains("\"/var is full\" and warn"),
        "{rules}"
    );
    site(&["reset", "\"retry %d\""]);
    site(&["reset", "\"/var is full\" and warn"]);
    done(dir, &["limit", "DISK and warn", "1/h burst 10"], &[]);
    program.instruct("log 100");
    let ended = program.instruct("stop");
    program.send("end");
    program.end();
    let trace = dir.join("app.pftrace");
    assert_eq!(ended, [format!("{} 90", before + 25)]);
    let read = messages(&trace);
    let count = |text: &str| read.iter().filter(|line| line.contains(text)).count();
    assert_eq!(
        (count(": retry"), count("no retry"), count("/var")),
        (10, 0, before + 15),
        "{read:?}"
    );
    lost(&trace);
}

/// The trace says how many messages the limit has suppressed, of which group, since when: in one
/// record, or in several where the session's thread looks meanwhile.
fn lost(trace: &Path) {
    let text = tool(&["read-log", trace.to_str().unwrap()]).stdout;
    let mut lines = text.lines().filter(|line| line.contains("LOST"));
    let is_right = |line: &str| line.contains(" of app.AppLog.DISK: suppressed by a limit, since ");
    assert!(lines.all(is_right), "{text}");
    let json = tool(&["read-log", "--format", "json", trace.to_str().unwrap()]).stdout;
    let rows = json.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lost: Vec<Value> = rows.filter(|row| row["type"] == "loss").collect();
    assert!(lost.iter().all(|row| row["reason"] == "limited"), "{json}");
    let counts = lost.iter().map(|row| row["count"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), 90, "{json}");
}
