//! Rows as lines of JSON, in the form of `read-log --format json`.

use std::collections::HashMap;

use jiff::Timestamp;
use protolog_core::{Arg, ParamKind, Template, render};

use super::super::json::{push_args, push_member, push_raw};
use super::super::others::UNENDED;
use super::super::schema::KINDS;
use super::rows::Rows;

/// A message of the dictionary.
pub(super) struct TemplateRecord {
    level: Option<String>,
    tag: Option<String>,
    group: Option<String>,
    template: String,
    location: String,
}

/// The line of a loss, or of the begin or end of a span.
pub(super) struct OtherLine {
    /// The place among these lines.
    pub(super) number: i64,
    /// The number of messages before it.
    pub(super) after: i64,
    /// The time by the wall clock, in nanoseconds since 1970.
    pub(super) time: i64,
    pub(super) line: String,
}

impl TemplateRecord {
    /// The message of a row, with its id and its place among messages with that.
    pub(super) fn of(rows: &Rows, row: usize) -> ((String, i64), Self) {
        let text = |column| rows.text(column, row).map(str::to_owned);
        let template = Self {
            level: text("level"),
            tag: text("tag"),
            group: text("log_group"),
            template: text("template").unwrap_or_default(),
            location: text("location").unwrap_or_default(),
        };
        ((text("id").unwrap_or_default(), rows.int("variant", row).unwrap_or(0)), template)
    }
}

/// The time of a row by the trace's clock.
pub(super) fn trace_time(rows: &Rows, row: usize) -> i64 {
    let time = rows.int("time", row).unwrap_or(0);
    time.wrapping_add(rows.int("boot_offset", row).unwrap_or(0))
}

/// The line of a message.
pub(super) fn message(
    rows: &Rows,
    row: usize,
    templates: &HashMap<(String, i64), TemplateRecord>,
) -> String {
    let mut line = start(rows, row, "message");
    let id = rows.text("id", row).unwrap_or_default();
    let template = templates.get(&(id.to_owned(), rows.int("variant", row).unwrap_or(0)));
    if let Some(template) = template {
        for (name, text) in
            [("level", &template.level), ("tag", &template.tag), ("group", &template.group)]
        {
            if let Some(text) = text {
                push_member(&mut line, name, text);
            }
        }
    }
    push_member(&mut line, "id", id);
    if let Some(template) = template {
        push_member(&mut line, "template", &template.template);
    }
    if let (Some(args), Some(text)) = (rows.text("args", row), rows.text("text", row)) {
        push_raw(&mut line, "args", args);
        push_member(&mut line, "message", text);
    } else if let Some(template) = template {
        let (args, text) = rendered(rows, row, template);
        push_raw(&mut line, "args", &args);
        push_member(&mut line, "message", &text);
    }
    if rows.bool("message_guessed", row) == Some(true) {
        push_raw(&mut line, "message_guessed", "true");
    }
    let location = template.map(|template| template.location.as_str()).unwrap_or_default();
    if !location.is_empty() {
        push_member(&mut line, "location", location);
    }
    if let Some(stack_trace) = rows.text("stack_trace", row) {
        push_member(&mut line, "stack_trace", stack_trace);
    }
    line + "}"
}

/// The values as JSON, and the text.
fn rendered(rows: &Rows, row: usize, record: &TemplateRecord) -> (String, String) {
    let (mut json, mut text) = (String::new(), String::new());
    let Ok(template) = Template::parse(&record.template) else { return (json, text) };
    let unsigned = rows.int("unsigned_args", row).unwrap_or(0);
    let mut next = [0; 4];
    let arg = |(index, kind): (usize, ParamKind)| {
        let column = format!("{}{}", KINDS[kind as usize], next[kind as usize]);
        next[kind as usize] += 1;
        Some(match kind {
            ParamKind::Str => Arg::Str(rows.text(&column, row)?),
            ParamKind::Int if unsigned >> index & 1 == 1 => {
                Arg::Uint(rows.int(&column, row)? as u64)
            }
            ParamKind::Int => Arg::Int(rows.int(&column, row)?),
            ParamKind::Float => Arg::Float(rows.float(&column, row)?),
            ParamKind::Bool => Arg::Bool(rows.bool(&column, row)?),
        })
    };
    let kinds = template.conversions().map(|conversion| conversion.verb.kind());
    let args: Vec<Arg<'_>> = kinds.enumerate().filter_map(arg).collect();
    push_args(&mut json, &args);
    let mut args = args.into_iter();
    render(&mut text, &template, |_| args.next()).expect("a string takes every write");
    (json, text)
}

