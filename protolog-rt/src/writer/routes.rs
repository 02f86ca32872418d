//! Routes: the sessions that a thread writes to, and its writer in each.
//!
//! With one session, messages go to its writer directly. With several, each message comes here and goes to the sessions
//! that record its group and level, with a stack trace where the session collects those.
//!
//! Invariant: a message that a session does not record never reaches its writer from here.

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
    pub(super) static EXIT_GUARD: ExitGuard = const { ExitGuard(RefCell::new(Routes::new())) };
}

/// Keeps the thread's routes, and finishes its writers when the thread exits.
pub(super) struct ExitGuard(pub(super) RefCell<Routes>);

impl Drop for ExitGuard {
    fn drop(&mut self) {
        ThreadState::with(|state| state.route(EXITED, std::ptr::null()));
        self.0.get_mut().finish();
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Routes {
    epoch: u32,
    all: Vec<Route>,
}

/// A session, and the thread's writer in it from its first message on.
#[derive(Debug)]
struct Route {
    arbiter: Arc<Arbiter>,
    writer: Option<Arc<Writer>>,
}

impl Routes {
    /// No routes.
    pub(super) const fn new() -> Self {
        Self { epoch: 0, all: Vec::new() }
    }

    /// Follows the list of running sessions, if it changed.
    pub(super) fn refresh(&mut self) {
        if self.epoch == running::epoch() {
            return;
        }
        let (epoch, arbiters) = running::all();
        self.epoch = epoch;
        let mut before = std::mem::take(&mut self.all);
        for arbiter in arbiters {
            let known = before.iter().position(|route| Arc::ptr_eq(&route.arbiter, &arbiter));
            let writer = known.and_then(|at| before.swap_remove(at).writer);
            if let Some(writer) = &writer {
                writer.epoch.store(epoch, Ordering::Relaxed);
            }
            self.all.push(Route { arbiter, writer });
        }
        before.into_iter().filter_map(|route| route.writer).for_each(|writer| writer.finish());
    }

    /// Writes a packet to each session that records it.
    pub(super) fn write<P: Packet>(&mut self, head: Head, packet: &P) {
        for Route { arbiter, writer } in &mut self.all {
            if !arbiter.is_enabled(head.group(), head.level()) {
                continue;
            }
            if writer.is_none() {
                *writer = Writer::register(arbiter, self.epoch);
            }
            match writer {
                // Refused if the session has just ended.
                Some(writer) => {
                    _ = packet.write_with(writer, head, arbiter.collects_stack(head.group()));
                }
                None => arbiter.unattributed.add(head.group().id, LossCause::BufferFull, 1),
            }
        }
    }

    /// Returns the writer to which all messages go: that of the one session, if it collects no stack traces; else null.
    pub(super) fn sole_writer(&self) -> *const Writer {
        match self.all.as_slice() {
            [Route { writer: Some(writer), arbiter }] if !arbiter.collects_stacks() => {
                Arc::as_ptr(writer)
            }
            _ => std::ptr::null(),
        }
    }

    /// Finishes the thread's writers in all sessions.
    pub(super) fn finish(&mut self) {
        self.all.drain(..).filter_map(|route| route.writer).for_each(|writer| writer.finish());
    }
}
