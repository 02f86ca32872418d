//! The project's build script; `cargo xtask help` says what it does.
//!
//! It is the first thing that a newcomer compiles, so it has few dependencies: JSON, for
//! `cargo metadata` and dictionaries, and a parser of Rust, for the rules on code. It shows each
//! program that it runs as a command that one can paste. Exit codes: 0 done, 1 something is wrong
//! with the project, 2 usage.

mod bazel;
mod bench;
mod bless;
mod bridges;
mod callgrind;
mod cli;
mod debian;
mod demo;
mod fat_jars;
mod fuzz;
mod gradle;
mod install;
mod instructions;
mod jar;
mod java;
mod java_25;
mod loggers;
mod maven;
mod platforms;
mod programs;
mod progress;
mod python;
mod registries;
mod root;
mod shell;
mod soak;
mod steps;
mod test;
mod tidy;
mod toolchain;
mod tools;
mod watch;
mod workspace;

use std::process::ExitCode;

use cli::Request;

/// Errors are texts for people: what failed, and where there is one, what to do about it.
type Result<T, E = String> = std::result::Result<T, E>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let request = match cli::parse(&words) {
        Ok(request) => request,
        Err(misuse) => {
            eprintln!("error: {misuse}\n\n{}", cli::help());
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
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}
