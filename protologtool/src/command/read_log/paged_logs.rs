//! Logs that are there, read page by page as far as their lines are asked for.

use super::args::ReadLogArgs;
use super::block_output::Stopped;
use super::notes;
use super::page_filter::PageFilter;
use super::page_source::PageSource;
use super::printer::Printer;
use super::symbols::Symbols;
use crate::exit::{Exit, Failure};
use crate::logs::named_logs::PagedLog;
use crate::output::cant_read;
use crate::system::System;
use protolog_reader::{ReadError, ReadErrorKind, printable};
use std::io;
use std::path::Path;

/// See the module.
pub(super) struct PagedLogs<'a> {
    args: &'a ReadLogArgs,
    system: &'a dyn System,
    log: PagedLog,
    symbols: Option<Symbols>,
    /// The lines that say that some of the log was not printed.
    left_out: String,
}

impl<'a> PagedLogs<'a> {
    /// Opens all traces as one log.
    pub(super) fn open(args: &'a ReadLogArgs, system: &'a dyn System) -> Result<Self, Failure> {
        let root = args.symbolize_root.as_deref();
        let symbols = args.symbolize.then(|| Symbols::new(root)).transpose()?;
        let log = args.logs().pages(system)?;
        Ok(Self { args, system, log, symbols, left_out: String::new() })
    }

    /// Leaves out pages, and entries of pages, of which nothing is printed.
    fn skip(&mut self, filter: &PageFilter<'_>) {
        let (pages, selection) = (&mut self.log.pages, self.args.selection);
        // Context may be before the times that are asked for, and after.
        let has_context = selection.has_context();
        if let Some(time) = filter.earliest(pages.log()).filter(|_| !has_context) {
            pages.skip_to(time);
        }
        if let Some(count) = selection.tail().filter(|_| filter.options().admit_all()) {
            // The first of them has a time since the one before, too.
            pages.skip_to_last(count.saturating_add(1));
        }
        // Context is of entries that the filter leaves out.
        if !has_context {
            let (since, end) = (filter.earliest(pages.log()), filter.end(pages.log()));
            pages.choose(since, end, |thread| filter.options().admit_thread(thread));
        }
    }
}

impl<'a> PageSource<'a> for PagedLogs<'a> {
    fn filter(&self) -> Result<PageFilter<'a>, Failure> {
        let Self { args, system, log, .. } = self;
        PageFilter::of_log(&args.filters, args.form.times(), log.pages.log(), *system)
    }

    fn print(&mut self, filter: PageFilter<'a>, mut printer: Printer<'_>) -> Result<(), Stopped> {
        self.skip(&filter);
        let Self { args, system, log, symbols, left_out } = self;
        let pages = &mut log.pages;
        let end = filter.end(pages.log());
        pages.read_ahead();
        loop {
            let is_past = end.zip(pages.next_time()).is_some_and(|(end, next)| next >= end);
            if is_past && !printer.wants_context() {
                pages.skip_rest();
            }
            if !pages.next_page().map_err(|error| cant_go_on(&args.traces[0], &error))? {
                break;
            }
            if let Some(symbols) = symbols {
                pages.log_mut().symbolize_stack_traces(|stack| symbols.name(stack));
            }
            let page = pages.log();
            if let Some(filter) = filter.on(page) {
                printer.page(page, &filter)?;
            }
        }
        for problem in symbols.iter().flat_map(Symbols::problems) {
            system.print_error(&format!("warning: {}\n", printable(problem)));
        }
        *left_out = printer.finish(pages.log())?;
        Ok(())
    }

    fn report(&self) -> Exit {
        let Self { args, system, log: PagedLog { pages, is_whole, gone }, left_out, .. } = self;
        system.print_error(left_out);
        let gone = gone.lines();
        for line in &gone {
            system.print_error(line);
        }
        let log = pages.log();
        notes::report(log, args, *system);
        let is_lost = args.fail_on_loss && log.stats().has_losses();
        let is_whole = *is_whole && left_out.is_empty() && gone.is_empty() && log.is_complete();
        if is_whole && !is_lost { Exit::Done } else { Exit::Incomplete }
    }
}

/// The failure in the midst of a trace.
fn cant_go_on(path: &Path, error: &io::Error) -> Failure {
    if error.kind() != io::ErrorKind::OutOfMemory {
        return cant_read(path, error);
    }
    let error = ReadError::from(ReadErrorKind::OutOfMemory);
    Failure::new(format!("can't read `{}`: {error}", path.display())).help(error.help())
}
