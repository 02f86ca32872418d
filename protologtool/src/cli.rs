//! From arguments to exit code. What each command takes and does is in [`command`](crate::command).

use crate::command::{self, Command};
use crate::system::System;
use clap::Parser;
use std::ffi::OsString;
use std::fmt;
use std::process::ExitCode;

/// Rewrites ProtoLog calls so that their texts move to a dictionary, and makes that dictionary.
#[derive(Debug, Parser)]
#[command(name = "protologtool", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// How a run ended; the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is done.
    Done = 0,
    /// There are problems in the sources; nothing was written.
    Problems = 1,
    /// The command line is wrong, or a file can't be read or written.
    Failed = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Something that stops a run and is no problem in a source: what, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    message: String,
    help: Option<&'static str>,
}

impl Failure {
    /// With this message: lower case, no full stop, the offending text in backticks.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// With what to do about it; begins with a verb.
    #[must_use]
    pub fn help(self, help: &'static str) -> Self {
        Self { help: Some(help), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

/// Runs the command with these arguments, the program's name first.
pub fn run(args: impl IntoIterator<Item = OsString>, system: &dyn System) -> Exit {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            system.print_error(&error.render().to_string());
            return Exit::Failed;
        }
        Err(help) => {
            system.print(&help.render().to_string());
            return Exit::Done;
        }
    };
    command::run(cli.command, system).unwrap_or_else(|failure| {
        system.print_error(&format!("{failure}\n"));
        Exit::Failed
    })
}
