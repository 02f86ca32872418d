//! Transcripts of shell sessions.
//!
//! ```text
//! === title
//! $ protologtool check $CLASSES bad/Bad.java     a command, for sh; lines that follow it begin with `> `
//! …                                              what it printed to standard output
//! ! …                                            what it printed to standard error
//! ? 1                                            its exit code, unless 0
//! ```
//!
//! Each case has a directory of its own that holds what `fixtures/` holds. `CLASSES` stands for the
//! flags that all commands need.

use protolog_testkit::{expect_file, run_any, temp_dir};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const CLASSES: &str = "--protolog-class dev.protolog.ProtoLog --loggroups-class demo.AppLog \
                       --loggroups-source src/demo/AppLog.java";

#[test]
fn transcripts() {
    let directory = here().join("cases");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let mut parts = text.split("\n=== ");
        let mut actual = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (title, commands) = part.split_once('\n').unwrap();
            let _ = write!(actual, "\n=== {title}\n{}", session(commands));
        }
        expect_file(&file, &actual);
    }
}

/// The transcript of a case's commands.
fn session(text: &str) -> String {
    let directory = temp_dir();
    fixtures(directory.path());
    let mut transcript = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(first) = line.strip_prefix("$ ") else { continue };
        let mut command = first.to_owned();
        let _ = writeln!(transcript, "$ {first}");
        while let Some(more) = lines.next_if(|line| line.starts_with('>')) {
            let more = more.strip_prefix("> ").unwrap_or("");
            let _ = writeln!(transcript, "{}", format!("> {more}").trim_end());
            let _ = write!(command, "\n{more}");
        }
        let output = run_any(&mut shell(&command, directory.path()));
        transcript.push_str(&output.stdout);
        if !output.stdout.is_empty() && !output.stdout.ends_with('\n') {
            transcript.push_str("(no line end)\n");
        }
        for line in output.stderr.lines() {
            let _ = writeln!(transcript, "{}", format!("! {line}").trim_end());
        }
        match output.code {
            Some(0) => {}
            Some(code) => drop(writeln!(transcript, "? {code}")),
            None => transcript.push_str("? signal\n"),
        }
    }
    transcript
}

/// `sh` in this directory, with the program on its path.
pub(crate) fn shell(command: &str, directory: &Path) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_protologtool")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .current_dir(directory)
        .env("PATH", format!("{}:{path}", program.display()))
        .env("CLASSES", CLASSES)
        .env("LC_ALL", "C.UTF-8")
        .env_remove("NO_COLOR");
    shell
}

/// Puts the fixtures into a directory, and the groups that the Java tests have too.
pub(crate) fn fixtures(directory: &Path) {
    copy(&here().join("fixtures"), directory);
    let groups = here().join("../java/runtime/demo/AppLog.java");
    std::fs::copy(groups, directory.join("src/demo/AppLog.java")).unwrap();
}

/// Copies a directory.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

pub(crate) fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cli")
}
