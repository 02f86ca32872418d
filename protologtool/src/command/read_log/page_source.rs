//! The beginning of the line: where pages of a log come from.

use super::block_output::Stopped;
use super::page_filter::PageFilter;
use super::printer::Printer;
use crate::exit::{Exit, Failure};

/// Logs that are read page by page, as [they are there](super::paged_logs) or [as they
/// grow](super::follow).
pub(super) trait PageSource<'a> {
    /// The filter of the pages.
    fn filter(&self) -> Result<PageFilter<'a>, Failure>;

    /// Hands the entries in the filter's range to the printer, page by page, until the log ends or
    /// nobody reads it.
    fn print(&mut self, filter: PageFilter<'a>, printer: Printer<'_>) -> Result<(), Stopped>;

    /// Reports what is missing, and returns the exit code.
    fn report(&self) -> Exit;
}
