//! How many messages a trace has of each kind, and how many bytes they take: counted where packets are copied, by message
//! id, so that nothing is counted where they are logged.
//!
//! Invariant: each message that was offered is counted, once; those without an id that can be read count as of none.

use super::drain::MESSAGE;
use protolog_core::schema::{message, packet};
use protozero::Reader;
use protozero::wire::{WireType, packed_varint, tag};

/// Slots of a new table; a power of two, as always.
const SLOTS: usize = 64;

const MESSAGE_TAG: u64 =
    packed_varint(tag(packet::PROTOLOG_MESSAGE, WireType::Bytes) as u64).0 as u64;
const TEXTS_TAG: u8 = tag(packet::INTERNED_DATA, WireType::Bytes) as u8;
const FLAGS_TAG: u8 = tag(packet::SEQUENCE_FLAGS, WireType::Varint) as u8;
const ID_TAG: u8 = tag(message::MESSAGE_ID, WireType::Fixed64) as u8;

/// Messages and their bytes by id. See the module.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// An open table: ids are hashes already. At most half of it is in use.
    slots: Vec<Count>,
    used: usize,
    /// Those without an id.
    without: Count,
    /// Ids that were not asked for since they came.
    new: Vec<u64>,
}

/// So many messages with one id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// None where it could not be read.
    pub(super) id: Option<u64>,
    /// 0 in a slot that is not in use.
    pub(super) messages: u64,
    /// In a file that is not compressed.
    pub(super) bytes: u64,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            slots: vec![Count::default(); SLOTS],
            used: 0,
            without: Count::default(),
            new: Vec::new(),
        }
    }
}

impl Counts {
    /// Counts a packet if it is a message, which takes `bytes` bytes in a file. Whether it is one.
    #[inline]
    pub(super) fn packet(&mut self, packet: &[u8], bytes: usize) -> bool {
        let is_message = packet.first() == Some(&MESSAGE);
        if is_message {
            let slot = self.count(id(packet));
            slot.messages += 1;
            slot.bytes += bytes as u64;
        }
        is_message
    }

    #[inline]
    fn slot(&mut self, id: u64) -> &mut Count {
        let mut at = self.find(id);
        if self.slots[at].messages == 0 {
            at = self.insert(id);
        }
        &mut self.slots[at]
    }

    /// Where `id` is, or would be.
    #[inline]
    fn find(&self, id: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = id as usize & mask;
        while self.slots[at].messages != 0 && self.slots[at].id != Some(id) {
            at = (at + 1) & mask;
        }
        at
    }

    #[cold]
    fn insert(&mut self, id: u64) -> usize {
        if 2 * (self.used + 1) > self.slots.len() {
            let larger = vec![Count::default(); 2 * self.slots.len()];
            let old = std::mem::replace(&mut self.slots, larger);
            for count in old.into_iter().filter(|count| count.messages != 0) {
                let at = count.id.map_or(0, |id| self.find(id));
                self.slots[at] = count;
            }
        }
        self.used += 1;
        self.new.push(id);
        let at = self.find(id);
        self.slots[at].id = Some(id);
        at
    }

    /// Counts the messages among packets as they stand in a file, `own` at the end of those that are the session's own.
    pub(super) fn file(&mut self, bytes: &[u8], own: &[u8]) {
        let (mut reader, mut start) = (Reader::new(bytes), 0);
        while let Some(Ok(field)) = reader.next() {
            let end = reader.offset();
            let packet = field.as_bytes().unwrap_or_default();
            if !packet.ends_with(own) {
                self.packet(packet, (end - start) as usize);
            }
            start = end;
        }
    }

    /// Adds what `others` counted.
    pub(super) fn add(&mut self, others: &Self) {
        for other in others.all() {
            let count = self.count(other.id);
            count.messages += other.messages;
            count.bytes += other.bytes;
        }
    }

    /// The same without what `others` counted, all of which was counted here too.
    pub(super) fn except(&self, others: &Self) -> Self {
        let mut rest = Self::default();
        for count in self.all() {
            let other = match count.id {
                Some(id) => others.slots[others.find(id)],
                None => others.without,
            };
            if count.messages > other.messages {
                let rest = rest.count(count.id);
                rest.messages = count.messages - other.messages;
                rest.bytes = count.bytes.saturating_sub(other.bytes);
            }
        }
        rest
    }

    /// The number of messages.
    pub(super) fn messages(&self) -> u64 {
        self.all().map(|count| count.messages).sum()
    }

    fn count(&mut self, id: Option<u64>) -> &mut Count {
        match id {
            Some(id) => self.slot(id),
            None => &mut self.without,
        }
    }

    /// The ids that have come since the last time.
    pub(super) fn take_new(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.new)
    }

    /// What was counted.
    pub(super) fn all(&self) -> impl Iterator<Item = Count> + '_ {
        self.slots.iter().chain([&self.without]).copied().filter(|count| count.messages != 0)
    }
}

/// The id of the message in a packet.
#[inline]
fn id(packet: &[u8]) -> Option<u64> {
    usual_id(packet).or_else(|| any_id(packet))
}

