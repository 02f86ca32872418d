//! The values of columns: numbers as varints, and texts, of which each stands once.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher as _;

/// Texts, each once. They are found by the bytes of their column, so that none is in memory twice:
/// a log may have millions.
#[derive(Default)]
pub(super) struct Texts {
    places: HashTable<TextPlace>,
    bytes: Vec<u8>,
    state: RandomState,
}

/// The text of an index, in the bytes of the column.
struct TextPlace {
    index: u64,
    from: usize,
    len: usize,
}

impl TextPlace {
    fn of<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.from..][..self.len]
    }
}

impl Texts {
    /// The index of a text, which is UTF-8.
    pub(super) fn index(&mut self, text: &[u8]) -> u64 {
        let Self { places, bytes, state } = self;
        let hash = state.hash_one(text);
        let found = places.find(hash, |place| place.of(bytes) == text);
        if let Some(place) = found {
            return place.index;
        }
        let index = places.len() as u64;
        varint(bytes, text.len() as u64);
        let place = TextPlace { index, from: bytes.len(), len: text.len() };
        bytes.extend_from_slice(text);
        places.insert_unique(hash, place, |place| state.hash_one(place.of(bytes)));
        index
    }

    /// The number of texts.
    pub(super) fn count(&self) -> usize {
        self.places.len()
    }

    /// Their column.
    pub(super) fn bytes(&self) -> &Vec<u8> {
        &self.bytes
    }
}

/// A number whose bits are few where it is near 0, whatever its sign.
pub(super) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// Appends a number, seven bits to a byte.
pub(super) fn varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}
