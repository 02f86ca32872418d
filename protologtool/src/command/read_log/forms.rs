//! The forms in which a log is printed: text, JSON, CSV, logfmt; or numbers in place of its
//! entries.

pub(crate) mod columns;
pub(crate) mod counts;
pub(crate) mod estimate;
pub(crate) mod line_writer;
pub(crate) mod links;
pub(crate) mod output_format;

use crate::exit::Failure;
use crate::logs::filter::argument;
use crate::system::System;
use columns::Column;
use counts::CountBy;
use output_format::OutputFormat;
use protolog_reader::{TimeFormat, TimeWriter, Times, printable};
use std::path::PathBuf;

/// Call sites that `--top` shows if it is given no number.
const TOP: &str = "20";

/// The columns of lines of text, where more than the usual ones are asked for.
const TEXT_COLUMNS: [Column; 7] = [
    Column::Time,
    Column::Delta,
    Column::Pid,
    Column::Tid,
    Column::Level,
    Column::Tag,
    Column::Message,
];

/// The columns of CSV, and of logfmt with the fields as well.
const TABLE_COLUMNS: [Column; 8] = [
    Column::Time,
    Column::Pid,
    Column::Tid,
    Column::Thread,
    Column::Level,
    Column::Group,
    Column::Message,
    Column::Location,
];

