//! Sessions that keep messages in memory: traces of these messages.

pub(crate) mod filtered;
mod readers;
pub(crate) mod snapshot;
mod snapshot_copy;
pub(crate) mod window;
