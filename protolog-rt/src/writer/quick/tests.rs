//! Common messages have the bytes that the encoder gives them.

use super::super::args::Args;
use super::super::encode::{Before, Cursor, Interner, Plan, SLACK};
use super::*;

const ID: u64 = 0x0123456789abcdef;
const ROOM: usize = 4096;
/// Bytes that nobody may touch.
const BEYOND: usize = 64;

/// A chunk's bytes, and the texts that are in it.
struct Chunk {
    bytes: Vec<u8>,
    texts: Texts,
    iid: u32,
}

impl Chunk {
    fn new() -> Self {
        let mut chunk = Self { bytes: vec![0xee; ROOM], texts: Texts::new(), iid: 1 };
        chunk.texts.begin(chunk.bytes.as_ptr());
        chunk
    }

    /// The packet of `values` as the encoder writes it, at `at`; new texts are noted.
    fn encode<V: Values>(&mut self, at: usize, delta: u32, values: &V) -> Vec<u8> {
        let before = Before { delta: delta.into(), iid: self.iid, max_text: 1_000 };
        // SAFETY: *there*: nobody else has the bytes.
        let (plan, seen) = unsafe { Plan::new(values, before, Some(&self.texts)) };
        let size = plan.packet();
        assert!(at + size + SLACK <= ROOM);
        // SAFETY: as just said.
        let start = unsafe { self.bytes.as_mut_ptr().add(at) };
        let new = Interner { iid: self.iid, texts: Some(&mut self.texts) };
        // SAFETY: *room*, as just said.
        unsafe { values.packet(&mut Cursor::new(start), ID, (&plan, seen), new) };
        self.iid = plan.next_iid();
        self.bytes[at..at + size].to_vec()
    }

    /// The same as [`Self::write`], with new texts, which are not noted.
    fn write_new<V: Values>(&self, delta: u32, values: &V) -> Option<Vec<u8>> {
        let mut new = New::default();
        // SAFETY: *there*: nobody else has the bytes.
        let found = unsafe { values.find(&self.texts, &mut new) }?;
        let most =
            most::<V>().map(|most| most + AROUND_NEW + new.bytes).filter(|most| *most <= 0x80)?;
        let mut room = vec![0xee; most + SLACK + BEYOND];
        let start = room.as_mut_ptr();
        let interner = Interner { iid: self.iid, texts: None };
        // SAFETY: *room*.
        let end = unsafe { packet(start, (ID, delta), (values, found), new.bytes, interner) };
        let len = end as usize - start as usize;
        assert!(len <= most, "{len} bytes of {most}");
        assert_eq!(room[len + SLACK..].iter().find(|byte| **byte != 0xee), None);
        room.truncate(len);
        Some(room)
    }

    /// The packet of `values` as it is written straight on, with its size before it; none where it is not a common one.
    fn write<V: Values>(&self, delta: u32, values: &V) -> Option<Vec<u8>> {
        let most = most::<V>()?;
        let mut room = vec![0xee; most + SLACK + BEYOND];
        let start = room.as_mut_ptr();
        // SAFETY: *there*: nobody else has the bytes.
        let found = unsafe { values.known(&self.texts) }?;
        let none = Interner { iid: self.iid, texts: None };
        // SAFETY: *room*.
        let end = unsafe { packet(start, (ID, delta), (values, found), 0, none) };
        let len = end as usize - start as usize;
        assert!(len <= most, "{len} bytes of {most}");
        assert_eq!(room[len + SLACK..].iter().find(|byte| **byte != 0xee), None);
        room.truncate(len);
        Some(room)
    }
}

/// Checks that `values` make a common packet, which is the encoder's, before and after the chunk has the texts.
fn check<V: Values>(delta: u32, values: &V) {
    let mut chunk = Chunk::new();
    let new = chunk.write_new(delta, values);
    let mut first = chunk.encode(0, delta, values);
    if let Some(new) = new {
        first.insert(0, first.len() as u8);
        assert_eq!(new, first);
    } else {
        assert!(first.len() > 0x80 - 11 * 3 - 4, "{} bytes", first.len());
    }
    let mut expected = chunk.encode(2_000, delta, values);
    expected.insert(0, expected.len() as u8);
    assert_eq!(chunk.write(delta, values), Some(expected));
}

