//! Items as lines of JSON, in the form of `read-log --format json`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use protolog_core::{Arg, ArgumentNames, ParamKind, Template, render};
use protolog_reader::Rate;
use serde_json::value::RawValue;

use super::super::json::{fields, push_args, push_json, push_member, push_raw};
use super::super::schema::KINDS;
use super::items::{ItemKind, ItemRow, TemplateRecord, Templates};

/// The line of an item; what sampling passed over has none.
pub(super) fn line(item: ItemRow<'_>, templates: &Templates) -> Option<String> {
    Some(match item.kind {
        ItemKind::PassedOver => return None,
        ItemKind::Message => message(item, templates),
        ItemKind::Loss => loss(item),
        ItemKind::Unended => {
            format!("{{\"type\":\"unended\",\"pid\":{}}}", item.int("pid").unwrap_or(0))
        }
        ItemKind::SpanBegin => span(item, false),
        ItemKind::SpanEnd => span(item, true),
    })
}

fn message(item: ItemRow<'_>, templates: &Templates) -> String {
    let mut line = start(item, "message");
    if let Some(request) = item.text("request") {
        push_member(&mut line, "request", request);
    }
    let id = item.text("id").unwrap_or_default();
    let template = templates.get(&(id.to_owned(), item.int("variant").unwrap_or(0)));
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
    if let (Some(args), Some(text)) = (item.text("args"), item.text("text")) {
        push_raw(&mut line, "args", args);
        push_member(&mut line, "message", text);
    } else if let Some(template) = template {
        let (args, fields, text) = rendered(item, template);
        push_raw(&mut line, "args", &args);
        if let Some(fields) = fields {
            push_raw(&mut line, "fields", &fields);
        }
        push_member(&mut line, "message", &text);
    }
    if item.is("message_guessed") {
        push_raw(&mut line, "message_guessed", "true");
    }
    let location = template.map(|template| template.location.as_str()).unwrap_or_default();
    if !location.is_empty() {
        push_member(&mut line, "location", location);
    }
    if let Some(rate) = rate(item) {
        push_member(&mut line, "rate", &rate.to_string());
    }
    if let Some(stack_trace) = item.text("stack_trace") {
        push_member(&mut line, "stack_trace", stack_trace);
    }
    line + "}"
}

/// The rate at which a message was sampled.
pub(super) fn rate(item: ItemRow<'_>) -> Option<Rate> {
    let part = |column| item.int(column).and_then(|number| u32::try_from(number).ok());
    let rate = Rate::new(part("rate_kept")?, part("rate_of")?)?;
    let by = item.int("rate_by").and_then(|number| u8::try_from(number).ok());
    by.map_or(Some(rate), |number| rate.by_argument(number))
}

/// The values as JSON, those with names by these, and the text.
fn rendered(item: ItemRow<'_>, record: &TemplateRecord) -> (String, Option<String>, String) {
    let (mut json, mut text) = (String::new(), String::new());
    let Ok(template) = Template::parse(&record.template) else { return (json, None, text) };
    let args = args(item, &template);
    push_args(&mut json, &args);
    let fields = fields(ArgumentNames::parse(&record.names), &args);
    let mut args = args.into_iter();
    render(&mut text, &template, |_| args.next()).expect("a string takes every write");
    (json, fields, text)
}

/// The values of a message in the columns of its template, in the order of that.
pub(super) fn args<'a>(item: ItemRow<'a>, template: &Template<'_>) -> Vec<Arg<'a>> {
    let ItemRow { rows, row, .. } = item;
    let unsigned = item.int("unsigned_args").unwrap_or(0);
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
    kinds.enumerate().filter_map(arg).collect()
}

fn loss(item: ItemRow<'_>) -> String {
    let mut line = start(item, "loss");
    push_member(&mut line, "reason", item.text("reason").unwrap_or_default());
    if let Some(group) = item.text("log_group") {
        push_member(&mut line, "group", group);
    }
    if let Some(count) = item.int("count") {
        push_raw(&mut line, "count", &(count as u64).to_string());
    }
    if let Some(duration) = item.int("duration") {
        let from = item.trace_time().wrapping_sub(duration);
        push_raw(&mut line, "from_ts", &from.to_string());
    }
    line + "}"
}

fn span(item: ItemRow<'_>, is_end: bool) -> String {
    let (duration, longest) = (item.int("duration"), item.int("longest"));
    let mut line = start(item, if is_end { "span_end" } else { "span_begin" });
    push_member(&mut line, "span", item.text("name").unwrap_or_default());
    push_member(&mut line, "target", item.text("target").unwrap_or_default());
    let mut number = |name: &str, number: Option<i64>| {
        if let Some(number) = number {
            push_raw(&mut line, name, &number.to_string());
        }
    };
    number("span_id", item.int("span_id"));
    number("depth", item.int("depth"));
    if duration.is_some() {
        number("duration", duration);
        let (busy, age) = (item.int("busy"), item.int("age"));
        if is_end && busy.is_some() && age.is_some() {
            number("busy", busy);
            number("age", age);
        }
    } else if longest.is_some() {
        number("longest", longest);
        push_raw(&mut line, "end_lost", "true");
    } else if item.is("end_missing") {
        push_raw(&mut line, "end_missing", "true");
    }
    let args = item.text(if is_end { "args" } else { "begin_args" }).unwrap_or("{}");
    push_raw(&mut line, "args", &by_name(args));
    line + "}"
}

/// The fields of a span by name, as lines have them, of an object in the order in which they were
/// recorded.
fn by_name(args: &str) -> String {
    let Ok(args) = serde_json::from_str::<BTreeMap<String, &RawValue>>(args) else {
        return args.to_owned();
    };
    let mut out = "{".to_owned();
    for (name, value) in args {
        if out.len() > 1 {
            out.push(',');
        }
        push_json(&mut out, &name);
        out.extend([":", value.get()]);
    }
    out + "}"
}

/// Type, time and thread of an item.
fn start(item: ItemRow<'_>, of: &str) -> String {
    let mut line = format!("{{\"type\":\"{of}\",\"ts\":{}", item.trace_time());
    if item.is("time_guessed") {
        push_raw(&mut line, "ts_guessed", "true");
    }
    let time = item.wall_time().and_then(|wall| Timestamp::from_nanosecond(wall.into()).ok());
    if let Some(time) = time {
        push_member(&mut line, "time", &time.to_string());
    }
    for name in ["pid", "tid"] {
        if let Some(id) = item.int(name) {
            push_raw(&mut line, name, &id.to_string());
        }
    }
    for name in ["thread", "process"] {
        if let Some(text) = item.text(name) {
            push_member(&mut line, name, text);
        }
    }
    line
}
