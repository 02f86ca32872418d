//! An input of a merge.

use std::io::{self, Read};

/// A trace to merge. It is opened twice.
pub trait MergeInput {
    /// Its name in error messages.
    fn name(&self) -> &str;

    /// Opens it at its start.
    fn open(&self) -> io::Result<Box<dyn Read + '_>>;
}
