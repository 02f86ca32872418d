//! The logs that commands read: the files of a command line, as one log, and the filter of its
//! entries.
//!
//! ```text
//! trace_paths      named paths             →  traces, those in directories too
//! trace_file       one trace               →  its bytes, completed by a recording where its process died
//! joined_traces    several, side by side   →  one source of bytes
//! merged_traces    several, by a merge     →  one trace
//! text_sources     bytes, dictionaries     →  a log
//! named_logs       all of this at once: what commands call
//! ```

pub(crate) mod completion;
mod dictionary_directories;
pub(crate) mod filter;
pub(crate) mod functions;
mod joined_traces;
pub(crate) mod merge_report;
pub(crate) mod merged_traces;
pub(crate) mod named_logs;
pub(crate) mod pipe_input;
pub(crate) mod rescue;
pub(crate) mod segment_names;
pub(crate) mod text_sources;
mod trace_file;
pub(crate) mod trace_paths;
