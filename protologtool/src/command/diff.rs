//! `diff`: two runs compared by template and arguments, for tests and for "what is different on the
//! bad machine".
//!
//! Messages are the same if group, level and template are: ids change with the place of a call in
//! the sources, texts do not. What is compared: how often each was logged, the values of each
//! argument, and the order on each thread. Times, process ids and thread ids differ between any two
//! runs, and are not compared.
//!
//! Invariant: what is left out of the report, because there is too much of it, is counted there.

mod compare;
mod json;
mod noise;
mod order;
mod tally;
mod text;
mod values;

use crate::args::Expansion;
use crate::args::level::level;
use crate::exit::{Exit, Failure, printable_lines};
use crate::logs::filter;
use crate::logs::named_logs::{NamedLogs, WholeLog};
use crate::output::reason;
use crate::suggest::{did_you_mean_group, list, name_forms};
use crate::system::System;
use protolog_core::control::matches_group;
use protolog_reader::{Level, printable};
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use tally::Tally;

const HELP: &str = "\
Examples:
  protologtool diff good.pftrace bad.pftrace
  protologtool diff good.pftrace bad.pftrace --level info --ignore-order
  protologtool diff good.pftrace bad.pftrace --tolerance 20 --group Net
  protologtool diff expected.pftrace actual.pftrace --format json | jq .
  protologtool diff --baseline good-1.pftrace good-2.pftrace good-3.pftrace \\
    -- bad.pftrace

Messages are the same if their group, level and template are, wherever the call stands. Compared are how often each was \
logged, the values of each argument, and the order on each thread; not times, nor ids of processes and threads.

Values of an argument that takes few of them are compared one by one. Where it takes more than 64, numbers are compared by \
their least, mean and greatest value, and texts by how many different ones there are.

What differs between any two runs is not compared, unless --noise is given: an argument that is the id of a process or thread, an address \
or a time. A duration counts as another one if its mean is more than twice as long, or less than half. What an argument is, its \
template says (`took %d ms`, `pid=%d`, `0x%x`) or its value. With --baseline, what differs among several good runs is no difference either: \
messages that one of them lacks, counts and numbers between theirs, texts that none has in common, orders.

The order is compared thread by thread, by the thread's name. Threads of one name, or whose names differ by numbers alone, such as the \
workers of a pool, share their work in another way at each run, so the order on these is not compared; nor on threads without a name, \
but for the main one, and on those that only one run has.

Within each part, the most telling comes first: severe levels, great changes.

Exit codes: 0 the runs are the same; 1 they differ; 2 wrong command line, or a trace can't be read; 3 a trace is \
incomplete, so that differences may come from that.";

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_long_help = HELP, after_help = "See --help for examples.")]
pub(crate) struct DiffArgs {
    /// The trace of the run to compare with, or a directory with its traces; with --baseline, the
    /// run to compare
    #[arg(value_name = "A")]
    first: PathBuf,

    /// The trace of the other run, or a directory with its traces
    #[arg(value_name = "B", required_unless_present = "baseline", conflicts_with = "baseline")]
    second: Option<PathBuf>,

    /// Compare with several good runs: what differs among them is no difference. `--` ends their
    /// list
    #[arg(long, value_name = "GOOD", num_args = 1..)]
    baseline: Vec<PathBuf>,

    /// Read texts that a trace lacks from this dictionary (.pb, .json or .json.gz), or from the
    /// matching `<hash>.pb` in this directory; may be repeated
    #[arg(long, value_name = "FILE|DIR")]
    viewer_config: Vec<PathBuf>,

    /// Compare messages of this level or a more severe one
    #[arg(long, value_name = "LEVEL", value_parser = level(), ignore_case = true)]
    level: Option<Level>,

    /// Compare messages of this group: the full name (`demo::AppLog::Net`) or its end (`Net`), in
    /// any case; may be repeated
    #[arg(long, value_name = "NAME")]
    group: Vec<String>,

    /// Take counts, means and ranges for the same that differ by no more than this, in per cent of
    /// the greater one
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    tolerance: f64,

    /// Do not compare how often messages were logged; new and vanished ones are still reported
    #[arg(long)]
    ignore_counts: bool,

    /// Do not compare the values of arguments
    #[arg(long)]
    ignore_values: bool,

    /// Do not compare the order
    #[arg(long)]
    ignore_order: bool,

    /// Compare what differs between any two runs, too: ids of processes and threads, addresses,
    /// times, and durations that are neither twice as long nor half
    #[arg(long)]
    noise: bool,

