//! The commands, one in each file.

pub(crate) mod binary;
pub(crate) mod check;
mod clashes;
#[cfg(unix)]
pub(crate) mod configuration;
pub(crate) mod diff;
pub(crate) mod export;
mod fix;
pub(crate) mod generate;
pub(crate) mod init;
mod inputs;
mod javac;
pub(crate) mod lsp;
pub(crate) mod merge;
pub(crate) mod migrate;
pub(crate) mod page;
pub(crate) mod read_log;
#[cfg(unix)]
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod transform;
pub(crate) mod view;
