//! A message that is being written: one setter per scalar type, and nested messages.
//!
//! A nested message borrows its parent mutably, so the compiler refuses writes to the parent, and a
//! second nested message, while the first one is open. Dropping it fills its size field. There is
//! no stack at run time.
//!
//! ```
//! # use protozero::{Fixed, Writer};
//! # let mut memory = [0; 32];
//! # let mut writer = Writer::new(Fixed::new(&mut memory));
//! let mut parent = writer.message();
//! let mut nested = parent.nested(1);
//! nested.uint32(1, 5);
//! drop(nested);
//! parent.uint32(2, 5);
//! ```
//!
//! Without the `drop`, it does not compile:
//!
//! ```compile_fail,E0499
//! # use protozero::{Fixed, Writer};
//! # let mut memory = [0; 32];
//! # let mut writer = Writer::new(Fixed::new(&mut memory));
//! let mut parent = writer.message();
//! let mut nested = parent.nested(1);
//! nested.uint32(1, 5);
//! parent.uint32(2, 5);
//! ```
//!
//! Setters append in the order of the calls. A field number outside 1 to 2^29 - 1 is an error of
//! the message; the check is free for constants.

use core::ops::{Deref, DerefMut};

use super::{SizeField, Tag, Writer};
use crate::delegate::Delegate;
use crate::error::WriteErrorKind;
use crate::wire::{MAX_FIELD_NUMBER, WireType, packed_varint, tag, zigzag};

/// One message, outermost or nested, to set fields on.
///
/// A function that encodes a type of message takes `&mut Message<'_, D>`; [`Nested`] and [`Exact`]
/// dereference to it.
#[derive(Debug)]
pub struct Message<'w, D> {
    writer: &'w mut Writer<D>,
}

/// A nested message whose size is filled in when it is dropped.
#[derive(Debug)]
pub struct Nested<'w, D: Delegate> {
    message: Message<'w, D>,
    size: SizeField,
}

/// A nested message whose size was announced, and is checked when it is dropped.
#[derive(Debug)]
pub struct Exact<'w, D: Delegate> {
    message: Message<'w, D>,
    /// The value that [`Writer::written`] must have at its end.
    end: u64,
}

impl<'w, D: Delegate> Message<'w, D> {
    #[inline]
    pub(crate) const fn root(writer: &'w mut Writer<D>) -> Self {
        Self { writer }
    }

    /// A `uint64`.
    #[inline]
    pub fn uint64(&mut self, field: u32, value: u64) -> &mut Self {
        self.varint(field, value)
    }

    /// A `uint32`.
    #[inline]
    pub fn uint32(&mut self, field: u32, value: u32) -> &mut Self {
        self.varint(field, u64::from(value))
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
        let tag = self.tag(field, WireType::Varint);
        self.writer.put(tag, u64::from(value), 1);
        self
    }

    /// A value of an enum.
    #[inline]
    pub fn enumeration(&mut self, field: u32, value: i32) -> &mut Self {
        self.int32(field, value)
    }

    /// A `fixed64`.
    #[inline]
    pub fn fixed64(&mut self, field: u32, value: u64) -> &mut Self {
        let tag = self.tag(field, WireType::Fixed64);
        self.writer.put(tag, value, 8);
        self
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
        let tag = self.tag(field, WireType::Fixed32);
        self.writer.put(tag, u64::from(value), 4);
        self
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
        let tag = self.tag(field, WireType::Bytes);
        self.writer.put_bytes(tag, value);
        self
    }

    /// Appends encoded fields, with their tags, unchanged.
    #[inline]
    pub fn raw(&mut self, fields: &[u8]) -> &mut Self {
        self.writer.write(fields);
        self
    }

    /// A nested message whose size is not known yet: four bytes are reserved for it and filled when
    /// it is dropped.
    #[inline]
    pub fn nested(&mut self, field: u32) -> Nested<'_, D> {
        self.reborrow().into_nested(field)
    }

    /// As [`nested`](Self::nested), of a message that is only held for this.
    #[inline]
    pub fn into_nested(mut self, field: u32) -> Nested<'w, D> {
        let tag = self.tag(field, WireType::Bytes);
        let size = self.writer.open_size(tag);
        Nested { message: self, size }
    }

    /// A nested message of exactly `size` bytes. The size field has its minimum length and is never
    /// patched, so the message can cross ranges at no cost. Any other size than announced is an
    /// error at the end.
    #[inline]
    pub fn nested_exact(&mut self, field: u32, size: usize) -> Exact<'_, D> {
        self.reborrow().into_nested_exact(field, size)
    }

    /// As [`nested_exact`](Self::nested_exact), of a message that is only held for this.
    #[inline]
    pub fn into_nested_exact(mut self, field: u32, size: usize) -> Exact<'w, D> {
        let tag = self.tag(field, WireType::Bytes);
        self.writer.put_varint(tag, size as u64);
        // A size beyond all memory is wrong in any case.
        let end = self.writer.written().wrapping_add(size as u64);
        Exact { message: self, end }
    }

    #[inline]
    pub(super) fn reborrow(&mut self) -> Message<'_, D> {
        Message { writer: self.writer }
    }

    #[inline]
    fn varint(&mut self, field: u32, value: u64) -> &mut Self {
        let tag = self.tag(field, WireType::Varint);
        self.writer.put_varint(tag, value);
        self
    }

    #[inline]
    fn tag(&mut self, field: u32, wire_type: WireType) -> Tag {
        if field == 0 || field > MAX_FIELD_NUMBER {
            self.writer.fail(WriteErrorKind::FieldNumber);
        }
        let (bits, len) = packed_varint(u64::from(tag(field, wire_type)));
        Tag { bits: bits as u64, len }
    }
}

impl<'w, D: Delegate> Deref for Nested<'w, D> {
    type Target = Message<'w, D>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.message
    }
}

impl<D: Delegate> DerefMut for Nested<'_, D> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.message
    }
}

impl<D: Delegate> Drop for Nested<'_, D> {
    #[inline]
    fn drop(&mut self) {
        self.message.writer.close_size(self.size);
    }
}

impl<'w, D: Delegate> Deref for Exact<'w, D> {
    type Target = Message<'w, D>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.message
    }
}

impl<D: Delegate> DerefMut for Exact<'_, D> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.message
    }
}

impl<D: Delegate> Drop for Exact<'_, D> {
    #[inline]
    fn drop(&mut self) {
        if self.message.writer.written() != self.end {
            self.message.writer.fail(WriteErrorKind::WrongSize);
        }
    }
}
