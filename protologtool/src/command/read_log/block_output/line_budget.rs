//! The budget of the lines of a log: each repeats names that stand in the trace once, and a name
//! may be as long as the trace.
//!
//! Lines that are held back, as for `--reverse`, are in memory, so these have the limit of the
//! trace's expansion.
//!
//! Invariant: lines are at most [`LINES`] times the trace's expansion limit, and at least [`LEAST`]
//! bytes of them are shown.

use crate::args::Expansion;
use protolog_reader::Limits;

/// Lines take up to 20 times the size of the messages in usual traces, as JSON.
const LINES: u64 = 16;

/// The bytes of lines that any trace may have.
const LEAST: u64 = 1 << 30;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct LineBudget {
    expansion: Expansion,
    /// Bytes that were read.
    read: u64,
    /// Bytes of lines so far.
    taken: u64,
    is_cut: bool,
    is_reported: bool,
    /// Lines that were held back are left out.
    is_held_cut: bool,
}

impl LineBudget {
    /// The budget of a trace that may expand to so many times its size.
    pub(crate) fn new(expansion: Expansion) -> Self {
        Self { expansion, ..Self::default() }
    }

    /// Adds room for the lines of so many bytes of a trace.
    pub(crate) fn grow(&mut self, bytes: usize) {
        self.read = self.read.saturating_add(bytes as u64);
    }

    /// The most bytes of lines that are held back.
    pub(crate) fn room(&self) -> usize {
        let bytes = self.read.saturating_mul(self.expansion.max_expansion);
        usize::try_from(bytes.max(Limits::LEAST_EXPANDED)).unwrap_or(usize::MAX)
    }

    /// Notes whether lines that were held back are left out.
    pub(crate) fn set_held_cut(&mut self, is_cut: bool) {
        self.is_held_cut |= is_cut;
    }

    /// Takes the lines from this offset on, or takes them away if they do not fit.
    #[inline]
    pub(crate) fn take(&mut self, lines: &mut Vec<u8>, from: usize) {
        self.taken = self.taken.saturating_add((lines.len() - from) as u64);
        if self.taken > LEAST {
            self.cut(lines, from);
        }
    }

    #[cold]
    fn cut(&mut self, lines: &mut Vec<u8>, from: usize) {
        let times = self.expansion.max_expansion.saturating_mul(LINES);
        if self.is_cut || self.taken > self.read.saturating_mul(times) {
            self.is_cut = true;
            lines.truncate(from);
        }
    }

    /// The lines that say that lines were left out; empty if none were, or if it was said.
    pub(crate) fn report(&mut self) -> String {
        let is_cut = self.is_cut || self.is_held_cut;
        if !is_cut || std::mem::replace(&mut self.is_reported, true) {
            return String::new();
        }
        let advice = self.expansion.advice();
        let expansion = self.expansion.max_expansion;
        let (lines, times) = if self.is_cut {
            ("they", expansion.saturating_mul(LINES))
        } else {
            ("those that are held back", expansion)
        };
        format!(
            "warning: lines left out: {lines} are more than {times} times the size of the trace\n{advice}"
        )
    }
}
