//! The commands, one in each file.

pub(crate) mod binary;
pub(crate) mod check;
mod clashes;
mod complete;
pub(crate) mod configuration;
pub(crate) mod diff;
mod fix;
pub(crate) mod generate;
pub(crate) mod init;
mod inputs;
mod javac;
pub(crate) mod lsp;
pub(crate) mod merge;
pub(crate) mod page;
pub(crate) mod read_log;
pub(crate) mod recover;
mod release;
mod segment_names;
mod stream;
pub(crate) mod suggest;
mod target;
mod trace_paths;
pub(crate) mod transform;
pub(crate) mod view;
