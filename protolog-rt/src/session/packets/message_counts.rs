//! The number of messages in a trace and their bytes, by message id: counted where packets are
//! copied, so that nothing is counted on the threads that log.
//!
//! The table is our own, since this is done once per message, for which the drain has 39 ns. std's
//! map with a hasher that passes ids through takes 7 ns where this takes 5 (8 ids), and 15 where
//! this takes 10 (64 ids and more).
//!
//! Invariant: each message offered is counted once; those whose id can't be read are counted
//! together.

use crate::session::packets::copied::MESSAGE;
use crate::writer::slice::EVENT as SPAN_EVENT;
use protolog_core::schema::{message, packet};
use protozero::Reader;
use protozero::wire::{WireType, packed_varint, tag};

/// Slots of a new table. The number of slots is always a power of two.
const SLOTS: usize = 64;

const MESSAGE_TAG: u32 =
    packed_varint(tag(packet::PROTOLOG_MESSAGE, WireType::Bytes) as u64).0 as u32;
const INTERNED_TAG: u8 = tag(packet::INTERNED_DATA, WireType::Bytes) as u8;
const FLAGS_TAG: u8 = tag(packet::SEQUENCE_FLAGS, WireType::Varint) as u8;
const ID_TAG: u8 = tag(message::MESSAGE_ID, WireType::Fixed64) as u8;

/// The number of bytes at the beginning of a message that [`short_id`] reads.
pub(in crate::session) const SHORT_ID_BYTES: usize = 24;

/// Messages and their bytes by id. See the module.
#[derive(Clone, Debug)]
pub(in crate::session) struct Counts {
    /// An open table: ids are hashes already. At most half of it is in use.
    slots: Vec<Tally>,
    used: usize,
    /// Messages without an id.
    without: Tally,
    /// Ids that are new since the last [`Self::take_new`].
    new: Vec<u64>,
    /// True if there was a begin or end of a span.
    has_spans: bool,
}

/// A slot of the table.
#[derive(Clone, Copy, Debug)]
struct Tally {
    /// 0 in a slot that is not in use.
    messages: u64,
    /// In an unused slot an id with a search that begins at another slot, so that it matches none.
    id: u64,
    bytes: u64,
}

/// Returns `count` unused slots; `count` is a power of two.
fn unused_slots(count: usize) -> Vec<Tally> {
    // A search begins at the slot that the lowest bits say, and those of `!at` say another one.
    (0..count as u64).map(|at| Tally { messages: 0, id: !at, bytes: 0 }).collect()
}

/// The messages of one id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) struct Count {
    /// None if it could not be read.
    pub(in crate::session) id: Option<u64>,
    /// At least one.
    pub(in crate::session) messages: u64,
    /// Their size in an uncompressed file.
    pub(in crate::session) bytes: u64,
}

impl Default for Counts {
    fn default() -> Self {
        let without = Tally { messages: 0, id: 0, bytes: 0 };
        Self { slots: unused_slots(SLOTS), used: 0, without, new: Vec::new(), has_spans: false }
    }
}

impl Counts {
    /// Counts a packet if it is a message, which takes `bytes` bytes in a file. Returns whether it
    /// is one.
    pub(in crate::session) fn packet(&mut self, packet: &[u8], bytes: usize) -> bool {
        let is_message = packet.first() == Some(&MESSAGE);
        if is_message {
            let slot = self.count(id(packet));
            slot.messages += 1;
            slot.bytes += bytes as u64;
        } else {
            self.has_spans |= packet.first() == Some(&SPAN_EVENT);
        }
        is_message
    }

    /// Counts a message of `bytes` bytes if its id is in the slot at which a search begins. Returns
    /// whether it is.
    #[inline]
    pub(in crate::session) fn count_known(&mut self, id: u64, bytes: usize) -> bool {
        let mask = self.slots.len() - 1;
        match self.slots.get_mut(id as usize & mask) {
            Some(slot) if slot.id == id => {
                slot.messages += 1;
                slot.bytes += bytes as u64;
                true
            }
            _ => false,
        }
    }

    fn slot(&mut self, id: u64) -> &mut Tally {
        let mut at = self.find(id);
        if self.slots[at].messages == 0 {
            at = self.insert(id);
        }
        &mut self.slots[at]
    }

    /// Returns the slot in which `id` is, or would be.
    fn find(&self, id: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = id as usize & mask;
        while self.slots[at].messages != 0 && self.slots[at].id != id {
            at = (at + 1) & mask;
        }
        at
    }

