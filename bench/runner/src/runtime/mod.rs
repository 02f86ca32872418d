//! The cost of a log call, beside its floor and the loggers that programs have instead.
//!
//! Programs do one thing once and print a line (see `bench/src/main.rs`); here they take turns, and
//! medians are taken. A peer that can't be built or started is named and left out.

mod enabled;
mod kept;
mod lttng;
mod off;
mod programs;
mod stop;
mod texts;
mod threads;

use std::process::{Command, Stdio};

use serde_json::Value;

use self::programs::Programs;
use super::report::Report;
use xtask::{Result, workspace};

/// Builds the programs and fills the tables.
pub(super) fn run(report: &mut Report) -> Result<()> {
    let dir = workspace::target_dir()?.join("bench/runtime");
    workspace::empty_dir(&dir)?;
    let programs = Programs::build(dir, report)?;
    off::run(&programs, report)?;
    enabled::run(&programs, report)?;
    texts::run(&programs, report)?;
    threads::run(&programs, report)?;
    kept::run(&programs, report)?;
    stop::run(&programs, report)
}

/// Runs a program that prints one line, a value in JSON.
fn line(command: &mut Command) -> Result<Value> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.map_err(|error| format!("can't start `{command:?}`: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("`{command:?}` ended with {}", output.status));
    }
    serde_json::from_str(text.trim())
        .map_err(|error| format!("can't read the figures `{}`: {error}", text.trim()))
}

/// A figure of a line.
fn figure(line: &Value, name: &str) -> f64 {
    line[name].as_f64().unwrap_or(f64::NAN)
}
