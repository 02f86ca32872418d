//! Writers: one per thread and session, each with a chunk that its thread fills. [`path`] is the
//! write path, top to bottom.
//!
//! ```text
//! call -> thread-local [ThreadState: phase, writer] -> Writer { gate, losses | Own { position, chunk, clock … } }
//!                                                              read by others   this thread's alone
//! ```
//!
//! | to read | |
//! |---|---|
//! | [`path`] | the steps of a log call, and its slow exits |
//! | [`layout`] | the bytes of a message |
//! | [`packet`], [`args`], [`plan`] | the slow path's encoder |
//! | [`fast`] | the fast path's encoder |
//! | [`intern`], [`cursor`] | strings that a chunk has; stores into it |
//! | [`thread_state`], [`reentrancy`], [`routes`], [`spares`], [`scope`] | where a thread's messages go; signal handlers |
//! | [`in_place`], [`span_names`] | the fast path of a span's slices |
//! | [`mod@slice`], [`annotations`], [`track`], [`stack`] | packets with more than a message |
//! | [`drops`] | counting messages that are dropped |
//! | [`call_cache`] | calls of groups with rules that a thread made last |
//! | [`repeats`], [`repeat_record`] | the message that each call logged last, where rules merge repeats |
//! | [`sampled`] | messages that say at which rate they were sampled |
//! | [`mod@request`] | marks of the request that messages belong to |
//! | [`own`], [`state`], [`split`] | chunks: taking, setting up, completing; packets larger than one |
//! | [`gate`], [`reclaim`] | other threads that may touch a chunk |
//!
//! Invariants
//! - *busy*: `own` and `calls` are touched by the writer's own thread only, and only within a
//!   message or while the thread is guarded or has exited ([`thread_state`]); a signal handler that
//!   finds the thread so does not touch them.
//! - *chunk*: from `position` to the gate's limit plus [`SLACK`](cursor::SLACK) the bytes are those
//!   of a chunk that this writer owns, or has offered and not lost ([`gate`]). The byte at
//!   `position` is the size of the packet that was started last, 0, and the chunk's count includes
//!   that packet.
#![allow(unsafe_code)] // Access to what belongs to the writer's thread.

pub(crate) mod annotations;
pub(crate) mod arbiter;
pub(crate) mod arg_slice;
pub(crate) mod args;
mod call_cache;
pub(crate) mod cursor;
mod drops;
mod entered;
pub(crate) mod fast;
pub(crate) mod fields;
mod for_all;
mod gate;
mod held_back;
pub(crate) mod in_place;
mod intern;
mod layout;
mod level_cache;
mod own;
pub(crate) mod owner;
mod packet;
mod path;
mod plan;
pub(crate) mod reclaim;
mod reentrancy;
mod repeat_record;
pub(crate) mod repeats;
pub(crate) mod request;
mod routes;
pub(crate) mod running;
pub(crate) mod sampled;
pub(crate) mod scope;
pub(crate) mod slice;
pub(crate) mod span_names;
mod spares;
mod split;
mod stack;
pub(crate) mod state;
#[cfg(test)]
mod tests;
mod thread_state;
mod timing;
pub(crate) mod track;

pub(crate) use call_cache::{Decision, Recalled, RecalledCall, Sought, known_state, recall};
pub(crate) use drops::{count_held_back, drop_message, report_repeats};
pub(crate) use held_back::HeldBack;
pub(crate) use path::{
    write_message, write_packet, write_slice_to_all, write_to_all, write_to_rings, write_with_stack,
};
pub(crate) use reentrancy::{ReentrancyGuard, guarded};
pub use routes::prepare_thread;
pub(crate) use spares::free_retired;
pub(crate) use thread_state::UNATTRIBUTED;

use crate::level::GroupInfo;
use crate::loss::{Added, LossCause, LossCounters};
use crate::site::GroupLevel;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, Ordering};
use crate::sys::thread::Thread;
use arbiter::{Arbiter, Identity};
use call_cache::CallCache;
use gate::Gate;
use own::{NoChunk, Own};
use protolog_core::Level;
use std::cell::UnsafeCell;
use std::sync::Arc;

/// The part of a message that does not depend on its arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// The message's id.
    pub(crate) id: u64,
    /// Its group and level.
    pub(crate) group_level: GroupLevel,
}

impl Head {
    fn group(self) -> &'static GroupInfo {
        self.group_level.parts().0
    }

    fn level(self) -> Level {
        self.group_level.parts().1
    }
}

/// A thread's writer in a session. See the module. The fields that each message touches come first,
/// on two cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Writer {
    gate: Gate,
    own: UnsafeCell<Own>,
    has_ended: AtomicBool,
    /// The epoch of the list of sessions that the thread last read.
    epoch: AtomicU32,
    /// Messages in all chunks that the writer has completed.
    pub(crate) completed_messages: AtomicU64,
    /// Dropped messages that no packet reports yet.
    pub(crate) losses: LossCounters,
    /// Packets of the chunk that are no messages.
    others: AtomicU16,
    /// State of the chunk when a reclaimer last polled it.
    polled: AtomicU32,
    /// The writer that arrived before it in its session, until both are in the list.
    below: AtomicPtr<Writer>,
    /// The number of its sequence in the session.
    pub(crate) id: u16,
    /// The thread that it belongs to.
    pub(crate) thread: Thread,
    /// The calls of groups with rules that its thread made last.
    calls: UnsafeCell<CallCache>,
}

