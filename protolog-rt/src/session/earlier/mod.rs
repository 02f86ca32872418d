//! Files that earlier runs left: traces at a session's path, recordings of processes that died.

pub(crate) mod earlier_runs;
pub(crate) mod leftover;
pub(crate) mod previous;
