//! The command line: what is asked for, and the way from there to the exit code.

use std::ffi::OsString;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use lexopt::{Arg, Parser};
use protolog_reader::printable;

use crate::archive::{self, Labels};
use crate::args::{End, misuse, text, this_host};
use crate::failure::{Failure, Result, print, say};
use crate::otlp::{self, OtlpOptions};
use crate::traces::{self, TraceLog, damaged};

const HELP: &str = "\
Exports logs for many machines.

Usage:
  protologtool export parquet -o DIR [OPTIONS] TRACE|DIR...
  protologtool export otlp URL [OPTIONS] TRACE|DIR...
  protologtool export read DIR
  protologtool export traces -o DIR ARCHIVE
  protologtool export check DIR

`parquet` adds the logs of traces to an archive: Parquet files below DIR, by date (UTC), program and build. A trace that was
exported before is replaced. `read` prints the lines that `protologtool read-log --format json` prints of the traces.
`traces` makes traces of an archive again, which `read-log`, `view`, `diff` and `merge` read: a file below DIR for each.
`check` reads all files of an archive, and prints the names of those at which engines fail, and of those that no export has.

`otlp` sends the logs of traces to an OpenTelemetry collector, by OTLP over HTTP: `http://localhost:4318`.

Options of `parquet`:
  -o DIR                 The archive; it is made if it is not there
  --host NAME            The name of the machine that logged; that of this machine if it is not given
  --build NAME           The name of the build that logged; a hash of its messages if it is not given
  --viewer-config FILE   A dictionary, for traces that do not have theirs; may be repeated
  -h, --help             Print this

Options of `otlp`, beside `--host`, `--viewer-config` and `--build`, which is service.version:
  --follow               Send what is added to the traces, and traces that come, until this is ended
  --state FILE           Where it is noted what was sent; another run goes on there
  --service NAME         The name of the service; that of the program if it is not given
  --header-file FILE     Headers of requests, such as a token: lines of NAME=VALUE
  --header NAME=VALUE    A header, which others can see in the list of processes
  --ca-file FILE         Certificates in PEM, instead of those of the system
  --metrics              Send counts of messages and losses, too, once a minute
  --metrics-file FILE    Keep them in a file, as text of OpenMetrics, once a second
  --histogram N:TEMPLATE A histogram of argument N of the messages with that template, from 0 on; may be repeated
  --retry-for SECONDS    How long a request is repeated; 300, and with `--follow` without end
  --timeout SECONDS      How long the collector may take for a request; 30

OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_CERTIFICATE, OTEL_METRIC_EXPORT_INTERVAL,
OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME are used where the command line is silent.
";

const KINDS: &str = "use one of `parquet`, `otlp`, `read`, `traces`, `check`";

/// The request of a command line.
pub(crate) enum Request {
    Help,
    Parquet { to: PathBuf, labels: Labels, dictionaries: Vec<PathBuf>, traces: Vec<PathBuf> },
    Read { from: PathBuf },
    Traces { to: PathBuf, from: PathBuf },
    Check { archive: PathBuf },
    Otlp(Box<OtlpOptions>),
}

