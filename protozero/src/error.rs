//! The errors of reading and of writing.
//!
//! Both types are small values that own no memory.

use core::fmt;

use crate::wire::WireType;

/// An error in bytes that are read: kind, offset and field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    kind: DecodeErrorKind,
    offset: u64,
    field: u32,
}

/// The kinds of [`DecodeError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The bytes end inside a field of the outermost message. More bytes could complete it, as in a
    /// file that is still being written or was truncated.
    Truncated,
    /// A field of a nested message continues beyond that message's end. More bytes can't repair
    /// that.
    Overrun,
    /// A varint of more than ten bytes or more than 64 bits.
    VarintTooLong,
    /// A tag with field number 0, or of more than 32 bits.
    InvalidTag,
    /// A tag with wire type 6 or 7.
    InvalidWireType(u8),
    /// A length of 2 GiB or more, which protobuf doesn't allow.
    LengthTooLarge(u64),
    /// The end of a group that was not started, or not started last.
    UnmatchedEndGroup,
    /// Groups nested deeper than [`MAX_GROUP_DEPTH`](crate::reader::MAX_GROUP_DEPTH).
    TooDeep,
    /// The field is well-formed, but not of the requested type.
    UnexpectedWireType {
        /// The wire type that the accessor needs.
        expected: WireType,
        /// The wire type of the field.
        found: WireType,
    },
    /// A string that is not UTF-8. [`as_bytes`](crate::reader::Field::as_bytes) returns its bytes.
    InvalidUtf8,
}

impl DecodeError {
    pub(crate) const fn new(kind: DecodeErrorKind, offset: u64, field: u32) -> Self {
        Self { kind, offset, field }
    }

    /// The kind of the error.
    pub const fn kind(&self) -> DecodeErrorKind {
        self.kind
    }

    /// The absolute offset of the tag, length or value that can't be read, in bytes from the start
    /// of the outermost message (plus the offset that its reader was given).
    /// [`Reader::offset`](crate::Reader::offset) returns the start of the field.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of the field; `None` if not even its tag could be read.
    pub const fn field(&self) -> Option<u32> {
        if self.field == 0 { None } else { Some(self.field) }
    }

    /// True if more bytes could complete the message, false if the bytes are corrupt or not of the
    /// expected type.
    pub const fn is_truncated(&self) -> bool {
        matches!(self.kind, DecodeErrorKind::Truncated)
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            DecodeErrorKind::Truncated => "the bytes end inside a field",
            DecodeErrorKind::Overrun => "a field continues beyond the end of its message",
            DecodeErrorKind::VarintTooLong => "a varint is longer than 64 bits",
            DecodeErrorKind::InvalidTag => "invalid tag",
            DecodeErrorKind::InvalidWireType(_) => "invalid wire type",
            DecodeErrorKind::LengthTooLarge(_) => "a length is too large",
            DecodeErrorKind::UnmatchedEndGroup => "the end of a group that was not started",
            DecodeErrorKind::TooDeep => "groups or messages are nested too deep",
            DecodeErrorKind::UnexpectedWireType { .. } => "a field has another type than expected",
            DecodeErrorKind::InvalidUtf8 => "a string is not UTF-8",
        };
        out.write_str(what)?;
        match self.kind {
            DecodeErrorKind::InvalidWireType(bits) => write!(out, " `{bits}`")?,
            DecodeErrorKind::LengthTooLarge(length) => write!(out, " (`{length}` bytes)")?,
            DecodeErrorKind::UnexpectedWireType { expected, found } => {
                write!(out, " (`{}` instead of `{}`)", found.name(), expected.name())?;
            }
            _ => {}
        }
        write!(out, " at offset {}", self.offset)?;
        self.field().map_or(Ok(()), |field| write!(out, ", field {field}"))
    }
}

impl core::error::Error for DecodeError {}

/// An error in a message that is written: the first problem, and the size of the whole message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteError {
    kind: WriteErrorKind,
    needed: u64,
}

/// The kinds of [`WriteError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteErrorKind {
    /// The delegate had no more memory.
    Exhausted,
    /// A nested message has 256 MiB or more, which a size field of four bytes can't express.
    NestedTooLong,
    /// A nested message has another size than announced.
    WrongSize,
    /// A field number is 0 or above 2^29 - 1.
    FieldNumber,
}

impl WriteError {
    pub(crate) const fn new(kind: WriteErrorKind, needed: u64) -> Self {
        Self { kind, needed }
    }

    /// The kind of the first problem.
    pub const fn kind(&self) -> WriteErrorKind {
        self.kind
    }

    /// Size of the whole message in bytes, including those that did not fit.
    pub const fn needed(&self) -> u64 {
        self.needed
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            WriteErrorKind::Exhausted => {
                write!(out, "no memory left for a message of {} bytes", self.needed)
            }
            WriteErrorKind::NestedTooLong => write!(out, "a nested message is longer than 256 MiB"),
            WriteErrorKind::WrongSize => {
                write!(out, "a nested message has another size than announced")
            }
            WriteErrorKind::FieldNumber => {
                write!(out, "a field number is not between 1 and 2^29 - 1")
            }
        }
    }
}

impl core::error::Error for WriteError {}
