//! `record`: a session of Perfetto's tracing service, from its start to its trace.
//!
//! The trace is read once a second and goes to the output at once, so that a long session needs no
//! large buffer; but at the end only where the buffer is to have it until then, for a clone or
//! since the configuration is somebody's own.
//!
//! Invariants
//! - The session ends with this process, however that ends.
//! - After the first signal the program ends within the time limits of a few requests, and as long
//!   as somebody goes on reading its output, also where the service sends without end; the second
//!   one ends it at once.

mod names;
mod session;
mod stream;
mod text;
mod trace_file;

use self::names::AskedNames;
use self::session::{Extent, Out, RecordJob, Target};
use self::stream::OutputStream;
use self::trace_file::TraceFile;
use crate::args::LogOutput;
use crate::args::level::level;
use crate::args::values::age;
use crate::exit::{Exit, Failure};
use crate::first_process;
use crate::output::{cant_read, cant_write, is_standard};
use crate::system::System;
use perfetto_ipc::{
    Consumer, Error, FileSettings, SessionConfig, check_config, places, take_file_settings,
};
use protolog_core::Level;
use protolog_reader::printable;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const HELP: &str = "\
Examples:
  protologtool record --perfetto -o all.pftrace
  protologtool record --perfetto --time 10s --log-from info \\
    --group Net=verbose -o all.pftrace
  protologtool record --perfetto -c config.pbtxt -o all.pftrace
  protologtool record --perfetto --name watch -o watch.pftrace &
  protologtool record --perfetto --clone watch -o bug.pftrace

Perfetto's tracing service (`traced`) has to run. The session records every program that is connected with it, by \
`protolog_rt::producer::connect()` or `Init::perfetto`, and those that come meanwhile. It ends with Ctrl-C, after --time, or by itself as its \
configuration says; then the trace is complete.

Without --log-from, --group and -c everything is recorded. With --ftrace the kernel's events are in the same trace, where `traced_probes` \
runs, too. A configuration of your own is a TraceConfig in text, as `perfetto --txt` takes it, or encoded. With `write_into_file` in it \
the trace is read and written as often as it says; otherwise it stays in the service's buffer until the end.

To a pipe or standard output the trace goes while it is recorded; what a slow reader has not taken waits in a temporary file.

--clone writes what a session with a unique name has so far, and leaves it running: for a report of a bug that was just seen. With --name \
the trace stays in the service's buffer until the end, which then has the newest of it.

The socket is the one in PERFETTO_CONSUMER_SOCK_NAME, or else /run/perfetto/traced-consumer.sock or /tmp/perfetto-consumer; in /tmp the \
service has to be root's or yours.

Until it is complete the trace has the name TRACE.part: read it meanwhile by `read-log --follow`. If record is killed, the messages of up to \
a second before that are there.

Exit codes: 0 done; 2 wrong command line, no service, or the output fails: nothing was written, but to a pipe; 3 the trace was cut, by \
Ctrl-C while a clone was read, or since the disk is full, the service fails, sends without end or does not end the session: the file has \
what came before.";

/// Arguments of `record`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP, after_help = "See --help for examples.")]
pub(crate) struct RecordArgs {
    /// Record by Perfetto's tracing service
    #[arg(long, required = true)]
    perfetto: bool,

    /// Write the trace to this file; `-` for standard output
    #[arg(short, long, value_name = "TRACE")]
    output: PathBuf,

    /// The configuration: a TraceConfig in text or encoded; `-` for standard input
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["log_from", "groups", "ftrace", "name", "buffer", "clone"])]
    config: Option<PathBuf>,

    /// End the session after so long, such as 10s, 5m or 1h
    #[arg(short, long, value_name = "TIME", value_parser = age, conflicts_with = "clone")]
    time: Option<Duration>,

    /// Record this level and up
    #[arg(long, value_name = "LEVEL", value_parser = level())]
    log_from: Option<Level>,

    /// Record this level and up of one group, by its name or the end of it; may be repeated
    #[arg(long = "group", value_name = "GROUP=LEVEL", value_parser = group)]
    groups: Vec<(String, Level)>,

    /// Record an event of the kernel's, such as `sched/sched_switch`; may be repeated
    #[arg(long, value_name = "EVENT")]
    ftrace: Vec<String>,

    /// The name by which the session can be cloned
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The size of the service's buffer, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=2048))]
    buffer: u32,

    /// Write what the session of this name has so far, and leave it running
    #[arg(long, value_name = "NAME", conflicts_with_all = ["log_from", "groups", "ftrace", "name"])]
    clone: Option<String>,

    #[command(flatten)]
    output_file: LogOutput,
}

