//! Files that sessions write: their places and claims, traces in one file or in segments, and what
//! their first bytes say.

pub(crate) mod claim;
pub(crate) mod epilogue;
pub(crate) mod file_place;
pub(crate) mod heads;
pub(crate) mod segments;
pub(crate) mod temporary;
pub(crate) mod trace_file;
pub(crate) mod write_behind;
