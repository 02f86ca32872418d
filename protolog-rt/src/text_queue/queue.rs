//! The bytes of the queue: entries in their order, each with a header.
//!
//! Invariants: at most [`LIMIT`] bytes; memory is asked for as entries come, and given back when
//! none are left; a caller that gets none drops the entry.

use super::QueuedMessage;
use std::collections::VecDeque;
use std::time::{Duration, UNIX_EPOCH};

/// The most bytes of entries.
pub(super) const LIMIT: usize = 1 << 20;

/// Bytes of memory that stay when the queue is empty.
const KEPT: usize = 16 << 10;

const LINE: u8 = 0;
const MESSAGE: u8 = 1;
const DROPPED: u8 = 2;

/// Bytes of a message's header after its kind: level, thread, seconds, nanoseconds, sizes of tag
/// and text.
const HEADER: usize = 1 + 4 + 8 + 4 + 4 + 4;

/// Entries that wait for the writer.
#[derive(Debug)]
pub(super) struct Queue {
    bytes: VecDeque<u8>,
    /// True from the first entry that found no room until half of the room is free.
    is_full: bool,
    /// True while the writer has entries that it took out.
    pub(super) is_writing: bool,
    /// True if a writer runs, or is being started.
    pub(super) has_writer: bool,
    /// Number of entries that were appended, modulo 2^32.
    pub(super) pushed: u32,
}

/// Entries that were taken out of the queue; the vectors belong to the writer, which uses them
/// again.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Lines for standard error.
    pub(super) lines: Vec<u8>,
    /// Number of these lines.
    pub(super) count: u32,
    /// The entry after them.
    pub(super) then: Option<Other>,
}

/// An entry that is no line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Other {
    Message(OwnedMessage),
    /// So many entries were dropped here.
    Dropped(u64),
}

/// A [`QueuedMessage`] that was taken out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OwnedMessage {
    level: u8,
    thread: u32,
    time: Duration,
    tag: String,
    text: String,
}

impl OwnedMessage {
    pub(super) fn borrow(&self) -> QueuedMessage<'_> {
        QueuedMessage {
            level: self.level,
            thread: self.thread,
            time: UNIX_EPOCH + self.time,
            tag: &self.tag,
            text: &self.text,
        }
    }
}

impl Queue {
    pub(super) const fn new() -> Self {
        Self {
            bytes: VecDeque::new(),
            is_full: false,
            is_writing: false,
            has_writer: false,
            pushed: 0,
        }
    }

    /// True if nothing is queued or being written.
    pub(super) fn is_idle(&self) -> bool {
        self.bytes.is_empty() && !self.is_writing
    }

    /// True unless the queue was full and is not half empty yet: what is dropped is dropped
    /// together, rather than here and there.
    pub(super) fn has_room_again(&mut self) -> bool {
        self.is_full &= self.bytes.len() > LIMIT / 2;
        !self.is_full
    }

    /// Appends a line for standard error. False if there is no room.
    pub(super) fn push_line(&mut self, line: &[u8]) -> bool {
        self.push(&[&[LINE], &(line.len() as u32).to_le_bytes(), line])
    }

    /// Appends a message for the sink. False if there is no room.
    pub(super) fn push_message(&mut self, message: &QueuedMessage<'_>) -> bool {
        let time = message.time.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.push(&[
            &[MESSAGE, message.level],
            &message.thread.to_le_bytes(),
            &time.as_secs().to_le_bytes(),
            &time.subsec_nanos().to_le_bytes(),
            &(message.tag.len() as u32).to_le_bytes(),
            &(message.text.len() as u32).to_le_bytes(),
            message.tag.as_bytes(),
            message.text.as_bytes(),
        ])
    }

    /// Appends that `count` entries were dropped. False if there is no room.
    pub(super) fn push_dropped(&mut self, count: u64) -> bool {
        self.push(&[&[DROPPED], &count.to_le_bytes()])
    }

    fn push(&mut self, parts: &[&[u8]]) -> bool {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let has_room = self.bytes.len() + length <= LIMIT;
        if !has_room || self.bytes.try_reserve(length).is_err() {
            self.is_full = true;
            return false;
        }
        for part in parts {
            self.bytes.extend(*part);
        }
        self.pushed = self.pushed.wrapping_add(1);
        true
    }

