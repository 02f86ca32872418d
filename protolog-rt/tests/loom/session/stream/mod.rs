//! The drain, as it is.

#[path = "../../../../src/session/stream/drain.rs"]
pub(crate) mod drain;
