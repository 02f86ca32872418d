//! The command line: what is asked for, and the way from there to the exit code.

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use lexopt::{Arg, Parser, ValueExt};

use crate::archive::{self, Labels};
use crate::failure::{Failure, Result};
use crate::traces::{self, TraceLog};

const HELP: &str = "\
Exports logs for many machines.

Usage:
  protologtool export parquet -o DIR [OPTIONS] TRACE|DIR...
  protologtool export read DIR

`parquet` adds the logs of traces to an archive: Parquet files below DIR, by date (UTC), program and build. A trace that was
exported before is replaced. `read` prints the lines that `protologtool read-log --format json` prints of the traces.

Options of `parquet`:
  -o DIR                 The archive; it is made if it is not there
  --host NAME            The name of the machine that logged; that of this machine if it is not given
  --build NAME           The name of the build that logged; a hash of its messages if it is not given
  --viewer-config FILE   A dictionary, for traces that do not have theirs; may be repeated
  -h, --help             Print this
";

/// What a command line asks for.
pub(crate) enum Request {
    Help,
    Parquet { to: PathBuf, labels: Labels, dictionaries: Vec<PathBuf>, traces: Vec<PathBuf> },
    Read { from: PathBuf },
}

/// The end of a run, by its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Done = 0,
    /// A part of a trace could not be read.
    Incomplete = 3,
}

/// Parses a command line, the program's name first.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Request> {
    let mut parser = Parser::from_iter(args);
    match parser.next().map_err(misuse)? {
        Some(Arg::Short('h') | Arg::Long("help")) => Ok(Request::Help),
        Some(Arg::Value(command)) => match command.to_str() {
            Some("parquet") => parse_parquet(&mut parser),
            Some("read") => parse_read(&mut parser),
            Some("help") => Ok(Request::Help),
            _ => {
                let shown = command.to_string_lossy();
                Err(Failure::new(format!("no export `{shown}`"))
                    .help("use one of `parquet`, `read`"))
            }
        },
        Some(other) => Err(misuse(other.unexpected())),
        None => Err(Failure::new("no export is named").help("use one of `parquet`, `read`")),
    }
}

fn parse_parquet(parser: &mut Parser) -> Result<Request> {
    let (mut to, mut labels) = (None, Labels::default());
    let (mut dictionaries, mut traces) = (Vec::new(), Vec::new());
    while let Some(arg) = parser.next().map_err(misuse)? {
        match arg {
            Arg::Short('o') => to = Some(parser.value().map_err(misuse)?.into()),
            Arg::Long("host") => labels.host = Some(text(parser)?),
            Arg::Long("build") => labels.build = Some(text(parser)?),
            Arg::Long("viewer-config") => {
                dictionaries.push(parser.value().map_err(misuse)?.into());
            }
            Arg::Value(trace) => traces.push(trace.into()),
            Arg::Short('h') | Arg::Long("help") => return Ok(Request::Help),
            other => return Err(misuse(other.unexpected())),
        }
    }
    let Some(to) = to else {
        return Err(Failure::new("missing `-o DIR`").help("name the directory of the archive"));
    };
    if traces.is_empty() {
        return Err(Failure::new("no trace is named").help("give the file that a session writes"));
    }
    Ok(Request::Parquet { to, labels, dictionaries, traces })
}

fn parse_read(parser: &mut Parser) -> Result<Request> {
    let mut from = None;
    while let Some(arg) = parser.next().map_err(misuse)? {
        match arg {
            Arg::Value(directory) if from.is_none() => from = Some(directory.into()),
            Arg::Short('h') | Arg::Long("help") => return Ok(Request::Help),
            other => return Err(misuse(other.unexpected())),
        }
    }
    let missing = || Failure::new("no archive is named").help("name the directory of an archive");
    Ok(Request::Read { from: from.ok_or_else(missing)? })
}

fn text(parser: &mut Parser) -> Result<String> {
    parser.value().and_then(ValueExt::string).map_err(misuse)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn misuse(error: lexopt::Error) -> Failure {
    Failure::new(error.to_string()).help("run `protologtool export --help` for the options")
}

impl Request {
    /// Does what is asked for.
    pub(crate) fn run(self) -> Result<End> {
        match self {
            Self::Help => {
                print!("{HELP}");
                Ok(End::Done)
            }
            Self::Parquet { to, mut labels, dictionaries, traces } => {
                labels.host = labels.host.or_else(this_host).filter(|host| !host.is_empty());
                let dictionaries = traces::dictionaries(&dictionaries)?;
                let mut end = End::Done;
                for path in traces::expand(&traces)? {
                    let mut trace = TraceLog::open(&path, &dictionaries)?;
                    let messages = archive::export(&mut trace, &labels, &to)?;
                    let noun = if messages == 1 { "message" } else { "messages" };
                    println!("{}: {messages} {noun}", trace.name);
                    if !trace.pages.log().is_complete() {
                        eprintln!("{}", damaged(&trace.name).as_warning());
                        end = End::Incomplete;
                    }
                }
                Ok(end)
            }
            Self::Read { from } => {
                let mut out = BufWriter::with_capacity(256 << 10, io::stdout().lock());
                archive::read::write_lines(&from, &mut out)?;
                out.flush().map_err(|error| Failure::new(error.to_string()))?;
                Ok(End::Done)
            }
        }
    }
}

fn damaged(name: &str) -> Failure {
    Failure::new(format!("`{name}` is damaged: a part of it could not be read"))
        .help(format!("run `protologtool read-log {name}` to see what is missing"))
}

/// The name of this machine.
fn this_host() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}
