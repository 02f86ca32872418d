//! `read-log`: a trace in, its log out.
//!
//! Entries and losses go to standard output in the order of time; what is missing is summed up on standard error. Output
//! is written in blocks while it is rendered, and a reader that goes away ends the run quietly.

mod columns;
mod counts;
mod explain;
mod filter;
mod follow;
mod form;
mod gather;
mod input;
mod joined;
mod line_budget;
mod links;
mod output_format;
mod pager;
mod select;
mod shelf;
mod show;
mod symbols;
mod texts;

use crate::args::Expansion;
use crate::command::inputs::cant_read;
pub(super) use crate::command::trace_paths::expand;
use crate::exit::{Exit, Failure, printable_lines};
use crate::output::{once, reason};
use crate::system::System;
use filter::TimeLimits;
pub(super) use filter::{Filter, Filters, unknown};
use form::EntryForm;
pub(super) use gather::gather_whole;
use gather::{MERGED, Opener, gather};
pub(super) use input::read_trace;
use input::{Parts, hint_of_content, hint_of_dictionary};
use joined::Gone;
use pager::Pager;
use protolog_reader::{ByteSource, Log, Pages, ReadError, ReadErrorKind, Stats, printable};
use select::Selection;
use show::Show;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use symbols::Symbols;
pub(super) use texts::TextSources;

const HELP: &str = "\
Examples:
  protologtool read-log app.pftrace
  protologtool read-log app.pftrace --level warn --group Net \\
    --since 18:27 --until 18:30
  protologtool read-log app.pftrace --since 10m
  protologtool read-log server.pftrace worker.pftrace
  protologtool read-log traces/
  protologtool read-log app.pftrace -n 10 --follow
  protologtool read-log --follow logs/ /dev/shm/protolog-app-4711-0.rec
  protologtool read-log app.pftrace --grep timeout -C 3
  protologtool read-log app.pftrace -n 20 --time-format ns --delta
  protologtool read-log app.pftrace --level warn --count-by template
  protologtool read-log app.pftrace --top
  protologtool read-log app.pftrace --spans --thread worker
  protologtool read-log app.pftrace --source-root ~/src/app \\
    --hyperlink-format 'vscode://file{path}:{line}'
  protologtool read-log app.pftrace --format json | jq .message
  protologtool read-log app.pftrace --format csv \\
    --columns time,thread,level,message
  adb exec-out cat /data/misc/perfetto-traces/trace \\
    | protologtool read-log -

A line of text is what `logcat -v threadtime` prints: date, time, process, thread, level, tag, message. Where the \
trace does not know the wall clock, seconds since boot stand in place of date and time. `~` in front of a time says \
that it is a guess. Lines with `!` in place of a level say what was lost, where it was lost.

TIME is in seconds since boot (12.5), in the zone of --time (2026-11-20 18:27:01.5; without year, or without date, \
that of the first entry), or before now: 90s, 10m, 2h30m, 1d, `10m ago` or -10m, now, today, yesterday. It is the clock of \
this machine that counts, not the end of the trace. An entry that is in no dictionary has neither level, group, tag nor location, and is left \
out where one of these is asked for. Losses are shown unless their time, thread or group is known not to be asked for.

A log of an Android version without Perfetto (.winscope) is read with its dictionary, by --viewer-config.

A recording (.rec) of a process that died is recovered in memory, and shown. A trace without an end, of a program that was killed or still runs, is read as far as it goes, and said to have none. So is a \
file that another program truncated while it was written: the hole of zeros is skipped.

With --follow, FILE may be the name that a session with segments was given, one of its segments, or a recording of a process that runs: \
what was overwritten there between two looks (five a second) is shown as lost. If the process of a trace dies, what did not reach the trace is shown, too.

Several traces, and those in a directory, are shown as one, as `merge` makes it: messages that several have are shown once.

On a terminal, a program shows what is longer than a screen: that of PROTOLOG_PAGER or PAGER, or less. To quit it ends the reading. Tags \
and locations are links to those sources that are found from --source-root, which terminals open by a click.

