//! Compares texts, with differences that are readable in a terminal.

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Unchanged lines shown around a difference.
const CONTEXT: usize = 3;

/// Asserts that two texts are equal.
///
/// # Panics
///
/// If they differ, with a line diff: `-` expected, `+` actual.
#[track_caller]
pub fn assert_eq_text(expected: &str, actual: &str) {
    assert!(expected == actual, "texts differ (- expected, + actual)\n{}", diff(expected, actual));
}

/// Asserts that the file contains `actual`. Under `UPDATE_EXPECT=1`, writes the file instead.
///
/// # Panics
///
/// If they differ, or the file can't be read or written.
#[track_caller]
pub fn expect_file(path: &Path, actual: &str) {
    if updating() {
        if fs::read_to_string(path).is_ok_and(|old| old == actual) {
            return;
        }
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).expect("make the directory of an expectation");
        }
        fs::write(path, actual)
            .unwrap_or_else(|error| panic!("can't write `{}`: {error}", path.display()));
        return;
    }
    let expected = fs::read_to_string(path).unwrap_or_else(|error| {
        panic!(
            "can't read `{}`: {error}\nhelp: run with UPDATE_EXPECT=1 to write it",
            path.display()
        )
    });
    assert!(
        expected == actual,
        "`{}` differs (- expected, + actual)\n{}help: run with UPDATE_EXPECT=1 if the new text is right",
        path.display(),
        diff(&expected, actual)
    );
}

/// True if expectations are rewritten instead of checked (`UPDATE_EXPECT=1`).
pub fn updating() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1")
}

/// The lines in which two texts differ, with three lines of context: `-` for `old`, `+` for `new`.
/// A `\r` at the end of a line and a missing newline are shown.
pub fn diff(old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let script = script(&old, &new);
    let mut out = String::new();
    let mut last_shown = None;
    for (at, (sign, line)) in script.iter().enumerate() {
        let near = script[at.saturating_sub(CONTEXT)..script.len().min(at + CONTEXT + 1)].iter();
        if near.clone().all(|(sign, _)| *sign == ' ') {
            continue;
        }
        if last_shown != at.checked_sub(1) {
            out.push_str("  …\n");
        }
        last_shown = Some(at);
        let _ = writeln!(out, "{sign} {}", visible(line));
    }
    out
}

/// Longest common subsequence of the part between the common head and tail. It is quadratic, which
/// is fine for test texts; a part of more than 4 million cells is shown as replaced completely.
fn script<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail =
        old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut out: Vec<(char, &str)> = old[..head].iter().map(|line| (' ', *line)).collect();
    if a.len().saturating_mul(b.len()) > 4_000_000 {
        out.extend(a.iter().map(|line| ('-', *line)).chain(b.iter().map(|line| ('+', *line))));
    } else {
        middle(a, b, &mut out);
    }
    out.extend(old[old.len() - tail..].iter().map(|line| (' ', *line)));
    out
}

fn middle<'a>(a: &[&'a str], b: &[&'a str], out: &mut Vec<(char, &'a str)>) {
    // common[i][j]: length of the longest common subsequence of a[i..] and b[j..].
    let mut common = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = if a[i] == b[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            out.push((' ', a[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < a.len() && (j == b.len() || common[i + 1][j] >= common[i][j + 1]) {
            out.push(('-', a[i]));
            i += 1;
        } else {
            out.push(('+', b[j]));
            j += 1;
        }
    }
}

fn visible(line: &str) -> String {
    match line.strip_suffix('\n') {
        Some(line) => line.replace('\r', "\\r"),
        None => format!("{}  (no newline at the end)", line.replace('\r', "\\r")),
    }
}
