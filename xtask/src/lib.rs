//! The project's build script, as a library: its commands, and the code shared with programs that
//! it starts, `tests/tidy` and `bench/runner`.
//!
//! It is the first thing that a newcomer compiles, so it has one dependency: JSON, for
//! `cargo metadata` and dictionaries. It shows each program that it runs as a command that one can
//! paste. Exit codes: 0 done, 1 something is wrong with the project, 2 usage.

mod bazel;
mod bench;
mod bless;
mod bridges;
pub mod callgrind;
mod cli;
mod debian;
mod demo;
mod fat_jars;
mod fleet;
mod fuzz;
mod gradle;
pub mod install;
mod instructions;
mod jar;
pub mod java;
pub mod java_25;
pub mod loggers;
mod maven;
mod platforms;
mod programs;
mod progress;
pub mod python;
mod registries;
mod release;
pub mod root;
pub mod shell;
mod soak;
mod steps;
mod test;
pub mod toolchain;
pub mod tools;
pub mod traced;
mod watch;
pub mod workspace;

use std::process::ExitCode;

use cli::Request;

/// Errors are texts for people: what failed, and where there is one, what to do about it.
pub type Result<T, E = String> = std::result::Result<T, E>;

/// Runs the command of the command line.
pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let request = match cli::parse(&words) {
        Ok(request) => request,
        Err(misuse) => {
            eprintln!("error: {misuse}\nhelp: run `cargo xtask help` for commands and steps");
            return ExitCode::from(2);
        }
    };
    let done = match request {
        Request::Help => {
            print!("{}", cli::help());
            Ok(())
        }
        Request::Demo { dir, install } => demo::run(dir, demo::Profile::Tool, install),
        Request::Test { only, install } => test::run(&only, install),
        Request::Setup { only } => test::setup(&only),
        Request::Soak { only } => soak::run(&only),
        Request::Bench { only, json } => bench::run(&only, json),
        Request::Bless { args } => bless::run(&args),
        Request::Jar => jar::run(),
        Request::Release { only } => release::run(&only),
    };
    let Err(problem) = done else { return ExitCode::SUCCESS };
    eprintln!("error: {problem}");
    ExitCode::FAILURE
}
