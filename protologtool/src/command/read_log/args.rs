//! The command line of `read-log`.

use super::forms::{EntryForm, SpanForm};
use super::selection::Selection;
use crate::args::Expansion;
use crate::args::values::age;
use crate::exit::Failure;
use crate::logs::filter::Filters;
use crate::logs::named_logs::NamedLogs;
use crate::system::System;
use clap::ValueEnum;
use std::path::PathBuf;

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
  protologtool read-log app.pftrace --spans=around --span request.id=7
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

Several traces, and those in a directory, are shown as one, as `merge` makes it: messages that several have are shown once. With --follow each is shown as it grows, and so are these.

On a terminal, a program shows what is longer than a screen: that of PROTOLOG_PAGER or PAGER, or less. To quit it ends the reading. Tags \
and locations are links to those sources that are found from --source-root, which terminals open by a click.

With --spans=around, the spans that a message was logged in stand before it, with the fields that were known when the thread entered \
them: `net:request{id=7}: sent`. `request?` may have been over, since its end was lost, and `…` stands for spans that are not in the trace.

With --spans, entering and leaving a span are lines of their own, which --level does not leave out: they have none. With --grep, \
the line must match. A span that is open where the trace ends says so where it was entered. With --follow it does not, since its end may follow: \
a line comes when a span is entered, and one with its duration when it is left. A task that waits is in its span several times: `request#17` has the \
number of the span, and `took 7 ms (17 ms of 2 s in all)` the time of all of them, and since the span was made.

A trace is read in parts, so that a large one needs no more memory than a small one: once for its texts and times, and then as far as its \
lines are asked for. One that is damaged is read whole. With --spans or --span, all spans are in memory, and with --follow those that are open. One that is compressed as a whole, and one that comes through a pipe, become a file without a name first, in the \
directory that TMPDIR names; so do several that have to be merged, since messages, processes or clocks of one are in another.

Exit codes: 0 the log was read; 2 wrong command line, or the trace or a dictionary can't be read at all; 3 a part of the \
trace can't be read, as standard error says, or, with --fail-on-loss, messages were lost before they were in it.";

/// Arguments of `read-log`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_long_help = HELP, after_help = "See --help for examples.")]
pub(crate) struct ReadLogArgs {
    /// The trace: a file that Perfetto reads, as it is or compressed with gzip or zstd, or a
    /// recording; `-` for standard input. Several, and those in directories, are shown as one
    #[arg(required = true, value_name = "TRACES")]
    pub(super) traces: Vec<PathBuf>,

    /// Read texts that the trace lacks from this dictionary (.pb, .json or .json.gz), or from the
    /// matching `<hash>.pb` in this directory; may be repeated
    #[arg(long, value_name = "FILE|DIR")]
    pub(super) viewer_config: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) filters: Filters,

    #[command(flatten)]
    pub(super) selection: Selection,

    #[command(flatten)]
    pub(super) form: EntryForm,

    /// Add functions and lines to stack traces of addresses, from the programs and libraries on
    /// this machine
    #[arg(long, help_heading = "How to show them")]
    pub(super) symbolize: bool,

    /// Look for these programs and libraries below this directory, from which neither `..` nor a
    /// link leads out. As root it has to be given, since whoever wrote the trace chose their paths
    #[arg(long, value_name = "DIR", requires = "symbolize", help_heading = "How to show them")]
    pub(super) symbolize_root: Option<PathBuf>,

    /// Print statistics of the trace and of the program's buffer to standard error at the end
    #[arg(long, help_heading = "How to show them")]
    pub(super) stats: bool,

    /// Then show what is added, until Ctrl-C or the end of a pipe; also of what takes a file's
    /// place, of segments, of recordings and of what is new in a directory
    #[arg(short, long, conflicts_with_all = ["count", "count_by", "count_by_arg", "top", "histogram", "symbolize", "stats", "fail_on_loss"])]
    pub(super) follow: bool,

    /// Show all at once on a terminal, too, without the pager
    #[arg(long, help_heading = "How to show them")]
    pub(super) no_pager: bool,

    #[command(flatten)]
    pub(super) expansion: Expansion,

    /// Exit with 3 if the program or the tracing service has lost messages
    #[arg(long)]
    pub(super) fail_on_loss: bool,
}

impl ReadLogArgs {
    /// Returns whether spans are read.
    pub(super) fn has_spans(&self) -> bool {
        self.form.has_spans() || self.filters.need_spans()
    }

    /// An error for what was meant as the value of a flag, and is taken for a trace.
    pub(super) fn check_traces(&self, system: &dyn System) -> Result<(), Failure> {
        let is_missing = |path: &&PathBuf| system.file_id(path).is_err();
        for path in self.traces.iter().filter(is_missing) {
            let text = path.to_str().unwrap_or_default();
            let help = if self.form.histogram && age(text).is_ok() {
                "leave it out: `--histogram` has bars as long as the log needs".to_owned()
            } else if self.form.top.is_some() && text.parse::<usize>().is_ok() {
                format!("write `--top={text}` for so many call sites")
            } else if self.form.spans.is_some() && SpanForm::from_str(text, false).is_ok() {
                format!("write `--spans={text}`")
            } else {
                continue;
            };
            return Err(Failure::new(format!("no trace `{text}`")).help(help));
        }
        Ok(())
    }

    /// The logs to read.
    pub(super) fn logs(&self) -> NamedLogs<'_> {
        NamedLogs {
            paths: &self.traces,
            dictionaries: &self.viewer_config,
            has_spans: self.has_spans(),
            expansion: self.expansion,
        }
    }
}
