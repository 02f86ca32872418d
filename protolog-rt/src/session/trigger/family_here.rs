//! The sessions of a family in this process: where no program listens, no other one is told of an
//! event.

use crate::session::arbiter::session_arbiter::Core;
use crate::sys::process;
use protolog_core::control::protocol::JoinWindow;
use protolog_recording::EventKey;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The programs that were told of an event: this one alone.
#[derive(Debug)]
pub(super) struct FamilyCall {
    _none: (),
}

impl FamilyCall {
    /// Tells `others`, which are sessions of this program.
    pub(super) fn new(
        others: impl Iterator<Item = Arc<Core>>,
        family: &str,
        cause: &str,
        (wall, window): (SystemTime, JoinWindow),
    ) -> Self {
        let since = wall.duration_since(UNIX_EPOCH).unwrap_or_default();
        let nanos = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        let key = EventKey::new(nanos, cause);
        for other in others {
            other.join(family, &key, (process::id(), Some(window)));
        }
        Self { _none: () }
    }

    /// What standard error is told, which is nothing.
    #[allow(clippy::unused_self)] // As where programs listen.
    pub(super) fn failure(&self) -> Option<String> {
        None
    }
}