impl OtherLine {
    /// The line of a row of `losses`.
    pub(super) fn of_loss(rows: &Rows, row: usize) -> Self {
        let reason = rows.text("reason", row).unwrap_or_default();
        let line = if reason == UNENDED {
            let pid = rows.int("pid", row).unwrap_or(0);
            format!("{{\"type\":\"unended\",\"pid\":{pid}}}")
        } else {
            let mut line = start(rows, row, "loss");
            push_member(&mut line, "reason", reason);
            if let Some(group) = rows.text("log_group", row) {
                push_member(&mut line, "group", group);
            }
            if let Some(count) = rows.int("count", row) {
                push_raw(&mut line, "count", &(count as u64).to_string());
            }
            line + "}"
        };
        Self::of(rows, row, ("place", "after_messages", "time"), line)
    }

    /// The lines of a row of `spans`: of its begin, and of its end if it has one.
    pub(super) fn of_span(rows: &Rows, row: usize) -> impl Iterator<Item = Self> {
        let begin = span(rows, row, false);
        let begin = Self::of(rows, row, ("place", "after_messages", "time"), begin);
        let end = rows.int("end_place", row).map(|_| {
            let line = span(rows, row, true);
            Self::of(rows, row, ("end_place", "end_after_messages", "end_time"), line)
        });
        std::iter::once(begin).chain(end)
    }

    fn of(
        rows: &Rows,
        row: usize,
        (number, after, time): (&str, &str, &str),
        line: String,
    ) -> Self {
        let int = |column| rows.int(column, row).unwrap_or(0);
        Self { number: int(number), after: int(after), time: int(time), line }
    }
}

fn span(rows: &Rows, row: usize, is_end: bool) -> String {
    let (duration, longest) = (rows.int("duration", row), rows.int("longest", row));
    let mut line = if is_end {
        let ts = trace_time(rows, row).wrapping_add(duration.or(longest).unwrap_or(0));
        let wall = rows.int("boot_offset", row).and(rows.int("end_time", row));
        start_at(rows, row, "span_end", (ts, wall))
    } else {
        start(rows, row, "span_begin")
    };
    push_member(&mut line, "span", rows.text("name", row).unwrap_or_default());
    push_member(&mut line, "target", rows.text("target", row).unwrap_or_default());
    let mut number = |name: &str, number: Option<i64>| {
        if let Some(number) = number {
            push_raw(&mut line, name, &number.to_string());
        }
    };
    number("span_id", rows.int("span_id", row));
    number("depth", rows.int("depth", row));
    if duration.is_some() {
        number("duration", duration);
        let (busy, age) = (rows.int("busy", row), rows.int("age", row));
        if is_end && busy.is_some() && age.is_some() {
            number("busy", busy);
            number("age", age);
        }
    } else if longest.is_some() {
        number("longest", longest);
        push_raw(&mut line, "end_lost", "true");
    } else if rows.bool("end_missing", row) == Some(true) {
        push_raw(&mut line, "end_missing", "true");
    }
    let args = rows.text(if is_end { "args" } else { "begin_args" }, row).unwrap_or("{}");
    push_raw(&mut line, "args", args);
    line + "}"
}

/// Type, time and thread of a row.
fn start(rows: &Rows, row: usize, of: &str) -> String {
    let wall = rows.int("boot_offset", row).and(rows.int("time", row));
    start_at(rows, row, of, (trace_time(rows, row), wall))
}

fn start_at(rows: &Rows, row: usize, of: &str, (ts, wall): (i64, Option<i64>)) -> String {
    let mut line = format!("{{\"type\":\"{of}\",\"ts\":{ts}");
    if rows.bool("time_guessed", row) == Some(true) {
        push_raw(&mut line, "ts_guessed", "true");
    }
    let time = wall.and_then(|wall| Timestamp::from_nanosecond(wall.into()).ok());
    if let Some(time) = time {
        push_member(&mut line, "time", &time.to_string());
    }
    for name in ["pid", "tid"] {
        if let Some(id) = rows.int(name, row) {
            push_raw(&mut line, name, &id.to_string());
        }
    }
    for name in ["thread", "process"] {
        if let Some(text) = rows.text(name, row) {
            push_member(&mut line, name, text);
        }
    }
    line
}
