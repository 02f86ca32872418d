//! The sessions that a thread knows of, and its writer in each.
//!
//! With one session, messages go to its writer directly. With several, each message comes here, and each session is asked
//! whether it wants it, and whether with a stack trace.
//!
//! Invariant: what a session did not ask for never reaches its writer from here.

use super::arbiter::Arbiter;
use super::packet::Packet;
use super::running;
use super::thread_state::{EXITED, ThreadState};
use super::{Head, Writer};
use crate::loss::LossCause;
use crate::sync::Ordering;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    pub(super) static EXIT_GUARD: ExitGuard = const { ExitGuard(RefCell::new(Places::new())) };
}

/// Keeps the thread's writers, and leaves the sessions when the thread exits.
pub(super) struct ExitGuard(pub(super) RefCell<Places>);

impl Drop for ExitGuard {
    fn drop(&mut self) {
        ThreadState::with(|state| state.route(EXITED, std::ptr::null()));
        self.0.get_mut().leave();
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Places {
    epoch: u32,
    all: Vec<Place>,
}

/// A session, and the thread's writer in it once there was something to write.
#[derive(Debug)]
struct Place {
    core: Arc<Arbiter>,
    writer: Option<Arc<Writer>>,
}

impl Places {
    /// No sessions.
    pub(super) const fn new() -> Self {
        Self { epoch: 0, all: Vec::new() }
    }

    /// Looks which sessions run, if that may have changed.
    pub(super) fn look(&mut self) {
        if self.epoch == running::epoch() {
            return;
        }
        let (epoch, cores) = running::all();
        self.epoch = epoch;
        let mut before = std::mem::take(&mut self.all);
        for core in cores {
            let known = before.iter().position(|place| Arc::ptr_eq(&place.core, &core));
            let writer = known.and_then(|at| before.swap_remove(at).writer);
            if let Some(writer) = &writer {
                writer.epoch.store(epoch, Ordering::Relaxed);
            }
            self.all.push(Place { core, writer });
        }
        before.into_iter().filter_map(|place| place.writer).for_each(|writer| writer.finish());
    }

    /// Writes a packet to each session that wants it.
    pub(super) fn write<P: Packet>(&mut self, head: Head, packet: &P) {
        for Place { core, writer } in &mut self.all {
            if !core.is_enabled(head.group(), head.level()) {
                continue;
            }
            if writer.is_none() {
                *writer = Writer::register(core, self.epoch);
            }
            match writer {
                // Refused where the session has just ended.
                Some(writer) => {
                    _ = packet.write_with(writer, head, core.collects_stack(head.group()));
                }
                None => core.unattributed.add(head.group().id, LossCause::BufferFull, 1),
            }
        }
    }

    /// The writer to which all messages go, where there is one session that wants no stack traces; else null.
    pub(super) fn only(&self) -> *const Writer {
        match self.all.as_slice() {
            [Place { writer: Some(writer), core }] if !core.collects_stacks() => {
                Arc::as_ptr(writer)
            }
            _ => std::ptr::null(),
        }
    }

    /// Takes leave of all sessions.
    pub(super) fn leave(&mut self) {
        self.all.drain(..).filter_map(|place| place.writer).for_each(|writer| writer.finish());
    }
}
