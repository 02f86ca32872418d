//! The columns that a person can choose, in lines of text, CSV and logfmt.

use super::links::{self, Links};
use super::output_format::OutputFormat;
use protolog_core::escape::{Escaped, Form, is_formula};
use protolog_reader::{
    Arg, Item, Level, Log, Rendering, SpanSlice, Thread, TimeWriter, Values, printable, spans_text,
};
use std::borrow::Cow;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Column {
    Time,
    /// Time since the entry before, in seconds
    Delta,
    Pid,
    Tid,
    Process,
    Thread,
    Level,
    Tag,
    Group,
    /// Those that the message was logged in
    Spans,
    /// The request that the message belongs to
    Request,
    Message,
    /// The arguments that have names, as in logfmt
    Fields,
    Template,
    Location,
    Id,
}

/// The columns of one item.
pub(crate) struct Row<'a> {
    log: &'a Log,
    item: Item<'a>,
    values: Option<Values<'a>>,
    /// Nanoseconds since the item before; none for the first.
    delta: Option<i64>,
}

impl Column {
    /// The name in the heads of CSV and the keys of logfmt.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Delta => "delta",
            Self::Pid => "pid",
            Self::Tid => "tid",
            Self::Process => "process",
            Self::Thread => "thread",
            Self::Level => "level",
            Self::Tag => "tag",
            Self::Group => "group",
            Self::Spans => "spans",
            Self::Request => "request",
            Self::Message => "message",
            Self::Fields => "fields",
            Self::Template => "template",
            Self::Location => "location",
            Self::Id => "id",
        }
    }

    /// The usual width in lines of text; negative if aligned to the right.
    pub(crate) fn width(self) -> isize {
        match self {
            Self::Time | Self::Message | Self::Template => 0,
            Self::Delta => -11,
            Self::Pid | Self::Tid => -5,
            Self::Level => 1,
            Self::Tag => 8,
            Self::Process | Self::Thread => 15,
            Self::Id => 16,
            Self::Group | Self::Location | Self::Request | Self::Spans | Self::Fields => 24,
        }
    }
}

impl<'a> Row<'a> {
    /// The row of an item, and the time of the one before it.
    pub(crate) fn new(log: &'a Log, item: Item<'a>, last: Option<i64>) -> Self {
        let values = match item {
            Item::Entry(entry) => Some(entry.values()),
            Item::Loss(_) | Item::SpanBegin(_) | Item::SpanEnd(_) => None,
        };
        let mut row = Self { log, item, values, delta: None };
        row.delta = last.map(|last| row.time().saturating_sub(last));
        row
    }

    /// Nanoseconds of the trace's clock.
    pub(crate) fn time(&self) -> i64 {
        match self.item {
            Item::Entry(entry) => entry.time(),
            Item::Loss(loss) => loss.time,
            Item::SpanBegin(slice) => slice.begin,
            Item::SpanEnd(slice) => slice.end_time().unwrap_or(slice.begin),
        }
    }

    pub(crate) fn level(&self) -> Option<Level> {
        self.values.as_ref().and_then(Values::level)
    }

    pub(crate) fn is_loss(&self) -> bool {
        matches!(self.item, Item::Loss(_))
    }

    /// The span that begins or ends, and whether it ends.
    fn span(&self) -> Option<(&'a SpanSlice, bool)> {
        match self.item {
            Item::SpanBegin(slice) => Some((slice, false)),
            Item::SpanEnd(slice) => Some((slice, true)),
            Item::Entry(_) | Item::Loss(_) => None,
        }
    }

    /// Level and tag of an item that is no message.
    fn marks(&self) -> Option<(&'static str, &'a str)> {
        match self.span() {
            Some((slice, is_end)) => {
                Some((if is_end { "<" } else { ">" }, self.log.tag_of_slice(slice)))
            }
            None => match self.item {
                Item::Loss(loss) => Some(("!", loss.reason.tag())),
                _ => None,
            },
        }
    }

