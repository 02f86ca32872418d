//! The interface between trace writers and the owner of their buffer.
//!
//! The buffer, its fill policy and the drop counters are in the
//! [`Arbiter`](super::arbiter::Arbiter) that owner and writers share; this trait is the rest: the
//! part that only the owner knows or can do. A session implements it.
//!
//! Invariant: no method logs. Those that a signal handler may reach say so.

use crate::loss::{LossCounters, Mirror};
use crate::sync::AtomicU64;
use protolog_core::control::byte_limit::ByteLimit;
use protolog_recording::EventKey;
use protolog_shmem::{Buffer, WriteChunk};
use std::fmt::Debug;
use std::sync::Arc;

/// An event of the process that an owner may wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event<'a> {
    /// A message of a watched level: its id, the full name of its group, its level as a bit.
    Message { id: u64, group: &'a str, level: u8 },
    /// One that the program names.
    Named(&'a str),
    /// One that the program names, and of which it tells others by this key.
    Known(&'a str, &'a EventKey),
    /// One of another program, which told of it.
    Joined(&'a EventKey),
    /// A panic.
    Panic,
    /// A request that failed.
    FailedRequest(FailedRequest<'a>),
}

/// A request that failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailedRequest<'a> {
    /// The number that its marks have.
    pub(crate) number: u64,
    pub(crate) id: &'a str,
    pub(crate) reason: &'a str,
}

/// The owner of a buffer and of the trace writers that fill it.
pub(crate) trait Owner: Debug + Send + Sync {
    /// Returns the levels (bit = severity) that are recorded of the group with this full name.
    fn enabled_levels(&self, group: &str) -> u8;

    /// Returns the levels (bit = severity) that are recorded of any group, known or not.
    #[cfg(feature = "log")]
    fn levels_of_any_group(&self) -> u8;

    /// Returns whether only threads that have entered are recorded.
    fn is_scoped(&self) -> bool;

    /// Returns whether any message is recorded with a stack trace.
    fn collects_stacks(&self) -> bool;

    /// Returns whether messages of the group with this full name are recorded with a stack trace.
    fn collects_stack(&self, group: &str) -> bool;

    /// Prepares for a group that is new to the process: it may have come with a library.
    fn add_group(&self);

    /// Returns the levels (bit = severity) of the group with this full name whose messages are
    /// events for it.
    fn watched_levels(&self, _group: &str) -> u8 {
        0
    }

    /// Returns the levels (bit = severity) of the group with this full name whose messages are
    /// pinned, recorded or not.
    fn pinned_levels(&self, _group: &str) -> u8 {
        0
    }

    /// Returns whether the bytes that its writers write may be limited by time.
    fn may_be_limited(&self) -> bool {
        false
    }

    /// Returns their limit at first, if there is one.
    fn byte_limit(&self) -> Option<ByteLimit> {
        None
    }

    /// Notes an event. Returns whether something comes of it. Takes no lock, since a signal handler
    /// may be the one that logs; but for a request that failed.
    fn note_event(&self, _event: Event<'_>) -> bool {
        false
    }

    /// Wakes the thread that reads the buffer, if there is one. Neither blocks nor allocates.
    fn wake(&self);

    /// Waits for `acquire` to find a chunk, as long as the buffer-exhausted policy allows; none
    /// where it does not allow it.
    fn wait_for_chunk(
        &self,
        buffer: &Buffer,
        acquire: &mut dyn FnMut() -> Option<WriteChunk>,
    ) -> Option<WriteChunk>;

    /// Counts messages in a chunk that the writer of `sequence` is done with: `new` in it, `all` in
    /// it and those before.
    fn count_messages(&self, sequence: u16, new: u64, all: u64);

    /// Counts messages of a writer of which nothing is left in the buffer, and whose sequence
    /// another one may get.
    fn count_forgotten(&self, sequence: u16, messages: u64);

    /// Notes where the writer of `sequence` counts drops and the messages in completed chunks, for
    /// who reads the memory of a dead process; none where it counts there no more. Neither blocks
    /// nor allocates.
    fn note_counters(&self, _sequence: u16, _counters: Option<(&LossCounters, &AtomicU64)>) {}

    /// Returns drop counters that outlive the process, if there are any.
    fn mirror(&self) -> Option<Arc<dyn Mirror>>;

    /// Returns those among them that drops of writers are added to.
    fn mirror_of_writers(&self) -> Option<Arc<dyn Mirror>> {
        self.mirror()
    }
}
