//! The items to show, of those that the filter admits: all, the last ones, in either order, with
//! what stands around them.
//!
//! Invariant: what is held back takes at most the room that there is for it. The oldest goes first.

use crate::logs::filter::Filter;
use protolog_reader::{Item, Items};
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

/// An item to show, as it is shown.
#[derive(Debug)]
pub(super) struct Selected<K> {
    pub(super) shown: K,
    /// True if items between this one and the one shown before it are left out, where context is
    /// shown.
    pub(super) is_after_gap: bool,
}

/// The part of an item that is kept.
pub(super) trait HeldBack {
    /// Its bytes in memory.
    fn bytes(&self) -> usize;
}

impl Selection {
    /// The number of entries that are shown, if it is the last ones that are.
    pub(super) fn tail(self) -> Option<usize> {
        self.tail
    }

    /// Returns whether entries are shown that the filter does not admit.
    pub(super) fn has_context(self) -> bool {
        [self.before_context, self.after_context, self.context].iter().any(|count| *count > 0)
    }
}

/// Selects items of one page of a log after the other. `K` is what is kept of an item, since its
/// page may be gone when it is shown.
pub(super) struct Selector<K> {
    tail: Option<usize>,
    is_reverse: bool,
    before: usize,
    after: usize,
    /// Items that no filter admitted, which may be context of the next one that it does.
    earlier: VecDeque<K>,
    /// Items that are context of the last one.
    left: usize,
    is_first: bool,
    has_gap: bool,
    last: VecDeque<Selected<K>>,
    /// The bytes of all that is held back, and the most of them.
    held: usize,
    room: usize,
    /// Items for which there was no room.
    left_out: u64,
}

impl<K: HeldBack> Selector<K> {
    pub(super) fn new(selection: Selection) -> Self {
        Self {
            tail: selection.tail,
            is_reverse: selection.reverse,
            before: selection.before_context.max(selection.context),
            after: selection.after_context.max(selection.context),
            earlier: VecDeque::new(),
            left: 0,
            is_first: true,
            has_gap: false,
            last: VecDeque::new(),
            held: 0,
            room: 0,
            left_out: 0,
        }
    }

    /// Sets the most bytes that may be held back from now on.
    pub(super) fn set_room(&mut self, bytes: usize) {
        self.room = bytes;
    }

    /// Returns whether anything that was held back is left out, as there was no room for it.
    pub(super) fn is_cut(&self) -> bool {
        self.left_out > 0
    }

    /// Returns whether items are shown as they come, just those that the filter admits.
    pub(super) fn shows_at_once(&self) -> bool {
        self.tail.is_none() && !self.is_reverse && !self.has_context()
    }

    fn has_context(&self) -> bool {
        self.before > 0 || self.after > 0
    }

    /// Returns whether the next items are context of the last one.
    pub(super) fn wants_context(&self) -> bool {
        self.left > 0
    }

    /// Selects of a page. `keep` makes what is shown of an item.
    pub(super) fn page<'a, E>(
        &mut self,
        items: Items<'a>,
        filter: &Filter<'_>,
        mut keep: impl FnMut(&Item<'a>) -> K,
        mut show: impl FnMut(Selected<K>) -> Result<(), E>,
    ) -> Result<(), E> {
        for item in items {
            if filter.admits(&item) {
                let earlier = std::mem::take(&mut self.earlier);
                for shown in earlier {
                    self.held -= shown.bytes();
                    self.select(shown, &mut show)?;
                }
                self.select(keep(&item), &mut show)?;
                self.left = self.after;
            } else if self.left > 0 {
                self.left -= 1;
                self.put(Selected { shown: keep(&item), is_after_gap: false }, &mut show)?;
            } else if self.before > 0 {
                if self.earlier.len() == self.before {
                    self.drop_earliest();
                }
                let shown = keep(&item);
                self.held += shown.bytes();
                self.earlier.push_back(shown);
                self.make_room();
            } else {
                self.has_gap = true;
            }
        }
        Ok(())
    }

    /// Shows what was held back: the last ones, or all in reverse. What follows is shown as it
    /// comes.
    pub(super) fn finish<E>(
        &mut self,
        mut show: impl FnMut(Selected<K>) -> Result<(), E>,
    ) -> Result<(), E> {
        let last = std::mem::take(&mut self.last);
        self.held = self.earlier.iter().map(HeldBack::bytes).sum();
        let is_reverse = std::mem::take(&mut self.is_reverse);
        self.tail = None;
        if is_reverse {
            last.into_iter().rev().try_for_each(show)
        } else {
            last.into_iter().try_for_each(&mut show)
        }
    }

    fn select<E>(
        &mut self,
        shown: K,
        show: &mut impl FnMut(Selected<K>) -> Result<(), E>,
    ) -> Result<(), E> {
        let is_after_gap = self.has_context() && self.has_gap && !self.is_first;
        (self.is_first, self.has_gap) = (false, false);
        self.put(Selected { shown, is_after_gap }, show)
    }

    /// Shows an item, or holds it back.
    fn put<E>(
        &mut self,
        selected: Selected<K>,
        show: &mut impl FnMut(Selected<K>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.tail.is_none() && !self.is_reverse {
            return show(selected);
        }
        let most = self.tail.unwrap_or(usize::MAX);
        if self.last.len() >= most {
            self.drop_oldest();
        }
        if most > 0 {
            self.held += selected.shown.bytes();
            self.last.push_back(selected);
            self.make_room();
        }
        Ok(())
    }

    /// Drops what was held back first, until the rest has room.
    fn make_room(&mut self) {
        while self.held > self.room && (self.drop_oldest() || self.drop_earliest()) {
            self.left_out += 1;
        }
    }

    /// Drops the oldest item that would be shown. False if there is none.
    fn drop_oldest(&mut self) -> bool {
        let oldest = self.last.pop_front();
        self.held -= oldest.as_ref().map_or(0, |oldest| oldest.shown.bytes());
        oldest.is_some()
    }

    /// Drops the oldest item that may be context. False if there is none.
    fn drop_earliest(&mut self) -> bool {
        let earliest = self.earlier.pop_front();
        self.held -= earliest.as_ref().map_or(0, HeldBack::bytes);
        self.has_gap |= earliest.is_some();
        earliest.is_some()
    }
}
