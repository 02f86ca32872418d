//! Sessions that stream: the thread that copies chunks into a file.

pub(crate) mod drain;
pub(crate) mod stream_thread;
pub(crate) mod trace;