    /// The text of a column; empty if it is not known.
    pub(crate) fn text(&self, column: Column, times: &mut TimeWriter) -> Cow<'a, str> {
        let number = |number: Option<u32>| {
            number.map_or(Cow::Borrowed(""), |number| number.to_string().into())
        };
        let (thread, log) = (self.thread(), self.log);
        let message = self.values.as_ref().and_then(Values::message);
        match column {
            Column::Time => self.time_text(times).into(),
            Column::Delta => self.delta.map_or(Cow::Borrowed(""), |ns| seconds(ns).into()),
            Column::Pid => number(thread.pid),
            Column::Tid => number(thread.tid),
            Column::Process => log.process_name(thread).unwrap_or_default().into(),
            Column::Thread => thread.name.as_deref().unwrap_or_default().into(),
            Column::Level => self.marks().map_or_else(
                || self.level().map_or("?".into(), |it| it.letter().to_string().into()),
                |(mark, _)| mark.into(),
            ),
            Column::Tag => self
                .marks()
                .map(|(_, tag)| tag)
                .or_else(|| self.group().map(|(name, tag)| if tag.is_empty() { name } else { tag }))
                .unwrap_or("?")
                .into(),
            Column::Group => self.group().map_or("", |(name, _)| name).into(),
            Column::Spans => match self.item {
                Item::Entry(entry) => spans_text(&entry.spans()).into(),
                _ => "".into(),
            },
            Column::Request => match self.item {
                Item::Entry(entry) => entry.request().unwrap_or_default().into(),
                _ => "".into(),
            },
            Column::Message => self.message().into(),
            Column::Fields => self.fields(&[]).into(),
            Column::Template => message.map_or("", |message| message.template()).into(),
            Column::Location => message.map_or("", |message| &message.location).into(),
            Column::Id => self
                .values
                .as_ref()
                .map_or(Cow::Borrowed(""), |it| format!("{:016x}", it.message_id()).into()),
        }
    }

    /// The text of a column in a table, where times are not padded.
    fn cell(&self, column: Column, times: &mut TimeWriter) -> Cow<'a, str> {
        match (column, self.text(column, times)) {
            (Column::Time, text) => text.trim_start().to_owned().into(),
            (_, text) => text,
        }
    }

    fn thread(&self) -> &'a Thread {
        match self.item {
            Item::Entry(entry) => entry.thread(),
            Item::Loss(loss) => self.log.thread_of(loss),
            Item::SpanBegin(slice) | Item::SpanEnd(slice) => self.log.thread_of_slice(slice),
        }
    }

    /// Name and tag of the group.
    fn group(&self) -> Option<(&'a str, &'a str)> {
        let group = match self.item {
            Item::Entry(_) => self.values.as_ref()?.group(self.log),
            Item::Loss(loss) => self.log.dictionary().group(loss.group?),
            Item::SpanBegin(slice) | Item::SpanEnd(slice) => {
                return Some((&slice.target, self.log.tag_of_slice(slice)));
            }
        };
        group.map(|group| (&*group.name, &*group.tag))
    }

    fn message(&self) -> String {
        match (&self.values, self.item) {
            (Some(values), Item::Entry(entry)) => {
                let mut text = values.text(Rendering::Full);
                if let Some(stack) = entry.stack_trace() {
                    text.push('\n');
                    text.push_str(stack);
                }
                text
            }
            (_, Item::Loss(loss)) => self.log.describe(loss),
            (_, Item::SpanBegin(slice)) => slice.text(false),
            (_, Item::SpanEnd(slice)) => slice.text(true),
            (None, Item::Entry(_)) => String::new(),
        }
    }

    /// The arguments with names as pairs of logfmt. `taken` are keys that the line has already.
    fn fields(&self, taken: &[Column]) -> String {
        let mut pairs = String::new();
        for (name, value) in self.values.iter().flat_map(Values::fields) {
            let is_taken = taken.iter().any(|column| column.name() == name);
            let name = if is_taken { format!("fields.{name}").into() } else { Cow::Borrowed(name) };
            push_logfmt(&mut pairs, &name, &value_text(value));
        }
        pairs
    }

    fn time_text(&self, times: &mut TimeWriter) -> String {
        let is_guess = match self.item {
            Item::Entry(entry) => entry.time_is_guess(),
            Item::Loss(loss) => loss.time_is_guess(),
            Item::SpanBegin(_) | Item::SpanEnd(_) => false,
        };
        let mut text = String::from(if is_guess { "~" } else { "" });
        times.write(self.log, self.time(), &mut text).expect("a string takes every write");
        text
    }
}

