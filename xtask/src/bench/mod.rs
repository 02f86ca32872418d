//! `cargo xtask bench`: figures, each beside its floor in the same run, as tables for a document.
//!
//! Runs of what is compared alternate, so that a noisy neighbour hits all alike; the table shows
//! medians and the spread.

mod compile;
mod control;
mod corpus;
mod java;
mod measure;
pub(crate) mod outside;
mod read;
mod report;
mod runtime;
mod table;
mod tool;

use std::fs;
use std::process::Command;

use self::report::Report;
use crate::install::{self, Tool};
use crate::tools::{
    CC, CXX, JAVA, JDK_SOURCE, KOTLIN, LOGGERS, NODE, NPM, PYTHON, STRACE, TIME, VALGRIND, ZSTD,
};
use crate::{Result, shell, workspace};

/// A bench: its name, its subject, the tools that it needs, and the function that runs it.
type Bench = (&'static str, &'static str, &'static [Tool], fn(&mut Report) -> Result<()>);

/// All benches.
pub(crate) const BENCHES: [Bench; 8] = [
    (
        "tool",
        "protologtool over the sources of a JDK and of Kotlin, beside the floor: reading the same files",
        &[CC, PYTHON, TIME, JDK_SOURCE, NPM, KOTLIN],
        |_| tool::run(),
    ),
    (
        "runtime",
        "log calls off and on, beside a load, a clock and seven peers; threads, bytes, sudden ends",
        &[CC, VALGRIND],
        runtime::run,
    ),
    (
        "read",
        "traces to text, to JSON, filtered, beside cat, zstd, trace_processor, babeltrace2 and defmt",
        &[CC, TIME, NODE, ZSTD],
        read::run,
    ),
    (
        "protozero",
        "the protobuf writer beside straight copies, C++ ProtoZero, PbMsg and prost",
        &[CXX, VALGRIND],
        |_| outside::protozero(),
    ),
    (
        "compile",
        "what log calls cost to compile, and their code, beside `log` and `tracing`",
        &[CC],
        |_| compile::run(),
    ),
    (
        "experiments",
        "ways that the write path could have gone: ids of texts, chunks, prefetch, encoding later",
        &[CC],
        |_| outside::experiments(),
    ),
    (
        "control",
        "a switch from outside, beside a Binder transaction; 1,000 programs listed and switched",
        &[CC, STRACE],
        |_| control::run(),
    ),
    (
        "java",
        "the Java runtime beside java.util.logging, Log4j 2, Logback and JFR",
        &[CC, JAVA, NPM, LOGGERS],
        java::run,
    ),
];

/// Prints the machine, then the tables of the benches named in `only`, or of all. With `json` what
/// gives its tables away is written to a file too.
pub(crate) fn run(only: &[String], json: bool) -> Result<()> {
    let chosen: Vec<&Bench> = BENCHES
        .iter()
        .filter(|(name, ..)| only.is_empty() || only.iter().any(|word| word == name))
        .collect();
    let needs: Vec<Tool> = chosen.iter().flat_map(|(_, _, needs, _)| *needs).copied().collect();
    if !install::prepare(&needs, false).is_empty() {
        return Err(
            "the bench needs what is missing\nhelp: run `cargo xtask setup bench`".to_owned()
        );
    }
    if chosen.iter().any(|(name, ..)| *name == "runtime") {
        // Missing ones are skipped.
        install::prepare(&runtime::PEERS, false);
    }
    let machine = machine()?;
    println!("\n{machine}\n");
    let mut report = Report::default();
    chosen.iter().try_for_each(|(_, _, _, run)| run(&mut report))?;
    if json {
        let command =
            ["cargo xtask bench".to_owned()].iter().chain(only).cloned().collect::<Vec<_>>();
        report.write(
            &machine,
            &command.join(" "),
            &workspace::target_dir()?.join("bench/figures.json"),
        )?;
    }
    Ok(())
}

/// The tools of all benches, and the loggers that they are beside.
pub(crate) fn needs() -> Vec<Tool> {
    let needs = BENCHES.iter().flat_map(|(_, _, needs, _)| *needs);
    needs.chain(&runtime::PEERS).copied().collect()
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