/// The most bytes of such a message.
fn most_of<V: Values>(_: &V) -> Option<usize> {
    most::<V>()
}

/// Numbers around each length of a varint.
fn edges() -> impl Iterator<Item = u64> {
    (0..64).flat_map(|bits| [(1 << bits) - 1, 1 << bits, (1 << bits) + 1])
}

#[test]
fn numbers_are_the_same() {
    for number in edges() {
        for value in [number as i64, (number as i64).wrapping_neg()] {
            check(7, &(Int(value), ()));
            check(300, &(Bool(value > 0), (Int(value), (Float(value as f64), (Int(!value), ())))));
        }
        check(7, &(Uint(number >> 1), (Uint(number >> 2), ())));
    }
    check(7, &(Int(i64::MIN), (Uint(u64::MAX >> 1), (Int(i64::MAX), ()))));
    check(7, &());
}

#[test]
fn times_are_the_same() {
    for delta in edges().filter(|delta| *delta < MAX_DELTA) {
        check(delta as u32, &(Int(-5), ()));
        check(delta as u32, &(Text("hi"), ()));
    }
}

#[test]
fn texts_are_the_same() {
    for length in 0..=64 {
        let text: String = ('a'..='z').cycle().take(length).collect();
        check(7, &(Text(&text), ()));
        check(300, &(Int(70), (Text(&text), (Bool(true), (Text(&text), (Uint(1), ()))))));
    }
}

#[test]
fn what_is_not_common_is_left_to_the_encoder() {
    let chunk = Chunk::new();
    assert_eq!(chunk.write(7, &(Uint(1 << 63), ())), None, "it looks unsigned");
    assert_eq!(chunk.write(7, &(Text("new"), ())), None, "the chunk does not have it");
    assert_eq!(chunk.write(7, &Args(&[])), None, "nothing says how many there are");
    let ten = (Int(1), (Int(2), (Int(3), (Int(4), (Int(5), ())))));
    let ten = (Int(1), (Int(2), (Int(3), (Int(4), (Int(5), ten)))));
    assert_eq!(chunk.write(7, &ten), None, "its size may take two bytes");
    let mut chunk = Chunk::new();
    let long = "long".repeat(17);
    chunk.encode(0, 7, &(Text(&long), ()));
    assert_eq!(chunk.write(7, &(Text(&long), ())), None);
}

#[test]
fn texts_of_long_ids_are_brought_again() {
    let mut chunk = Chunk::new();
    chunk.iid = 128;
    for at in [0, 1_000] {
        let packet = chunk.encode(at, 7, &(Text("again"), ()));
        assert!(packet.windows(5).any(|bytes| bytes == b"again"));
        assert_eq!(chunk.write(7, &(Text("again"), ())), None);
    }
}

#[test]
fn the_longest_common_message_is_the_same() {
    let number = Int(i64::MIN);
    let numbers =
        (number, (number, (number, (number, (number, (number, (number, (number, ()))))))));
    let (late, float) = (MAX_DELTA as u32 - 1, Float(1.5));
    let longest = (Text("hi"), (float, (float, numbers)));
    assert_eq!(most_of(&longest), Some(0x80));
    check(late, &longest);
    check(late, &(Text("hi"), (Uint(u64::MAX >> 1), ())));
    let mut chunk = Chunk::new();
    let longer =
        (Bool(true), (Text("hi"), (number, (Bool(true), (Bool(true), (Bool(true), numbers))))));
    chunk.encode(0, late, &longer);
    assert_eq!(chunk.encode(1_000, late, &longer).len(), 0x80, "too long by one");
    assert_eq!(chunk.write(late, &longer), None);
}
