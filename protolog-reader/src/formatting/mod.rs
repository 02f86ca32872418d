//! Pieces of text output, which know nothing of a log: lines, numbers, short texts, and what a
//! terminal may get.

pub(crate) mod fixed_decimals;
pub(crate) mod line;
pub(crate) mod line_numbers;
pub(crate) mod printable;
pub(crate) mod snippet;
