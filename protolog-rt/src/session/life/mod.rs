//! Sessions from start to end, in this process and in forked children.

pub(crate) mod active;
pub(crate) mod byte_limits;
pub(crate) mod events;
pub(crate) mod forked;
pub(crate) mod running_sessions;
pub(crate) mod signals;
pub(crate) mod summary;