With --spans, entering and leaving a span are lines of their own, which --level does not leave out: they have none. With --grep, \
the line must match. A span that is open where the trace ends says so where it was entered. With --follow it does not, since its end may follow: \
a line comes when a span is entered, and one with its duration when it is left. A task that waits is in its span several times: `request#17` has the \
number of the span, and `took 7 ms (17 ms of 2 s in all)` the time of all of them, and since the span was made.

A trace is read in parts, so that a large one needs no more memory than a small one: once for its texts and times, and then as far as its \
lines are asked for. One that is damaged is read whole. With --spans, all spans are in memory, and with --follow those that are open. One that is compressed as a whole, and one that comes through a pipe, become a file without a name first, in the \
directory that TMPDIR names; so do several that have to be merged, since messages, processes or clocks of one are in another.

Exit codes: 0 the log was read; 2 wrong command line, or the trace or a dictionary can't be read at all; 3 a part of the \
trace can't be read, as standard error says, or, with --fail-on-loss, messages were lost before they were in it.";

/// Arguments of `read-log`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_long_help = HELP, after_help = "See --help for examples.")]
pub(crate) struct ReadLogArgs {
    /// The trace: a file that Perfetto reads, as it is or compressed with gzip or zstd, or a recording; `-` for standard input.
    /// Several, and those in directories, are shown as one
    #[arg(required = true, value_name = "TRACES")]
    traces: Vec<PathBuf>,

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

    /// Show when threads entered (`>`) and left (`<`) the spans of `tracing`, with their fields and durations
    #[arg(long, help_heading = "How to show them", conflicts_with_all = ["count", "count_by", "top", "histogram"])]
    spans: bool,

    /// Add functions and lines to stack traces of addresses, from the programs and libraries on this machine
    #[arg(long, help_heading = "How to show them")]
    symbolize: bool,

    /// Look for these programs and libraries below this directory, from which neither `..` nor a
    /// link leads out. As root it has to be given, since whoever wrote the trace chose their paths
    #[arg(long, value_name = "DIR", requires = "symbolize", help_heading = "How to show them")]
    symbolize_root: Option<PathBuf>,

    /// Print statistics of the trace and of the program's buffer to standard error at the end
    #[arg(long, help_heading = "How to show them")]
    stats: bool,

    /// Then show what is added, until Ctrl-C or the end of a pipe; also of what takes a file's place, of segments, of recordings and of
    /// what is new in a directory
    #[arg(short, long, conflicts_with_all = ["count", "count_by", "top", "histogram", "symbolize", "stats", "fail_on_loss"])]
    follow: bool,

    /// Show all at once on a terminal, too, without the pager
    #[arg(long, help_heading = "How to show them")]
    no_pager: bool,

    #[command(flatten)]
    expansion: Expansion,

    /// Exit with 3 if the program or the tracing service has lost messages
    #[arg(long)]
    fail_on_loss: bool,
}

