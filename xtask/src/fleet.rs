//! `fleet`, the exports for many machines: a workspace of its own, with wheels of its own under
//! `target/tools/fleet`.
//!
//! It is built in a directory of its own, too, since its crates have other features than those of
//! the workspace.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use crate::python::{self, Wheels};
use crate::{Result, shell, workspace};

pub(crate) const WHEELS: Wheels = Wheels {
    folder: "fleet",
    list: "tests/oracle/fleet.txt",
    work: |dir| {
        let mut python = Command::new(python::environment().python);
        python.env("PYTHONPATH", dir).args(["-c", "import duckdb, opentelemetry.proto"]);
        shell::read(&mut python).is_ok()
    },
};

/// The format, the lints and the tests of the package.
pub(crate) fn test(list: &Path) -> Result<()> {
    cargo(&["fmt", "--check", "--", "--color=never"], &[])?;
    cargo(&["clippy", "--locked", "--all-targets", "--", "-D", "warnings"], &[])?;
    cargo(&["test", "--locked"], &[("PROTOLOG_SKIPPED", list.as_os_str())])
}

/// The tests of a program, with a variable.
pub(crate) fn test_with(program: &str, variable: (&str, &OsStr)) -> Result<()> {
    cargo(&["test", "--locked", "--test", program], &[variable])
}

/// Runs cargo in the folder of the package, with variables.
fn cargo(args: &[&str], variables: &[(&str, &OsStr)]) -> Result<()> {
    let mut cargo = shell::cargo(args);
    cargo.env("CARGO_TARGET_DIR", workspace::target_dir()?.join("fleet"));
    cargo.envs(variables.iter().copied());
    shell::run(cargo.current_dir(workspace::root().join("fleet")))
}