/// Parses a command line, the program's name first.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Request> {
    let mut parser = Parser::from_iter(args);
    match parser.next().map_err(misuse)? {
        Some(Arg::Short('h') | Arg::Long("help")) => Ok(Request::Help),
        Some(Arg::Value(command)) => match command.to_str() {
            Some("parquet") => parse_parquet(&mut parser),
            Some("otlp") => {
                let options = OtlpOptions::parse(&mut parser)?;
                Ok(options.map_or(Request::Help, |options| Request::Otlp(Box::new(options))))
            }
            Some("read") => {
                let from = parse_archive(&mut parser)?;
                Ok(from.map_or(Request::Help, |from| Request::Read { from }))
            }
            Some("check") => {
                let archive = parse_archive(&mut parser)?;
                Ok(archive.map_or(Request::Help, |archive| Request::Check { archive }))
            }
            Some("traces") => parse_traces(&mut parser),
            Some("help") => Ok(Request::Help),
            _ => {
                let shown = command.to_string_lossy();
                Err(Failure::new(format!("no export `{shown}`")).help(KINDS))
            }
        },
        Some(other) => Err(misuse(other.unexpected())),
        None => Err(Failure::new("no export is named").help(KINDS)),
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

/// The archive that is all of a command; none if help is asked for.
fn parse_archive(parser: &mut Parser) -> Result<Option<PathBuf>> {
    let mut archive = None;
    while let Some(arg) = parser.next().map_err(misuse)? {
        match arg {
            Arg::Value(directory) if archive.is_none() => archive = Some(directory.into()),
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            other => return Err(misuse(other.unexpected())),
        }
    }
    let missing = || Failure::new("no archive is named").help("name the directory of an archive");
    archive.map(Some).ok_or_else(missing)
}

fn parse_traces(parser: &mut Parser) -> Result<Request> {
    let (mut to, mut from) = (None, None);
    while let Some(arg) = parser.next().map_err(misuse)? {
        match arg {
            Arg::Short('o') => to = Some(parser.value().map_err(misuse)?.into()),
            Arg::Value(directory) if from.is_none() => from = Some(directory.into()),
            Arg::Short('h') | Arg::Long("help") => return Ok(Request::Help),
            other => return Err(misuse(other.unexpected())),
        }
    }
    let missing = || Failure::new("missing `-o DIR`").help("name the directory of the traces");
    let to = to.ok_or_else(missing)?;
    let missing = || Failure::new("no archive is named").help("name the directory of an archive");
    Ok(Request::Traces { to, from: from.ok_or_else(missing)? })
}

impl Request {
    /// Does what is asked for.
    pub(crate) fn run(self) -> Result<End> {
        match self {
            Self::Help => {
                print(HELP)?;
                Ok(End::Done)
            }
            Self::Parquet { to, labels, dictionaries, traces } => {
                export_parquet(&to, labels, &dictionaries, &traces)
            }
            Self::Otlp(options) => otlp::run(*options),
            Self::Traces { to, from } => {
                otlp::allow_many_files();
                for (name, messages) in archive::read::write_traces(&from, &to)? {
                    print(&format!("{name}: {}\n", counted(messages)))?;
                }
                Ok(End::Done)
            }
            Self::Check { archive } => check(&archive),
            Self::Read { from } => {
                otlp::allow_many_files();
                let mut out = BufWriter::with_capacity(256 << 10, io::stdout().lock());
                archive::read::write_lines(&from, &mut out)?;
                Ok(End::Done)
            }
        }
    }
}

/// Adds traces to the archive at `to`, and says what became of each.
fn export_parquet(
    to: &Path,
    mut labels: Labels,
    dictionaries: &[PathBuf],
    traces: &[PathBuf],
) -> Result<End> {
    labels.host = labels.host.or_else(this_host).filter(|host| !host.is_empty());
    let dictionaries = traces::dictionaries(dictionaries)?;
    let mut end = End::Done;
    for path in traces::expand(traces)? {
        // Names of files may be those of others.
        let name = printable(&path.path.to_string_lossy());
        if path.is_of_trace() {
            print(&format!("{name}: {OF_TRACE}\n"))?;
            continue;
        }
        let mut trace = match TraceLog::open(&path, &dictionaries) {
            Err(_) if path.is_gone() => continue,
            // What else is in a directory keeps no trace back.
            Err(failure) if path.is_found => {
                say(&failure);
                end = End::Failed;
                continue;
            }
            opened => opened?,
        };
        let exported = archive::export(&mut trace, &labels, to)?;
        let outcome = exported.map_or_else(|| OLDER.to_owned(), counted);
        print(&format!("{name}: {outcome}\n"))?;
        if !trace.pages.log().is_complete() {
            say(&damaged(Path::new(&trace.name)).as_warning());
            end = if end == End::Done { End::Incomplete } else { end };
        }
    }
    Ok(end)
}

/// Names what is wrong in an archive: on standard output for programs, with reasons for people.
fn check(archive: &Path) -> Result<End> {
    let checked = archive::read::check::check(archive)?;
    for (path, failure) in &checked.damaged {
        print(&format!("{}\n", printable(&path.to_string_lossy())))?;
        say(&failure.as_warning());
    }
    for failure in &checked.others {
        say(&failure.as_warning());
    }
    let is_whole = checked.damaged.is_empty() && checked.others.is_empty();
    Ok(if is_whole { End::Done } else { End::Incomplete })
}

/// The outcome for the recording of a trace: both would have messages that died with a process.
const OF_TRACE: &str = "not exported by itself, since it is the recording of a trace that is there";

/// The outcome for a copy of a trace that had grown when it was exported.
const OLDER: &str = "not exported, since the archive has more of this trace";

/// `2 messages`
fn counted(messages: u64) -> String {
    format!("{messages} {}", if messages == 1 { "message" } else { "messages" })
}
