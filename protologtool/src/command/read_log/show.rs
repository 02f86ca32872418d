//! Shows logs, page by page: what is selected of each, as lines, or counted.
//!
//! Invariant: lines are the same however a log is divided into pages.

use super::columns::{self, Row};
use super::counts::{Counted, Counts};
use super::filter::Filter;
use super::form::{EntryForm, TimeForm};
use super::line_budget::LineBudget;
use super::links::Links;
use super::output_format::OutputFormat;
use super::pager::Pager;
use super::select::{HeldBack, Selected, Selection, Selector};
use crate::args::Expansion;
use crate::system::System;
use protolog_reader::{Item, JsonWriter, Log, TextWriter, TimeWriter};
use regex::Regex;
use std::io;

/// The size of a block of output, in bytes.
const BLOCK: usize = 64 * 1024;

/// Shows one log after the other.
pub(super) struct Show<'a> {
    form: &'a EntryForm,
    system: &'a dyn System,
    links: Option<Links<'a>>,
    /// In place of standard output.
    pager: Option<&'a Pager<'a>>,
    content: Shown,
    /// Lines that do not stand together in the log have a mark between them.
    marks_gaps: bool,
    /// Lines that are not written yet.
    block: Vec<u8>,
    budget: LineBudget,
}

/// Lines, or numbers.
enum Shown {
    Lines { selector: Selector<Vec<u8>>, times: Box<TimeWriter>, last: Option<i64> },
    Counts { selector: Selector<Option<Counted>>, counts: Counts },
}

impl<'a> Show<'a> {
    /// Begins, with the head of a table if there is one.
    pub(super) fn new(form: &'a EntryForm, selection: Selection, system: &'a dyn System) -> Self {
        let mut block = Vec::with_capacity(2 * BLOCK);
        let has_counts =
            form.count || form.count_by.is_some() || form.top.is_some() || form.histogram;
        let content = if has_counts {
            Shown::Counts { selector: Selector::new(selection), counts: Counts::new(form.count_by) }
        } else {
            if form.format == OutputFormat::Csv {
                let columns = form.columns();
                let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
                block.extend_from_slice(format!("{}\r\n", names.join(",")).as_bytes());
            }
            let times = Box::new(form.time_writer());
            Shown::Lines { selector: Selector::new(selection), times, last: None }
        };
        let links = Links::new(&form.hyperlink_format, &form.source_root, system)
            .filter(|_| form.format == OutputFormat::Text);
        let marks_gaps = form.format == OutputFormat::Text;
        let budget = LineBudget::default();
        Self { form, system, links, pager: None, content, marks_gaps, block, budget }
    }

    /// Bounds the lines by what is read: the trace may expand to so many times its size.
    pub(super) fn with_expansion(mut self, expansion: Expansion) -> Self {
        self.budget.expansion = expansion;
        self
    }

    /// The lines that say that some are left out from now on; empty if none are, or if it was said.
    pub(super) fn left_out(&mut self) -> String {
        self.budget.report()
    }

    /// Shows all in a pager.
    pub(super) fn with_pager(self, pager: &'a Pager<'a>) -> Self {
        Self { pager: Some(pager), ..self }
    }

