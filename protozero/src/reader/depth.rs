//! The depth of nested messages, for code that follows them by calling itself: bytes of some
//! kilobytes nest so deep that they would use up a stack.

use super::Reader;
use crate::error::{DecodeError, DecodeErrorKind};

/// Maximum depth of nested messages, as in the official libraries.
pub const MAX_MESSAGE_DEPTH: u32 = 100;

/// The number of further messages that may be nested.
#[derive(Clone, Copy, Debug)]
pub struct Depth(u32);

impl Depth {
    /// That of the outermost message.
    pub const OUTERMOST: Self = Self(MAX_MESSAGE_DEPTH);

    /// The depth within a message that is nested, of which the field has this number; an error if
    /// it is too deep.
    #[inline]
    pub fn deeper(self, nested: &Reader<'_>, number: u32) -> Result<Self, DecodeError> {
        let too_deep = || DecodeError::new(DecodeErrorKind::TooDeep, nested.offset(), number);
        self.0.checked_sub(1).map(Self).ok_or_else(too_deep)
    }
}
