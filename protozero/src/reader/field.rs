//! One field on the wire, with accessors for its value in each type of a schema.
//!
//! The wire does not contain the scalar type of a field, so callers choose it according to the
//! schema. An accessor fails only if the wire type does not fit. Integers of 32 bits are the low
//! half of the value, as everywhere in protobuf.

use crate::error::{DecodeError, DecodeErrorKind};
use crate::reader::Reader;
use crate::wire::{WireType, unzigzag};

/// One field of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field<'a> {
    /// The field number, 1 to 2^29 - 1.
    pub number: u32,
    /// The value, by wire type.
    pub value: Value<'a>,
    /// The absolute offset of the field's tag.
    pub offset: u64,
    /// The absolute offset of the value.
    pub(crate) value_offset: u64,
}

/// A value by wire type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Every integer but the fixed ones, `bool` and enums.
    Varint(u64),
    /// `fixed64`, `sfixed64`, `double`.
    Fixed64(u64),
    /// `string`, `bytes`, a message, or packed repeated values.
    Bytes(&'a [u8]),
    /// The fields of a group, without its start and end.
    Group(&'a [u8]),
    /// `fixed32`, `sfixed32`, `float`.
    Fixed32(u32),
}

impl Value<'_> {
    /// The wire type of the field that had this value.
    pub const fn wire_type(&self) -> WireType {
        match self {
            Self::Varint(_) => WireType::Varint,
            Self::Fixed64(_) => WireType::Fixed64,
            Self::Bytes(_) => WireType::Bytes,
            Self::Group(_) => WireType::StartGroup,
            Self::Fixed32(_) => WireType::Fixed32,
        }
    }
}

impl<'a> Field<'a> {
    /// A `uint64`.
    #[inline]
    pub const fn as_u64(&self) -> Result<u64, DecodeError> {
        match self.value {
            Value::Varint(value) => Ok(value),
            _ => Err(self.unexpected(WireType::Varint)),
        }
    }

    /// An `int64`.
    #[inline]
    pub fn as_i64(&self) -> Result<i64, DecodeError> {
        Ok(self.as_u64()? as i64)
    }

    /// A `uint32`: the low 32 bits.
    #[inline]
    pub fn as_u32(&self) -> Result<u32, DecodeError> {
        Ok(self.as_u64()? as u32)
    }

    /// An `int32` or an enum: the low 32 bits.
    #[inline]
    pub fn as_i32(&self) -> Result<i32, DecodeError> {
        Ok(self.as_u64()? as i32)
    }

    /// A `sint64`.
    #[inline]
    pub fn as_sint64(&self) -> Result<i64, DecodeError> {
        Ok(unzigzag(self.as_u64()?))
    }

    /// A `sint32`: the low 32 bits.
    #[inline]
    pub fn as_sint32(&self) -> Result<i32, DecodeError> {
        Ok(unzigzag(u64::from(self.as_u32()?)) as i32)
    }

    /// A `bool`: anything but 0 is true.
    #[inline]
    pub fn as_bool(&self) -> Result<bool, DecodeError> {
        Ok(self.as_u64()? != 0)
    }

    /// A `fixed64`.
    #[inline]
    pub const fn as_fixed64(&self) -> Result<u64, DecodeError> {
        match self.value {
            Value::Fixed64(value) => Ok(value),
            _ => Err(self.unexpected(WireType::Fixed64)),
        }
    }

    /// An `sfixed64`.
    #[inline]
    pub fn as_sfixed64(&self) -> Result<i64, DecodeError> {
        Ok(self.as_fixed64()? as i64)
    }

    /// A `double`, with every bit of it.
    #[inline]
    pub fn as_f64(&self) -> Result<f64, DecodeError> {
        Ok(f64::from_bits(self.as_fixed64()?))
    }

    /// A `fixed32`.
    #[inline]
    pub const fn as_fixed32(&self) -> Result<u32, DecodeError> {
        match self.value {
            Value::Fixed32(value) => Ok(value),
            _ => Err(self.unexpected(WireType::Fixed32)),
        }
    }

    /// An `sfixed32`.
    #[inline]
    pub fn as_sfixed32(&self) -> Result<i32, DecodeError> {
        Ok(self.as_fixed32()? as i32)
    }

    /// A `float`, with every bit of it.
    #[inline]
    pub fn as_f32(&self) -> Result<f32, DecodeError> {
        Ok(f32::from_bits(self.as_fixed32()?))
    }

    /// `bytes`, or a `string` without a check of its encoding.
    #[inline]
    pub const fn as_bytes(&self) -> Result<&'a [u8], DecodeError> {
        match self.value {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(self.unexpected(WireType::Bytes)),
        }
    }

    /// A `string`. If it is not UTF-8, the error has the offset of the first invalid byte, and
    /// [`as_bytes`](Self::as_bytes) returns the bytes.
    #[inline]
    pub fn as_str(&self) -> Result<&'a str, DecodeError> {
        core::str::from_utf8(self.as_bytes()?).map_err(|error| {
            let offset = self.value_offset + error.valid_up_to() as u64;
            DecodeError::new(DecodeErrorKind::InvalidUtf8, offset, self.number)
        })
    }

    /// The fields of a nested message.
    #[inline]
    pub const fn as_message(&self) -> Result<Reader<'a>, DecodeError> {
        match self.value {
            Value::Bytes(bytes) => Ok(Reader::nested(bytes, self.value_offset)),
            _ => Err(self.unexpected(WireType::Bytes)),
        }
    }

    #[cold]
    pub(super) const fn unexpected(&self, expected: WireType) -> DecodeError {
        let found = self.value.wire_type();
        DecodeError::new(
            DecodeErrorKind::UnexpectedWireType { expected, found },
            self.offset,
            self.number,
        )
    }
}