/// The same, of a message as the write path lays it out: with or without texts, unless the new ones are long.
#[inline]
fn usual_id(packet: &[u8]) -> Option<u64> {
    let time = packet.get(1..)?.iter().position(|&byte| byte < 0x80)?;
    let mut rest = packet.get(time + 2..)?;
    if let [TEXTS_TAG, size @ 0..0x80, after @ ..] = rest {
        rest = after.get(usize::from(*size)..)?;
    }
    if let [FLAGS_TAG, 0..0x80, after @ ..] = rest {
        rest = after;
    }
    let rest = rest.first_chunk::<12>()?;
    let starts = u16::from_le_bytes([rest[0], rest[1]]) as u64 == MESSAGE_TAG
        && rest[2] < 0x80
        && rest[3] == ID_TAG;
    starts.then(|| {
        u64::from_le_bytes([
            rest[4], rest[5], rest[6], rest[7], rest[8], rest[9], rest[10], rest[11],
        ])
    })
}

/// The same, of any message.
fn any_id(packet: &[u8]) -> Option<u64> {
    let mut fields = Reader::new(packet).map_while(Result::ok);
    let message = fields.find(|field| field.number == packet::PROTOLOG_MESSAGE)?;
    let mut fields = message.as_message().ok()?.map_while(Result::ok);
    fields.find(|field| field.number == message::MESSAGE_ID)?.as_fixed64().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use protozero::{Heap, Writer};

    /// How long the new texts of a message are; one of the chunk is none.
    #[derive(Clone, Copy)]
    enum Texts {
        None,
        Known,
        New(usize),
    }

    const TEXTS: [Texts; 5] =
        [Texts::None, Texts::Known, Texts::New(0), Texts::New(7), Texts::New(300)];

    /// A message with this time and id.
    fn message(time: u64, id: u64, texts: Texts) -> Vec<u8> {
        let mut writer = Writer::new(Heap::new());
        let mut to = writer.message();
        to.uint64(packet::TIMESTAMP, time);
        if let Texts::New(length) = texts {
            to.nested(packet::INTERNED_DATA).string(7, &"x".repeat(length));
        }
        if !matches!(texts, Texts::None) {
            to.uint32(packet::SEQUENCE_FLAGS, 2);
        }
        to.nested(packet::PROTOLOG_MESSAGE).fixed64(message::MESSAGE_ID, id).sint64(3, -1);
        writer.into_vec().expect("it fits")
    }

    fn all(counts: &Counts) -> Vec<(Option<u64>, u64, u64)> {
        let mut all: Vec<_> = counts.all().map(|one| (one.id, one.messages, one.bytes)).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn messages_are_counted_by_id() {
        let mut counts = Counts::default();
        for time in [0, 127, 128, 1 << 14, u64::MAX] {
            for texts in TEXTS {
                let packet = message(time, 7, texts);
                assert_eq!((id(&packet), any_id(&packet)), (Some(7), Some(7)));
                assert!(counts.packet(&packet, 30));
                assert!(counts.packet(&message(time, 7 + SLOTS as u64, texts), 1));
            }
        }
        assert!(!counts.packet(&[8, 1], 100) && !counts.packet(&[], 100));
        assert_eq!(all(&counts), [(Some(7), 25, 750), (Some(7 + SLOTS as u64), 25, 25)]);
        assert_eq!(counts.take_new(), [7, 7 + SLOTS as u64]);
        assert_eq!(counts.take_new(), [0; 0]);
    }

    #[test]
    fn what_is_taken_from_all_leaves_the_rest() {
        let (mut counts, mut some) = (Counts::default(), Counts::default());
        for id in 0..200 {
            counts.packet(&message(5, id, Texts::None), 20);
            counts.packet(&message(5, id, Texts::Known), 22);
            if id % 2 == 0 {
                some.packet(&message(5, id, Texts::None), 20);
            }
        }
        some.packet(&message(5, 7, Texts::Known), 22);
        some.packet(&message(5, 7, Texts::None), 20);
        let rest = counts.except(&some);
        assert_eq!((counts.messages(), some.messages(), rest.messages()), (400, 102, 298));
        let one = |id| all(&rest).into_iter().find(|count| count.0 == Some(id));
        assert_eq!(one(6), Some((Some(6), 1, 22)));
        assert_eq!(one(7), None);
        assert_eq!(one(9), Some((Some(9), 2, 42)));
        some.add(&rest);
        assert_eq!(all(&some), all(&counts));
    }

    #[test]
    fn what_has_no_id_counts_too() {
        let mut counts = Counts::default();
        let whole = [0x40, 0xac, 2, 0xc2, 6, 11, ID_TAG, 7, 0, 0, 0, 0, 0, 0, 0, 0x18, 1];
        for end in 1..=whole.len() {
            assert!(counts.packet(&whole[..end], 1));
        }
        // What follows the id may be missing.
        let with = whole.len() as u64 - 14;
        assert_eq!(all(&counts), [(None, 14, 14), (Some(7), with, with)]);
    }

    #[test]
    fn there_may_be_many() {
        let mut counts = Counts::default();
        for round in 0..3 {
            for id in 0..10_000u64 {
                counts.packet(&message(1, id.wrapping_mul(0x9e37_79b9_7f4a_7c15), Texts::None), 2);
            }
            assert_eq!(counts.take_new().len(), if round == 0 { 10_000 } else { 0 });
        }
        assert_eq!(counts.all().count(), 10_000);
        assert!(counts.all().all(|one| (one.messages, one.bytes) == (3, 6)));
    }
}
