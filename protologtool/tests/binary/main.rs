//! Dictionaries out of programs: what linkers keep, whatever they optimise; `--from-binary`,
//! `--strip-to`, and how a trace of a program without texts is read.

mod fixture;
mod forms;
mod matrix;
mod refused;
mod stripped;

use std::path::Path;
use std::process::Command;

/// The command, about to be run.
fn tool(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    command.args(args);
    command
}

/// The command's form of a path.
fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}
