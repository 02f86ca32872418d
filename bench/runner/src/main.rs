//! The work of `cargo xtask bench`: figures, each beside its floor in the same run, as tables for a
//! document.
//!
//! Runs of what is compared alternate, so that a noisy neighbour hits all alike; the table shows
//! medians and the spread.

mod compile;
mod control;
mod corpus;
mod fleet;
mod java;
mod measure;
mod outside;
mod perfetto;
mod read;
mod report;
mod runtime;
mod server;
mod table;
mod tool;

use std::fs;
use std::process::{Command, ExitCode};

use xtask::{Result, shell, workspace};

use self::report::Report;

/// Runs the benches that the command line names; with `--json` what gives its tables away is
/// written to a file too.
fn main() -> ExitCode {
    let (options, names): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with('-'));
    match run(&names, options.contains(&"--json".to_owned())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the machine, then the tables of these benches.
fn run(names: &[String], json: bool) -> Result<()> {
    let machine = machine()?;
    println!("\n{machine}\n");
    let mut report = Report::default();
    names.iter().try_for_each(|name| bench(name, &mut report))?;
    if json {
        let command = format!("cargo xtask bench {}", names.join(" "));
        let file = workspace::target_dir()?.join("bench/figures.json");
        report.write(&machine, &command, &file)?;
    }
    Ok(())
}

/// Runs one bench; `xtask/src/bench.rs` has their list.
fn bench(name: &str, report: &mut Report) -> Result<()> {
    match name {
        "tool" => tool::run(),
        "runtime" => runtime::run(report),
        "read" => read::run(report),
        "protozero" => outside::protozero(),
        "compile" => compile::run(),
        "experiments" => outside::experiments(),
        "control" => control::run(),
        "java" => java::run(report),
        "perfetto" => perfetto::run(report),
        "fleet" => fleet::run(report),
        "server" => server::run(report),
        other => Err(format!("no bench `{other}`")),
    }
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
