//! Recordings: buffers in files that outlive the process, and how far the trace beside them has
//! come.

pub(crate) mod form;
pub(crate) mod progress;
pub(crate) mod recorder;
