//! The causes of losses. Writers count lost messages by group and cause, and readers show them
//! where they are missing.
//!
//! Invariant: the numbers are those of [`loss_cause`], which traces and recordings hold; they never
//! change.

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
}

impl LossCause {
    /// All causes, by their number in traces, which counts from 1.
    pub const ALL: [Self; 10] = [
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_have_consecutive_numbers() {
        for (index, cause) in LossCause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, index + 1);
            assert_eq!(LossCause::from_wire(cause as u32), Some(cause));
        }
        assert_eq!((LossCause::from_wire(0), LossCause::from_wire(11)), (None, None));
    }
}
