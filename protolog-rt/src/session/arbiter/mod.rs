//! The state that a session shares with the threads that write: the arbiter of their writers, its
//! chunks, and requests to the thread that reads them.

pub(crate) mod causes;
pub(crate) mod chunk_wait;
pub(crate) mod condition;
pub(crate) mod failures;
pub(crate) mod occasion;
pub(crate) mod requests;
pub(crate) mod session_arbiter;
