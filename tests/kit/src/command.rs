//! Runs a program in a test, with its output as text and a readable failure.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The result of a program.
#[derive(Debug, Clone)]
pub struct Output {
    /// Exit code; `None` if a signal ended the program.
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
/// If it can't be started or does not exit with 0; the message has the command and its output.
pub fn run(command: &mut Command) -> Output {
    let output = run_any(command);
    assert!(output.code == Some(0), "{}", report(command, &output));
    output
}

/// Runs `command` and returns its output, whatever its exit code.
///
/// # Panics
///
/// If it can't be started.
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

/// `cargo` without network, for packages as users have them, which a test makes. `tmp` is the
/// `CARGO_TARGET_TMPDIR` of the test.
///
/// All such packages share one target directory, so that the runtime and what it depends on are
/// compiled once. Programs of different tests have different names there.
pub fn user_cargo(tmp: &str) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    for (name, value) in user_environment(tmp) {
        cargo.env(name, value);
    }
    cargo.env_remove("RUSTFLAGS");
    cargo
}

/// The variables that [`user_cargo`] sets, for commands that call `cargo` themselves.
pub fn user_environment(tmp: &str) -> [(&'static str, String); 4] {
    [
        ("CARGO_TARGET_DIR", Path::new(tmp).join("users").display().to_string()),
        ("CARGO_NET_OFFLINE", "true".to_owned()),
        ("CARGO_PROFILE_DEV_DEBUG", "0".to_owned()),
        ("CARGO_INCREMENTAL", "0".to_owned()),
    ]
}

/// Waits until `is_so`, at most a minute, which is longer than anything takes on a busy machine.
///
/// # Panics
///
/// If it does not become so; the message says `what` did not happen.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let by = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < by, "not within a minute: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Copies a program, to run the copy. Another process copies it: if this one had the file open for
/// writing, processes that other threads start would inherit the open file, and the system runs no
/// program that is open for writing.
///
/// # Panics
///
/// If it can't be copied.
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
