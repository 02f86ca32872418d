//! The bytes of a trace: where they come from, how they are inflated, and how a log refers to them.

pub(crate) mod blocks;
pub(crate) mod inflate;
pub(crate) mod looks;
pub(crate) mod source;
pub(crate) mod zstd;
