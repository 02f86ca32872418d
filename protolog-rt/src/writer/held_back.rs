//! The reasons why rules hold messages back.

use crate::loss::{LossCause, Unwritten};
use protolog_core::Level;

/// The reason why a rule holds a message back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HeldBack {
    /// A limit suppressed it at this time, in nanoseconds of BOOTTIME.
    Limited {
        /// That time.
        now: u64,
    },
    /// Sampling passed over it.
    PassedOver,
}

impl HeldBack {
    /// The reason of a message that has this level.
    pub(super) fn of_level(self, level: Level) -> Unwritten {
        match self {
            Self::Limited { .. } => LossCause::Limited.into(),
            Self::PassedOver => Unwritten::PassedOver(Some(level)),
        }
    }
}
