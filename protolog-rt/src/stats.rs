//! What became of a session: how much was written, what was lost and why.

use crate::loss::Cause;

/// What a session wrote and lost, as of its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Messages in the trace.
    pub messages: u64,
    /// Size of the trace, in bytes; of all its files, where it has several, those included that were removed.
    pub bytes: u64,
    /// What was lost, by group and cause. The trace says the same, and where.
    pub losses: Vec<Loss>,
}

impl Summary {
    /// Number of messages that are not in the trace. Those that are there with a text that was cut do not count.
    pub fn lost(&self) -> u64 {
        self.losses.iter().filter(|loss| loss.cause != Cause::Cut).map(|loss| loss.count).sum()
    }

    /// Adds what a further file has.
    pub(crate) fn add(&mut self, other: Self) {
        self.messages += other.messages;
        self.bytes += other.bytes;
        for loss in other.losses {
            let same = |known: &&mut Loss| known.group == loss.group && known.cause == loss.cause;
            match self.losses.iter_mut().find(same) {
                Some(known) => known.count += loss.count,
                None => self.losses.push(loss),
            }
        }
        self.losses.sort();
    }
}

/// Messages of one group that were lost for one cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Loss {
    /// Full name of the group; none where it is not known any more.
    pub group: Option<String>,
    /// Why.
    pub cause: Cause,
    /// How many.
    pub count: u64,
}
