//! Fields of packets about their writers: the state of a sequence, its thread, its session.

pub(crate) mod process_info;
pub(crate) mod requests;
pub(crate) mod sequence_state;
pub(crate) mod session_filter;
pub(crate) mod sessions;
pub(crate) mod thread;
