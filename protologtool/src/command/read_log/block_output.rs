//! The output of a log: blocks of lines, to a pager or to standard output.
//!
//! Invariant: a block is written when it is full, and a partial one when the log ends, or waits for
//! more.

mod line_budget;
mod pager;

use crate::args::Expansion;
use crate::exit::Failure;
use crate::output::reason;
use line_budget::LineBudget;
pub(crate) use pager::Pager;
use std::io;

/// The size of a block of output, in bytes.
const BLOCK: usize = 64 * 1024;

/// The reason why printing ends before the log does.
pub(crate) enum Stopped {
    NobodyReads,
    Failed(Failure),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// See the module.
pub(crate) struct BlockOutput<'a> {
    pager: &'a Pager<'a>,
    /// Lines that are not written yet.
    block: Vec<u8>,
    budget: LineBudget,
}

impl<'a> BlockOutput<'a> {
    /// Bounds the lines by the size of the input: a trace may expand to so many times its size.
    pub(crate) fn new(pager: &'a Pager<'a>, expansion: Expansion) -> Self {
        let block = Vec::with_capacity(2 * BLOCK);
        Self { pager, block, budget: LineBudget::new(expansion) }
    }

    /// Adds room for the lines of so many bytes of a trace.
    pub(crate) fn grow_budget(&mut self, bytes: usize) {
        self.budget.grow(bytes);
    }

    /// The most bytes of lines that may be held back.
    pub(crate) fn room(&self) -> usize {
        self.budget.room()
    }

    /// Notes whether lines that were held back are left out.
    pub(crate) fn set_held_cut(&mut self, is_cut: bool) {
        self.budget.set_held_cut(is_cut);
    }

    /// The lines that say that some are left out from now on; empty if none are, or if it was said.
    pub(crate) fn left_out(&mut self) -> String {
        self.budget.report()
    }

    /// Appends text that is no line of the log, as the head of a table.
    pub(crate) fn push_apart(&mut self, text: &[u8]) {
        self.block.extend_from_slice(text);
    }

    /// Appends lines of the log, unless there is no room for them, and writes the block if it is
    /// full.
    #[inline]
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Stopped> {
        let before = self.block.len();
        write(&mut self.block);
        self.budget.take(&mut self.block, before);
        if self.block.len() >= BLOCK { self.flush() } else { Ok(()) }
    }

    /// Writes all.
    pub(crate) fn flush(&mut self) -> Result<(), Stopped> {
        self.pager.write(&self.block).map_err(|error| cant_write(&error))?;
        self.block.clear();
        Ok(())
    }
}

fn cant_write(error: &io::Error) -> Stopped {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Stopped::NobodyReads;
    }
    Failure::new(format!("can't write the log: {}", reason(error))).into()
}
