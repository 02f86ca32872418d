//! A group of this copy of the runtime at the host, another copy that it has joined
//! ([`copies`](crate::sys::copies)).
//!
//! Invariant: nothing here takes a lock of this copy.

use crate::sys::copies::{Handle, Interface, NewGroup, NewTemplate};
use protolog_core::control::switch;
use protolog_core::{Arg, Level, LossCause};

/// A group at the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtHost {
    host: &'static Interface,
    handle: Handle,
}

impl AtHost {
    /// Registers a group with the host, which calls `changed` whenever the word may have changed.
    pub(super) fn register(
        host: &'static Interface,
        group: NewGroup<'_>,
        changed: extern "C" fn(),
    ) -> Self {
        Self { host, handle: host.register(group, changed) }
    }

    /// Returns the switch word that the host has.
    pub(super) fn word(&self) -> u32 {
        self.handle.word()
    }

    /// Returns whether the host's sessions record the level.
    pub(crate) fn is_trace_enabled(&self, level: Level) -> bool {
        switch::trace_levels(self.word()) & 1 << level.severity() != 0
    }

    /// Returns whether the host's sessions would record the level if nobody had switched it off.
    pub(crate) fn is_recorded(&self, level: Level) -> bool {
        switch::session_levels(self.word()) & 1 << level.severity() != 0
    }

    /// Passes a message on. `stack`: with the thread's stack trace, even if no session asks for it.
    pub(crate) fn message(&self, level: Level, id: u64, args: &[Arg<'_>], stack: bool) {
        self.host.message((self.handle, level.severity()), id, args, stack);
    }

    /// Passes the begin or end of a timeline slice on.
    pub(crate) fn slice(&self, level: Level, event: &[u8], beside: &[u8]) {
        self.host.slice((self.handle, level.severity()), event, beside);
    }

    /// Counts a message as lost.
    pub(crate) fn count_lost(&self, level: Level, cause: LossCause) {
        self.host.count_lost((self.handle, level.severity()), cause as u32);
    }

    /// Makes a template known to the host, before any message has its id; false if there is no
    /// room.
    pub(crate) fn intern(&self, template: NewTemplate<'_>) -> bool {
        self.host.intern(self.handle, template)
    }

    /// Has the host take over the settings of operators or the library.
    pub(super) fn switch(&self, word: u32) {
        let levels = |word| (switch::allowed_levels(word), switch::text_levels(word));
        if levels(word) != levels(self.word()) {
            let (allowed, text) = levels(word);
            self.host.switch(self.handle, allowed, text);
        }
    }
}
