//! The command line, as a table: the commands, their flags and what these take; and the way from
//! arguments to exit code.
//!
//! [`crate::command`] runs the commands. The manual page and the shell completions are generated
//! from this table. Rules of Android's build work as they are: flags and files in any order, each
//! flag as `--flag value`. What is added: `--flag=value`, response files, directories, several
//! dictionaries.

mod response;
mod usage;

pub use crate::exit::{Exit, Failure};

use crate::args::values::NO_FORMAT;
use crate::args::{Check, Completions, Generate, Man, Transform};
use crate::command::transform;
use crate::command::{
    binary, check, diff, export, generate, init, lsp, merge, migrate, page, read_log, recover, view,
};
#[cfg(unix)]
use crate::command::{configuration, record};
use crate::system::System;
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};
use response::Expanded;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Rewrites ProtoLog calls so that their texts move to a dictionary, and reads logs.
#[derive(Debug, Parser)]
#[command(name = "protologtool", version, max_term_width = 100, arg_required_else_help = false)]
#[command(after_help = "An argument `@FILE` stands for the arguments in FILE.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
enum Command {
    /// Rewrite log calls, into a source archive or a directory.
    TransformProtologCalls(Transform),
    /// Write the dictionary of the log calls in sources.
    GenerateViewerConfig(Generate),
    /// Write the dictionary of the log calls in programs.
    #[command(name = binary::NAME, hide = true)]
    FromBinary(binary::BinaryArgs),
    /// Report the problems of log calls in sources; write nothing.
    Check(Check),
    /// Print what a build needs to process log calls.
    Init(init::InitArgs),
    /// Move the log calls of another library to protolog
    Migrate(migrate::MigrateArgs),
    /// Answer an editor: a language server for log calls
    Lsp(lsp::LspArgs),
    /// Show the log in a trace.
    ReadLog(read_log::ReadLogArgs),
    /// Show the log in a trace in the browser.
    View(view::ViewArgs),
    /// Record running programs by Perfetto's tracing service.
    #[cfg(unix)]
    Record(record::RecordArgs),
    /// Make a trace from the recordings of dead processes.
    Recover(recover::RecoverArgs),
    /// Merge the traces of several processes into one.
    Merge(merge::MergeArgs),
    /// Compare the logs of two runs.
    Diff(diff::DiffArgs),
    /// Export logs for many machines: to tables for SQL engines, to OpenTelemetry
    Export(export::ExportArgs),
    /// List and switch the log groups of running programs
    #[cfg(unix)]
    Configuration(configuration::ConfigurationArgs),
    /// Watch the log groups of running programs, and switch them
    #[cfg(unix)]
    Top(configuration::TopArgs),
    /// Print the manual page, of the tool or of one command.
    Man(Man),
    /// Print completions for a shell.
    Completions(Completions),
}

/// Returns the table itself, for manual pages and completions.
fn table() -> clap::Command {
    Cli::command()
}

/// Runs the command with these arguments, the program's name first.
pub fn run(args: impl IntoIterator<Item = OsString>, system: &dyn System) -> Exit {
    parse_and_run(args, system).unwrap_or_else(|failure| {
        system.print_error(&format!("{failure}\n"));
        Exit::Failed
    })
}

fn parse_and_run(
    args: impl IntoIterator<Item = OsString>,
    system: &dyn System,
) -> Result<Exit, Failure> {
    let mut expanded = response::expand(by_name(args), system)?;
    binary::route(&mut expanded.args);
    match Cli::try_parse_from(&expanded.args) {
        Ok(cli) => {
            cli.command.check(&expanded)?;
            cli.command.run(&expanded.files, system)
        }
        Err(error) if error.use_stderr() => {
            let origin = offender(&error).and_then(|value| expanded.origin(value));
            let text = usage::text(&error, &expanded.args, origin.as_deref());
            system.print_error(&text);
            Ok(Exit::Failed)
        }
        Err(help) => page::show(Ok(()), help.render().to_string().as_bytes(), system),
    }
}

impl Command {
    /// Checks what the table of flags can't: an argument that another one allows.
    fn check(&self, expanded: &Expanded) -> Result<(), Failure> {
        let Self::GenerateViewerConfig(args) = self else { return Ok(()) };
        let Some(path) = generate::without_format(args) else { return Ok(()) };
        let shown = path.display();
        let at = expanded.origin(&shown.to_string());
        let at = at.map_or(String::new(), |origin| format!("{origin}: "));
        Err(Failure::new(format!("{at}`{shown}` for `--viewer-config`: {NO_FORMAT}"))
            .help("choose such a name, or name the format by `--viewer-config-type`"))
    }

    /// Runs a command. `response_files` are the files that some of its arguments were read from.
    fn run(&self, response_files: &[PathBuf], system: &dyn System) -> Result<Exit, Failure> {
        match self {
            Self::TransformProtologCalls(args) => Ok(transform::run(args, response_files, system)),
            Self::GenerateViewerConfig(args) => Ok(generate::run(args, response_files, system)),
            Self::FromBinary(args) => Ok(binary::run(args, response_files, system)),
            Self::Check(args) => Ok(check::run(args, system)),
            Self::Init(args) => init::run(args, system),
            Self::Migrate(args) => migrate::run(args, system),
            Self::Lsp(args) => lsp::run(args, system),
            Self::ReadLog(args) => read_log::run(args, system),
            Self::View(args) => view::run(args, system),
            #[cfg(unix)]
            Self::Record(args) => record::run(args, system),
            Self::Recover(args) => recover::run(args, system),
            Self::Merge(args) => merge::run(args, system),
            Self::Diff(args) => diff::run(args, system),
            Self::Export(args) => export::run(args, system),
            #[cfg(unix)]
            Self::Configuration(args) => configuration::run(args, system),
            #[cfg(unix)]
            Self::Top(args) => configuration::run_top(args, system),
            Self::Man(args) => page::manual(args, table(), system),
            Self::Completions(args) => page::completions(args, table(), system),
        }
    }
}

/// The arguments, with the command that the program's name stands for.
fn by_name(args: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let mut args = args.into_iter();
    let program = args.next();
    let is_other = program.as_ref().is_some_and(|program| {
        Path::new(program).file_name().is_some_and(|name| name == "protolog_configuration")
    });
    let program = if is_other { Some("protologtool".into()) } else { program };
    program.into_iter().chain(is_other.then(|| "configuration".into())).chain(args)
}

/// The argument that an error is about.
fn offender(error: &clap::Error) -> Option<&str> {
    [ContextKind::InvalidValue, ContextKind::InvalidArg, ContextKind::InvalidSubcommand]
        .into_iter()
        .find_map(|kind| match error.get(kind) {
            Some(ContextValue::String(text)) if !text.is_empty() => Some(text.as_str()),
            _ => None,
        })
}
