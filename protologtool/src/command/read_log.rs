//! `read-log`: a trace in, its log out.
//!
//! Entries and losses go to standard output in the order of time; what is missing is summed up on standard error. Output
//! is written in blocks while it is rendered, and a reader that goes away ends the run quietly.

mod columns;
mod counts;
mod explain;
mod filter;
mod follow;
mod input;
mod select;
mod shelf;
mod show;
mod symbols;

use crate::command::inputs::cant_read;
use crate::exit::{Exit, Failure};
use crate::output::reason;
use crate::system::System;
pub(super) use filter::{Filters, is_named};
use input::hint_of_content;
pub(super) use input::read_trace;
use protolog_reader::{Log, ReadErrorKind, Stats, Trace, printable};
use select::Selection;
use shelf::Shelf;
use show::EntryForm;
use std::io;
use std::path::{Path, PathBuf};
use symbols::Symbols;
use viewer_config::{Collector, Format};

const HELP: &str = "\
Examples:
  protologtool read-log app.pftrace
  protologtool read-log app.pftrace --level warn --group Net --since 18:27 --until 18:30
  protologtool read-log app.pftrace --since 10m
  protologtool read-log app.pftrace -n 10 --follow
  protologtool read-log app.pftrace --grep timeout -C 3
  protologtool read-log app.pftrace -n 20 --time-format ns --delta
  protologtool read-log app.pftrace --level warn --count-by template
  protologtool read-log app.pftrace --top
  protologtool read-log app.pftrace --format json | jq .message
  protologtool read-log app.pftrace --format csv --columns time,thread,level,message
  adb exec-out cat /data/misc/perfetto-traces/trace | protologtool read-log -

A line of text is what `logcat -v threadtime` prints: date, time, process, thread, level, tag, message. Where the \
trace does not know the wall clock, seconds since boot stand in place of date and time. `~` in front of a time says \
that it is a guess. Lines with `!` in place of a level say what was lost, where it was lost.

TIME is in seconds since boot (12.5), in the zone of --time (2026-11-20 18:27:01.5; without year, or without date, \
that of the first entry), or before now: 90s, 10m, 2h30m, 1d, `10m ago` or -10m, now, today, yesterday. It is the clock of \
this machine that counts, not the end of the trace. An entry that is in no dictionary has neither level, group, tag nor location, and is left \
out where one of these is asked for. Losses are shown unless their time, thread or group is known not to be asked for.

A recording (.rec) of a process that died is recovered in memory, and shown. A trace without an end, of a program that was killed or still runs, is read as far as it goes, and said to have none. So is a \
file that another program truncated while it was written: the hole of zeros is skipped.

Exit codes: 0 the log was read; 2 wrong command line, or the trace or a dictionary can't be read at all; 3 a part of the \
trace can't be read, as standard error says, or, with --fail-on-loss, messages were lost before they were in it.";

/// Arguments of `read-log`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_long_help = HELP, after_help = "See --help for examples.")]
pub(crate) struct ReadLogArgs {
    /// The trace: a file that Perfetto reads, as it is or compressed with gzip, or a recording; `-` for standard input
    trace: PathBuf,

    /// Read texts that the trace lacks from this dictionary (.pb, .json or .json.gz), or from the matching `<hash>.pb` in
    /// this directory; may be repeated
    #[arg(long, value_name = "FILE|DIR")]
    viewer_config: Vec<PathBuf>,

    #[command(flatten)]
    filters: Filters,

    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    form: EntryForm,

    /// Add functions and lines to stack traces of addresses, from the programs and libraries on this machine
    #[arg(long, help_heading = "How to show them")]
    symbolize: bool,

    /// Print statistics of the trace and of the program's buffer to standard error at the end
    #[arg(long, help_heading = "How to show them")]
    stats: bool,

    /// Then show what is added, until Ctrl-C; a file that is replaced is followed too
    #[arg(short, long, conflicts_with_all = ["count_by", "top", "histogram", "symbolize", "stats", "fail_on_loss"])]
    follow: bool,

    /// Exit with 3 if the program or the tracing service has lost messages
    #[arg(long)]
    fail_on_loss: bool,
}

