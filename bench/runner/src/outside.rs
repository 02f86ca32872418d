//! Programs of `bench` that are workspaces of their own, so that nobody else builds them:
//! `bench/protozero` with its C++ peers that take minutes to compile, and what costs or decisions
//! were measured with.

use std::path::PathBuf;
use std::process::Command;

use xtask::{Result, shell, workspace};

/// The protobuf writer beside its floor and its peers.
pub(super) fn protozero() -> Result<()> {
    shell::run(&mut cargo("run", "protozero")?)
}

/// Ways that the write path could have gone.
pub(super) fn experiments() -> Result<()> {
    shell::run(&mut cargo("run", "experiments")?)
}

/// Builds the program in `bench/NAME`; returns the folder that it is in.
pub(super) fn build(name: &str) -> Result<PathBuf> {
    shell::run(&mut cargo("build", name)?)?;
    Ok(target_dir(name)?.join("release"))
}

fn cargo(command: &str, name: &str) -> Result<Command> {
    let manifest = format!("bench/{name}/Cargo.toml");
    let mut cargo = shell::cargo(&[command, "--locked", "--release", "--manifest-path", &manifest]);
    cargo.arg("--target-dir").arg(target_dir(name)?);
    Ok(cargo)
}

fn target_dir(name: &str) -> Result<PathBuf> {
    Ok(workspace::target_dir()?.join("bench").join(name))
}