/// The text of a value, without the width and precision of its conversion.
pub(crate) fn value_text(value: Arg<'_>) -> Cow<'_, str> {
    match value {
        Arg::Str(text) => text.into(),
        Arg::Int(value) => value.to_string().into(),
        Arg::Uint(value) => value.to_string().into(),
        Arg::Float(value) => value.to_string().into(),
        Arg::Bool(value) => value.to_string().into(),
    }
}

/// Nanoseconds as seconds with all decimals.
fn seconds(ns: i64) -> String {
    let (sign, ns) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// Appends lines of text: each line of the message has the columns before it.
pub(crate) fn write_text(
    row: &Row<'_>,
    columns: &[Column],
    times: &mut TimeWriter,
    (color, links): (bool, Option<&Links<'_>>),
    out: &mut String,
) {
    let color = match row.level() {
        _ if !color => "",
        _ if row.is_loss() => "\x1b[35m",
        _ if row.span().is_some() => "\x1b[34m",
        level => level.map_or("", Level::terminal_color),
    };
    let is_last = |index: usize| index + 1 == columns.len();
    let message = row.text(Column::Message, times);
    let message = message.strip_suffix('\n').unwrap_or(&message);
    let cells: Vec<Cow<'_, str>> = columns.iter().map(|it| row.text(*it, times)).collect();
    let has_message = columns.contains(&Column::Message);
    let address = links.and_then(|links| links.address(&row.text(Column::Location, times)));
    for line in message.split('\n').take(if has_message { usize::MAX } else { 1 }) {
        out.push_str(color);
        for (index, (column, cell)) in columns.iter().zip(&cells).enumerate() {
            let text = printable(if *column == Column::Message { line } else { cell });
            let width = if is_last(index) { 0 } else { column.width() };
            let missing = width.unsigned_abs().saturating_sub(text.width());
            if let (Column::Location, Some(address)) = (column, &address) {
                out.extend([&*links::linked(&text, address), &" ".repeat(missing)]);
                out.push_str(if is_last(index) { "" } else { " " });
                continue;
            }
            let gap = " ".repeat(missing);
            out.extend(if width < 0 { [&*gap, &*text] } else { [&*text, &*gap] });
            out.push_str(if is_last(index) { "" } else { " " });
        }
        out.push_str(if color.is_empty() { "\n" } else { "\x1b[0m\n" });
    }
}

/// Appends a line of CSV, as RFC 4180 has it, that is safe to show and to open in a spreadsheet.
pub(crate) fn write_csv(
    row: &Row<'_>,
    columns: &[Column],
    times: &mut TimeWriter,
    out: &mut String,
) {
    for (index, column) in columns.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { "," });
        push_csv(out, &row.cell(*column, times));
    }
    out.push_str("\r\n");
}

/// Appends a field of CSV: it is in quotes where a reader may take off spaces, too, or take another
/// character than a comma for what parts cells.
fn push_csv(out: &mut String, text: &str) {
    let marked = marked_formulas(text);
    let escaped = Escaped(Form::Csv, &marked).to_string();
    let is_padded = text.starts_with(' ') || text.ends_with(' ');
    let done = if is_padded || escaped.contains([',', ';', '"', '\n', '\t']) {
        write!(out, "\"{}\"", escaped.replace('"', "\"\""))
    } else {
        write!(out, "{escaped}")
    };
    done.expect("a string takes every write");
}

/// The text with an apostrophe before each formula: a spreadsheet shows the text behind it, and
/// computes nothing. A cell may begin within the text, too: many spreadsheets take semicolons or
/// tabs for what parts cells, and then quotes within a line for nothing.
fn marked_formulas(text: &str) -> Cow<'_, str> {
    const PARTS: [char; 3] = [';', '\t', '\n'];
    let starts = text.match_indices(PARTS).map(|(at, part)| at + part.len());
    let is_cell = |at: &usize| {
        let cell = &text[*at..];
        // The text after the next mark is of the next cell; behind quotes, those are taken off.
        let cell = cell.find(PARTS).map_or(cell, |end| &cell[..end]);
        is_formula(cell.trim_start_matches(['"', ' ']))
    };
    let first = is_formula(text).then_some(0);
    let mut marks = first.into_iter().chain(starts.filter(is_cell)).peekable();
    if marks.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let (mut marked, mut from) = (String::with_capacity(text.len() + 1), 0);
    for at in marks {
        marked.push_str(&text[from..at]);
        marked.push('\'');
        from = at;
    }
    marked.push_str(&text[from..]);
    Cow::Owned(marked)
}

