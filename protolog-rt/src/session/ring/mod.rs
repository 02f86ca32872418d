//! Sessions that keep messages in memory: traces of what is there.

pub(crate) mod snapshot;
