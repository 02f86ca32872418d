//! A step in a process of its own, beside the others: one that builds in a target directory of its own, and leaves a processor idle
//! for a part of its time.
//!
//! Invariant: its output is printed in one piece, at its place in the order of steps.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::steps::{SKIPPED, UNAVAILABLE};
use crate::{Result, workspace};

/// A step that runs.
pub(crate) struct Beside {
    step: &'static str,
    child: Child,
    output: PathBuf,
}

impl Beside {
    /// Begins `cargo xtask test STEP`, with what it needs installed first if `install` allows it.
    pub(crate) fn start(step: &'static str, install: bool) -> Result<Self> {
        let failed = |error: std::io::Error| format!("can't start the step `{step}`: {error}");
        let output = workspace::tools_dir().join(format!("{step}.log"));
        fs::create_dir_all(workspace::tools_dir()).map_err(failed)?;
        let file = File::create(&output).map_err(failed)?;
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.args(["test", step]).args(install.then_some("--install"));
        command.stdin(Stdio::null()).stdout(file.try_clone().map_err(failed)?).stderr(file);
        let child = command.spawn().map_err(failed)?;
        Ok(Self { step, child, output })
    }

    /// Waits for it, prints what it said, and adds what it skipped to the list.
    pub(crate) fn finish(mut self, skipped: &mut Vec<String>) -> Result<()> {
        let status =
            self.child.wait().map_err(|error| format!("can't wait for the step: {error}"))?;
        let said = fs::read(&self.output).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        print!("{said}");
        let is_skip = |line: &&str| line.starts_with(SKIPPED) || line.starts_with(UNAVAILABLE);
        skipped.extend(said.lines().filter(is_skip).map(str::to_owned));
        if status.success() {
            Ok(())
        } else {
            Err(format!("`cargo xtask test {}` ended with {status}", self.step))
        }
    }
}
