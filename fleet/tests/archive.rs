//! An archive gives back what its traces have: the lines of `read-log`, each once, in order.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{exported, fleet, lines_of, trace};
use tempfile::TempDir;

/// Compares line by line, so that a difference is shown and not all.
fn assert_same(lines: &str, expected: &str, what: &str) {
    for (number, (line, expected)) in lines.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, expected, "{what}: line {number}");
    }
    assert_eq!(lines.lines().count(), expected.lines().count(), "{what}");
}

fn check(trace: &[u8], what: &str) {
    let Some(expected) = lines_of(trace) else { return };
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("app.pftrace"), trace).unwrap();
    assert_same(&exported(dir.path(), &["app.pftrace"]), &expected, what);
}

#[test]
fn all_kinds_of_values_spans_and_losses_come_back() {
    let expected = lines_of(trace()).unwrap();
    for part in ["\"span_end\"", "\"loss\"", "\"NaN\"", "\"stack_trace\"", "18446744073709551615"] {
        assert!(expected.contains(part), "the trace has no {part}");
    }
    check(trace(), "the trace");
}

/// Damage makes traces with everything that is unusual: messages in no dictionary, values that do
/// not fit, strings and times that are missing, spans without an end.
#[test]
fn what_is_left_of_damaged_traces_comes_back() {
    let trace = trace();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |most: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) as usize % most
    };
    for round in 0..60 {
        let mut damaged = trace[..200_000.min(trace.len())].to_vec();
        let more = &trace[trace.len() - 60_000..];
        damaged.extend_from_slice(more);
        for _ in 0..=next(40) {
            let at = next(damaged.len());
            damaged[at] ^= 1 << next(8);
        }
        if round % 3 == 0 {
            damaged.truncate(next(damaged.len()));
        }
        check(&damaged, &format!("damaged trace {round}"));
    }
}

#[test]
fn exporting_again_changes_nothing_and_a_grown_trace_replaces_itself() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("app.pftrace");
    let whole = trace();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let output = fleet(&["parquet", "-o", "archive", "app.pftrace"], dir.path());
    assert_eq!(output.status.code(), Some(3));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("warning: `app.pftrace` is damaged: "), "{errors}");
    let half = exported(dir.path(), &["app.pftrace"]);
    fs::write(&path, whole).unwrap();
    let all = exported(dir.path(), &["app.pftrace"]);
    assert!(half.lines().count() < all.lines().count());
    assert_eq!(all, lines_of(whole).unwrap());
    let before = content(&dir.path().join("archive"));
    fs::rename(&path, dir.path().join("other.pftrace")).unwrap();
    assert_eq!(exported(dir.path(), &["other.pftrace"]), all);
    let after = content(&dir.path().join("archive"));
    let tables = |files: &[(PathBuf, Vec<u8>)]| -> Vec<(PathBuf, Vec<u8>)> {
        let is_table = |(path, _): &&(PathBuf, Vec<u8>)| path.extension().unwrap() == "parquet";
        files.iter().filter(is_table).cloned().collect()
    };
    assert!(!tables(&before).is_empty());
    assert!(tables(&before) == tables(&after));
}

#[test]
fn a_directory_of_traces_becomes_one_archive() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("logs")).unwrap();
    fs::write(dir.path().join("logs/a.pftrace"), trace()).unwrap();
    // Another one by its first bytes.
    let other = [&[0x0a, 2, 0x50, 7], trace()].concat();
    fs::write(dir.path().join("logs/b.pftrace"), &other).unwrap();
    let lines = exported(dir.path(), &["logs"]);
    let both =
        lines_of(trace()).unwrap().lines().count() + lines_of(&other).unwrap().lines().count();
    assert_eq!(lines.lines().count(), both);
}

#[test]
fn a_failure_leaves_the_archive_as_it_was() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("bad.pftrace"), "no trace").unwrap();
    let output = fleet(&["parquet", "-o", "archive", "bad.pftrace"], dir.path());
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("error: can't read `bad.pftrace`"), "{errors}");
    assert_eq!(content(&dir.path().join("archive")), []);
    // A file where a directory would be.
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    fs::create_dir_all(dir.path().join("archive")).unwrap();
    fs::write(dir.path().join("archive/messages"), "").unwrap();
    let output = fleet(&["parquet", "-o", "archive", "app.pftrace"], dir.path());
    assert_eq!(output.status.code(), Some(2));
    let left = content(&dir.path().join("archive"));
    assert_eq!(left, [(dir.path().join("archive/messages"), Vec::new())]);
}

#[test]
fn a_wrong_command_line_is_explained() {
    let dir = TempDir::new().unwrap();
    for (args, expected) in [
        (&["parquet"][..], "error: missing `-o DIR`\nhelp: name the directory of the archive\n"),
        (
            &["parquet", "-o", "x"],
            "error: no trace is named\nhelp: give the file that a session writes\n",
        ),
        (&["csv"], "error: no export `csv`\nhelp: use one of `parquet`, `otlp`, `read`\n"),
        (
            &["read", "x"],
            "error: can't read `x/exports`: No such file or directory (os error 2)\nhelp: name the directory that `export` wrote\n",
        ),
    ] {
        let output = fleet(args, dir.path());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
    }
}

/// All files below a directory, by their paths.
fn content(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.extend(content(&entry.path()));
        } else {
            files.push((entry.path(), fs::read(entry.path()).unwrap()));
        }
    }
    files.sort();
    files
}
