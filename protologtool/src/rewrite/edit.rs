//! One replacement of a stretch of the original by new text.

use std::ops::Range;

/// Replaces the bytes `range` of the original by `text`. An empty range inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Byte range of the original.
    pub range: Range<usize>,
    /// What stands there afterwards.
    pub text: String,
}
