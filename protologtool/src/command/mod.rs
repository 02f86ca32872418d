//! The commands, one in each file.

pub(crate) mod binary;
mod check;
mod clashes;
pub(crate) mod configuration;
mod generate;
mod inputs;
pub(crate) mod merge;
pub(crate) mod page;
pub(crate) mod read_log;
pub(crate) mod recover;
mod target;
mod transform;

use crate::cli::{Command, Exit, Failure};
use crate::system::System;
use std::path::PathBuf;

/// Runs a command. `response_files` are the files that some of its arguments were read from.
pub(crate) fn run(
    command: &Command,
    response_files: &[PathBuf],
    system: &dyn System,
) -> Result<Exit, Failure> {
    match command {
        Command::TransformProtologCalls(args) => Ok(transform::run(args, response_files, system)),
        Command::GenerateViewerConfig(args) => Ok(generate::run(args, response_files, system)),
        Command::FromBinary(args) => Ok(binary::run(args, response_files, system)),
        Command::Check(args) => Ok(check::run(args, system)),
        Command::ReadLog(args) => read_log::run(args, system),
        Command::Recover(args) => recover::run(args, system),
        Command::Merge(args) => merge::run(args, system),
        Command::Configuration(args) => configuration::run(args, system),
        Command::Man(args) => page::manual(args, system),
        Command::Completions(args) => page::completions(args, system),
    }
}
