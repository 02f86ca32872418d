//! Triggers of Java programs: the files that they leave, as the tool reads them, and what is there
//! after a kill.

use super::switched::{Program, done};
use super::{classes, messages, tool};
use protolog_testkit::{java, run_java, temp_dir, temp_dir_for_sockets};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The files of a cause, the oldest first.
fn files(dir: &Path, cause: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let start = format!("app.{cause}.2");
    let is_one = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(&start);
    let mut all: Vec<_> = all.filter(is_one).collect();
    all.sort();
    all
}

#[test]
fn an_operator_has_what_is_kept_written() {
    let dir = temp_dir_for_sockets();
    let Some(classes) = classes() else { return };
    let dir = dir.path();
    let args = [dir.to_str().unwrap(), "wait"];
    let program = Program::run(dir, OsStr::new(classes), "app.Triggered", &args);
    done(dir, &["trace", "trigger", "slow today"], &[]);
    let mut found = files(dir, "slow-today");
    while found.is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
        found = files(dir, "slow-today");
    }
    let read = messages(&found[0]);
    assert_eq!(read.iter().filter(|line| *line == "WARN trigger: trigger: slow today").count(), 1);
    assert!(read.iter().any(|line| line.contains("of thread")), "{read:?}");
    drop(program);
}

#[test]
fn an_exception_that_nobody_catches_leaves_a_file() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let args = [dir.path().to_str().unwrap(), "fail"];
    let output = run_java(&[classes.to_path_buf()], "app.Triggered", &args).unwrap();
    // The exit of the program waits for it.
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(output.stderr.contains("java.lang.IllegalStateException: on purpose"), "{output:?}");
    let found = files(dir.path(), "uncaught");
    assert_eq!(found.len(), 1);
    let read = messages(&found[0]);
    assert_eq!(read, ["DEBUG Net: about to fail", "WARN trigger: trigger: uncaught"]);
}

/// Committed messages are in the recording, and each file that has its name is whole.
#[test]
fn what_a_killed_program_has_kept_is_there() {
    let Some(classes) = classes() else { return };
    // At different instants: after so many lines. `cargo xtask soak kill` has more of them.
    let rounds = std::env::var("PROTOLOG_KILL_ROUNDS").map_or(3, |rounds| rounds.parse().unwrap());
    let lines = [3, 100, 800].into_iter().chain((3..rounds).map(|round| round * 97 % 1200 + 1));
    for lines in lines.take(rounds) {
        let dir = temp_dir();
        end_after(lines, classes, dir.path(), Signal::KILL);
    }
}

/// The JVM has handlers of its own for such a signal: its log says which one it was.
#[test]
fn what_a_jvm_had_kept_that_crashed_is_there() {
    let Some(classes) = classes() else { return };
    let dir = temp_dir();
    end_after(100, classes, dir.path(), Signal::SEGV);
    let names = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let is_log = |name: &OsStr| name.to_str().unwrap().starts_with("hs_err_pid");
    let log = names.into_iter().find(|name| is_log(name)).expect("the JVM's log");
    assert!(std::fs::read_to_string(dir.path().join(log)).unwrap().contains("SIGSEGV"));
}

fn end_after(lines: usize, classes: &Path, dir: &Path, signal: Signal) {
    let mut java = java().expect("java");
    java.arg("-XX:-CreateCoredumpOnCrash").current_dir(dir);
    java.arg("-Dprotolog.level=off").env("PROTOLOG_RUNTIME_DIR", dir.join("run"));
    java.arg("-cp").arg(classes).arg("app.Triggered").arg(dir).arg("wait");
    let mut child = java.stdout(Stdio::piped()).spawn().expect("start java");
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut said: Vec<String> = out.by_ref().take(lines).collect();
    kill_process(Pid::from_child(&child), signal).unwrap();
    child.wait().unwrap();
    // Every printed line was logged before; the last one may be half of one.
    said.extend(out);
    said.pop();
    let trace = dir.join("recovered.pftrace");
    let recording = dir.join("app.rec");
    tool(&["recover", recording.to_str().unwrap(), "-o", trace.to_str().unwrap()]);
    let read = messages(&trace);
    for thread in 0..4 {
        let last = |text: &str, of: &dyn Fn(&str) -> Option<u64>| text.lines().filter_map(of).max();
        let end = format!(" of thread {thread}");
        let start = format!("{thread} ");
        let of_message =
            |line: &str| line.strip_prefix("DEBUG Net: ")?.strip_suffix(&end)?.parse::<u64>().ok();
        let of_line = |line: &str| line.strip_prefix(&start)?.parse::<u64>().ok();
        let (kept, printed) =
            (last(&read.join("\n"), &of_message), last(&said.join("\n"), &of_line));
        assert!(kept >= printed, "after {lines} lines: {kept:?} of {printed:?}");
    }
    for file in files(dir, "error") {
        let read = messages(&file);
        let causes = read.iter().filter(|line| line.starts_with("WARN trigger: trigger: error"));
        assert_eq!(causes.count(), 1, "{}", file.display());
        assert!(read.iter().any(|line| line.starts_with("ERROR Disk: an error of thread")));
    }
}
