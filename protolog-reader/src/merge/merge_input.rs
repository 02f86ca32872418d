//! An input of a merge.

use std::io::{self, Read};

/// A trace to merge. It is opened several times.
pub trait MergeInput {
    /// Its name in error messages.
    fn name(&self) -> &str;

    /// Opens it at its start.
    fn open(&self) -> io::Result<Box<dyn Read + '_>>;

    /// Returns whether the others are merged without it, if it can't be read or is no trace: it was
    /// found, as in a directory, and not asked for.
    fn may_be_left_out(&self) -> bool {
        false
    }
}
