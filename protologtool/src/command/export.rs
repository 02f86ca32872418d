//! `export`: runs `protologtool-fleet`, the program for many machines, as cargo runs its external
//! commands.
//!
//! That is a program of its own, so that installing this one compiles neither Parquet nor HTTP.

use crate::exit::{Exit, Failure};
use crate::output::reason;
use crate::system::System;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  protologtool export parquet -o archive traces/
  protologtool export read archive
  protologtool export traces -o again archive
  protologtool export check archive
  protologtool export otlp http://localhost:4318 --follow traces/

`parquet` writes tables that DuckDB and other engines read, `otlp` sends logs to an OpenTelemetry collector. `protologtool-fleet` does the work, a program of its own: it is \
looked for beside this one, and then in the directories of PATH. `protologtool export parquet --help` lists the options.

Exit codes: those of `protologtool-fleet`; 2 if it is not installed.";

/// The program that exports.
const PROGRAM: &str = "protologtool-fleet";

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP, after_help = "See --help for examples.")]
pub(crate) struct ExportArgs {
    /// The kind of export, and its arguments
    #[arg(
        value_name = "EXPORT",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    args: Vec<OsString>,
}

/// Runs the program with these arguments.
pub(crate) fn run(args: &ExportArgs, system: &dyn System) -> Result<Exit, Failure> {
    let program = beside().filter(|path| system.is_file(path));
    let program = program.map_or_else(|| PROGRAM.into(), PathBuf::into_os_string);
    match system.run_program(&program, &args.args) {
        Ok(code) => Ok(match code {
            Some(0) => Exit::Done,
            Some(1) => Exit::Problems,
            Some(3) => Exit::Incomplete,
            // It said why, or died of a signal, which its user knows of.
            _ => Exit::Failed,
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Failure::new(format!(
            "can't export: `{PROGRAM}` is not installed"
        ))
        .help("install it with `cargo install --path fleet` in the sources of protologtool")),
        Err(error) => Err(Failure::new(format!("can't run `{PROGRAM}`: {}", reason(&error)))),
    }
}

/// Where the program is if both are installed in one directory.
fn beside() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.join(PROGRAM))
}
