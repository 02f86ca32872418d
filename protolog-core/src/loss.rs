//! The causes of losses. Writers count lost messages by group and cause, and readers show them
//! where they are missing. Messages that a rate of sampling passed over are counted in the same
//! way, and are not lost ([`Unwritten`]).
//!
//! Invariant: the numbers are those of [`loss_cause`], which traces and recordings hold; they never
//! change.

use crate::Level;
use crate::schema::loss_cause;

/// The cause of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum LossCause {
    /// The buffer had no free chunk.
    BufferFull = loss_cause::BUFFER_FULL as u8,
    /// A ring buffer reused the chunk before the message was read.
    Overwritten = loss_cause::OVERWRITTEN as u8,
    /// The thread was inside another log call, for example in a signal handler.
    Reentrant = loss_cause::REENTRANT as u8,
    /// An argument was too long. The message is there, but its argument is truncated.
    Truncated = loss_cause::TRUNCATED as u8,
    /// The thread had already destroyed its thread-local state.
    ThreadExit = loss_cause::THREAD_EXIT as u8,
    /// The process was forked in the middle of a call.
    Forked = loss_cause::FORKED as u8,
    /// There were too many distinct messages that no tool has seen.
    TemplateLimit = loss_cause::TEMPLATE_LIMIT as u8,
    /// The file could not be written. The trace reports it once writing works again; until then,
    /// only the running session does.
    WriteFailed = loss_cause::WRITE_FAILED as u8,
    /// Another program emptied, cut or deleted the file that had the message, which nobody may have
    /// copied before.
    Removed = loss_cause::REMOVED as u8,
    /// A rule limits such messages, and there were more.
    Limited = loss_cause::LIMITED as u8,
    /// A rule merges messages that say the same as the one before. They are not lost: the record of
    /// their number names the message.
    Repeated = loss_cause::REPEATED as u8,
}

impl LossCause {
    /// All causes, by their number in traces, which counts from 1.
    pub const ALL: [Self; 11] = [
        Self::BufferFull,
        Self::Overwritten,
        Self::Reentrant,
        Self::Truncated,
        Self::ThreadExit,
        Self::Forked,
        Self::TemplateLimit,
        Self::WriteFailed,
        Self::Removed,
        Self::Limited,
        Self::Repeated,
    ];

    /// The cause with this number in traces.
    pub fn from_wire(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| *cause as u32 == number)
    }

    /// The name in JSON and in the control protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BufferFull => "buffer_full",
            Self::Overwritten => "overwritten",
            Self::Reentrant => "reentrant",
            Self::Truncated => "truncated",
            Self::ThreadExit => "thread_exit",
            Self::Forked => "forked",
            Self::TemplateLimit => "template_limit",
            Self::WriteFailed => "write_failed",
            Self::Removed => "removed",
            Self::Limited => "limited",
            Self::Repeated => "repeated",
        }
    }

    /// The cause in a sentence for people.
    pub const fn description(self) -> &'static str {
        match self {
            Self::BufferFull => "the buffer was full",
            Self::Overwritten => "overwritten before being read",
            Self::Reentrant => "logged inside another log call",
            Self::Truncated => "truncated, since an argument was too long",
            Self::ThreadExit => "logged while the thread was exiting",
            Self::Forked => "the process was forked in the middle of a call",
            Self::TemplateLimit => "too many distinct messages without a dictionary entry",
            Self::WriteFailed => "the file could not be written",
            Self::Removed => "removed from the file by another program",
            Self::Limited => "suppressed by a limit",
            Self::Repeated => "the same as the message before",
        }
    }

    /// Returns whether the log says all of such messages but when each was logged, or, of those
    /// that were truncated, most: they are in no number of lost messages.
    pub const fn is_in_log(self) -> bool {
        matches!(self, Self::Truncated | Self::Repeated)
    }
}

/// The reason why a message that somebody records was not written. Runtimes count both kinds alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unwritten {
    /// It was lost.
    Lost(LossCause),
    /// A rate of sampling passed over it; of this level, if that is known.
    PassedOver(Option<Level>),
}

/// Set in the numbers of what is passed over, together with the severity and one.
const PASSED_OVER: u32 = 0x80;

impl Unwritten {
    /// The number in counters: that of the cause, or one that no cause has. It fits a byte.
    pub const fn number(self) -> u32 {
        match self {
            Self::Lost(cause) => cause as u32,
            Self::PassedOver(None) => PASSED_OVER,
            Self::PassedOver(Some(level)) => PASSED_OVER | (level.severity() as u32 + 1),
        }
    }

    /// The reason that has this number; none if this version knows none.
    pub fn from_number(number: u32) -> Option<Self> {
        let Some(level) = number.checked_sub(PASSED_OVER) else {
            return LossCause::from_wire(number).map(Self::Lost);
        };
        match level.checked_sub(1) {
            None => Some(Self::PassedOver(None)),
            Some(severity) => {
                let level = Level::from_severity(u8::try_from(severity).ok()?)?;
                Some(Self::PassedOver(Some(level)))
            }
        }
    }

    /// The same without what a counter of unknown groups does not tell apart: the level.
    #[must_use]
    pub const fn of_unknown_group(self) -> Self {
        match self {
            Self::PassedOver(_) => Self::PassedOver(None),
            lost @ Self::Lost(_) => lost,
        }
    }

    /// The cause of a loss; none if it is none.
    pub const fn lost(self) -> Option<LossCause> {
        match self {
            Self::Lost(cause) => Some(cause),
            Self::PassedOver(_) => None,
        }
    }
}

impl From<LossCause> for Unwritten {
    fn from(cause: LossCause) -> Self {
        Self::Lost(cause)
    }
}

impl PartialEq<LossCause> for Unwritten {
    fn eq(&self, cause: &LossCause) -> bool {
        *self == Self::Lost(*cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_numbers_of_one_byte() {
        let levels = Level::ALL.into_iter().map(Some).chain([None]);
        let all = LossCause::ALL.map(Unwritten::Lost).into_iter();
        let all: std::vec::Vec<_> = all.chain(levels.map(Unwritten::PassedOver)).collect();
        let numbers: std::collections::BTreeSet<_> =
            all.iter().map(|reason| reason.number()).collect();
        assert_eq!(numbers.len(), all.len());
        for reason in all {
            assert!(reason.number() < 0x100);
            assert_eq!(Unwritten::from_number(reason.number()), Some(reason));
        }
        assert_eq!([0, 12, 0x7f, 0x87, 0xff].map(Unwritten::from_number), [None; 5]);
    }

    #[test]
    fn causes_have_consecutive_numbers() {
        for (index, cause) in LossCause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, index + 1);
            assert_eq!(LossCause::from_wire(cause as u32), Some(cause));
        }
        assert_eq!((LossCause::from_wire(0), LossCause::from_wire(12)), (None, None));
    }
}
