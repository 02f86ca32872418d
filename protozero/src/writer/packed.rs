//! Fields that are made of several values: packed repeated ones, and bytes from pieces; and fields
//! that were read.
//!
//! The values are gone over twice, first for the size; so they need no memory, and the size field
//! has its minimum length.

use super::Message;
use crate::delegate::Delegate;
use crate::reader::{Field, Value};
use crate::scalar::Scalar;
use crate::wire::{WireType, encode_varint, tag, varint_len};

impl<D: Delegate> Message<'_, D> {
    /// All values of a packed repeated field; nothing if there are none.
    ///
    /// ```
    /// # use protozero::{Fixed, Writer, scalar};
    /// # let mut memory = [0; 32];
    /// # let mut writer = Writer::new(Fixed::new(&mut memory));
    /// writer.message().packed::<scalar::Uint32>(4, [3, 270, 86_942]);
    /// assert_eq!(writer.into_slice()?, [0x22, 6, 3, 0x8e, 2, 0x9e, 0xa7, 5]);
    /// # Ok::<(), protozero::WriteError>(())
    /// ```
    pub fn packed<S: Scalar>(
        &mut self,
        field: u32,
        values: impl IntoIterator<Item = S::Value, IntoIter: Clone>,
    ) -> &mut Self {
        let values = values.into_iter().map(S::to_bits);
        let size = values.clone().map(size_of_bits::<S>).fold(0, usize::saturating_add);
        if size > 0 {
            let mut packed = self.nested_exact(field, size);
            for bits in values {
                packed.append_bits(S::WIRE_TYPE, bits);
            }
        }
        self
    }

    /// `bytes` or a `string` that is put together from pieces.
    pub fn pieces<'p>(
        &mut self,
        field: u32,
        pieces: impl IntoIterator<Item = &'p [u8], IntoIter: Clone>,
    ) -> &mut Self {
        let pieces = pieces.into_iter();
        let size = pieces.clone().map(<[u8]>::len).fold(0, usize::saturating_add);
        let mut whole = self.nested_exact(field, size);
        for piece in pieces {
            whole.raw(piece);
        }
        drop(whole);
        self
    }

    /// A field that was read, as it was; a group as such.
    pub fn field(&mut self, field: &Field<'_>) -> &mut Self {
        let number = field.number;
        match field.value {
            Value::Varint(value) => self.uint64(number, value),
            Value::Fixed64(value) => self.fixed64(number, value),
            Value::Fixed32(value) => self.fixed32(number, value),
            Value::Bytes(value) => self.bytes(number, value),
            Value::Group(fields) => {
                self.append_bits(WireType::Varint, u64::from(tag(number, WireType::StartGroup)));
                self.raw(fields);
                self.append_bits(WireType::Varint, u64::from(tag(number, WireType::EndGroup)));
                self
            }
        }
    }

    fn append_bits(&mut self, wire_type: WireType, bits: u64) {
        let bytes = bits.to_le_bytes();
        match wire_type {
            WireType::Fixed64 => self.raw(&bytes),
            WireType::Fixed32 => self.raw(bytes.first_chunk::<4>().unwrap_or(&[0; 4])),
            _ => {
                let (bytes, len) = encode_varint(bits);
                self.raw(bytes.get(..len).unwrap_or_default())
            }
        };
    }
}

fn size_of_bits<S: Scalar>(bits: u64) -> usize {
    match S::WIRE_TYPE {
        WireType::Fixed64 => 8,
        WireType::Fixed32 => 4,
        _ => varint_len(bits),
    }
}
