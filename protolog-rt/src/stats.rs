//! Statistics of a session: written messages and bytes, and losses by group and cause.

use protolog_core::{Level, LossCause};

pub use protolog_core::BufferStats;

/// The messages that a session wrote and lost, up to its end or to the time of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Messages in the trace.
    pub messages: u64,
    /// Size of the trace in bytes: of all its segments, including those that were removed.
    pub bytes: u64,
    /// Losses by group and cause. The trace holds them too, at the places where they happened.
    pub losses: Vec<Loss>,
    /// Messages that [sampling](crate::Builder::sample) passed over, by group and level. They are
    /// not lost: those that were kept stand for them.
    pub passed_over: Vec<PassedOver>,
    /// Statistics by group, sorted by name. Groups without messages and losses are left out.
    pub groups: Vec<GroupStats>,
    /// Statistics of the buffer.
    pub buffer: BufferStats,
    /// The same of the ring of [pinned](crate::Builder::pin) messages, if the session has one.
    pub pinned_buffer: Option<BufferStats>,
    /// Names in the session's configuration that no group of the program has so far: levels or
    /// stack traces were to be recorded of them.
    pub unknown_groups: Vec<String>,
    /// The reason why the trace has no message; none if it has, or has lost one, or has spans.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("protolog-empty-{}.pftrace", std::process::id()));
    /// let session = protolog_rt::Session::builder().file(&path).start()?;
    /// let summary = session.stop()?;
    /// let expected = "no group was enabled (a session records WTF unless told otherwise)";
    /// assert_eq!(summary.why_empty.as_deref(), Some(expected));
    /// # std::fs::remove_file(path).ok();
    /// # Ok::<(), protolog_rt::Error>(())
    /// ```
    pub why_empty: Option<String>,
    /// True if begins or ends of spans are in the trace.
    pub(crate) has_spans: bool,
}

impl Summary {
    /// Returns the number of messages that are not in the trace. Messages with a truncated string
    /// are there, and those that [repeat](crate::Builder::repeat) one are told by it, so they do
    /// not count.
    pub fn lost(&self) -> u64 {
        lost(self.losses.iter().map(|loss| (loss.cause, loss.count)))
    }

    /// Adds the statistics of a further file.
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
        for new in other.passed_over {
            let same =
                |known: &&mut PassedOver| known.group == new.group && known.level == new.level;
            match self.passed_over.iter_mut().find(same) {
                Some(known) => known.count += new.count,
                None => self.passed_over.push(new),
            }
        }
        self.passed_over.sort();
        self.add_groups(other.groups);
        self.buffer = other.buffer;
        self.pinned_buffer = other.pinned_buffer;
        self.has_spans |= other.has_spans;
    }

    /// Adds the groups of a further file.
    pub(crate) fn add_groups(&mut self, others: Vec<GroupStats>) {
        for group in others {
            match self.groups.iter_mut().find(|known| known.group == group.group) {
                Some(known) => known.add(group),
                None => self.groups.push(group),
            }
        }
        self.groups.sort();
    }
}

/// The messages of one group that a session wrote and lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct GroupStats {
    /// Full name of the group; none for messages whose group is not known, or not any more.
    pub group: Option<String>,
    /// Messages in the trace.
    pub messages: u64,
    /// Their size in bytes, before compression. The rest of the trace belongs to all groups:
    /// dictionary, threads, clocks.
    pub bytes: u64,
    /// Losses, each cause once.
    pub losses: Vec<(LossCause, u64)>,
}

impl GroupStats {
    /// Returns the number of messages that are not in the trace, as [`Summary::lost`] does.
    pub fn lost(&self) -> u64 {
        lost(self.losses.iter().copied())
    }

    /// Adds the statistics of a further file.
    fn add(&mut self, other: Self) {
        self.messages += other.messages;
        self.bytes += other.bytes;
        for (cause, count) in other.losses {
            match self.losses.iter_mut().find(|(known, _)| *known == cause) {
                Some((_, known)) => *known += count,
                None => self.losses.push((cause, count)),
            }
        }
        self.losses.sort();
    }
}

/// Returns the number of messages that are missing altogether.
fn lost(losses: impl Iterator<Item = (LossCause, u64)>) -> u64 {
    losses.filter(|(cause, _)| !cause.is_in_log()).map(|(_, count)| count).sum()
}

/// Messages of one group that were lost for one cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Loss {
    /// Full name of the group; none if it is not known, or not any more.
    pub group: Option<String>,
    /// The cause.
    pub cause: LossCause,
    /// Number of messages.
    pub count: u64,
}

/// Messages of one group and level that sampling passed over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct PassedOver {
    /// Full name of the group; none if it is not known, or not any more.
    pub group: Option<String>,
    /// The level; none if it is not known.
    pub level: Option<Level>,
    /// Number of messages.
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, messages: u64, bytes: u64, losses: &[(LossCause, u64)]) -> GroupStats {
        GroupStats { group: Some(name.to_owned()), messages, bytes, losses: losses.to_vec() }
    }

    /// The summary of a file with these losses (of an unknown group if the name is empty) and
    /// groups.
    fn of(losses: &[(&str, LossCause, u64)], groups: Vec<GroupStats>) -> Summary {
        let loss = |&(group, cause, count): &(&str, LossCause, u64)| {
            let group = (!group.is_empty()).then(|| group.to_owned());
            Loss { group, cause, count }
        };
        let losses = losses.iter().map(loss).collect();
        let (messages, bytes) =
            groups.iter().fold((0, 0), |sum, group| (sum.0 + group.messages, sum.1 + group.bytes));
        Summary { messages, bytes, losses, groups, ..Summary::default() }
    }

    #[test]
    fn files_add_up_by_group_and_cause() {
        use LossCause::{BufferFull, Overwritten, Truncated};
        let mut sum = of(
            &[("b", Truncated, 1), ("a", BufferFull, 20), ("", Overwritten, 7)],
            vec![group("b", 3, 30, &[(Truncated, 1)]), group("a", 1, 10, &[(BufferFull, 20)])],
        );
        sum.add(of(
            &[("b", Truncated, 300), ("b", BufferFull, 4000)],
            vec![
                group("b", 5, 50, &[(Truncated, 300), (BufferFull, 4000)]),
                group("c", 2, 20, &[]),
            ],
        ));
        let expected = of(
            &[
                ("", Overwritten, 7),
                ("a", BufferFull, 20),
                ("b", BufferFull, 4000),
                ("b", Truncated, 301),
            ],
            vec![
                group("a", 1, 10, &[(BufferFull, 20)]),
                group("b", 8, 80, &[(BufferFull, 4000), (Truncated, 301)]),
                group("c", 2, 20, &[]),
            ],
        );
        assert_eq!(sum, expected);
        assert_eq!(
            (sum.lost(), sum.groups[1].lost()),
            (4027, 4000),
            "a truncated message is there"
        );
    }
}
