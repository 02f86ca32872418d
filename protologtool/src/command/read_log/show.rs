//! The form in which entries are shown: text, JSON, CSV, logfmt; or numbers in their place.

use super::columns::{self, Column, Row};
use super::counts::{CountBy, Counts};
use super::filter::Filter;
use super::select::{Selected, Selection};
use crate::system::System;
use protolog_reader::{JsonWriter, Log, TextWriter, TimeFormat, TimeWriter, Times};
use std::io;

/// The size of a block of output, in bytes.
const BLOCK: usize = 64 * 1024;

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

/// The columns of CSV and logfmt.
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
pub(super) struct EntryForm {
    /// Format of the entries
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,

    /// Times: in this machine's time zone, in UTC, or in seconds since boot
    #[arg(long, value_enum, default_value_t = Zone::Local)]
    time: Zone,

    /// EntryForm of times in text, CSV and logfmt [default: ms in text, iso elsewhere]
    #[arg(long, value_enum)]
    time_format: Option<TimeForm>,

    /// Add the time since the entry before, in seconds
    #[arg(long)]
    delta: bool,

    /// The columns to show in text, CSV and logfmt, with commas between
    #[arg(long, value_enum, value_delimiter = ',', value_name = "COLUMN,…")]
    columns: Vec<Column>,

    /// Colour lines by level; `auto` does so on a terminal, unless the environment variable NO_COLOR is set
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,

    /// The number of entries of each level, group and so on, in place of the entries
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = ["top", "histogram"])]
    count_by: Option<CountBy>,

    /// The call sites that take most bytes of the trace, with their rates, in place of the entries
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = TOP, conflicts_with = "histogram")]
    top: Option<usize>,

    /// The number of entries over time, in place of the entries
    #[arg(long)]
    histogram: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum OutputFormat {
    /// Lines as logcat prints them
    Text,
    /// One JSON object a line
    Json,
    /// Comma-separated values, with a line of names first
    Csv,
    /// Lines of key=value
    Logfmt,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Zone {
    Local,
    Utc,
    Boot,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum TimeForm {
    /// To the millisecond
    Ms,
    /// To the microsecond
    Us,
    /// To the nanosecond
    Ns,
    /// Year and offset too, to the nanosecond, as in ISO 8601
    Iso,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl EntryForm {
    /// The times that are shown, and that a time on the command line is one of.
    pub(super) fn times(&self) -> Times {
        match self.time {
            Zone::Local => Times::local(),
            Zone::Utc => Times::utc(),
            Zone::Boot => Times::Boot,
        }
    }

    /// Shows what is selected of a log.
    pub(super) fn show(
        &self,
        log: &Log,
        filter: &Filter<'_>,
        selection: Selection,
        system: &dyn System,
    ) -> io::Result<()> {
        let is_json = self.format == OutputFormat::Json;
        if self.count_by.is_some() || self.top.is_some() || self.histogram {
            let mut counts = Counts::new(log, self.count_by);
            selection.each(log, filter, |selected| {
                counts.add(&selected);
                Ok::<(), io::Error>(())
            })?;
            let table = if self.histogram {
                counts.histogram(
                    TimeWriter::new(self.times()),
                    self.time_format.map(TimeForm::format),
                    is_json,
                )
            } else {
                counts.table(self.top.unwrap_or(usize::MAX), is_json)
            };
            return system.write_output(table.as_bytes());
        }
        let mut out = Blocks { block: Vec::with_capacity(2 * BLOCK), system };
        match self.format {
            OutputFormat::Json => {
                let mut json = JsonWriter::new(log);
                selection.each(log, filter, |selected| {
                    json.write(&selected.item, &mut out.block);
                    out.write_full()
                })?;
                json.write_end(&mut out.block);
            }
            OutputFormat::Text if self.columns.is_empty() && !self.delta => {
                let text = TextWriter::new(log, self.times()).with_color(self.color.wanted(system));
                let mut text = text.with_time_format(self.time_format());
                let mut line = String::new();
                selection.each(log, filter, |selected| {
                    line.clear();
                    push_gap(&selected, &mut line);
                    text.write(&selected.item, &mut line);
                    out.block.extend_from_slice(line.as_bytes());
                    out.write_full()
                })?;
            }
            _ => self.show_columns(log, filter, selection, &mut out)?,
        }
        system.write_output(&out.block)
    }

    fn show_columns(
        &self,
        log: &Log,
        filter: &Filter<'_>,
        selection: Selection,
        out: &mut Blocks<'_>,
    ) -> io::Result<()> {
        let (columns, mut times) = (self.columns(), self.time_writer());
        let color = self.color.wanted(out.system);
        if self.format == OutputFormat::Csv {
            let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
            out.block.extend_from_slice(format!("{}\r\n", names.join(",")).as_bytes());
        }
        let (mut last, mut line) = (None, String::new());
        selection.each(log, filter, |selected| {
            let row = Row::new(log, selected.item, last);
            last = Some(row.time());
            line.clear();
            match self.format {
                OutputFormat::Csv => columns::write_csv(&row, &columns, &mut times, &mut line),
                OutputFormat::Logfmt => {
                    columns::write_logfmt(&row, &columns, &mut times, &mut line);
                }
                _ => {
                    push_gap(&selected, &mut line);
                    columns::write_text(&row, &columns, &mut times, color, &mut line);
                }
            }
            out.block.extend_from_slice(line.as_bytes());
            out.write_full()
        })
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = self.columns.clone();
        let is_text = self.format == OutputFormat::Text;
        if columns.is_empty() {
            columns = if is_text { TEXT_COLUMNS.to_vec() } else { TABLE_COLUMNS.to_vec() };
        }
        if self.delta && !columns.contains(&Column::Delta) {
            let after_time = columns.iter().position(|column| *column == Column::Time);
            columns.insert(after_time.map_or(0, |at| at + 1), Column::Delta);
        }
        columns
    }

    fn time_writer(&self) -> TimeWriter {
        TimeWriter::new(self.times()).with_format(self.time_format())
    }

    fn time_format(&self) -> TimeFormat {
        let is_text = self.format == OutputFormat::Text;
        let usual = if is_text { TimeFormat::Millis } else { TimeFormat::Iso };
        self.time_format.map_or(usual, TimeForm::format)
    }
}

impl TimeForm {
    fn format(self) -> TimeFormat {
        match self {
            Self::Ms => TimeFormat::Millis,
            Self::Us => TimeFormat::Micros,
            Self::Ns => TimeFormat::Nanos,
            Self::Iso => TimeFormat::Iso,
        }
    }
}

/// Output, gathered into blocks.
struct Blocks<'a> {
    block: Vec<u8>,
    system: &'a dyn System,
}

impl Blocks<'_> {
    /// Writes the block if it is full.
    fn write_full(&mut self) -> io::Result<()> {
        if self.block.len() >= BLOCK {
            self.system.write_output(&self.block)?;
            self.block.clear();
        }
        Ok(())
    }
}

/// Appends the line that separates what does not stand together, as `grep` has it.
fn push_gap(selected: &Selected<'_>, line: &mut String) {
    if selected.is_after_gap {
        line.push_str("--\n");
    }
}

impl Color {
    fn wanted(self, system: &dyn System) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let no_color = system.variable("NO_COLOR").is_some_and(|value| !value.is_empty());
                system.output_to_terminal() && !no_color
            }
        }
    }
}
