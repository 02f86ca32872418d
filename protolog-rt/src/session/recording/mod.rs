//! Recordings: buffers with all that is needed to read them when the process is dead, in files that
//! outlive it or in memory that its core file has; and how far the trace beside them has come.

pub(crate) mod form;
mod in_memory;
pub(crate) mod progress;
pub(crate) mod recorder;
pub(crate) mod state;
