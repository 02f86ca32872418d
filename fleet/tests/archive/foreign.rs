//! What is foreign to an export: names that it does not choose, files that are no traces, and what
//! stands where its files belong.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{content, lines_in};
use crate::common::{check, described, exported, fleet, lines_of, query, trace};

/// Programs whose names are the same as far as a directory has them, and such without a name.
#[test]
fn programs_that_share_a_directory_lose_nothing() {
    let long = "x".repeat(90);
    let mut description = "@9 snapshot(real=1795219200000000000, boot=1000)\n".to_owned();
    let names = [format!("{long}a"), format!("/usr/bin/{long}b"), String::new(), "bin/".to_owned()];
    for (at, name) in names.iter().enumerate() {
        let pid = at + 1;
        let _ = write!(
            description,
            "@8 process({pid}, \"{name}\")\n\
             @{pid} cleared default_clock=6 info({pid}, {pid}, \"main\")\n\
             @{pid} ts=200{pid} log(0x11, {pid})\n"
        );
    }
    description += "@7 cleared default_clock=6\n@7 ts=2009 log(0x11, 9)\n";
    assert!(check(&described::trace(&description), "programs"));
}

/// Engines decode the names of directories, and fail at all files if one of them is no text then.
#[test]
fn a_long_name_is_cut_between_letters() {
    let dir = TempDir::new().unwrap();
    let program = format!("{}x日本語", "é".repeat(31));
    let description = format!(
        "@9 snapshot(real=1795219200000000000, boot=1000)\n\
         @8 process(1, \"/usr/bin/{program}\")\n\
         @1 cleared default_clock=6 info(1, 1, \"main\")\n\
         @1 ts=2001 log(0x11, 1)\n"
    );
    fs::write(dir.path().join("app.pftrace"), described::trace(&description)).unwrap();
    let build = format!("{}ñ", "b".repeat(63));
    let args = ["parquet", "-o", "archive", "--host", "one", "--build", &build, "app.pftrace"];
    let output = fleet(&args, dir.path());
    assert!(output.status.success(), "{output:?}");
    let output = fleet(&["check", "archive"], dir.path());
    assert!(output.status.success(), "{output:?}");
    let sql = "select program, build, count(*) from messages group by all";
    if let Some(rows) = query(&dir.path().join("archive"), sql) {
        let (program, build) = (format!("{}x", "é".repeat(31)), "b".repeat(63));
        assert_eq!(rows, format!("[\"{program}\", \"{build}\", 1]\n"));
    }
}

/// What else is in a directory keeps no trace back; but it is said, and is no success.
#[test]
fn a_file_in_a_directory_that_is_no_trace_keeps_no_other_back() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("logs")).unwrap();
    fs::write(dir.path().join("logs/a.pftrace"), "no trace").unwrap();
    fs::write(dir.path().join("logs/b.pftrace"), trace()).unwrap();
    let output = fleet(&["parquet", "-o", "archive", "--host", "one", "logs"], dir.path());
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("error: can't read `logs/a.pftrace`"), "{errors}");
    assert_eq!(lines_in(dir.path()), lines_of(trace()).unwrap());
}

/// A file that can't be put in its place, as on a disk that gets full in the middle of that:
/// engines read all files, so nothing may be left of the others.
#[test]
fn an_export_that_fails_when_some_files_are_in_place_takes_them_back() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let own: Vec<PathBuf> = own_files(&dir.path().join("archive"));
    let messages = own.iter().find(|path| path.to_str().unwrap().contains("/messages/")).unwrap();
    assert!(own.len() > 1, "{own:?}");
    fs::remove_dir_all(dir.path().join("archive")).unwrap();
    fs::create_dir_all(messages.join("in the way")).unwrap();
    let output = fleet(&["parquet", "-o", "archive", "--host", "one", "app.pftrace"], dir.path());
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("error: can't write `archive/messages/"), "{errors}");
    assert_eq!(own_files(&dir.path().join("archive")), [] as [PathBuf; 0]);
    fs::remove_dir_all(messages).unwrap();
    assert_eq!(exported(dir.path(), &["app.pftrace"]), lines_of(trace()).unwrap());
}

/// Files of one export alone.
fn own_files(archive: &Path) -> Vec<PathBuf> {
    let is_own = |path: &PathBuf| {
        let is_shared =
            path.ends_with("none.parquet") || path.starts_with(archive.join("templates"));
        !is_shared && path.extension().is_some_and(|extension| extension == "parquet")
    };
    content(archive).into_iter().map(|(path, _)| path).filter(is_own).collect()
}

/// A name that would write to the terminal, or stand for the line of another trace.
#[test]
fn names_of_files_are_shown_without_control_characters() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("logs")).unwrap();
    let name = "a\u{1b}[2J\nb.pftrace: 9 messages\n.pftrace";
    fs::write(dir.path().join("logs").join(name), trace()).unwrap();
    let output = fleet(&["parquet", "-o", "archive", "logs"], dir.path());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.starts_with("logs/a"), "{said}");
    assert!(!said.contains('\u{1b}') && said.lines().count() == 1, "{said}");
}
