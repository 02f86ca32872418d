//! The filter of the pages of a log, to whose times the log gives a meaning: of all of it at once,
//! or when an entry says the date.

use crate::exit::{Failure, printable_lines};
use crate::logs::filter::{Filter, Filters, TimeLimits};
use crate::system::System;
use protolog_reader::{Log, Times};

/// See the module.
pub(super) struct PageFilter<'a> {
    options: &'a Filters,
    times: Times,
    /// Nanoseconds since 1970.
    now: i64,
    /// The times that are asked for, once they are known.
    limits: Option<TimeLimits>,
}

impl<'a> PageFilter<'a> {
    /// The filter of a log of which all is known. Warns of values that match nothing in it.
    pub(super) fn of_log(
        options: &'a Filters,
        times: Times,
        log: &Log,
        system: &dyn System,
    ) -> Result<Self, Failure> {
        let now = system.now();
        let filter = options.resolve(log, &times, now)?;
        for problem in filter.problems(&times) {
            system.print_error(&printable_lines(&problem));
        }
        let limits = Some(filter.limits());
        Ok(Self { options, times, now, limits })
    }

    /// The filter of a log that grows: the first entry says of which date the times are.
    pub(super) fn of_growing_log(options: &'a Filters, times: Times, now: i64) -> Self {
        Self { options, times, now, limits: None }
    }

    /// Looks for the meaning of its times in a page, unless it is known.
    pub(super) fn learn_from(&mut self, page: &Log, system: &dyn System) {
        if self.limits.is_none() {
            self.limits = self.options.bounds(page, &self.times, self.now);
            if self.limits.is_some() {
                system.print_error(&self.options.times_in_gaps(page, &self.times));
            }
        }
    }

    /// The filter of a page; none if its times can't be compared with those that are asked for.
    pub(super) fn on<'b>(&'b self, page: &'b Log) -> Option<Filter<'b>> {
        let limits = self.limits.filter(|limits| limits.apply_to(page))?;
        Some(Filter::on(self.options, limits, page))
    }

    pub(super) fn options(&self) -> &'a Filters {
        self.options
    }

    /// A time of the trace before which nothing is shown, in nanoseconds.
    pub(super) fn earliest(&self, log: &Log) -> Option<i64> {
        self.limits?.earliest(log)
    }

    /// A time of the trace from which on nothing is shown, in nanoseconds.
    pub(super) fn end(&self, log: &Log) -> Option<i64> {
        self.limits?.end(log)
    }
}
