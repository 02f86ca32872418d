//! The messages at which a trigger fires.
//!
//! Invariant: to look at one takes no lock and no memory: a signal handler does it.

use protolog_core::control::matches_group;

/// The messages at which a trigger fires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::session) enum Condition {
    /// None: somebody names the cause.
    Named,
    /// A panic.
    Panic,
    /// A request that fails.
    FailedRequest,
    /// A message of these levels (bit = severity).
    Levels(u8),
    /// A message of these levels of the groups that the pattern names.
    Group(String, u8),
    /// One of these messages: id, full name of the group and level (as a bit).
    Messages(Vec<(u64, String, u8)>),
}

impl Condition {
    /// Returns the levels (bit = severity) of a group at which it may hold.
    pub(super) fn levels(&self, group: &str) -> u8 {
        match self {
            Self::Named | Self::Panic | Self::FailedRequest => 0,
            Self::Levels(levels) => *levels,
            Self::Group(pattern, levels) if matches_group(pattern, group) => *levels,
            Self::Group(..) => 0,
            Self::Messages(all) => {
                let of_group = all.iter().filter(|(_, name, _)| name == group);
                of_group.fold(0, |levels, (.., level)| levels | level)
            }
        }
    }

    /// Returns whether it holds for a message.
    pub(super) fn takes(&self, id: u64, group: &str, level: u8) -> bool {
        match self {
            Self::Messages(all) => all.iter().any(|(known, ..)| *known == id),
            _ => self.levels(group) & level != 0,
        }
    }
}
