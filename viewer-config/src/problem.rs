//! The problems that a dictionary's contents can have, and the treatment of each.
//!
//! A problem that makes the dictionary wrong refuses it ([`Problem::is_refusal`]); the others only
//! report repairs while reading a file made elsewhere.

use crate::{Group, Location, Message};
use std::fmt;

/// Something wrong with a message or a group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// One id for two different messages. Reported once per id; otherwise the first stays.
    MessageClash {
        /// The message that was there, with the locations known by then.
        first: Box<Message>,
        /// The one that was to be added.
        second: Box<Message>,
    },
    /// One group name with two ids or tags, or one group id with two names. Reported once per group
    /// that was there. Otherwise the first stays; a second name gets an id of its own.
    GroupClash {
        /// The group that was there.
        first: Box<Group>,
        /// The one that was to be added.
        second: Box<Group>,
    },
    /// A message of a group that is nowhere declared. Reported once per group; otherwise the name
    /// serves as tag.
    UndeclaredGroup {
        /// A message of that group.
        message: Box<Message>,
    },
    /// A group id that is used by a message but not declared, in a file. Reported once per id; the
    /// group is called `#` and the id.
    UnknownGroupId {
        /// The id of the group.
        group_id: u32,
        /// The id of a message of that group.
        message_id: u64,
    },
    /// A group with a blank name. It is called `#` and the id.
    UnnamedGroup {
        /// The id of the group.
        group_id: u32,
    },
    /// A level that is none, in a file. Reported once per message. The message is taken as of level
    /// info.
    UnknownLevel {
        /// The number of the level.
        level: u64,
        /// The id of the message.
        message_id: u64,
    },
    /// A full template, in a file, that is not one of the text beside it. The text stands.
    StrangeTemplate {
        /// The full template.
        template: String,
        /// The text, which every reader sees.
        bare: String,
        /// The id of the message.
        message_id: u64,
    },
}

/// The problems that refuse a dictionary; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub(crate) Vec<Problem>);

impl Problem {
    /// Returns whether a dictionary with this problem is refused.
    pub const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::MessageClash { .. } | Self::GroupClash { .. } | Self::UndeclaredGroup { .. }
        )
    }

    /// The advice; begins with a verb.
    pub fn help(&self) -> &'static str {
        match self {
            Self::MessageClash { .. } => {
                "change the text of one of the two: ids are computed from place, text, level and group"
            }
            Self::GroupClash { first, second } if first.name != second.name => {
                "rename one of the two groups: ids are computed from full names"
            }
            Self::GroupClash { .. } => {
                "give the group one id and one tag, or make both dictionaries again"
            }
            Self::UndeclaredGroup { .. } | Self::UnknownGroupId { .. } => {
                "declare the group beside the messages"
            }
            Self::UnnamedGroup { .. } => "give the group a name",
            Self::UnknownLevel { .. } => {
                "use a level from 1 (debug) to 6 (wtf), as Perfetto numbers them"
            }
            Self::StrangeTemplate { .. } => {
                "make the file again; its two texts were not made together"
            }
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MessageClash { first, second } => write!(
                f,
                "one id `{}` for two messages: {} and {}",
                first.id as i64,
                Shown(first),
                Shown(second)
            ),
            Self::GroupClash { first, second } if first.name == second.name => write!(
                f,
                "group `{}` declared twice: with id `{}` and tag `{}`, and with id `{}` and tag `{}`",
                first.name, first.id, first.tag, second.id, second.tag
            ),
            Self::GroupClash { first, second } => write!(
                f,
                "one id `{}` for two groups: `{}` and `{}`",
                first.id, first.name, second.name
            ),
            Self::UndeclaredGroup { message } => {
                write!(f, "no group `{}`, as named by {}", message.group, Shown(message))
            }
            Self::UnknownGroupId { group_id, message_id } => {
                write!(
                    f,
                    "no group with id `{group_id}`, as named by message `{}`",
                    *message_id as i64
                )
            }
            Self::UnnamedGroup { group_id } => write!(f, "no name for group `{group_id}`"),
            Self::UnknownLevel { level, message_id } => {
                write!(f, "unknown level `{level}` of message `{}`", *message_id as i64)
            }
            Self::StrangeTemplate { template, bare, message_id } => write!(
                f,
                "template `{}` does not belong to text `{}` of message `{}`",
                template.escape_debug(),
                bare.escape_debug(),
                *message_id as i64
            ),
        }
    }
}

impl Problems {
    /// All of them, in the order in which they were found.
    pub fn as_slice(&self) -> &[Problem] {
        &self.0
    }
}

/// One problem a line.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// A message in words: text, level, group and where it stands.
struct Shown<'a>(&'a Message);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.0;
        write!(
            f,
            "`{}` ({}, `{}`)",
            message.template.escape_debug(),
            message.level,
            message.group
        )?;
        match (message.locations.is_empty(), message.place.is_empty()) {
            (false, _) => write!(f, " at `{}`", Location::format_list(&message.locations)),
            (true, false) => write!(f, " in `{}`", message.place),
            (true, true) => f.write_str(" at a place not known"),
        }
    }
}
