//! Prints logs, page by page: what is selected of each, as lines, or counted.
//!
//! ```text
//! filter  →  selection (context, tail, reverse)  →  form (text, JSON, CSV, numbers, …)  →  output
//! ```
//!
//! Invariant: lines are the same however a log is divided into pages.

use super::block_output::{BlockOutput, Stopped};
use super::forms::counts::{Counted, Counts};
use super::forms::line_writer::{LINE, LineWriter};
use super::forms::links::Links;
use super::forms::output_format::OutputFormat;
use super::forms::{EntryForm, SpanForm, TimeForm};
use super::selection::{HeldBack, Selected, Selection, Selector};
use crate::logs::filter::Filter;
use crate::system::System;
use protolog_reader::{Item, JsonWriter, Log, TimeWriter};

/// See the module.
pub(super) struct Printer<'a> {
    form: &'a EntryForm,
    system: &'a dyn System,
    links: Option<Links<'a>>,
    content: Printed,
    /// Lines that do not stand together in the log have a mark between them.
    marks_gaps: bool,
    output: BlockOutput<'a>,
}

/// Lines, or numbers.
enum Printed {
    Lines { selector: Selector<Vec<u8>>, times: Box<TimeWriter>, last: Option<i64> },
    Numbers { selector: Selector<Option<Counted>>, counts: Counts },
}

impl<'a> Printer<'a> {
    /// Begins, with the head of a table if there is one.
    pub(super) fn new(
        selection: Selection,
        form: &'a EntryForm,
        mut output: BlockOutput<'a>,
        system: &'a dyn System,
    ) -> Self {
        let content = if form.has_numbers() {
            Printed::Numbers {
                selector: Selector::new(selection),
                counts: Counts::new(form.counted_by(), form.estimate),
            }
        } else {
            if form.format == OutputFormat::Csv {
                let columns = form.columns();
                let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
                output.push_apart(format!("{}\r\n", names.join(",")).as_bytes());
            }
            let times = Box::new(form.time_writer());
            Printed::Lines { selector: Selector::new(selection), times, last: None }
        };
        let links = Links::new(&form.hyperlink_format, &form.source_root, system)
            .filter(|_| form.format == OutputFormat::Text);
        let marks_gaps = form.format == OutputFormat::Text;
        Self { form, system, links, content, marks_gaps, output }
    }

    /// The lines that say that some are left out from now on; empty if none are, or if it was said.
    pub(super) fn left_out(&mut self) -> String {
        self.output.left_out()
    }

    /// Prints the selected items of a page.
    pub(super) fn page(&mut self, log: &Log, filter: &Filter<'_>) -> Result<(), Stopped> {
        let Self { form, system, links, content, marks_gaps, output } = self;
        output.grow_budget(log.size());
        match content {
            Printed::Numbers { selector, counts } => {
                selector.set_room(output.room());
                let keep = |item: &Item<'_>| Counts::of(form, log, item);
                let items = log.items().without_spans();
                let counted = selector.page(items, filter, keep, |selected| {
                    selected.shown.into_iter().for_each(|counted| counts.add(counted));
                    Ok(())
                });
                output.set_held_cut(selector.is_cut());
                counted
            }
            Printed::Lines { selector, times, last } => {
                let links = links.as_ref();
                let items = || match form.spans {
                    Some(SpanForm::Around) | None => log.items().without_spans(),
                    Some(SpanForm::Lines | SpanForm::Both) => log.items(),
                };
                let mut writer = LineWriter::new(form, log, filter.marked(), links, *system);
                // All that the filter admits, as it comes.
                if selector.shows_at_once() {
                    for item in items().filter(|item| filter.admits(item)) {
                        output.push(|block| writer.push(&item, times, last, block))?;
                    }
                    return Ok(());
                }
                let keep = |item: &Item<'_>| {
                    let mut lines = Vec::with_capacity(LINE);
                    writer.push(item, times, last, &mut lines);
                    lines
                };
                selector.set_room(output.room());
                let shown = selector
                    .page(items(), filter, keep, |selected| push(&selected, *marks_gaps, output));
                output.set_held_cut(selector.is_cut());
                shown
            }
        }
    }

    /// Returns whether the next items are context of the last one.
    pub(super) fn wants_context(&self) -> bool {
        match &self.content {
            Printed::Lines { selector, .. } => selector.wants_context(),
            Printed::Numbers { selector, .. } => selector.wants_context(),
        }
    }

    /// Prints the items held back, and writes all. Later items are printed as they come.
    pub(super) fn flush(&mut self) -> Result<(), Stopped> {
        let Self { content, marks_gaps, output, .. } = self;
        if let Printed::Lines { selector, .. } = content {
            selector.finish(|selected| push(&selected, *marks_gaps, output))?;
        }
        output.flush()
    }

    /// Prints the part at the end, and returns the lines that say that some was left out.
    pub(super) fn finish(mut self, log: &Log) -> Result<String, Stopped> {
        self.flush()?;
        let left_out = self.output.left_out();
        let Self { form, content, mut output, .. } = self;
        match content {
            Printed::Lines { .. } if form.format == OutputFormat::Json => {
                let mut end = Vec::new();
                JsonWriter::new(log).write_end(&mut end);
                output.push_apart(&end);
            }
            Printed::Lines { .. } => {}
            Printed::Numbers { mut selector, mut counts } => {
                selector.finish(|selected| {
                    selected.shown.into_iter().for_each(|counted| counts.add(counted));
                    Ok::<(), Stopped>(())
                })?;
                output.push_apart(numbers(counts, form, log)?.as_bytes());
            }
        }
        output.flush().map(|()| left_out)
    }
}

impl HeldBack for Vec<u8> {
    fn bytes(&self) -> usize {
        size_of::<Selected<Self>>() + self.capacity()
    }
}

impl HeldBack for Option<Counted> {
    fn bytes(&self) -> usize {
        size_of::<Selected<Self>>() + self.as_ref().map_or(0, Counted::held_bytes)
    }
}

/// The numbers that are asked for, in their form.
fn numbers(counts: Counts, form: &EntryForm, log: &Log) -> Result<String, Stopped> {
    counts.check(log)?;
    let most = form.top.unwrap_or(usize::MAX);
    Ok(if form.count && form.estimate {
        counts.total_estimate(log, form.format)
    } else if form.count {
        counts.total(form.format)
    } else if form.histogram {
        let times = TimeWriter::new(form.times());
        counts.histogram(log, times, form.time_format.map(TimeForm::format), form.format)
    } else if form.estimate {
        counts.estimates(log, most, form.format)
    } else {
        counts.table(most, form.format)
    })
}

fn push(
    selected: &Selected<Vec<u8>>,
    marks_gaps: bool,
    output: &mut BlockOutput<'_>,
) -> Result<(), Stopped> {
    output.push(|block| {
        if selected.is_after_gap && marks_gaps {
            // As `grep` has it.
            block.extend_from_slice(b"--\n");
        }
        block.extend_from_slice(&selected.shown);
    })
}
