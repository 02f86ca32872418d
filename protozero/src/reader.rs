//! A borrowing reader, which iterates over the fields of any bytes.
//!
//! [`Reader`] is an iterator over `Result<Field, DecodeError>`. It accepts any bytes without
//! panicking, copies nothing, allocates nothing, reads each byte of its message at most once, and
//! ends after the first error. Offsets are absolute: the reader of a nested message counts from the
//! offset of the parent's field.
//!
//! Groups are deprecated since proto2, but part of the format: a group is one field, with the bytes
//! between its start and its end.

mod depth;
mod field;
mod repeated;

use core::iter::FusedIterator;

use crate::error::{DecodeError, DecodeErrorKind};
use crate::wire::{VarintError, WireType, decode_varint};
pub use depth::{Depth, MAX_MESSAGE_DEPTH};
pub use field::{Field, Value};
pub use repeated::Repeated;

/// Maximum depth of nested groups, as in the official libraries.
pub const MAX_GROUP_DEPTH: usize = 100;

/// The largest length that protobuf allows, 2 GiB - 1.
const MAX_LENGTH: u64 = (1 << 31) - 1;

/// The fields of one message.
///
/// ```
/// use protozero::Reader;
/// // 1: 150, 2: "hi", 3: { 1: -1 as sint64 }
/// let bytes = [0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i', 0x1a, 0x02, 0x08, 0x01];
/// let mut seen = (0, "", 0);
/// for field in Reader::new(&bytes) {
///     let field = field?;
///     match field.number {
///         1 => seen.0 = field.as_u64()?,
///         2 => seen.1 = field.as_str()?,
///         3 => {
///             for field in field.as_message()? {
///                 let field = field?;
///                 assert_eq!(field.offset, 9); // counted from the start of `bytes`
///                 seen.2 = field.as_sint64()?;
///             }
///         }
///         _ => {} // unknown fields are not errors
///     }
/// }
/// assert_eq!(seen, (150, "hi", -1));
/// # Ok::<(), protozero::DecodeError>(())
/// ```
///
/// For bytes that are still growing, the reader tells an incomplete field from a corrupt one, and
/// has the offset from which to continue:
///
/// ```
/// use protozero::Reader;
/// let mut reader = Reader::new(&[0x08, 0x01, 0x12, 0x05, b'h', b'e']);
/// assert_eq!(reader.next().unwrap()?.as_u64()?, 1);
/// assert!(reader.next().unwrap().unwrap_err().is_truncated());
/// assert_eq!(reader.offset(), 2); // the start of the incomplete field
/// # Ok::<(), protozero::DecodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Reader<'a> {
    /// Reads `bytes` as the outermost message: an incomplete last field is
    /// [`DecodeErrorKind::Truncated`].
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self::with_offset(bytes, 0)
    }

    /// As [`new`](Self::new), for bytes that start at `offset` of something larger.
    #[inline]
    pub const fn with_offset(bytes: &'a [u8], offset: u64) -> Self {
        Self {
            cursor: Cursor {
                rest: bytes,
                end: offset.saturating_add(bytes.len() as u64),
                bounded: false,
            },
        }
    }

    /// Reads the contents of a field whose length is valid: an incomplete last field is an
    /// [`DecodeErrorKind::Overrun`].
    #[inline]
    pub(crate) const fn nested(bytes: &'a [u8], offset: u64) -> Self {
        Self {
            cursor: Cursor {
                rest: bytes,
                end: offset.saturating_add(bytes.len() as u64),
                bounded: true,
            },
        }
    }

    /// The bytes that were not read yet.
    #[inline]
    pub const fn rest(&self) -> &'a [u8] {
        self.cursor.rest
    }

    /// Goes on behind the next `length` bytes, which the caller has read; at the end if there are
    /// fewer.
    #[inline]
    pub fn advance(&mut self, length: usize) {
        self.cursor.rest = self.cursor.rest.get(length..).unwrap_or_default();
    }

    /// The absolute offset of the next field; after an error, of the field that could not be read.
    #[inline]
    pub const fn offset(&self) -> u64 {
        self.cursor.offset()
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Field<'a>, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.cursor.rest.is_empty() {
            return None;
        }
        let start = self.cursor.offset();
        let field = self.cursor.field();
        if field.is_err() {
            (self.cursor.rest, self.cursor.end) = (&[], start);
        }
        Some(field)
    }
}

impl FusedIterator for Reader<'_> {}

/// The rest of the bytes, with their position.
#[derive(Clone, Copy, Debug)]
struct Cursor<'a> {
    rest: &'a [u8],
    /// The absolute offset of the end of `rest`, which determines that of its start.
    end: u64,
    /// True if the end of `rest` is the end of a nested message, so that nothing can follow.
    bounded: bool,
}

impl<'a> Cursor<'a> {
    #[inline]
    const fn offset(&self) -> u64 {
        self.end - self.rest.len() as u64
    }

