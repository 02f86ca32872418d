//! Running programs: shown before they run, their output passed through untouched.

use std::process::{Command, Stdio};

use crate::Result;
use crate::root::root;

/// A `cargo` command in the workspace.
pub fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// Shows the command and runs it; an exit code other than 0 is an error.
pub fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", line(command));
    run_quietly(command)
}

/// Runs the command without showing it; an exit code other than 0 is an error.
pub fn run_quietly(command: &mut Command) -> Result<()> {
    let status =
        command.status().map_err(|error| format!("can't start `{}`: {error}", line(command)))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` ended with {status}", line(command))) }
}

/// Shows the command and runs it without its output, which is part of the error when the exit code
/// is not 0. For programs of which people want to know that they ran, but not what they said, such
/// as installers.
pub fn run_without_output(command: &mut Command) -> Result<()> {
    println!("$ {}", line(command));
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("can't start `{}`: {error}", line(command)))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).trim_end().to_owned();
    Err(format!("`{}` ended with {}\n{said}", line(command), output.status))
}

/// Runs the command silently and returns its standard output; an exit code other than 0 is an error
/// with its standard error.
pub fn read(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("can't start `{}`: {error}", line(command)))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{}` ended with {}\n{}", line(command), output.status, stderr.trim_end()))
}

/// Shows the command, runs it silently and returns its standard output, as [`read`] does.
pub(crate) fn show_and_read(command: &mut Command) -> Result<String> {
    println!("$ {}", line(command));
    read(command)
}

/// Prints findings; an error that begins with `state` if there are some.
pub(crate) fn report(findings: &[String], state: &str) -> Result<()> {
    for finding in findings {
        println!("{finding}");
    }
    if findings.is_empty() { Ok(()) } else { Err(format!("{state}: {} findings", findings.len())) }
}

/// The command as one would type it in the workspace: its own environment variables, program,
/// arguments; paths under the workspace relative to it; words quoted where a shell needs it.
pub fn line(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        let name = name.to_string_lossy();
        let shown = !HIDDEN.iter().any(|prefix| name.starts_with(prefix));
        shown.then_some(format!("{name}={}", quote(&value?.to_string_lossy())))
    });
    let program = command.get_program().to_string_lossy().into_owned();
    let program = if program.ends_with("/cargo") { "cargo".to_owned() } else { program };
    let args = command.get_args().map(|arg| arg.to_string_lossy().into_owned());
    let prefix = format!("{}/", root().display());
    let words = [program].into_iter().chain(args).map(|word| quote(&word.replace(&prefix, "")));
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

/// Variables that tell our own tests where tools are: noise in a shown command, and not needed to
/// repeat it.
const HIDDEN: [&str; 4] = ["PROTOLOG_", "PERFETTO_", "DEBIAN_FRONTEND", "PATH"];

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./:,+@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_commands_ready_to_paste() {
        let mut command = Command::new("/usr/lib/rust/bin/cargo");
        command
            .env("RUSTDOCFLAGS", "-D warnings")
            .env("PROTOLOG_SKIPPED", "x")
            .arg(root().join("xtask"));
        assert_eq!(line(&command), "RUSTDOCFLAGS='-D warnings' cargo xtask");
        assert_eq!(line(Command::new("echo").args(["it's", ""])), r"echo 'it'\''s' ''");
    }

    #[test]
    fn failures_carry_the_command_and_its_words() {
        let failed = read(Command::new("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err();
        assert_eq!(failed, "`sh -c 'echo why >&2; exit 3'` ended with exit status: 3\nwhy");
        let it = run_without_output(Command::new("sh").args(["-c", "echo a; echo b >&2; exit 4"]));
        assert!(it.unwrap_err().ends_with("ended with exit status: 4\na\nb"));
        assert_eq!(run_without_output(Command::new("sh").args(["-c", "echo a"])), Ok(()));
        let missing = run_quietly(&mut Command::new("no-such-program")).unwrap_err();
        assert!(missing.starts_with("can't start `no-such-program`"));
    }
}
