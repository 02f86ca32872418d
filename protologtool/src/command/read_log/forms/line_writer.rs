//! Writes the lines of entries in the form that is asked for.

use super::EntryForm;
use super::columns::{self, Row};
use super::links::Links;
use super::output_format::OutputFormat;
use crate::system::System;
use protolog_reader::{Item, JsonWriter, Log, TextWriter, TimeWriter};
use regex::Regex;

/// Writes the lines of a page: text, JSON, or columns.
pub(crate) enum LineWriter<'a> {
    Text(Box<TextWriter<'a>>),
    Json(Box<JsonWriter<'a>>),
    Columns {
        form: &'a EntryForm,
        log: &'a Log,
        columns: Vec<columns::Column>,
        color: bool,
        links: Option<&'a Links<'a>>,
    },
}

impl<'a> LineWriter<'a> {
    /// The writer of a page, with these matches marked.
    pub(crate) fn new(
        form: &'a EntryForm,
        log: &'a Log,
        marked: Option<&'a Regex>,
        links: Option<&'a Links<'a>>,
        system: &dyn System,
    ) -> Self {
        let color = form.has_color(system);
        match form.format {
            OutputFormat::Json => {
                let json = JsonWriter::new(log).with_spans_around(form.has_spans_around());
                Self::Json(Box::new(json))
            }
            OutputFormat::Text if form.columns.is_empty() && !form.delta => {
                let text = TextWriter::new(log, form.times()).with_color(color);
                let text = text.with_time_format(form.time_format());
                let text = text.with_spans_around(form.has_spans_around());
                let text = match links {
                    Some(links) => text.with_links(|location| links.address(location)),
                    None => text,
                };
                Self::Text(Box::new(match marked {
                    Some(regex) => {
                        text.with_marks(|line| regex.find_iter(line).map(|it| it.range()).collect())
                    }
                    None => text,
                }))
            }
            _ => Self::Columns { form, log, columns: form.columns(), color, links },
        }
    }

    /// Appends the lines of an item; `last` is the time of the one before.
    pub(crate) fn push(
        &mut self,
        item: &Item<'_>,
        times: &mut TimeWriter,
        last: &mut Option<i64>,
        out: &mut Vec<u8>,
    ) {
        match self {
            Self::Text(text) => text.write(item, out),
            Self::Json(json) => json.write(item, out),
            Self::Columns { form, log, columns, color, links } => {
                let row = Row::new(log, *item, *last);
                *last = Some(row.time());
                let mut line = String::with_capacity(LINE);
                match form.format {
                    OutputFormat::Csv => columns::write_csv(&row, columns, times, &mut line),
                    OutputFormat::Logfmt => columns::write_logfmt(&row, columns, times, &mut line),
                    _ => columns::write_text(&row, columns, times, (*color, *links), &mut line),
                }
                out.extend_from_slice(line.as_bytes());
            }
        }
    }
}

/// The room for a line, in bytes; it grows.
pub(crate) const LINE: usize = 160;
