//! `read-log`: a trace in, its log out.
//!
//! ```text
//! inputs  →  pages  →  filter  →  selection               →  form                   →  output
//! traces               times      context, tail, reverse     text, JSON, CSV, …,       pager,
//! --follow             groups …                              --count-by, --top, …      standard output
//! ```
//!
//! Entries and losses go to standard output in the order of time; missing parts are summed up on
//! standard error. Output is written in blocks while it is rendered, and a reader that goes away
//! ends the run quietly.
//!
//! Invariant: each step knows those after it, and none before it.

mod args;
mod block_output;
mod follow;
mod forms;
mod notes;
mod page_filter;
mod page_source;
mod paged_logs;
mod printer;
mod selection;
mod symbols;

use crate::exit::{Exit, Failure};
use crate::output::once;
use crate::system::System;
pub(crate) use args::ReadLogArgs;
use block_output::{BlockOutput, Pager, Stopped};
use follow::GrowingLogs;
use page_source::PageSource;
use paged_logs::PagedLogs;
use printer::Printer;

/// Reads the logs that are named, and prints the requested form.
pub(crate) fn run(args: &ReadLogArgs, system: &dyn System) -> Result<Exit, Failure> {
    args.form.check()?;
    system.print_error(&args.form.warning(system));
    once(&args.traces, "trace", system)?;
    args.check_traces(system)?;
    // Inputs, page by page: the messages so far, or the additions.
    let mut pages: Box<dyn PageSource + '_> = if args.follow {
        Box::new(GrowingLogs::open(args, system)?)
    } else {
        Box::new(PagedLogs::open(args, system)?)
    };
    // The filter of each page, to whose times the log gives a meaning.
    let filter = pages.filter()?;
    // The selection of what it admits, its form, and the output.
    let pager = Pager::start(!args.no_pager && !args.follow, system);
    let output = BlockOutput::new(&pager, args.expansion);
    let printer = Printer::new(args.selection, &args.form, output, system);
    let printed = pages.print(filter, printer);
    // Problems are printed when the terminal is free again.
    pager.finish();
    match printed {
        Ok(()) => Ok(pages.report()),
        Err(Stopped::NobodyReads) => Ok(Exit::Done),
        Err(Stopped::Failed(failure)) => Err(failure),
    }
}
