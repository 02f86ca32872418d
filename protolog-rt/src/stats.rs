//! What became of a session: how much was written, what was lost and why.

use crate::loss::Cause;
use crate::shmem::buffer::{Buffer, PAGE};

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
    /// The same by group, in the order of names; of groups of which nothing was written or lost, nothing.
    pub groups: Vec<GroupStats>,
    /// What went through the buffer.
    pub buffer: BufferStats,
}

impl Summary {
    /// Number of messages that are not in the trace. Those that are there with a text that was cut do not count.
    pub fn lost(&self) -> u64 {
        lost(self.losses.iter().map(|loss| (loss.cause, loss.count)))
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
        self.add_groups(other.groups);
        self.buffer = other.buffer;
    }

    /// Adds what a further file has of groups.
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

/// What a session wrote and lost of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct GroupStats {
    /// Its full name; none for all messages whose group is not known (any more).
    pub group: Option<String>,
    /// Messages in the trace.
    pub messages: u64,
    /// What they take there, in bytes, before any compression. The rest of the trace is that of all groups: texts, threads,
    /// clocks.
    pub bytes: u64,
    /// What was lost, by cause: each cause once.
    pub losses: Vec<(Cause, u64)>,
}

impl GroupStats {
    /// Number of messages that are not in the trace, as [`Summary::lost`].
    pub fn lost(&self) -> u64 {
        lost(self.losses.iter().copied())
    }

    /// Adds what a further file has.
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

/// The messages that are not there at all.
fn lost(losses: impl Iterator<Item = (Cause, u64)>) -> u64 {
    losses.filter(|(cause, _)| *cause != Cause::Cut).map(|(_, count)| count).sum()
}

/// What went through a session's buffer since it started, counted in chunks: a thread fills one after the other, of 292,
/// 1020 and then always 4088 bytes. Bytes are those of whole chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferStats {
    /// Size of the buffer, in bytes.
    pub size: u64,
    /// Chunks that threads were done with.
    pub chunks_written: u64,
    /// Their bytes.
    pub bytes_written: u64,
    /// Chunks that went from the buffer to the file, where the session streams to one.
    pub chunks_read: u64,
    /// Their bytes.
    pub bytes_read: u64,
    /// Chunks that gave way to newer ones, where the session keeps the newest messages.
    pub chunks_overwritten: u64,
    /// Their bytes.
    pub bytes_overwritten: u64,
    /// Chunks that were thrown away, since the file could not be written.
    pub chunks_discarded: u64,
    /// The most bytes that were waiting in the buffer at a time.
    pub high_water: u64,
}

impl BufferStats {
    /// Those of `buffer`.
    pub(crate) fn of(buffer: &Buffer) -> Self {
        let flow = buffer.flow();
        Self {
            size: (buffer.pages() * PAGE) as u64,
            chunks_written: flow.chunks(|passed| &passed.written),
            bytes_written: flow.bytes(|passed| &passed.written),
            chunks_read: flow.chunks(|passed| &passed.read),
            bytes_read: flow.bytes(|passed| &passed.read),
            chunks_overwritten: flow.chunks(|passed| &passed.overwritten),
            bytes_overwritten: flow.bytes(|passed| &passed.overwritten),
            chunks_discarded: flow.chunks(|passed| &passed.discarded),
            high_water: flow.most(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, messages: u64, bytes: u64, losses: &[(Cause, u64)]) -> GroupStats {
        GroupStats { group: Some(name.to_owned()), messages, bytes, losses: losses.to_vec() }
    }

    /// What a file has: losses of groups, one of which may have no name, and groups.
    fn of(losses: &[(&str, Cause, u64)], groups: Vec<GroupStats>) -> Summary {
        let loss = |&(group, cause, count): &(&str, Cause, u64)| {
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
        use Cause::{Cut, Full, Overwritten};
        let mut sum = of(
            &[("b", Cut, 1), ("a", Full, 20), ("", Overwritten, 7)],
            vec![group("b", 3, 30, &[(Cut, 1)]), group("a", 1, 10, &[(Full, 20)])],
        );
        sum.add(of(
            &[("b", Cut, 300), ("b", Full, 4000)],
            vec![group("b", 5, 50, &[(Cut, 300), (Full, 4000)]), group("c", 2, 20, &[])],
        ));
        let expected = of(
            &[("", Overwritten, 7), ("a", Full, 20), ("b", Full, 4000), ("b", Cut, 301)],
            vec![
                group("a", 1, 10, &[(Full, 20)]),
                group("b", 8, 80, &[(Full, 4000), (Cut, 301)]),
                group("c", 2, 20, &[]),
            ],
        );
        assert_eq!(sum, expected);
        assert_eq!((sum.lost(), sum.groups[1].lost()), (4027, 4000), "what is cut is there");
    }
}