    /// Takes lines out, at most about `limit` bytes, and the entry behind them if that is of
    /// another kind.
    pub(super) fn take(&mut self, taken: &mut Taken, limit: usize) {
        taken.lines.clear();
        (taken.count, taken.then) = (0, None);
        while taken.lines.len() < limit && taken.then.is_none() && !self.bytes.is_empty() {
            match self.array::<1>() {
                [LINE] => {
                    let length = self.number();
                    taken.lines.extend(self.bytes.drain(..length.min(self.bytes.len())));
                    taken.count += 1;
                }
                [DROPPED] => {
                    taken.then = Some(Other::Dropped(u64::from_le_bytes(self.array())));
                }
                _ => taken.then = Some(Other::Message(self.message())),
            }
        }
        if self.bytes.is_empty() {
            self.bytes.shrink_to(KEPT);
        }
    }

    fn message(&mut self) -> OwnedMessage {
        debug_assert!(self.bytes.len() >= HEADER, "a whole header");
        let [level] = self.array();
        let thread = u32::from_le_bytes(self.array());
        let seconds = u64::from_le_bytes(self.array());
        let time = Duration::new(seconds, u32::from_le_bytes(self.array()));
        let (tag, text) = (self.number(), self.number());
        let (tag, text) = (self.text(tag), self.text(text));
        OwnedMessage { level, thread, time, tag, text }
    }

    fn number(&mut self) -> usize {
        u32::from_le_bytes(self.array()) as usize
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.bytes.pop_front().unwrap_or_default())
    }

    fn text(&mut self, length: usize) -> String {
        let bytes = self.bytes.drain(..length.min(self.bytes.len())).collect();
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// Forgets entries and writer, in a forked child. Gives no memory back, since the child may be
    /// one of a thread that was within the allocator.
    pub(super) fn forget(&mut self) {
        self.bytes.clear();
        (self.is_full, self.is_writing, self.has_writer) = (false, false, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> QueuedMessage<'_> {
        let time = UNIX_EPOCH + Duration::new(7, 8);
        QueuedMessage { level: 3, thread: 4711, time, tag: "Net", text }
    }

    #[test]
    fn entries_come_out_as_they_went_in() {
        let (mut queue, mut taken) = (Queue::new(), Taken::default());
        assert!(queue.push_line(b"one\n") && queue.push_line(b"two\n"));
        assert!(queue.push_message(&message("größe")) && queue.push_message(&message("")));
        assert!(queue.push_dropped(u64::MAX) && queue.push_line(b"three\n"));
        queue.take(&mut taken, 1 << 16);
        assert_eq!((&taken.lines[..], taken.count), (&b"one\ntwo\n"[..], 2));
        let text = |taken: &Taken| match &taken.then {
            Some(Other::Message(owned)) => {
                assert_eq!(owned.borrow(), message(&owned.text));
                owned.text.clone()
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(text(&taken), "größe");
        queue.take(&mut taken, 1 << 16);
        assert_eq!((taken.count, text(&taken)), (0, String::new()));
        queue.take(&mut taken, 1 << 16);
        assert_eq!(taken.then, Some(Other::Dropped(u64::MAX)));
        assert!(!queue.is_idle());
        queue.take(&mut taken, 1 << 16);
        assert_eq!((&taken.lines[..], taken.count), (&b"three\n"[..], 1));
        assert!(queue.is_idle() && queue.pushed == 6);
        queue.take(&mut taken, 1 << 16);
        assert_eq!((taken.count, &taken.then), (0, &None));
    }

    #[test]
    fn a_full_queue_takes_nothing_before_it_is_half_empty() {
        let (mut queue, mut taken) = (Queue::new(), Taken::default());
        let line = [b'x'; 1000];
        let mut pushed = 0;
        while queue.has_room_again() && queue.push_line(&line) {
            pushed += 1;
        }
        assert_eq!(pushed, LIMIT / 1005);
        let mut taken_out = 0;
        while !queue.has_room_again() {
            assert!(!queue.is_idle());
            queue.take(&mut taken, 10_000);
            taken_out += taken.count as usize;
        }
        assert!((LIMIT / 2 - 20_000..=LIMIT / 2 + 20_000).contains(&(taken_out * 1005)));
        assert!(queue.push_line(&line));
        while !queue.is_idle() {
            queue.take(&mut taken, 1 << 16);
        }
        assert!(queue.bytes.capacity() <= KEPT, "{}", queue.bytes.capacity());
    }
}
