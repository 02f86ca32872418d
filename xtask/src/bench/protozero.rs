//! The protobuf writer beside its floor and its peers: a program of its own, `bench/protozero`.
//!
//! It is a workspace apart because its peers are C++ that takes minutes to compile the first time.

use crate::{Result, shell, workspace};

/// Builds the program and has it print its tables.
pub(super) fn run() -> Result<()> {
    let target = workspace::target_dir()?.join("bench/protozero").display().to_string();
    shell::run(&mut shell::cargo(&[
        "run",
        "--locked",
        "--release",
        "--manifest-path",
        "bench/protozero/Cargo.toml",
        "--target-dir",
        &target,
    ]))
}