/// Appends a pair of logfmt.
fn push_logfmt(out: &mut String, name: &str, text: &str) {
    let is_quoted = text.is_empty()
        || text.contains(|char| matches!(char, ' ' | '=') || Form::Json.escapes(char));
    let (gap, quote) = (if out.is_empty() { "" } else { " " }, if is_quoted { "\"" } else { "" });
    let value = Escaped(Form::Json, text);
    write!(out, "{gap}{name}={quote}{value}{quote}").expect("a string takes every write");
}

/// A line of numbers in place of entries, with these names and values.
pub(crate) fn table_line(form: OutputFormat, cells: &[(&str, String)]) -> String {
    let mut line = String::new();
    for (index, (name, text)) in cells.iter().enumerate() {
        if form == OutputFormat::Logfmt {
            push_logfmt(&mut line, name, text);
        } else {
            line.push_str(if index == 0 { "" } else { "," });
            push_csv(&mut line, text);
        }
    }
    line + if form == OutputFormat::Logfmt { "\n" } else { "\r\n" }
}

/// Appends a line of `key=value` pairs; values that need it are in quotes, with escapes as in JSON.
/// Unknown ones are left out.
pub(crate) fn write_logfmt(
    row: &Row<'_>,
    columns: &[Column],
    times: &mut TimeWriter,
    out: &mut String,
) {
    for column in columns {
        if *column == Column::Fields {
            let fields = row.fields(columns);
            out.push_str(if out.is_empty() || fields.is_empty() { "" } else { " " });
            out.push_str(&fields);
            continue;
        }
        let text = row.cell(*column, times);
        // A message may be empty; of all else nothing is known then.
        if !text.is_empty() || *column == Column::Message {
            push_logfmt(out, column.name(), &text);
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula_whatever_parts_cells() {
        for (text, expected) in [
            ("=1", "'=1"),
            ("\u{200b}=1", "'\u{200b}=1"),
            (" \u{feff}@A1", "\"' \u{feff}@A1\""),
            ("x;=1", "\"x;'=1\""),
            ("x\";=1;y", "\"x\"\";'=1;y\""),
            ("x; \"=1", "\"x;' \"\"=1\""),
            ("x\t@A1", "\"x\t'@A1\""),
            ("x\n+A1;\u{ad}-A1", "\"x\n'+A1;'\u{ad}-A1\""),
            ("\"=1", "\"\"\"=1\""),
            ("-5", "-5"),
            ("a;-5;b", "\"a;-5;b\""),
            ("a=1", "a=1"),
            ("", ""),
        ] {
            let mut cell = String::new();
            push_csv(&mut cell, text);
            assert_eq!(cell, expected, "{text:?}");
        }
    }
}
