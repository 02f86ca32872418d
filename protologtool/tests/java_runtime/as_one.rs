//! Two sessions of one program: their traces, read as one or merged, have each message and each
//! span once, as the trace of the session that has all. `protolog-rt/tests/sessions_as_one.rs` has
//! those of Rust.

use super::{classes, tool};
use protolog_testkit::{java_25, run_any, temp_dir, trace_processor};
use std::path::Path;
use std::process::Command;

#[test]
fn what_two_sessions_have_is_there_once() {
    check("java".as_ref(), "platform");
}

#[test]
fn what_virtual_threads_log_to_two_sessions_is_there_once() {
    if let Some(java) = java_25() {
        check(&java, "virtual");
    }
}

#[track_caller]
fn check(java: &Path, threads: &str) {
    let (dir, Some(classes)) = (temp_dir(), classes()) else { return };
    let mut program = Command::new(java);
    program.arg("-Dprotolog.level=off").arg("-cp").arg(classes);
    let output = run_any(program.arg("app.TwoSessions").arg(dir.path()).arg(threads));
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let path = |name: &str| dir.path().join(name).display().to_string();
    let read = |inputs: &[&str]| {
        // Each session looks at the wall clock by itself.
        let output = tool(&[&["read-log", "--spans", "--time", "boot"], inputs].concat());
        // Threads may log in one nanosecond.
        let mut lines: Vec<String> = output.stdout.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let (whole, ring, merged) = (path("whole.pftrace"), path("ring.pftrace"), path("merged"));
    let all = read(&[&whole]);
    // 99 calls of 121 messages, and of 31 spans that begin and end, and one span around.
    assert_eq!(all.len(), 99 * (121 + 2 * 31) + 2);
    let some = read(&[&ring]).len();
    assert!(some > 100 && some < all.len() / 2, "{some}");
    for inputs in [[whole.as_str(), &ring], [&ring, &whole]] {
        let is_lost = |line: &String| line.contains("! LOST");
        let found: Vec<_> = read(&inputs).into_iter().filter(|line| !is_lost(line)).collect();
        assert!(found == all, "{} of {}", found.len(), all.len());
        let output = tool(&["merge", inputs[0], inputs[1], "-o", &merged]);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
        let slices = "(select dur from slice where name not like 'protolog session %')";
        let sql = format!(
            "select (select count(*) from protolog) || ' ' || (select count(*) from {slices} where dur >= 0)
            || ' ' || (select count(*) from {slices} where dur < 0) as counts"
        );
        if let Some(tables) = trace_processor(merged.as_ref(), &[&sql]) {
            assert_eq!(tables[0].texts("counts"), [format!("{} {} 0", 99 * 121, 99 * 31 + 1)]);
        }
    }
}
