//! The values of columns: numbers as varints, and texts, of which each stands once.

use std::collections::HashMap;

/// Texts, each once.
#[derive(Default)]
pub(super) struct Texts {
    index: HashMap<String, u64>,
    bytes: Vec<u8>,
}

impl Texts {
    /// The index of a text.
    pub(super) fn index(&mut self, text: &str) -> u64 {
        if let Some(index) = self.index.get(text) {
            return *index;
        }
        let index = self.index.len() as u64;
        self.index.insert(text.to_owned(), index);
        varint(&mut self.bytes, text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
        index
    }

    /// The number of texts.
    pub(super) fn count(&self) -> usize {
        self.index.len()
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
