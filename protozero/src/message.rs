//! A message in the making: one setter per scalar type, and nested messages.
//!
//! A nested message borrows its parent mutably, so the compiler refuses to write to the parent, or to open a second
//! nested message, while the first one is open; dropping it fills its size field. There is no stack at run time.
//!
//! ```compile_fail,E0499
//! # use protozero::{Heap, Writer};
//! let mut writer = Writer::new(Heap::new());
//! let mut parent = writer.message();
//! let mut nested = parent.nested(1);
//! parent.uint32(2, 5); // refused: `parent` is borrowed by `nested`
//! nested.uint32(1, 5);
//! ```
//!
//! Setters append in the order of their calls. A field number outside of 1 to 2^29 - 1 writes nothing and makes the
//! message an error; where the number is a constant, the test disappears.

use crate::delegate::Delegate;
use crate::error::WriteErrorKind;
use crate::wire::{MAX_FIELD_NUMBER, WireType, packed_varint, packed_varint32, tag, zigzag};
use crate::writer::{SizeField, Writer};

/// One message, outermost or nested, to set fields on.
#[derive(Debug)]
pub struct Message<'w, D: Delegate> {
    writer: &'w mut Writer<D>,
    size: Size,
}

/// What is to be done at the end of a message.
#[derive(Clone, Copy, Debug)]
enum Size {
    /// The outermost message, or one that could not be opened, has no size field.
    None,
    /// The size was announced: the message has to end here, counted as [`Writer::written`].
    Known { end: u64 },
    /// The size is to be filled in.
    Reserved(SizeField),
}

impl<'w, D: Delegate> Message<'w, D> {
    #[inline]
    pub(crate) const fn root(writer: &'w mut Writer<D>) -> Self {
        Self { writer, size: Size::None }
    }

    /// A `uint64`.
    #[inline]
    pub fn uint64(&mut self, field: u32, value: u64) -> &mut Self {
        self.varint(field, value)
    }

    /// A `uint32`.
    #[inline]
    pub fn uint32(&mut self, field: u32, value: u32) -> &mut Self {
        self.with_tag(field, WireType::Varint, |writer, bits, len| {
            let (value, value_len) = packed_varint32(value);
            writer.put(bits | u128::from(value) << (8 * len), len + value_len);
        })
    }

    /// An `int64`; negative values take ten bytes, as protobuf has it.
    #[inline]
    pub fn int64(&mut self, field: u32, value: i64) -> &mut Self {
        self.varint(field, value as u64)
    }

    /// An `int32`; negative values take ten bytes, as protobuf has it.
    #[inline]
    pub fn int32(&mut self, field: u32, value: i32) -> &mut Self {
        self.varint(field, i64::from(value) as u64)
    }

    /// A `sint64`.
    #[inline]
    pub fn sint64(&mut self, field: u32, value: i64) -> &mut Self {
        self.varint(field, zigzag(value))
    }

    /// A `sint32`.
    #[inline]
    pub fn sint32(&mut self, field: u32, value: i32) -> &mut Self {
        self.uint32(field, zigzag(i64::from(value)) as u32)
    }

    /// A `bool`.
    #[inline]
    pub fn bool(&mut self, field: u32, value: bool) -> &mut Self {
        self.uint32(field, u32::from(value))
    }

    /// A value of an enum.
    #[inline]
    pub fn enumeration(&mut self, field: u32, value: i32) -> &mut Self {
        self.int32(field, value)
    }

    /// A `fixed64`.
    #[inline]
    pub fn fixed64(&mut self, field: u32, value: u64) -> &mut Self {
        self.with_tag(field, WireType::Fixed64, |writer, bits, len| {
            writer.put(bits | u128::from(value) << (8 * len), len + 8);
        })
    }

    /// An `sfixed64`.
    #[inline]
    pub fn sfixed64(&mut self, field: u32, value: i64) -> &mut Self {
        self.fixed64(field, value as u64)
    }

