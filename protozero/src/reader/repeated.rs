//! The values of one occurrence of a repeated scalar field: one, or many if it is packed. Readers
//! have to take both.

use core::iter::FusedIterator;
use core::marker::PhantomData;

use super::{Cursor, Field, Value};
use crate::error::DecodeError;
use crate::scalar::Scalar;
use crate::wire::WireType;

/// The values that one field has.
///
/// ```
/// use protozero::{Reader, scalar};
/// let bytes = [0x22, 3, 3, 0x8e, 2, 0x20, 7]; // 4: packed 3 and 270, then 4: 7
/// let mut values = Vec::new();
/// for field in Reader::new(&bytes) {
///     for value in field?.values::<scalar::Uint32>()? {
///         values.push(value?);
///     }
/// }
/// assert_eq!(values, [3, 270, 7]);
/// # Ok::<(), protozero::DecodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Repeated<'a, S> {
    rest: Rest<'a>,
    field: u32,
    scalar: PhantomData<S>,
}

#[derive(Clone, Debug)]
enum Rest<'a> {
    One(u64),
    Packed(Cursor<'a>),
    Nothing,
}

impl<'a> Field<'a> {
    /// The values of a repeated scalar field, packed or not.
    pub fn values<S: Scalar>(&self) -> Result<Repeated<'a, S>, DecodeError> {
        let rest = match (self.value, S::WIRE_TYPE) {
            (Value::Varint(bits), WireType::Varint) | (Value::Fixed64(bits), WireType::Fixed64) => {
                Rest::One(bits)
            }
            (Value::Fixed32(bits), WireType::Fixed32) => Rest::One(u64::from(bits)),
            (Value::Bytes(rest), _) => {
                let end = self.value_offset + rest.len() as u64;
                Rest::Packed(Cursor { rest, end, bounded: true })
            }
            _ => return Err(self.unexpected(S::WIRE_TYPE)),
        };
        Ok(Repeated { rest, field: self.number, scalar: PhantomData })
    }
}

impl<S: Scalar> Iterator for Repeated<'_, S> {
    type Item = Result<S::Value, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let cursor = match &mut self.rest {
            Rest::Nothing => return None,
            Rest::One(bits) => {
                let value = S::from_bits(*bits);
                self.rest = Rest::Nothing;
                return Some(Ok(value));
            }
            Rest::Packed(cursor) if cursor.rest.is_empty() => return None,
            Rest::Packed(cursor) => cursor,
        };
        let bits = match S::WIRE_TYPE {
            WireType::Fixed64 => cursor.array(self.field).map(u64::from_le_bytes),
            WireType::Fixed32 => cursor.array(self.field).map(u32::from_le_bytes).map(u64::from),
            _ => cursor.varint(self.field),
        };
        if bits.is_err() {
            self.rest = Rest::Nothing;
        }
        Some(bits.map(S::from_bits))
    }
}

impl<S: Scalar> FusedIterator for Repeated<'_, S> {}