pub(crate) fn run(args: &ReadLogArgs, system: &dyn System) -> Result<Exit, Failure> {
    args.form.check()?;
    system.print_error(&args.form.warning(system));
    if args.follow {
        return follow::run(args, system);
    }
    once(&args.traces, "trace", system)?;
    let root = args.symbolize_root.as_deref();
    let mut symbols = args.symbolize.then(|| Symbols::new(root)).transpose()?;
    let Opened { mut pages, is_whole, gone } = open(args, system)?;
    let (times, now) = (args.form.times(), system.now());
    let filter = args.filters.resolve(pages.log(), &times, now)?;
    for problem in filter.problems(&times) {
        system.print_error(&printable_lines(&problem));
    }
    let limits = filter.limits();
    let pager = Pager::start(!args.no_pager, system);
    let shown = show(args, &mut pages, (limits, &mut symbols), (&pager, system));
    // Problems are printed when the terminal is free again.
    pager.finish();
    let left_out = match shown {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Exit::Done),
        Err(error) => {
            return Err(Failure::new(format!("can't write the log: {}", reason(&error))));
        }
        Ok(Err(error)) => return Err(cant_go_on(&args.traces[0], &error)),
        Ok(Ok(left_out)) => left_out,
    };
    system.print_error(&left_out);
    let gone = gone.lines();
    for line in &gone {
        system.print_error(line);
    }
    let log = pages.log();
    explain::explain(log, args.spans, system);
    if args.spans && log.slices().is_empty() && log.slices_without_begin() == 0 {
        system.print_error("note: the trace has no spans\n");
    }
    system.print_error(&spans_without_begin(log));
    if args.stats {
        system.print_error(&statistics(log.stats()));
    }
    for line in log.summary().to_string().lines() {
        system.print_error(&format!("warning: {line}\n"));
    }
    system.print_error(&args.expansion.hint(log.stats()));
    system.print_error(hint_of_content(log));
    system.print_error(hint_of_dictionary(log));
    system.print_error(args.filters.hint_of_unjudged(log));
    let is_lost = args.fail_on_loss && log.stats().has_losses();
    let is_whole = is_whole && left_out.is_empty() && gone.is_empty() && log.is_complete();
    Ok(if is_whole && !is_lost { Exit::Done } else { Exit::Incomplete })
}

/// The line about spans of which only the end is known; empty if there is none.
fn spans_without_begin(log: &Log) -> String {
    match log.slices_without_begin() {
        0 => String::new(),
        1 => "note: 1 span began before the trace, or its begin was lost, and is not shown\n"
            .to_owned(),
        count => format!(
            "note: {count} spans began before the trace, or their begins were lost, and are not shown\n"
        ),
    }
}

/// The failure in the midst of a trace.
fn cant_go_on(path: &Path, error: &io::Error) -> Failure {
    if error.kind() != io::ErrorKind::OutOfMemory {
        return cant_read(path, error);
    }
    let error = ReadError::from(ReadErrorKind::OutOfMemory);
    Failure::new(format!("can't read `{}`: {error}", path.display())).help(error.help())
}

/// A log that is read page by page.
struct Opened {
    pages: Pages,
    /// False if something of several traces was left out when they became one.
    is_whole: bool,
    gone: Gone,
}

impl Opened {
    /// Of traces that stay as long as they are read.
    fn new(pages: Pages, is_whole: bool) -> Self {
        Self { pages, is_whole, gone: Gone::default() }
    }
}

/// Opens the log of all traces.
fn open(args: &ReadLogArgs, system: &dyn System) -> Result<Opened, Failure> {
    let mut listings = 1..LISTINGS;
    loop {
        let traces = expand(&args.traces, system)?;
        let opened = open_traces(args, &traces, system);
        // Who rotates may have removed all that was found.
        let has_directory = args.traces.iter().any(|path| system.is_directory(path));
        let is_gone = has_directory && !traces.iter().any(|trace| system.is_file(trace));
        if opened.is_ok() || !is_gone || listings.next().is_none() {
            return opened;
        }
    }
}

/// The times that a directory is listed at most, of which all files are gone each time.
const LISTINGS: u32 = 10;

fn open_traces(
    args: &ReadLogArgs,
    traces: &[PathBuf],
    system: &dyn System,
) -> Result<Opened, Failure> {
    let texts = TextSources::load(&args.viewer_config, system)?.with_slices(args.spans);
    let mut texts = texts.with_expansion(args.expansion);
    let [path] = traces else { return open_several(args, traces, &mut texts, system) };
    if path == Path::new("-") || system.is_pipe(path) {
        let source = input::spooled(path, system)?;
        if let Some(parts) = Parts::of(Box::new(Arc::clone(&source)), args.expansion)
            && let Some(pages) = texts.survey(parts, path)?
        {
            return Ok(Opened::new(pages, true));
        }
        let all = source.read_at(0, usize::MAX).map_err(|error| cant_read(path, &error))?;
        let pages = texts.pages(input::made_of(path, all, system)?, path)?;
        return Ok(Opened::new(pages, true));
    }
    if let Some(parts) =
        input::parts_of(path, args.expansion, system, &|line| system.print_error(line))
        && let Some(pages) = texts.survey(parts, path)?
    {
        return Ok(Opened::new(pages, true));
    }
    let trace = read_trace(path, system, &|line| system.print_error(line))?;
    Ok(Opened::new(texts.pages(trace, path)?, true))
}