    #[cold]
    fn insert(&mut self, id: u64) -> usize {
        if 2 * (self.used + 1) > self.slots.len() {
            let larger = unused_slots(2 * self.slots.len());
            let old = std::mem::replace(&mut self.slots, larger);
            for slot in old.into_iter().filter(|slot| slot.messages != 0) {
                let at = self.find(slot.id);
                self.slots[at] = slot;
            }
        }
        self.used += 1;
        self.new.push(id);
        let at = self.find(id);
        self.slots[at].id = id;
        at
    }

    /// Counts the messages among packets in a file's form. Packets that end with `own` are the
    /// session's own.
    pub(in crate::session) fn count_file(&mut self, bytes: &[u8], own: &[u8]) {
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

    /// Adds the messages of `others`.
    pub(in crate::session) fn add(&mut self, others: &Self) {
        for other in others.all() {
            let count = self.count(other.id);
            count.messages += other.messages;
            count.bytes += other.bytes;
        }
        self.has_spans |= others.has_spans;
    }

    /// Returns the same without the messages of `others`, all of which are counted here too.
    pub(in crate::session) fn except(&self, others: &Self) -> Self {
        let mut rest = Self { has_spans: self.has_spans, ..Self::default() };
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

    /// Returns whether there was a begin or end of a span.
    pub(in crate::session) fn has_spans(&self) -> bool {
        self.has_spans
    }

    /// Returns the number of messages.
    pub(in crate::session) fn messages(&self) -> u64 {
        self.all().map(|count| count.messages).sum()
    }

    fn count(&mut self, id: Option<u64>) -> &mut Tally {
        match id {
            Some(id) => self.slot(id),
            None => &mut self.without,
        }
    }

    /// Returns the ids that are new since the last call.
    pub(in crate::session) fn take_new(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.new)
    }

    /// Returns the messages of each id.
    pub(in crate::session) fn all(&self) -> impl Iterator<Item = Count> + '_ {
        let count = |id, slot: &Tally| {
            let Tally { messages, bytes, .. } = *slot;
            (messages != 0).then_some(Count { id, messages, bytes })
        };
        let with = self.slots.iter().filter_map(move |slot| count(Some(slot.id), slot));
        with.chain(count(None, &self.without))
    }
}

/// Returns the id of the message in a packet.
pub(in crate::session) fn id(packet: &[u8]) -> Option<u64> {
    usual_id(packet).or_else(|| any_id(packet))
}

/// The fast path of [`id`]: a message as the write path lays it out, unless its new strings are
/// long.
fn usual_id(packet: &[u8]) -> Option<u64> {
    let time = packet.get(1..)?.iter().position(|&byte| byte < 0x80)?;
    let mut rest = packet.get(time + 2..)?;
    if let [INTERNED_TAG, size @ 0..0x80, after @ ..] = rest {
        rest = after.get(usize::from(*size)..)?;
    }
    if let [FLAGS_TAG, 0..0x80, after @ ..] = rest {
        rest = after;
    }
    let rest = rest.first_chunk::<12>()?;
    let (head, id) = (first_chunk(rest), first_chunk(&rest[4..]));
    starts(u32::from_le_bytes(head)).then(|| u64::from_le_bytes(id))
}

/// Returns the id of a message of `size` bytes that begins as `packet` does and has no new strings,
/// without a loop.
#[inline]
pub(in crate::session) fn short_id(packet: &[u8; SHORT_ID_BYTES], size: usize) -> Option<u64> {
    const LAST: u64 = 0x8080_8080_8080_8080;
    let time = u64::from_le_bytes(first_chunk(&packet[1..]));
    // Ten bytes are longer than this says; the last one of these is no tag.
    let mut at = 2 + (!time & LAST).trailing_zeros() as usize / 8;
    at += 2 * usize::from(packet[at] == FLAGS_TAG);
    let head = u32::from_le_bytes(first_chunk(&packet[at..]));
    let id = u64::from_le_bytes(first_chunk(&packet[at + 4..]));
    (packet[0] == MESSAGE && starts(head) && at + 12 <= size).then_some(id)
}

/// Returns whether these are the first bytes of the field `protolog_message`, up to the id.
#[inline]
fn starts(head: u32) -> bool {
    // Any size of one byte.
    head & 0xff80_ffff == MESSAGE_TAG | (ID_TAG as u32) << 24
}

