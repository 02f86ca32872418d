//! The sessions of chosen threads that one thread has entered: see [`super::scope`].
//!
//! Invariant: the list changes only while its thread is guarded, so that nobody follows meanwhile.

use super::arbiter::Arbiter;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// The sessions of chosen threads that a thread has entered.
#[derive(Debug)]
pub(super) struct Entered {
    pub(super) sessions: RefCell<Vec<Arc<Arbiter>>>,
    /// The thread has not followed since the list changed.
    has_changed: Cell<bool>,
}

impl Entered {
    /// No sessions.
    pub(super) const fn new() -> Self {
        Self { sessions: RefCell::new(Vec::new()), has_changed: Cell::new(false) }
    }

    /// Returns whether the list has changed since the last call.
    pub(super) fn take_change(&self) -> bool {
        self.has_changed.get() && self.has_changed.replace(false)
    }

    /// Returns whether the thread's messages are for this session.
    pub(super) fn is_for(&self, arbiter: &Arc<Arbiter>) -> bool {
        let has_entered =
            |entered: &[Arc<Arbiter>]| entered.iter().any(|other| Arc::ptr_eq(other, arbiter));
        // Nobody follows while the list changes: the thread is guarded then.
        !arbiter.is_scoped()
            || self.sessions.try_borrow().is_ok_and(|entered| has_entered(&entered))
    }

    /// Forgets all, at the end of the thread.
    pub(super) fn end(&self) {
        self.sessions.take();
    }

    /// Removes sessions that have ended, and adds this one. Returns what is to be dropped.
    pub(super) fn change(&self, new: Option<&Arc<Arbiter>>) -> Vec<Arc<Arbiter>> {
        let Ok(mut entered) = self.sessions.try_borrow_mut() else { return Vec::new() };
        let (ended, mut running): (Vec<_>, Vec<_>) =
            entered.drain(..).partition(|arbiter| arbiter.is_stopped());
        if let Some(new) = new.filter(|new| !running.iter().any(|old| Arc::ptr_eq(old, new))) {
            running.push(Arc::clone(new));
            self.has_changed.set(true);
        }
        *entered = running;
        ended
    }
}
