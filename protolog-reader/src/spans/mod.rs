//! Spans, those of the program's own calls and of the `tracing` bridge, as a trace has them and as
//! they are shown.

pub(crate) mod around;
pub(crate) mod names;
pub(crate) mod slice_event;
pub(crate) mod slices;
pub(crate) mod span_slice;
