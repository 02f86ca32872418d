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
    /// It says the same as the message of this id before it.
    Repeated {
        /// The id.
        message: u64,
        /// When it was logged, in nanoseconds of BOOTTIME.
        now: u64,
    },
}

impl HeldBack {
    /// The reason of a message that has this level.
    pub(super) fn of_level(self, level: Level) -> Unwritten {
        match self {
            Self::Limited { .. } => LossCause::Limited.into(),
            Self::Repeated { .. } => LossCause::Repeated.into(),
            Self::PassedOver => Unwritten::PassedOver(Some(level)),
        }
    }
}

/// A message that was repeated and is not any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndedRepeats {
    /// Its group.
    pub(crate) group: u32,
    /// Its id.
    pub(crate) message: u64,
    /// How often it was repeated.
    pub(crate) count: u64,
    /// When it was first and last, in nanoseconds of BOOTTIME.
    pub(crate) times: (u64, u64),
}
