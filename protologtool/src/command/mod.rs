//! The commands, one a file: its arguments, its help, what it does.

mod generate;
mod inputs;
mod read_log;
mod transform;

use crate::cli::{Exit, Failure};
use crate::system::System;
use clap::Subcommand;

/// The table of commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Rewrite log calls, into a source archive or a directory.
    TransformProtologCalls(transform::Args),
    /// Make the dictionary of the log calls in sources.
    GenerateViewerConfig(generate::Args),
    /// Show the log in a trace.
    ReadLog(read_log::Args),
}

/// Runs a command.
pub fn run(command: Command, system: &dyn System) -> Result<Exit, Failure> {
    match command {
        Command::TransformProtologCalls(args) => transform::run(&args, system),
        Command::GenerateViewerConfig(args) => generate::run(&args, system),
        Command::ReadLog(args) => read_log::run(&args, system),
    }
}
