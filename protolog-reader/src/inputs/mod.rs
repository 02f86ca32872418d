//! Several traces that are read as one: values local to one of them that look the same in another.

pub(crate) mod conflicts;
pub(crate) mod input_clocks;
pub(crate) mod overlaps;
pub(crate) mod pid_apart;
pub(crate) mod thread_ids;
