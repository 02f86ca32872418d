//! Attackers: other users of the machine who play with what this one reads, writes and removes.
//!
//! Each test runs in namespaces of its own, as root among users without rights (`with_users`).
//! Where there can be none, it says so, and fails in CI.

mod followed;
mod inputs;
mod operator;
mod program;
mod recover;
mod renamed;
mod service;
mod slow;

use protolog_testkit::Output;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The command, at a path that only root may reach.
const TOOL: &str = env!("CARGO_BIN_EXE_protologtool");

/// The directory that all users share.
fn shared() -> PathBuf {
    std::env::temp_dir()
}

/// Makes a directory with this mode.
fn directory(path: &Path, mode: u32) -> PathBuf {
    fs::create_dir(path).unwrap();
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    path.to_owned()
}

/// Runs a command that may not wait for anybody.
fn run_at_once(command: &Command) -> Output {
    let mut limited = Command::new("timeout");
    limited.arg("60").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    let output = protolog_testkit::run_any(&mut limited);
    assert_ne!(output.code, Some(124), "it waited for an attacker: {command:?}");
    output
}

/// The content of all files in a directory, by name.
fn content(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let mut all: Vec<_> = entries
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    all.sort();
    all
}