/// As [`open_traces`], of several: side by side, or else by a merge, which leaves out what is gone meanwhile.
fn open_several(
    args: &ReadLogArgs,
    traces: &[PathBuf],
    texts: &mut TextSources<'_>,
    system: &dyn System,
) -> Result<Opened, Failure> {
    let name = Path::new(MERGED);
    let note = |line: &str| system.print_error(line);
    let opener = Opener::new(traces.len(), system, &note);
    for join in [joined::join_segments, joined::join_sessions] {
        if let Some(joined) = join(traces, &opener)
            && let Ok(Some(pages)) = texts.survey(joined.parts, name)
        {
            joined.notes.iter().for_each(|line| note(line));
            joined.gone.end_survey();
            return Ok(Opened { pages, is_whole: !joined.has_gaps, gone: joined.gone });
        }
    }
    let (trace, merged) = gather((traces, &args.traces), args.expansion, system, &note)?;
    let source: Arc<dyn ByteSource> =
        trace.into_source().map_err(|error| cant_read(name, &error))?.into();
    let parts = Parts { source: Box::new(Arc::clone(&source)), compressed: None };
    if let Some(pages) = texts.survey(parts, name)? {
        return Ok(Opened::new(pages, merged.is_whole()));
    }
    let all = source.read_at(0, usize::MAX).map_err(|error| cant_read(name, &error))?;
    Ok(Opened::new(texts.pages(all, name)?, merged.is_whole()))
}

/// Shows what is asked for, page by page, and returns the lines that say that some was left out. The outer error is one of writing, the inner
/// one of reading.
fn show(
    args: &ReadLogArgs,
    pages: &mut Pages,
    (limits, symbols): (TimeLimits, &mut Option<Symbols>),
    (pager, system): (&Pager<'_>, &dyn System),
) -> io::Result<io::Result<String>> {
    let has_context = args.selection.has_context();
    // Context may be before the times that are asked for, and after.
    if let Some(time) = limits.earliest(pages.log()).filter(|_| !has_context) {
        pages.skip_to(time);
    }
    if let Some(count) = args.selection.tail().filter(|_| args.filters.admit_all()) {
        // The first of them has a time since the one before, too.
        pages.skip_to_last(count.saturating_add(1));
    }
    let end = limits.end(pages.log());
    // Context is of entries that the filter leaves out.
    if !has_context {
        let since = limits.earliest(pages.log());
        pages.choose(since, end, |thread| args.filters.admit_thread(thread));
    }
    pages.read_ahead();
    let show = Show::new(&args.form, args.selection, system).with_pager(pager);
    let mut show = show.with_expansion(args.expansion);
    loop {
        let is_past = end.zip(pages.next_time()).is_some_and(|(end, next)| next >= end);
        if is_past && !show.wants_context() {
            pages.skip_rest();
        }
        match pages.next_page() {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Ok(Err(error)),
        }
        if let Some(symbols) = symbols {
            pages.log_mut().symbolize_stack_traces(|stack| symbols.name(stack));
        }
        let log = pages.log();
        show.page(log, &Filter::on(&args.filters, limits, log))?;
    }
    for problem in symbols.iter().flat_map(Symbols::problems) {
        system.print_error(&format!("warning: {}\n", printable(problem)));
    }
    show.finish(pages.log()).map(Ok)
}

/// The log of the trace at `path`, with the texts of these dictionaries, and directories of them.
pub(super) fn whole(
    path: &Path,
    dictionaries: &[PathBuf],
    expansion: Expansion,
    system: &dyn System,
) -> Result<Log, Failure> {
    let bytes = read_trace(path, system, &|line| system.print_error(line))?;
    TextSources::load(dictionaries, system)?.with_expansion(expansion).log(bytes, path)
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