/// Returns the first `N` bytes of `bytes`, which has as many.
#[inline]
fn first_chunk<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

/// The slow path of [`id`]: any message.
fn any_id(packet: &[u8]) -> Option<u64> {
    let mut fields = Reader::new(packet).map_while(Result::ok);
    let message = fields.find(|field| field.number == packet::PROTOLOG_MESSAGE)?;
    let mut fields = message.as_message().ok()?.map_while(Result::ok);
    fields.find(|field| field.number == message::MESSAGE_ID)?.as_fixed64().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::packets::copied::OWN_SEQUENCE;
    use crate::session::packets::for_file::Seal;
    use protozero::{Heap, Writer};

    /// The strings of a message.
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
        // Sizes as short as they can be, as on the write path.
        let inner = |fill: &dyn Fn(&mut protozero::Message<'_, Heap>)| {
            let mut writer = Writer::new(Heap::new());
            fill(&mut writer.message());
            writer.into_vec().expect("it fits")
        };
        if let Texts::New(length) = texts {
            let text = inner(&|to| _ = to.string(7, &"x".repeat(length)));
            to.bytes(packet::INTERNED_DATA, &text);
        }
        if !matches!(texts, Texts::None) {
            to.uint32(packet::SEQUENCE_FLAGS, 2);
        }
        let own = inner(&|to| _ = to.fixed64(message::MESSAGE_ID, id).sint64(3, -1));
        to.bytes(packet::PROTOLOG_MESSAGE, &own);
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
    fn a_difference_has_the_other_messages() {
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
    fn messages_of_a_file_are_counted_with_their_sizes() {
        let (own, other) = (Seal::new(OWN_SEQUENCE), Seal::new(7));
        let (short, long) = (message(5, 7, Texts::None), message(1 << 40, 8, Texts::New(300)));
        let mut file = Vec::new();
        for (seal, packet) in [(own, &short), (other, &long), (other, &short), (other, &short)] {
            seal.one(packet, |part| file.extend_from_slice(part));
        }
        let sizes = [&short, &long].map(|packet| other.size(packet.len()) as u64);
        let mut counts = Counts::default();
        counts.count_file(&file, own.bytes());
        assert_eq!(all(&counts), [(Some(7), 2, 2 * sizes[0]), (Some(8), 1, sizes[1])]);
        // A message that is cut off does not count.
        let mut counts = Counts::default();
        counts.count_file(&file[..file.len() - 1], own.bytes());
        assert_eq!(counts.messages(), 2);
    }

    #[test]
    fn the_fast_path_finds_the_same_id() {
        for time in [0, 127, 128, 1 << 14, 1 << 20, 1 << 34, 1 << 55, 1 << 56, u64::MAX] {
            for texts in TEXTS {
                let packet = message(time, 7, texts);
                let new = matches!(texts, Texts::New(_));
                let long = time == u64::MAX;
                let mut begin = [0xff; SHORT_ID_BYTES];
                let seen = packet.len().min(SHORT_ID_BYTES);
                begin[..seen].copy_from_slice(&packet[..seen]);
                let short = short_id(&begin, packet.len());
                assert_eq!(short, (!new && !long).then_some(7), "{time} {packet:?}");
                assert_eq!(short_id(&begin, 12), None, "cut off");
                begin[0] = 8;
                assert_eq!(short_id(&begin, packet.len()), None, "no message");
            }
        }
    }

    #[test]
    fn known_ids_are_counted_in_place() {
        let ids = [7, 7 + SLOTS as u64, 0, !0, !7];
        let mut counts = Counts::default();
        for id in ids {
            assert!(!counts.count_known(id, 1), "{id}: new");
        }
        for id in ids {
            assert!(counts.packet(&message(1, id, Texts::None), 1));
        }
        let again = ids.map(|id| counts.count_known(id, 10));
        assert_eq!(again, [true, false, true, true, true], "two ids begin at the same slot");
        let bytes: u64 = counts.all().map(|count| count.bytes).sum();
        assert_eq!((counts.all().count(), bytes), (5, 45));
    }

    #[test]
    fn messages_without_an_id_are_counted() {
        let mut counts = Counts::default();
        let whole = [0x40, 0xac, 2, 0xc2, 6, 11, ID_TAG, 7, 0, 0, 0, 0, 0, 0, 0, 0x18, 1];
        for end in 1..=whole.len() {
            assert!(counts.packet(&whole[..end], 1));
        }
        // The bytes after the id may be missing.
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