    /// Show all values and all places where the order differs, however many there are
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    expansion: Expansion,

    /// Format of the differences
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    format: DiffFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum DiffFormat {
    /// For people, grouped by what differs
    Text,
    /// One JSON object a line, one for each difference
    Json,
}

pub(crate) fn run(args: &DiffArgs, system: &dyn System) -> Result<Exit, Failure> {
    let (mut is_whole, mut names) = (true, BTreeSet::new());
    let mut read = |path: &PathBuf| {
        let WholeLog { log, has_all, .. } = read(path, args, system)?;
        let shown = printable(&path.to_string_lossy());
        for line in log.summary().to_string().lines() {
            system.print_error(&format!("warning: `{shown}`: {line}\n"));
        }
        system.print_error(&args.expansion.hint(log.stats()));
        is_whole &= has_all && log.is_complete() && !log.stats().has_losses();
        names.extend(log.dictionary().groups().map(|group| group.name.clone()));
        Ok(Tally::of(&log, |level, group| args.admits(level, group)))
    };
    let (earlier, last) = match &args.second {
        Some(second) => (std::slice::from_ref(&args.first), second),
        None => (&*args.baseline, &args.first),
    };
    let before = earlier.iter().map(&mut read).collect::<Result<Vec<Tally>, Failure>>()?;
    let after = read(last)?;
    args.check_groups(&names, system)?;
    let differences = compare::all(&before, &after, args);
    let mut out = Vec::new();
    match args.format {
        DiffFormat::Text => text::write(args, &before, &after, &differences, &mut out),
        DiffFormat::Json => json::write(args, &differences, &mut out),
    }
    match system.write_output(&out) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            return Err(Failure::new(format!("can't write the differences: {}", reason(&error))));
        }
        _ => {}
    }
    Ok(match () {
        () if !is_whole => Exit::Incomplete,
        () if differences.is_empty() => Exit::Done,
        () => Exit::Problems,
    })
}

/// The log at a path, which may be a directory.
fn read(path: &PathBuf, args: &DiffArgs, system: &dyn System) -> Result<WholeLog, Failure> {
    let logs = NamedLogs {
        paths: std::slice::from_ref(path),
        dictionaries: &args.viewer_config,
        has_spans: false,
        expansion: args.expansion,
    };
    logs.whole(path, system, &|line| system.print_error(line))
}

impl DiffArgs {
    /// Returns whether messages of this level and group are compared.
    fn admits(&self, level: Option<Level>, group: &str) -> bool {
        let is_meant = |wanted: &String| matches_group(wanted, group);
        self.level.is_none_or(|least| level.is_some_and(|level| level >= least))
            && (self.group.is_empty() || self.group.iter().any(is_meant))
    }

    /// The names of what is compared.
    fn names(&self) -> [String; 2] {
        let name = |path: &PathBuf| path.to_string_lossy().into_owned();
        match &self.second {
            Some(second) => [name(&self.first), name(second)],
            None => ["the baseline".to_owned(), name(&self.first)],
        }
    }

    /// Warns of groups that no run has; an error if these are all that were asked for, since runs
    /// without messages are the same.
    fn check_groups(&self, known: &BTreeSet<String>, system: &dyn System) -> Result<(), Failure> {
        let is_known = |wanted: &str| known.iter().any(|name| matches_group(wanted, name));
        let forms = || name_forms(known.iter().map(String::as_str));
        let problems = filter::unknown(&self.group, "group", is_known, did_you_mean_group, forms);
        if self.group.is_empty() || self.group.iter().any(|wanted| is_known(wanted)) {
            system.print_error(&printable_lines(&problems));
            return Ok(());
        }
        let names = self.group.join("`, `");
        let failure = Failure::new(format!("no run has the group `{names}`"));
        let help = list(&forms(), "of the runs");
        let help = help.trim_end().trim_start_matches("help: ");
        Err(if help.is_empty() { failure } else { failure.help(help.to_owned()) })
    }

    /// Returns whether two amounts are the same, as far as it matters.
    fn is_same(&self, one: f64, other: f64) -> bool {
        let greater = one.abs().max(other.abs());
        let is_near = (one - other).abs() <= greater * self.tolerance / 100.0;
        one.to_bits() == other.to_bits() || greater.is_finite() && is_near
    }

    /// The most examples to show of one thing.
    fn limit(&self, usual: usize) -> usize {
        if self.all { usize::MAX } else { usual }
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse().ok();
    let number = number.filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "give a number from 0 to 100".to_owned())
}
