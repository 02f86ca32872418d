//! The budget of the lines of a log: each repeats names that stand in the trace once, and a name may be as long as the trace.
//!
//! Invariant: lines are at most [`LINES`] times what the trace may expand to, and at least [`LEAST`] bytes of them are shown.

use crate::args::Expansion;

/// Lines take up to 20 times the size of the messages in usual traces, as JSON.
const LINES: u64 = 16;

/// The bytes of lines that any trace may have.
const LEAST: u64 = 1 << 30;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct LineBudget {
    pub(super) expansion: Expansion,
    /// Bytes that were read.
    read: u64,
    /// Bytes of lines so far.
    taken: u64,
    is_cut: bool,
    is_reported: bool,
}

impl LineBudget {
    /// Adds room for the lines of so many bytes of a trace.
    pub(super) fn grow(&mut self, bytes: usize) {
        self.read = self.read.saturating_add(bytes as u64);
    }

    /// Takes the lines from this offset on, or takes them away if they do not fit.
    #[inline]
    pub(super) fn take(&mut self, lines: &mut Vec<u8>, from: usize) {
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
    pub(super) fn report(&mut self) -> String {
        if !self.is_cut || std::mem::replace(&mut self.is_reported, true) {
            return String::new();
        }
        let times = self.expansion.max_expansion.saturating_mul(LINES);
        let advice = self.expansion.advice();
        format!(
            "warning: lines left out: they are more than {times} times the size of the trace\n{advice}"
        )
    }
}
