//! Running a program in a test: its whole output as text, and a failure that one can read.

use std::path::Path;
use std::process::{Command, Stdio};

/// What a finished program left.
#[derive(Debug, Clone)]
pub struct Output {
    /// Exit code; `None` when a signal ended the program.
    pub code: Option<i32>,
    /// Standard output; invalid UTF-8 replaced.
    pub stdout: String,
    /// Standard error; invalid UTF-8 replaced.
    pub stderr: String,
}

/// Runs `command` and returns its output.
///
/// # Panics
///
/// When it can't be started or does not exit with 0; the message shows the command and all it printed.
pub fn run(command: &mut Command) -> Output {
    let output = run_any(command);
    assert!(output.code == Some(0), "{}", report(command, &output));
    output
}

/// Runs `command` and returns its output, whatever its exit code.
///
/// # Panics
///
/// When it can't be started.
pub fn run_any(command: &mut Command) -> Output {
    let done = command
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("can't start `{}`: {error}", line(command)));
    Output {
        code: done.status.code(),
        stdout: String::from_utf8_lossy(&done.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
    }
}

/// Copies a program that is to be run. Another process makes the copy: while this one had it open for writing, processes that
/// other threads start would inherit that, and the system runs no program that somebody may write.
///
/// # Panics
///
/// When it can't be copied.
pub fn copy_program(from: &Path, to: &Path) {
    run(Command::new("cp").arg(from).arg(to));
}

fn report(command: &Command, output: &Output) -> String {
    let code = output.code.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
    format!(
        "`{}` ended with {code}\n--- stdout\n{}\n--- stderr\n{}",
        line(command),
        output.stdout.trim_end(),
        output.stderr.trim_end()
    )
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
