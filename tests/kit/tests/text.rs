//! Differing texts fail with a readable difference.

use std::path::Path;
use std::process::Command;

use protolog_testkit::{assert_eq_text, diff, expect_file, run, temp_dir, updating};

/// Set in the process that rewrites the file.
const CHILD: &str = "PROTOLOG_TESTKIT_CHILD";

#[test]
fn equal_texts_have_no_difference() {
    assert_eq!(diff("a\nb\n", "a\nb\n"), "");
    assert_eq_text("a\r\n", "a\r\n");
}

#[test]
fn a_difference_shows_lines_with_context() {
    let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n";
    assert_eq!(diff(old, new), "  …\n  2\n  3\n  4\n- 5\n+ five\n  6\n  7\n  8\n  9\n+ 10\n");
}

#[test]
fn line_ends_are_shown() {
    assert_eq!(diff("a\n", "a"), "- a\n+ a  (no newline at the end)\n");
    assert_eq!(diff("a\r\n", "a\n"), "- a\\r\n+ a\n");
}

#[test]
fn moved_lines_keep_what_is_common() {
    assert_eq!(diff("a\nb\nc\n", "b\nc\na\n"), "- a\n  b\n  c\n+ a\n");
}

#[test]
#[should_panic(expected = "texts differ (- expected, + actual)\n- a\n+ b\n")]
fn different_texts_panic() {
    assert_eq_text("a\n", "b\n");
}

#[test]
fn a_file_is_an_expectation() {
    let dir = temp_dir();
    let file = dir.path().join("expected.txt");
    std::fs::write(&file, "a\n").expect("write");
    expect_file(&file, "a\n");
}

/// Tests `UPDATE_EXPECT=1` in a process of its own.
#[test]
fn a_file_that_differs_is_a_panic_or_is_rewritten() {
    let dir = temp_dir();
    let file = dir.path().join("deep/expected.txt");
    if std::env::var_os(CHILD).is_some_and(|child| child == "1") {
        expect_file(&file, "new\n");
        assert_eq!(std::fs::read_to_string(&file).expect("read"), "new\n");
        return;
    }
    let text = |work: fn(&Path)| {
        let panic = std::panic::catch_unwind(|| work(&file)).expect_err("a panic");
        panic.downcast_ref::<String>().expect("a text").clone()
    };
    if updating() {
        return;
    }
    let missing = text(|file| expect_file(file, "new\n"));
    assert!(missing.ends_with("help: run with UPDATE_EXPECT=1 to write it"), "{missing}");
    std::fs::create_dir(file.parent().expect("a directory")).expect("make a directory");
    std::fs::write(&file, "old\n").expect("write");
    let differs = text(|file| expect_file(file, "new\n"));
    assert!(differs.contains("differs (- expected, + actual)\n- old\n+ new\n"), "{differs}");
    assert_eq!(std::fs::read_to_string(&file).expect("read"), "old\n", "not touched");

    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child.args(["--exact", "a_file_that_differs_is_a_panic_or_is_rewritten"]);
    run(child.env(CHILD, "1").env("UPDATE_EXPECT", "1"));
}
