//! A missing tool is reported and listed; in CI it is a failure.
//!
//! This depends on the environment, so each case runs the test `looks_for_a_missing_tool` in a
//! process of its own.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use protolog_testkit::{Output, run_any, temp_dir, tool};

/// Set in the processes that the other tests start; without it, the test does nothing.
const CHILD: &str = "PROTOLOG_TESTKIT_CHILD";

#[test]
fn looks_for_a_missing_tool() {
    if env::var_os(CHILD).is_some() {
        assert_eq!(tool("no-such-program"), None);
    }
}

#[test]
fn a_missing_tool_is_listed() {
    let dir = temp_dir();
    let list = dir.path().join("skipped");
    let output = child(&list, "");
    assert_eq!(output.code, Some(0), "{output:?}");
    let expected = "skipped: this check (looks_for_a_missing_tool) because `no-such-program` is not installed\n";
    assert!(output.stderr.contains(expected), "{output:?}");
    assert_eq!(fs::read_to_string(list).expect("the list"), expected);
}

#[test]
fn in_ci_a_missing_tool_is_a_failure() {
    let dir = temp_dir();
    let output = child(&dir.path().join("skipped"), "1");
    assert_ne!(output.code, Some(0), "{output:?}");
    assert!(output.stderr.contains("in CI nothing may be skipped"), "{output:?}");
}

#[test]
fn present_tools_are_found() {
    assert!(tool("sh").expect("a shell").is_absolute());
}

fn child(list: &Path, ci: &str) -> Output {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--exact", "looks_for_a_missing_tool", "--nocapture", "--test-threads=1"]);
    run_any(command.env(CHILD, "1").env("CI", ci).env("PROTOLOG_SKIPPED", list))
}
