//! `cargo xtask bench`: figures, each beside its floor in the same run, as tables for a document.
//!
//! Runs of what is compared alternate, so that a noisy neighbour hits all alike; the table shows medians and the spread.

mod corpus;
mod measure;
mod table;
mod tool;

use std::fs;
use std::process::Command;

use crate::{Result, shell, tools};

/// Prints the machine, then each bench's table.
pub(crate) fn run(install: bool) -> Result<()> {
    let missing =
        tools::prepare(&[tools::CC, tools::PYTHON, tools::TIME, tools::JDK_SOURCE], install);
    if !missing.is_empty() {
        return Err("the bench needs what is missing".to_owned());
    }
    println!("\n{}\n", machine()?);
    tool::run()
}

/// The line without which no figure means anything.
fn machine() -> Result<String> {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map(|rest| rest.trim_start_matches(['\t', ' ', ':']));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let rustc = shell::read(Command::new("rustc").arg("--version"))?;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let model = model.unwrap_or("unknown processor");
    Ok(format!("machine: {model}, {cores} cores, Linux {}, {}", kernel.trim(), rustc.trim()))
}
