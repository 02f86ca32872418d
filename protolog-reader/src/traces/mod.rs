//! Reads a trace whole, or as it grows; completes traces that were never ended, and converts older
//! formats to traces.

pub(crate) mod follow;
pub(crate) mod read_error;
pub(crate) mod unfinished;
pub(crate) mod whole_trace;
pub(crate) mod winscope;