    #[inline]
    fn field(&mut self) -> Result<Field<'a>, DecodeError> {
        let offset = self.offset();
        let (number, wire_type) = self.tag()?;
        let (value, value_offset) = match wire_type {
            WireType::Varint => (Value::Varint(self.varint(number)?), self.offset()),
            WireType::Fixed64 => {
                (Value::Fixed64(u64::from_le_bytes(self.array(number)?)), self.offset())
            }
            WireType::Fixed32 => {
                (Value::Fixed32(u32::from_le_bytes(self.array(number)?)), self.offset())
            }
            WireType::Bytes => {
                let length = self.length(number)?;
                let start = self.offset();
                (Value::Bytes(self.take(length, number)?), start)
            }
            WireType::StartGroup => {
                let start = self.offset();
                (Value::Group(self.group(number)?), start)
            }
            WireType::EndGroup => {
                return Err(DecodeError::new(DecodeErrorKind::UnmatchedEndGroup, offset, number));
            }
        };
        Ok(Field { number, value, offset, value_offset })
    }

    /// A field number and a wire type.
    #[inline]
    fn tag(&mut self) -> Result<(u32, WireType), DecodeError> {
        let start = self.offset();
        let tag = self.varint(0)?;
        let number = (tag >> 3) as u32;
        if tag > u64::from(u32::MAX) || number == 0 {
            return Err(DecodeError::new(DecodeErrorKind::InvalidTag, start, 0));
        }
        let bits = (tag & 7) as u8;
        let wire_type = WireType::from_bits(bits).ok_or(DecodeError::new(
            DecodeErrorKind::InvalidWireType(bits),
            start,
            number,
        ))?;
        Ok((number, wire_type))
    }

    #[inline]
    fn varint(&mut self, field: u32) -> Result<u64, DecodeError> {
        match *self.rest {
            // Most tags, lengths and numbers are one byte.
            [byte, ref rest @ ..] if byte < 0x80 => {
                self.rest = rest;
                Ok(u64::from(byte))
            }
            _ => self.long_varint(field),
        }
    }

    fn long_varint(&mut self, field: u32) -> Result<u64, DecodeError> {
        match decode_varint(self.rest) {
            Ok((value, length)) => {
                self.take(length as u64, field)?;
                Ok(value)
            }
            Err(VarintError::Truncated) => Err(self.too_short(field)),
            Err(VarintError::TooLong) => {
                Err(DecodeError::new(DecodeErrorKind::VarintTooLong, self.offset(), field))
            }
        }
    }

    #[inline]
    fn length(&mut self, field: u32) -> Result<u64, DecodeError> {
        let start = self.offset();
        let length = self.varint(field)?;
        if length > MAX_LENGTH {
            return Err(DecodeError::new(DecodeErrorKind::LengthTooLarge(length), start, field));
        }
        Ok(length)
    }

    #[inline]
    fn take(&mut self, length: u64, field: u32) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = usize::try_from(length)
            .ok()
            .and_then(|length| self.rest.split_at_checked(length))
            .ok_or_else(|| self.too_short(field))?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self, field: u32) -> Result<[u8; N], DecodeError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(|| self.too_short(field))?;
        self.rest = rest;
        Ok(*taken)
    }

    /// The fields of a group whose start has been read, without its end, which is consumed.
    #[cold]
    fn group(&mut self, number: u32) -> Result<&'a [u8], DecodeError> {
        let contents = self.rest;
        let start = self.offset();
        // An explicit stack instead of recursion, so that its size does not depend on the bytes.
        let mut open = [0; MAX_GROUP_DEPTH];
        open[0] = number;
        let mut depth = 1;
        loop {
            let offset = self.offset();
            let (number, wire_type) = self.tag()?;
            match wire_type {
                WireType::Varint => drop(self.varint(number)?),
                WireType::Fixed64 => drop(self.array::<8>(number)?),
                WireType::Fixed32 => drop(self.array::<4>(number)?),
                WireType::Bytes => {
                    let length = self.length(number)?;
                    self.take(length, number)?;
                }
                WireType::StartGroup => {
                    *open.get_mut(depth).ok_or(DecodeError::new(
                        DecodeErrorKind::TooDeep,
                        offset,
                        number,
                    ))? = number;
                    depth += 1;
                }
                WireType::EndGroup => {
                    depth -= 1;
                    if open.get(depth) != Some(&number) {
                        return Err(DecodeError::new(
                            DecodeErrorKind::UnmatchedEndGroup,
                            offset,
                            number,
                        ));
                    }
                    if depth == 0 {
                        let length = (offset - start) as usize;
                        return contents.get(..length).ok_or_else(|| self.too_short(number));
                    }
                }
            }
        }
    }

    #[cold]
    fn too_short(&self, field: u32) -> DecodeError {
        let kind = if self.bounded { DecodeErrorKind::Overrun } else { DecodeErrorKind::Truncated };
        DecodeError::new(kind, self.offset(), field)
    }
}
