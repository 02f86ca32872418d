//! Sessions that keep messages in memory: traces of these messages.

mod readers;
pub(crate) mod snapshot;
pub(crate) mod window;