    /// A `double`, with every bit of it.
    #[inline]
    pub fn double(&mut self, field: u32, value: f64) -> &mut Self {
        self.fixed64(field, value.to_bits())
    }

    /// A `fixed32`.
    #[inline]
    pub fn fixed32(&mut self, field: u32, value: u32) -> &mut Self {
        self.with_tag(field, WireType::Fixed32, |writer, bits, len| {
            writer.put(bits | u128::from(value) << (8 * len), len + 4);
        })
    }

    /// An `sfixed32`.
    #[inline]
    pub fn sfixed32(&mut self, field: u32, value: i32) -> &mut Self {
        self.fixed32(field, value as u32)
    }

    /// A `float`, with every bit of it.
    #[inline]
    pub fn float(&mut self, field: u32, value: f32) -> &mut Self {
        self.fixed32(field, value.to_bits())
    }

    /// A `string`.
    #[inline]
    pub fn string(&mut self, field: u32, value: &str) -> &mut Self {
        self.bytes(field, value.as_bytes())
    }

    /// `bytes`, or a message that is already encoded.
    #[inline]
    pub fn bytes(&mut self, field: u32, value: &[u8]) -> &mut Self {
        self.with_tag(field, WireType::Bytes, |writer, bits, len| {
            let (size, size_len) = packed_varint(value.len() as u64);
            writer.put(bits | size << (8 * len), len + size_len);
            writer.write(value);
        })
    }

    /// Encoded fields, tags and all, appended as they are.
    #[inline]
    pub fn raw(&mut self, fields: &[u8]) -> &mut Self {
        self.writer.write(fields);
        self
    }

    /// A nested message whose size is not known yet: four bytes are reserved for it and filled when it is dropped.
    #[inline]
    pub fn nested(&mut self, field: u32) -> Message<'_, D> {
        let mut size = Size::None;
        self.with_tag(field, WireType::Bytes, |writer, bits, len| {
            size = Size::Reserved(writer.open_size(bits, len));
        });
        Message { writer: &mut *self.writer, size }
    }

    /// A nested message of exactly `size` bytes: the size field takes no more bytes than it needs, and nothing is
    /// filled in later, so that the message may be cut anywhere at no cost. Another size than announced is an error
    /// at the end.
    #[inline]
    pub fn nested_exact(&mut self, field: u32, size: usize) -> Message<'_, D> {
        let mut known = Size::None;
        self.with_tag(field, WireType::Bytes, |writer, bits, len| {
            let (bytes, size_len) = packed_varint(size as u64);
            writer.put(bits | bytes << (8 * len), len + size_len);
            known = Size::Known { end: writer.written() + size as u64 };
        });
        Message { writer: &mut *self.writer, size: known }
    }

    #[inline]
    fn varint(&mut self, field: u32, value: u64) -> &mut Self {
        self.with_tag(field, WireType::Varint, |writer, bits, len| {
            let (value, value_len) = packed_varint(value);
            writer.put(bits | value << (8 * len), len + value_len);
        })
    }

    /// Calls `put` with the bytes of a tag and their number, if the field number is one.
    #[inline]
    fn with_tag(
        &mut self,
        field: u32,
        wire_type: WireType,
        put: impl FnOnce(&mut Writer<D>, u128, usize),
    ) -> &mut Self {
        if field == 0 || field > MAX_FIELD_NUMBER {
            self.writer.fail(WriteErrorKind::FieldNumber);
        } else {
            let (bits, len) = packed_varint32(tag(field, wire_type));
            put(self.writer, u128::from(bits), len);
        }
        self
    }
}

impl<D: Delegate> Drop for Message<'_, D> {
    #[inline]
    fn drop(&mut self) {
        match self.size {
            Size::None => {}
            Size::Known { end } => {
                if self.writer.written() != end {
                    self.writer.fail(WriteErrorKind::WrongSize);
                }
            }
            Size::Reserved(field) => self.writer.close_size(field),
        }
    }
}
