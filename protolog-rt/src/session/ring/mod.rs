//! Sessions that keep messages in memory: traces of these messages.

pub(crate) mod snapshot;
pub(crate) mod window;
