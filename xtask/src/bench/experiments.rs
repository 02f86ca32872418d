//! Ways that the write path could have gone: the program in `bench/experiments`.

use crate::{Result, shell};

/// Builds the program and has it print its tables.
pub(super) fn run() -> Result<()> {
    let package = ["--package", "protolog-bench-experiments"];
    shell::run(&mut shell::cargo(&[&["run", "--locked", "--release"], &package[..]].concat()))
}
