//! An input of a merge.

use std::io::{self, Read};

/// A trace to be merged. It is opened twice.
pub trait MergeInput {
    /// What to call it when something is wrong.
    fn name(&self) -> &str;

    /// Its bytes, from the start.
    fn open(&self) -> io::Result<Box<dyn Read + '_>>;
}