// SAFETY: all fields but `own` and `calls` are atomics or constant; *busy*: those two are used by
// one thread only.
unsafe impl Sync for Writer {}
// SAFETY: the last owner may drop it on any thread: no thread writes with it any more, and nothing
// in `own` or `calls` is bound to one.
unsafe impl Send for Writer {}

impl Writer {
    /// A writer that no thread has yet.
    fn spare(losses: LossCounters) -> Self {
        Self {
            gate: Gate::new(),
            has_ended: AtomicBool::new(false),
            epoch: AtomicU32::new(0),
            completed_messages: AtomicU64::new(0),
            losses,
            others: AtomicU16::new(0),
            polled: AtomicU32::new(0),
            below: AtomicPtr::new(std::ptr::null_mut()),
            id: 0,
            thread: Thread::NONE,
            own: UnsafeCell::new(Own::none()),
            calls: UnsafeCell::new(CallCache::new()),
        }
    }

    /// Makes it this thread's, as the sequence `identity` of a session. Never inlined: see
    /// [`spares`].
    #[inline(never)]
    fn adopt(&mut self, core: Arc<Arbiter>, identity: Identity, epoch: u32) {
        *self.own.get_mut() = Own::new(core).with(identity);
        *self.completed_messages.get_mut() = identity.messages;
        self.epoch = AtomicU32::new(epoch);
        self.id = identity.id;
        self.thread = Thread::current();
    }

    /// Returns whether a session started or stopped since its thread last read the list of
    /// sessions.
    fn is_stale(&self) -> bool {
        self.epoch.load(Ordering::Relaxed) != running::epoch()
    }

    /// Counts a message that a rule held back, of the writer's own thread.
    fn count_held_back(&self, head: Head, reason: HeldBack) {
        let group = head.group().id;
        let is_first = match reason {
            HeldBack::Limited { now } => self.losses.add_limited(group, now),
            HeldBack::Repeated { message, now } => {
                // Not before the message itself, whose time another clock of the thread may give.
                self.losses.add_repeated(group, message, now.max(self.last()))
            }
            HeldBack::PassedOver => self.losses.add_passed_over(group, head.level()),
        };
        if is_first {
            self.wake_sleeper();
        }
    }

    /// Counts a message for which there is no chunk. The thread is within it.
    #[cold]
    fn count_without_chunk(&self, own: &Own, head: Head, reason: NoChunk) {
        let group = head.group().id;
        // Else what says the same would count as repeats of one that is not there.
        repeats::forget(head.id);
        match reason {
            NoChunk::Full => self.losses.add(group, LossCause::BufferFull, 1),
            NoChunk::Limited { now } => {
                if self.losses.add_limited(group, now) {
                    own.core.iter().for_each(|core| core.wake_sleeper());
                }
            }
        }
    }

    /// Ends the counting of such a message, of which its place among the losses has this answer.
    #[cold]
    fn finish_count(&self, head: Head, added: Added, reason: HeldBack) {
        match added {
            Added::Again => {}
            Added::First => {
                self.losses.announce();
                self.wake_sleeper();
            }
            Added::Not => self.count_held_back(head, reason),
        }
    }

    /// Wakes a reader that sleeps until somebody takes a chunk, and would not hear of a count.
    fn wake_sleeper(&self) {
        self.gate.enter();
        // SAFETY: *busy*: called by the writer's thread, which is within a message or guarded.
        let own = unsafe { &*self.own.get() };
        own.core.as_ref().into_iter().for_each(|core| core.wake_sleeper());
        self.gate.exit();
    }

    /// Completes the chunk at the end of the thread or of the session.
    fn finish(&self) {
        self.gate.enter();
        // SAFETY: *busy*: called by the writer's thread, which is guarded or has exited.
        let own = unsafe { &mut *self.own.get() };
        if !own.is_forked() {
            own.complete(self);
        }
        self.has_ended.store(true, Ordering::Release);
        self.gate.exit();
    }

    /// Returns whether its thread has ended, or has left the session.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Returns the state that the next writer of the same sequence continues from, if this one has
    /// ended.
    pub(crate) fn identity(&self) -> Option<Identity> {
        // SAFETY: *busy*: its thread released `own` when it ended, and does not touch it any more.
        self.has_ended().then(|| unsafe { &*self.own.get() }.identity())
    }

    /// Sends its next message out of line.
    pub(crate) fn close(&self) {
        self.gate.close();
    }

    /// Returns whether its thread is within a message.
    pub(crate) fn is_busy(&self) -> bool {
        self.gate.is_busy()
    }
}
