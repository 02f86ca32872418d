//! The spans of the `tracing` bridge, as a trace has them and as they are shown.

pub(crate) mod around;
pub(crate) mod slices;
pub(crate) mod span_slice;
