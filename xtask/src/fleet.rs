//! `fleet`, the exports for many machines: a workspace of its own, with wheels of its own under
//! `target/tools/fleet`.
//!
//! It is built in a directory of its own, too, since its crates have other features than those of
//! the workspace.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, python, registries, shell, workspace};

/// The list of the wheels, with their checksums.
const LIST: &str = "tests/oracle/fleet.txt";
/// A copy of the list in the folder. Written last, so that an interrupted installation is repeated.
const STAMP: &str = "complete";

/// Returns true if the wheels of that list are unpacked, and work.
pub(crate) fn is_there() -> bool {
    let made = fs::read_to_string(dir().join(STAMP));
    made.is_ok_and(|made| fs::read_to_string(list()).is_ok_and(|wanted| made == wanted)) && works()
}

/// Fetches the wheels; the tests know their place.
pub(crate) fn fetch() -> Result<()> {
    workspace::empty_dir(&dir())?;
    let mut pip = registries::pip_install(&python::environment().python, &list());
    shell::run(pip.arg("--target").arg(dir()))?;
    if !works() {
        return Err(format!("the wheels of {LIST} do not work here"));
    }
    fs::copy(list(), dir().join(STAMP))
        .map_err(|error| format!("can't copy `{LIST}` to target/tools/fleet: {error}"))?;
    Ok(())
}

/// The format, the lints and the tests of the package.
pub(crate) fn test(list: &Path) -> Result<()> {
    shell::run(&mut cargo(&["fmt", "--check", "--", "--color=never"]))?;
    let target = workspace::target_dir()?.join("fleet");
    let mut clippy = cargo(&["clippy", "--locked", "--all-targets", "--target-dir"]);
    shell::run(clippy.arg(&target).args(["--", "-D", "warnings"]))?;
    let mut test = cargo(&["test", "--locked", "--target-dir"]);
    shell::run(test.arg(&target).env("PROTOLOG_SKIPPED", list))
}

/// The tests of a program, with a variable.
pub(crate) fn test_with(program: &str, (variable, value): (&str, &OsStr)) -> Result<()> {
    let target = workspace::target_dir()?.join("fleet");
    let mut test = cargo(&["test", "--locked", "--test", program, "--target-dir"]);
    shell::run(test.arg(&target).env(variable, value))
}

/// Cargo, in the folder of the package.
fn cargo(args: &[&str]) -> Command {
    let mut cargo = shell::cargo(args);
    cargo.current_dir(workspace::root().join("fleet"));
    cargo
}

fn dir() -> PathBuf {
    workspace::tools_dir().join("fleet")
}

fn list() -> PathBuf {
    workspace::root().join(LIST)
}

fn works() -> bool {
    let mut python = Command::new(python::environment().python);
    python.env("PYTHONPATH", dir()).args(["-c", "import duckdb, opentelemetry.proto"]);
    shell::read(&mut python).is_ok()
}
