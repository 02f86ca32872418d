//! The items to show, of those that the filter admits: all, the last ones, in either order, with what stands around them.

use super::filter::Filter;
use protolog_reader::{Item, Log};
use std::collections::VecDeque;

/// Options that choose by place in the log.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Which entries to show")]
pub(super) struct Selection {
    /// The last N of what would be shown
    #[arg(short = 'n', long, value_name = "N")]
    tail: Option<usize>,

    /// And the N entries before each
    #[arg(short = 'B', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    before_context: usize,

    /// And the N entries after each
    #[arg(short = 'A', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    after_context: usize,

    /// And the N entries before and after each
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    context: usize,

    /// The newest first
    #[arg(long, conflicts_with = "follow")]
    reverse: bool,
}

/// An item to show.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected<'a> {
    pub(super) item: Item<'a>,
    /// True if items between this one and the one shown before it are left out, where context is shown.
    pub(super) is_after_gap: bool,
}

impl Selection {
    /// The selection of what follows, once the last ones were chosen.
    pub(super) fn of_following(self) -> Self {
        Self { tail: None, ..self }
    }

    /// Calls `show` for each item to show, until it fails.
    pub(super) fn each<'a, E>(
        self,
        log: &'a Log,
        filter: &Filter<'_>,
        mut show: impl FnMut(Selected<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.tail.is_none() && !self.reverse {
            return self.in_context(log, filter, show);
        }
        let most = self.tail.unwrap_or(usize::MAX);
        let mut last = VecDeque::new();
        let keep = |selected| {
            if last.len() >= most {
                last.pop_front();
            }
            last.extend((most > 0).then_some(selected));
            Ok::<(), E>(())
        };
        self.in_context(log, filter, keep)?;
        if self.reverse {
            last.into_iter().rev().try_for_each(show)
        } else {
            last.into_iter().try_for_each(&mut show)
        }
    }

    /// The items in the order of the log, each once.
    fn in_context<'a, E>(
        self,
        log: &'a Log,
        filter: &Filter<'_>,
        mut show: impl FnMut(Selected<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        let before = self.before_context.max(self.context);
        let after = self.after_context.max(self.context);
        let has_context = before + after > 0;
        let (mut earlier, mut left, mut is_first, mut has_gap) = (VecDeque::new(), 0, true, false);
        for item in log.items() {
            if filter.admits(&item) {
                for earlier in earlier.drain(..).chain([item]) {
                    let is_after_gap = has_context && has_gap && !is_first;
                    show(Selected { item: earlier, is_after_gap })?;
                    (is_first, has_gap) = (false, false);
                }
                left = after;
            } else if left > 0 {
                left -= 1;
                show(Selected { item, is_after_gap: false })?;
            } else if before > 0 {
                has_gap |= earlier.len() == before;
                if earlier.len() == before {
                    earlier.pop_front();
                }
                earlier.push_back(item);
            } else {
                has_gap = true;
            }
        }
        Ok(())
    }
}
