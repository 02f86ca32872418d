//! What a log call costs, beside its floor and the loggers of the Rust world: the program in `bench`.

use crate::{Result, shell};

/// Builds the program and has it print its tables.
pub(super) fn run() -> Result<()> {
    shell::run(&mut shell::cargo(&["run", "--locked", "--release", "--package", "protolog-bench"]))
}
