//! The test of the fragment for Gradle that `protologtool init` prints: pasted into an empty
//! project beside a copy of protolog, built by the installed Gradle, offline.
//!
//! The program is that of `integrations/maven`. `integrations/gradle` has the fragment as a script,
//! which a test of the tool compares.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Result, jar, java, shell, workspace};

/// A project with no more than Gradle needs.
const EMPTY: &str = "plugins { id \"java\" }\n\n";

/// Builds the project with and without the tool, runs it, and compares the traces. Then the tool is
/// replaced, and the sources are removed.
pub(crate) fn test() -> Result<()> {
    let dir = workspace::empty_target("java/gradle")?;
    let tool = workspace::build_tool()?;
    let runtime = &jar::build_runtime("jar-for-gradle")?;
    // The place that the fragment names.
    let jars = dir.join("protolog/target/java/jars");
    let project = dir.join("app");
    workspace::empty_dir(&jars)?;
    workspace::copy(runtime, &jars)?;
    let script = project.join("build.gradle");
    workspace::write(&script, EMPTY)?;
    workspace::copy(workspace::root().join("integrations/maven/src"), &project)?;
    let fragment = shell::read(Command::new(&tool).arg("init").arg(&project))?;
    workspace::write(&script, format!("{EMPTY}{fragment}"))?;
    for (args, is_processed) in [(&["-PprotologSkip"][..], false), (&[], true)] {
        shell::run_without_output(&mut command(&dir, &tool, args))?;
        java::check_texts(&project.join("build/classes/java/main"), is_processed)?;
        java::check_trace(&project.join("build/libs/app.jar"), runtime, &tool)?;
    }
    replace_tool(&dir, &tool)
}

/// Another tool at the same place must be asked, although no source is new; and with the last
/// source its outputs go.
fn replace_tool(dir: &Path, tool: &Path) -> Result<()> {
    let other = dir.join("bin/protologtool");
    let runs = dir.join("runs");
    let build = |comment: &str, expected: usize| {
        let text = format!(
            "#!/bin/sh\n# {comment}\necho >> {}\nexec {} \"$@\"\n",
            runs.display(),
            tool.display()
        );
        workspace::write(&other, text)?;
        shell::run_quietly(Command::new("chmod").arg("755").arg(&other))?;
        shell::run_without_output(&mut command(dir, &other, &[]))?;
        let count = workspace::read(&runs)?.lines().count();
        if count == expected {
            return Ok(());
        }
        Err(format!("{comment}: the tool was run {count} times, not {expected}"))
    };
    build("the first", 1)?;
    build("a newer one", 2)?;
    fs::remove_dir_all(dir.join("app/src")).map_err(|error| error.to_string())?;
    build("a newer one", 3)?;
    java::check_outputs_are_gone(&dir.join("app/build"))
}

/// Gradle without a process that stays, and without anything of the user's.
fn command(dir: &Path, tool: &Path, args: &[&str]) -> Command {
    let mut gradle = Command::new("gradle");
    gradle.args(["--offline", "--no-daemon", "--quiet", "jar"]).args(args);
    gradle.env("GRADLE_USER_HOME", dir.join("home")).env("GRADLE_OPTS", java::FIRST_COMPILER);
    gradle.env("PATH", java::path_with(tool)).current_dir(dir.join("app"));
    gradle
}
