//! Texts that differ must fail with a difference that one can read.

use protolog_testkit::{assert_eq_text, diff, expect_file, temp_dir};

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
fn line_ends_show() {
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