pub(crate) fn run(args: &ReadLogArgs, system: &dyn System) -> Result<Exit, Failure> {
    if args.follow {
        return follow::run(args, system);
    }
    let mut log = whole(&args.trace, &args.viewer_config, system)?;
    if args.symbolize {
        let mut symbols = Symbols::default();
        log.symbolize_stack_traces(|stack| symbols.name(stack));
        for problem in symbols.problems() {
            system.print_error(&format!("warning: {}\n", printable(problem)));
        }
    }
    let times = args.form.times();
    let filter = args.filters.resolve(&log, &times, system.now())?;
    for problem in filter.problems(&times) {
        system.print_error(&problem);
    }
    match args.form.show(&log, &filter, args.selection, system) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Exit::Done),
        Err(error) => {
            return Err(Failure::new(format!("can't write the log: {}", reason(&error))));
        }
        Ok(()) => {}
    }
    explain::explain(&log, system);
    if args.stats {
        system.print_error(&statistics(log.stats()));
    }
    for line in log.summary().to_string().lines() {
        system.print_error(&format!("warning: {line}\n"));
    }
    system.print_error(hint_of_content(&log));
    if log.dictionary().missing().next().is_some() {
        system.print_error("help: name it, or a directory that holds it, by `--viewer-config`\n");
    }
    let is_lost = args.fail_on_loss && !log.stats().lost.is_empty();
    Ok(if log.is_complete() && !is_lost { Exit::Done } else { Exit::Incomplete })
}

/// The log of the trace at `path`, with the texts of these dictionaries, and directories of them.
pub(super) fn whole(
    path: &Path,
    dictionaries: &[PathBuf],
    system: &dyn System,
) -> Result<Log, Failure> {
    let bytes = read_trace(path, system, &|line| system.print_error(line))?;
    with_dictionaries(Trace::from_bytes(bytes), path, dictionaries, system)
}

/// The log of a trace that was read from `path`, with the texts of these dictionaries, and directories of them.
pub(super) fn with_dictionaries(
    mut trace: Trace,
    path: &Path,
    dictionaries: &[PathBuf],
    system: &dyn System,
) -> Result<Log, Failure> {
    let (directories, files): (Vec<&PathBuf>, Vec<&PathBuf>) =
        dictionaries.iter().partition(|path| system.is_directory(path));
    for path in files {
        trace = trace.with_dictionary(read_dictionary(path, system)?);
    }
    let mut shelf = Shelf::new(&directories);
    let log = trace.read_with(|hash| shelf.find(hash, system));
    shelf.finish()?;
    log.map_err(|error| {
        let reason = match error.kind() {
            ReadErrorKind::Io(error) => reason(error),
            _ => error.to_string(),
        };
        Failure::new(format!("can't read `{}`: {reason}", path.display())).help(error.help())
    })
}

/// The amount that was read; and the buffer, where the trace has statistics of one.
fn statistics(stats: &Stats) -> String {
    let Stats { bytes, inflated_bytes, packets, entries, .. } = stats;
    let inflated = match inflated_bytes {
        0 => String::new(),
        inflated => format!(", {inflated} when inflated"),
    };
    let buffer = stats.buffer.map(|buffer| buffer.to_string()).unwrap_or_default();
    format!("trace: {bytes} bytes{inflated}, {packets} packets, {entries} entries\n{buffer}")
}

/// A dictionary. Its problems are warnings, since a reader of logs can't fix them.
fn read_dictionary(path: &Path, system: &dyn System) -> Result<viewer_config::Dictionary, Failure> {
    let bytes = system.read(path).map_err(|error| cant_read(path, &error))?;
    let mut collector = Collector::new();
    collector.read_as(Format::of_content(&bytes), &bytes).map_err(|error| {
        Failure::new(format!("can't read `{}`: {error}", path.display()))
            .help("give a file that `generate-viewer-config` wrote")
    })?;
    let collected = collector.finish_anyway();
    for problem in &collected.problems {
        system.print_error(&format!("warning: `{}`: {problem}\n", path.display()));
    }
    Ok(collected.dictionary)
}
