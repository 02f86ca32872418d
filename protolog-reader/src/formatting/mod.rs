//! Pieces of text output, which know nothing of a log: floats, short texts, and what a terminal may
//! get.

pub(crate) mod fixed_decimals;
pub(crate) mod printable;
pub(crate) mod snippet;