/// Options for the form of entries.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "How to show them")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct EntryForm {
    /// Format of the entries
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,

    /// Times: in this machine's time zone, in UTC, or in seconds since boot
    #[arg(long, value_enum, default_value_t = Zone::Local)]
    time: Zone,

    /// Form of times in text, CSV and logfmt [default: ms in text, iso elsewhere]
    #[arg(long, value_enum)]
    pub(crate) time_format: Option<TimeForm>,

    /// Add the time since the entry before, in seconds
    #[arg(long, conflicts_with_all = ["count", "count_by", "top", "histogram"])]
    pub(crate) delta: bool,

    /// The columns to show in text, CSV and logfmt, with commas between
    #[arg(long, value_enum, value_delimiter = ',', value_name = "COLUMN,…", conflicts_with_all = ["count", "count_by", "top", "histogram"])]
    pub(crate) columns: Vec<Column>,

    /// Show spans: as lines where threads entered (`>`) and left (`<`) them, with their fields and
    /// durations; around each message, before it; or both
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "lines",
        conflicts_with_all = ["count", "count_by", "top", "histogram"]
    )]
    pub(crate) spans: Option<SpanForm>,

    /// Colour lines by level; `auto` does so on a terminal, unless the environment variable
    /// NO_COLOR is set
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,

    /// On a terminal, link tags and locations to the sources, in this form, with `{path}`, `{line}`
    /// and `{host}`; `none` for no links
    #[arg(long, value_name = "FORM", default_value = "file://{host}{path}", value_parser = links::form)]
    pub(crate) hyperlink_format: String,

    /// The directory that the paths of sources are relative to
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) source_root: PathBuf,

    /// The number of entries, in place of the entries
    #[arg(long, conflicts_with_all = ["count_by", "top", "histogram"])]
    pub(crate) count: bool,

    /// The number of entries of each level, group and so on, in place of the entries
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = ["top", "histogram"])]
    pub(crate) count_by: Option<CountBy>,

    /// The number of entries with each value of an argument, by its name or its number from 0 on,
    /// in place of the entries
    #[arg(long, value_name = "NAME", value_parser = argument::name, conflicts_with_all = ["count", "count_by", "top", "histogram", "delta", "columns", "spans"])]
    pub(crate) count_by_arg: Option<String>,

    /// The call sites that take most bytes of the trace, with their rates, in place of the entries
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = TOP, conflicts_with = "histogram")]
    pub(crate) top: Option<usize>,

    /// The number of entries over time, in place of the entries
    #[arg(long)]
    pub(crate) histogram: bool,

    /// With numbers in place of entries: those of all messages that were logged, of which sampling
    /// kept some; each estimate with the interval that has the true number in 95 % of all cases.
    /// The bytes of `--top` are then those of messages with their texts
    #[arg(long)]
    pub(crate) estimate: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Zone {
    Local,
    Utc,
    Boot,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum TimeForm {
    /// To the millisecond
    Ms,
    /// To the microsecond
    Us,
    /// To the nanosecond
    Ns,
    /// Year and offset too, to the nanosecond, as in ISO 8601
    Iso,
}

/// The form of spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SpanForm {
    /// A line when a thread enters one, and when it leaves it
    Lines,
    /// Before each message, those that it was logged in: `net:request{id=7}: …`
    Around,
    /// Both
    Both,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl EntryForm {
    /// A warning if the zone of times is not known.
    pub(crate) fn warning(&self, system: &dyn System) -> String {
        let zone = system.variable("TZ").filter(|zone| !zone.is_empty());
        let is_local = matches!(self.time, Zone::Local);
        match zone.filter(|_| is_local && Times::is_local_unknown()) {
            Some(zone) => format!(
                "warning: the time zone `{}` of TZ is not known: times are in UTC\nhelp: set TZ to a name such as `Europe/Paris`, or give `--time utc`\n",
                printable(&zone)
            ),
            None => String::new(),
        }
    }

    /// An error for a flag that means nothing: an estimate without numbers, or in JSON, whose
    /// objects have all there is, a column.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.estimate && !self.has_numbers() {
            let failure = Failure::new("`--estimate` is for numbers only");
            return Err(failure.help("add `--count`, `--count-by`, `--top` or `--histogram`"));
        }
        let flag = match self {
            _ if self.format != OutputFormat::Json => return Ok(()),
            _ if !self.columns.is_empty() => "--columns",
            _ if self.delta => "--delta",
            _ => return Ok(()),
        };
        let failure = Failure::new(format!("`{flag}` is not for `--format json`"));
        Err(failure.help("leave it out, since each object has all columns; or use `--format csv`"))
    }

    /// Returns whether lines have colours.
    pub(crate) fn has_color(&self, system: &dyn System) -> bool {
        self.color.wanted(system)
    }

    /// The times that are shown, and that a time on the command line is one of.
    pub(crate) fn times(&self) -> Times {
        match self.time {
            Zone::Local => Times::local(),
            Zone::Utc => Times::utc(),
            Zone::Boot => Times::Boot,
        }
    }

    /// Returns whether spans are shown.
    pub(crate) fn has_spans(&self) -> bool {
        self.spans.is_some() || self.columns.contains(&Column::Spans)
    }

    /// Returns whether messages have the spans around them.
    pub(crate) fn has_spans_around(&self) -> bool {
        matches!(self.spans, Some(SpanForm::Around | SpanForm::Both))
    }

    /// Returns whether numbers take the place of entries.
    pub(crate) fn has_numbers(&self) -> bool {
        self.count || self.counted_by().is_some() || self.top.is_some() || self.histogram
    }

    /// The property that entries are counted by.
    pub(crate) fn counted_by(&self) -> Option<CountBy> {
        self.count_by_arg.as_ref().map(|_| CountBy::Argument).or(self.count_by)
    }

    /// The columns to show.
    pub(crate) fn columns(&self) -> Vec<Column> {
        let mut columns = self.columns.clone();
        let is_text = self.format == OutputFormat::Text;
        if columns.is_empty() {
            columns = if is_text { TEXT_COLUMNS.to_vec() } else { TABLE_COLUMNS.to_vec() };
            if self.format == OutputFormat::Logfmt {
                // Where there are none, a line has no key for them.
                let message = columns.iter().position(|column| *column == Column::Message);
                columns.insert(message.unwrap_or(columns.len()), Column::Request);
                columns.push(Column::Fields);
            }
        }
        if self.has_spans_around() && !columns.contains(&Column::Spans) {
            let message = columns.iter().position(|column| *column == Column::Message);
            columns.insert(message.unwrap_or(columns.len()), Column::Spans);
        }
        if self.delta && !columns.contains(&Column::Delta) {
            let after_time = columns.iter().position(|column| *column == Column::Time);
            columns.insert(after_time.map_or(0, |at| at + 1), Column::Delta);
        }
        columns
    }

    pub(crate) fn time_writer(&self) -> TimeWriter {
        TimeWriter::new(self.times()).with_format(self.time_format())
    }

    pub(crate) fn time_format(&self) -> TimeFormat {
        let is_text = self.format == OutputFormat::Text;
        let usual = if is_text { TimeFormat::Millis } else { TimeFormat::Iso };
        self.time_format.map_or(usual, TimeForm::format)
    }
}

impl TimeForm {
    pub(crate) fn format(self) -> TimeFormat {
        match self {
            Self::Ms => TimeFormat::Millis,
            Self::Us => TimeFormat::Micros,
            Self::Ns => TimeFormat::Nanos,
            Self::Iso => TimeFormat::Iso,
        }
    }
}

impl Color {
    fn wanted(self, system: &dyn System) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let no_color = system.variable("NO_COLOR").is_some_and(|value| !value.is_empty());
                let is_dumb = system.variable("TERM").is_some_and(|it| it == "dumb");
                system.output_to_terminal() && !no_color && !is_dumb
            }
        }
    }
}
