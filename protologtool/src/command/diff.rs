//! `diff`: two runs compared by template and arguments, for tests and for "what is different on the bad machine".
//!
//! Messages are the same if group, level and template are: ids change with the place of a call in the sources, texts do not. What is
//! compared: how often each was logged, the values of each argument, and the order on each thread. Times, process ids and thread ids
//! differ between any two runs, and are not compared.
//!
//! Invariant: what is left out of the report, because there is too much of it, is counted there.

mod compare;
mod json;
mod order;
mod tally;
mod text;
mod values;

use crate::args::Expansion;
use crate::args::level::level;
use crate::command::read_log;
use crate::exit::{Exit, Failure};
use crate::output::reason;
use crate::system::System;
use protolog_reader::{Level, printable};
use std::io;
use std::path::{Path, PathBuf};
use tally::Tally;

const HELP: &str = "\
Examples:
  protologtool diff good.pftrace bad.pftrace
  protologtool diff good.pftrace bad.pftrace --level info --ignore-order
  protologtool diff good.pftrace bad.pftrace --tolerance 20 --group Net
  protologtool diff expected.pftrace actual.pftrace --format json | jq .

Messages are the same if their group, level and template are, wherever the call stands. Compared are how often each was \
logged, the values of each argument, and the order on each thread; not times, nor ids of processes and threads.

Values of an argument that takes few of them are compared one by one. Where it takes more than 64, numbers are compared by \
their least, mean and greatest value, and texts by how many different ones there are.

The order is compared thread by thread, by the thread's name. Threads of one name, such as the workers of a pool, share \
their work in another way at each run, so the order on these is not compared; nor on threads without a name, but for the main one.

Exit codes: 0 the runs are the same; 1 they differ; 2 wrong command line, or a trace can't be read; 3 a trace is \
incomplete, so that differences may come from that.";

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_long_help = HELP, after_help = "See --help for examples.")]
pub(crate) struct DiffArgs {
    /// The trace of the run to compare with
    #[arg(value_name = "A")]
    before: PathBuf,

    /// The trace of the other run
    #[arg(value_name = "B")]
    after: PathBuf,

    /// Read texts that a trace lacks from this dictionary (.pb, .json or .json.gz), or from the matching `<hash>.pb` in this
    /// directory; may be repeated
    #[arg(long, value_name = "FILE|DIR")]
    viewer_config: Vec<PathBuf>,

    /// Compare messages of this level or a more severe one
    #[arg(long, value_name = "LEVEL", value_parser = level(), ignore_case = true)]
    level: Option<Level>,

    /// Compare messages of this group: the full name (`demo::AppLog::Net`) or its end (`Net`), in any case; may be repeated
    #[arg(long, value_name = "NAME")]
    group: Vec<String>,

    /// Take counts, means and ranges for the same that differ by no more than this, in per cent of the greater one
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
    let mut is_whole = true;
    let mut read = |path: &Path| {
        let log = read_log::whole(path, &args.viewer_config, args.expansion, system)?;
        let shown = printable(&path.to_string_lossy());
        for line in log.summary().to_string().lines() {
            system.print_error(&format!("warning: `{shown}`: {line}\n"));
        }
        system.print_error(&args.expansion.hint(log.stats()));
        is_whole &= log.is_complete() && !log.stats().has_losses();
        Ok(Tally::of(&log, |level, group| args.admits(level, group)))
    };
    let (before, after) = (read(&args.before)?, read(&args.after)?);
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

impl DiffArgs {
    /// Returns whether messages of this level and group are compared.
    fn admits(&self, level: Option<Level>, group: &str) -> bool {
        let is_meant = |wanted: &String| read_log::is_named(group, wanted);
        self.level.is_none_or(|least| level.is_some_and(|level| level >= least))
            && (self.group.is_empty() || self.group.iter().any(is_meant))
    }

    /// Returns whether two amounts are the same, as far as it matters.
    fn is_same(&self, one: f64, other: f64) -> bool {
        let greater = one.abs().max(other.abs());
        one.to_bits() == other.to_bits() || (one - other).abs() <= greater * self.tolerance / 100.0
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