/// The interval at which the trace is read.
const INTERVAL: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &RecordArgs, system: &dyn System) -> Result<Exit, Failure> {
    let (config, file) = match &args.config {
        Some(path) => own_config(path, system)?,
        None => (config_of_flags(args), None),
    };
    let job = match &args.clone {
        Some(name) => RecordJob::Clone(name),
        None => {
            let stays = args.name.is_some() || args.config.is_some() && file.is_none();
            let period = file.and_then(|file| file.period).unwrap_or(INTERVAL);
            let interval = (!stays).then_some(period);
            RecordJob::Session { config: &config, time: args.time, interval }
        }
    };
    let most = file.and_then(|file| file.max_bytes);
    let is_over = stop_flag()?;
    let place = places::consumer(std::env::var_os(places::CONSUMER_VARIABLE));
    let mut consumer = Consumer::connect(&place).map_err(|error| failure(&error))?;
    let mut names = AskedNames::of(if args.clone.is_some() { &[] } else { &config });
    let mut run = |target: Target<'_>| {
        session::run(&mut consumer, &job, &is_over, &mut Out::new(target, most, &mut names))
    };
    let failed = |error: Error| match error {
        Error::Output(error) => cant_write(&args.output, &error),
        error => failure(&error),
    };
    let stream = system.open_stream(&args.output).map_err(Error::Output).map_err(failed)?;
    if let Some(stream) = stream {
        let mut stream = OutputStream::start(stream).map_err(Error::Output).map_err(failed)?;
        return match run(Target::Stream(&mut stream)) {
            Err(Error::Output(error)) if is_closed(&error) && is_standard(&args.output) => {
                Ok(Exit::Done)
            }
            done => done.map_err(failed).map(|extent| finish(extent, args, &names, system)),
        };
    }
    let inputs: Vec<PathBuf> = args.config.iter().cloned().collect();
    let mode = args.output_file.mode_of_new();
    let mut file = TraceFile::create(&args.output, mode, &inputs, system)?;
    match run(Target::File(&mut file)) {
        Ok(extent) => {
            file.finish()?;
            Ok(finish(extent, args, &names, system))
        }
        Err(error) => {
            file.discard();
            Err(failed(error))
        }
    }
}

/// Says which names nothing answered to, the trace being what was asked for none the less, and
/// whether its end may be missing.
fn finish(extent: Extent, args: &RecordArgs, names: &AskedNames, system: &dyn System) -> Exit {
    names.warnings().iter().for_each(|warning| system.print_error(warning));
    let (problem, help) = match (extent, args.clone.is_some()) {
        (Extent::Whole, _) => return Exit::Done,
        (Extent::Broken(Error::Output(error)), _) => {
            let failure = cant_write(&args.output, &error);
            let message =
                format!("the trace was cut: {}; it has what came before", failure.message());
            system.print_error(&failure.with_message(message).as_warning());
            return Exit::Incomplete;
        }
        (Extent::Broken(error), _) => {
            (format!("{}; it has what came before", printable(&error.to_string())), error.help())
        }
        (Extent::Cut, true) => (
            "its last packets are missing".to_owned(),
            "clone the session again, and wait until it is written",
        ),
        (Extent::Unfinished, _) => (
            "the service did not end the session in time, and what programs sent last may be \
             missing"
                .to_owned(),
            "look at the output of `traced`, and at what its producers do",
        ),
        (Extent::Cut, false) => (
            "the service sends more than the session's buffers have, and the last packets may be \
             missing"
                .to_owned(),
            "look at the output of `traced`, and at what its producers do",
        ),
    };
    system.print_error(&format!("warning: the trace was cut: {problem}\nhelp: {help}\n"));
    Exit::Incomplete
}

/// Returns whether the reader of a pipe has gone.
fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

/// Reads a configuration, in text or encoded. Returns it encoded, without the settings of a file
/// that the service would write by itself, and those.
fn own_config(
    path: &Path,
    system: &dyn System,
) -> Result<(Vec<u8>, Option<FileSettings>), Failure> {
    let is_input = path == Path::new("-");
    let read = if is_input { system.read_input() } else { system.read(path) };
    let mut config = read.map_err(|error| cant_read(path, &error))?;
    if text::is_text(&config) {
        config = text::encode(&config).map_err(|problem| {
            // What it quotes of the text may be meant for the terminal.
            Failure::new(format!("{}:{}", path.display(), printable(&problem.to_string()))).help(
                "correct it, or encode what only a newer Perfetto knows by \
                 `protoc --encode=perfetto.protos.TraceConfig`",
            )
        })?;
    }
    let checked = take_file_settings(&config).and_then(|(config, file)| {
        check_config(&config)?;
        Ok((config, file))
    });
    checked
        .map_err(|error| Failure::new(format!("`{}`: {error}", path.display())).help(error.help()))
}

/// Returns the configuration that the flags make, encoded.
fn config_of_flags(args: &RecordArgs) -> Vec<u8> {
    let groups = args.groups.iter().map(|(name, level)| (name.clone(), Some(level.wire())));
    let config = SessionConfig {
        buffer_kb: args.buffer << 10,
        unique_name: args.name.clone(),
        enable_all: args.log_from.is_none() && args.groups.is_empty(),
        log_from: args.log_from.map(Level::wire),
        groups: groups.collect(),
        ftrace_events: args.ftrace.clone(),
        // A thread that logs little fills no chunk for minutes, and the file would have none of it.
        flush_every: args.name.is_none().then_some(INTERVAL),
        ..SessionConfig::default()
    };
    config.encode()
}

/// Returns a flag that the first signal sets which asks the program to end. The second one ends it.
fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in first_process::not_ignored([SIGHUP, SIGINT, SIGTERM]) {
        // In this order: the first of each kind finds the flag down.
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .map_err(|error| Failure::new(format!("can't wait for signals: {error}")))?;
    }
    Ok(flag)
}

fn failure(error: &Error) -> Failure {
    // In one line, since a service's reason may look like the advice.
    Failure::new(printable(&error.to_string())).help(error.help())
}

/// A group and its level.
fn group(text: &str) -> Result<(String, Level), String> {
    let parts = text.rsplit_once('=').filter(|(name, _)| !name.is_empty());
    let (name, level) = parts.ok_or("write it as GROUP=LEVEL")?;
    let level = level.to_ascii_lowercase().parse();
    let level = level.map_err(|_| "use one of verbose, debug, info, warn, error, wtf")?;
    Ok((name.to_owned(), level))
}
