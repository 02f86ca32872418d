//! What can be wrong with bytes that are read, and with a message that is written.
//!
//! Both error types are small values without memory of their own; neither is ever a panic.

use core::fmt;

use crate::wire::WireType;

/// Bytes that are not the message they should be: what, where, in which field.
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
    /// The bytes end inside a field of the outermost message. Nothing is wrong with what is there: more bytes could
    /// complete it, as in a file that is still being written or was cut off.
    Truncated,
    /// A field of a nested message goes on after that message's end. No further bytes can mend that.
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
    /// The field is well-formed but not of the type that was asked for.
    UnexpectedWireType {
        /// What the accessor needs.
        expected: WireType,
        /// What is there.
        found: WireType,
    },
    /// A string that is not UTF-8. The bytes can be had by [`as_bytes`](crate::reader::Field::as_bytes).
    InvalidUtf8,
}

impl DecodeError {
    pub(crate) const fn new(kind: DecodeErrorKind, offset: u64, field: u32) -> Self {
        Self { kind, offset, field }
    }

    /// What is wrong.
    pub const fn kind(&self) -> DecodeErrorKind {
        self.kind
    }

    /// Where: the absolute offset of the tag, length or value that can't be read, in bytes from the start of the
    /// outermost message (plus the offset that its reader was given). Where the whole field starts is what
    /// [`Reader::offset`](crate::Reader::offset) says.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// In which field; `None` where not even its tag could be read.
    pub const fn field(&self) -> Option<u32> {
        if self.field == 0 { None } else { Some(self.field) }
    }

    /// True if more bytes could make it right, false if the bytes are corrupt or not of the expected type.
    pub const fn is_truncated(&self) -> bool {
        matches!(self.kind, DecodeErrorKind::Truncated)
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            DecodeErrorKind::Truncated => "the bytes end inside a field",
            DecodeErrorKind::Overrun => "a field goes on after the end of its message",
            DecodeErrorKind::VarintTooLong => "a varint is longer than 64 bits",
            DecodeErrorKind::InvalidTag => "no field has such a tag",
            DecodeErrorKind::InvalidWireType(_) => "no such wire type",
            DecodeErrorKind::LengthTooLarge(_) => "a length is too large",
            DecodeErrorKind::UnmatchedEndGroup => "a group ends that was not started",
            DecodeErrorKind::TooDeep => "groups are nested too deep",
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

/// Why what was written is not a whole message: the first thing that went wrong, and how long it would have been.
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
    /// A nested message of 256 MiB or more, which a size field of four bytes can't express.
    NestedTooLong,
    /// A nested message that was announced with one size and written with another.
    WrongSize,
    /// A field number that is 0 or above 2^29 - 1.
    FieldNumber,
}

impl WriteError {
    pub(crate) const fn new(kind: WriteErrorKind, needed: u64) -> Self {
        Self { kind, needed }
    }

    /// What went wrong first.
    pub const fn kind(&self) -> WriteErrorKind {
        self.kind
    }

    /// Bytes that the whole message takes, those included that found no place.
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