    /// Shows what is selected of a page.
    pub(super) fn page(&mut self, log: &Log, filter: &Filter<'_>) -> io::Result<()> {
        let Self { form, system, links, pager, content, marks_gaps, block, budget } = self;
        budget.grow(log.size());
        match content {
            Shown::Counts { selector, counts } => {
                selector.set_room(budget.room());
                let keep = |item: &Item<'_>| Counts::of(form.count_by, log, item);
                let counted = selector.page(log, filter, keep, |selected| {
                    selected.shown.into_iter().for_each(|counted| counts.add(counted));
                    Ok(())
                });
                budget.set_held_cut(selector.is_cut());
                counted
            }
            Shown::Lines { selector, times, last } => {
                let mut writer = Writer::new(form, log, filter.marked(), links.as_ref(), *system);
                if selector.shows_at_once() {
                    for item in log.items().filter(|item| filter.admits(item)) {
                        let before = block.len();
                        writer.push(&item, times, last, block);
                        budget.take(block, before);
                        write_full(block, *pager, *system)?;
                    }
                    return Ok(());
                }
                let keep = |item: &Item<'_>| {
                    let mut lines = Vec::with_capacity(LINE);
                    writer.push(item, times, last, &mut lines);
                    lines
                };
                selector.set_room(budget.room());
                let shown = selector.page(log, filter, keep, |selected| {
                    push(&selected, *marks_gaps, block, budget);
                    write_full(block, *pager, *system)
                });
                budget.set_held_cut(selector.is_cut());
                shown
            }
        }
    }

    /// Returns whether the next items are context of the last one.
    pub(super) fn wants_context(&self) -> bool {
        match &self.content {
            Shown::Lines { selector, .. } => selector.wants_context(),
            Shown::Counts { selector, .. } => selector.wants_context(),
        }
    }

    /// Shows what was held back, and writes all. What follows is shown as it comes.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let Self { system, pager, content, marks_gaps, block, budget, .. } = self;
        if let Shown::Lines { selector, .. } = content {
            selector.finish(|selected| {
                push(&selected, *marks_gaps, block, budget);
                write_full(block, *pager, *system)
            })?;
        }
        write(block, *pager, *system)?;
        block.clear();
        Ok(())
    }

    /// Shows what stands at the end, and returns the lines that say that some was left out.
    pub(super) fn finish(mut self, log: &Log) -> io::Result<String> {
        self.flush()?;
        let left_out = self.budget.report();
        let Self { form, system, pager, content, mut block, .. } = self;
        let is_json = form.format == OutputFormat::Json;
        match content {
            Shown::Lines { .. } if is_json => JsonWriter::new(log).write_end(&mut block),
            Shown::Lines { .. } => {}
            Shown::Counts { mut selector, mut counts } => {
                selector.finish(|selected| {
                    selected.shown.into_iter().for_each(|counted| counts.add(counted));
                    Ok::<(), io::Error>(())
                })?;
                let table = if form.count {
                    counts.total(form.format)
                } else if form.histogram {
                    let times = TimeWriter::new(form.times());
                    counts.histogram(
                        log,
                        times,
                        form.time_format.map(TimeForm::format),
                        form.format,
                    )
                } else {
                    counts.table(form.top.unwrap_or(usize::MAX), form.format)
                };
                block.extend_from_slice(table.as_bytes());
            }
        }
        write(&block, pager, system).map(|()| left_out)
    }
}

impl HeldBack for Vec<u8> {
    fn bytes(&self) -> usize {
        size_of::<Selected<Self>>() + self.capacity()
    }
}

fn push(
    selected: &Selected<Vec<u8>>,
    marks_gaps: bool,
    block: &mut Vec<u8>,
    budget: &mut LineBudget,
) {
    let before = block.len();
    if selected.is_after_gap && marks_gaps {
        // As `grep` has it.
        block.extend_from_slice(b"--\n");
    }
    block.extend_from_slice(&selected.shown);
    budget.take(block, before);
}

/// Writes the block if it is full.
fn write_full(
    block: &mut Vec<u8>,
    pager: Option<&Pager<'_>>,
    system: &dyn System,
) -> io::Result<()> {
    if block.len() >= BLOCK {
        write(block, pager, system)?;
        block.clear();
    }
    Ok(())
}

fn write(block: &[u8], pager: Option<&Pager<'_>>, system: &dyn System) -> io::Result<()> {
    pager.map_or_else(|| system.write_output(block), |pager| pager.write(block))
}

/// Writes the lines of a page.
enum Writer<'a> {
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

impl<'a> Writer<'a> {
    fn new(
        form: &'a EntryForm,
        log: &'a Log,
        marked: Option<&'a Regex>,
        links: Option<&'a Links<'a>>,
        system: &dyn System,
    ) -> Self {
        let color = form.has_color(system);
        match form.format {
            OutputFormat::Json => Self::Json(Box::new(JsonWriter::new(log))),
            OutputFormat::Text if form.columns.is_empty() && !form.delta => {
                let text = TextWriter::new(log, form.times()).with_color(color);
                let text = text.with_time_format(form.time_format());
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
    fn push(
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
const LINE: usize = 160;
