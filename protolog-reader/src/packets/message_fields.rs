//! The fields of a `ProtoLogMessage` on the wire.
//!
//! Each kind of value has a repeated field of its own; the template has their common order. Packed
//! fields are read too, although trace_processor reads unpacked ones only.

use protolog_core::ParamKind;
use protolog_core::schema::message;
use protozero::wire::{WireType, decode_varint, tag, unzigzag};
use protozero::{DecodeError, Field, Reader, Value};

/// One field of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MessageField {
    MessageId(u64),
    /// Id of an interned string.
    String(u64),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// Id of an interned stack trace.
    StackTrace(u64),
    /// Bit `i` is set where argument `i` is an unsigned integer.
    Unsigned(u32),
    /// The message was sampled, one of so many or several of them.
    RateOf(u32),
    RateKept(u32),
    /// All were kept, or none, that have the value of the argument with this number.
    RateBy(u32),
}

/// Calls `visitor` for each field, in the order of the wire.
pub(crate) fn visit(
    mut fields: Reader<'_>,
    mut visitor: impl FnMut(MessageField),
) -> Result<(), DecodeError> {
    let mut bytes = fields.rest();
    while let Some((field, rest)) = usual(bytes) {
        visitor(field);
        bytes = rest;
    }
    fields.advance(fields.rest().len() - bytes.len());
    for field in fields {
        let field = field?;
        match field.number {
            message::MESSAGE_ID => visitor(MessageField::MessageId(field.as_fixed64()?)),
            message::STACKTRACE_IID => visitor(MessageField::StackTrace(field.as_u64()?)),
            message::UNSIGNED => visitor(MessageField::Unsigned(field.as_u32()?)),
            message::RATE_OF => visitor(MessageField::RateOf(field.as_u32()?)),
            message::RATE_KEPT => visitor(MessageField::RateKept(field.as_u32()?)),
            message::RATE_BY => visitor(MessageField::RateBy(field.as_u32()?)),
            message::STR_PARAM_IIDS => {
                varints(field, |value| visitor(MessageField::String(value)))?;
            }
            message::SINT64_PARAMS => {
                varints(field, |value| visitor(MessageField::Int(unzigzag(value))))?;
            }
            message::BOOLEAN_PARAMS => {
                varints(field, |value| visitor(MessageField::Bool(value != 0)))?;
            }
            message::DOUBLE_PARAMS => doubles(field, |value| visitor(MessageField::Float(value)))?,
            _ => {}
        }
    }
    Ok(())
}

/// The numbers of a message's values by kind, each in a byte, where [`ParamKind`] has its number.
pub(crate) fn packed(counts: &[usize; 4]) -> Option<u32> {
    let bytes = counts.map(|count| u8::try_from(count).ok());
    let [Some(one), Some(two), Some(three), Some(four)] = bytes else { return None };
    Some(u32::from_le_bytes([one, two, three, four]))
}

/// The id of a message, and its number of values by kind, [`packed`], if it has nothing but these,
/// as messages usually have them. Calls `string` for each interned string, also if the answer is
/// none.
#[inline]
pub(crate) fn outline(bytes: &[u8], mut string: impl FnMut(u64)) -> Option<(u64, u32)> {
    // Of more, a count may not fit a byte.
    if bytes.len() > 2 * usize::from(u8::MAX) {
        return None;
    }
    let [MESSAGE_ID, rest @ ..] = bytes else { return None };
    let (id, mut rest) = rest.split_first_chunk()?;
    let mut counts = 0;
    while let [first, after @ ..] = rest {
        let kind;
        (kind, rest) = match *first {
            STRING => {
                let (iid, rest) = varint(after)?;
                string(iid);
                (ParamKind::Str, rest)
            }
            INT => (ParamKind::Int, varint(after)?.1),
            BOOL => (ParamKind::Bool, varint(after)?.1),
            DOUBLE => (ParamKind::Float, after.get(8..)?),
            _ => return None,
        };
        counts += 1 << (8 * kind as u32);
    }
    Some((u64::from_le_bytes(*id), counts))
}

/// The varint that `bytes` begin with, and the bytes after it.
#[inline]
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    match bytes {
        [byte @ ..0x80, rest @ ..] => Some((u64::from(*byte), rest)),
        [low, high @ ..0x80, rest @ ..] => {
            Some((u64::from(low & 0x7f) | u64::from(*high) << 7, rest))
        }
        [low, middle, high @ ..0x80, rest @ ..] => {
            let low = u64::from(low & 0x7f) | u64::from(middle & 0x7f) << 7;
            Some((low | u64::from(*high) << 14, rest))
        }
        _ => {
            let (value, length) = decode_varint(bytes).ok()?;
            Some((value, bytes.get(length..)?))
        }
    }
}

/// The first field and the bytes after it, if it is a usual field of messages in its usual form.
#[inline]
pub(crate) fn usual(bytes: &[u8]) -> Option<(MessageField, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    if let MESSAGE_ID | DOUBLE = first {
        let (value, rest) = rest.split_first_chunk()?;
        let bits = u64::from_le_bytes(*value);
        let is_id = first == MESSAGE_ID;
        let field = if is_id {
            MessageField::MessageId(bits)
        } else {
            MessageField::Float(f64::from_bits(bits))
        };
        return Some((field, rest));
    }
    let make = match first {
        STRING => MessageField::String,
        INT => |value| MessageField::Int(unzigzag(value)),
        BOOL => |value| MessageField::Bool(value != 0),
        _ => return None,
    };
    let (value, rest) = varint(rest)?;
    Some((make(value), rest))
}

pub(crate) const MESSAGE_ID: u8 = tag(message::MESSAGE_ID, WireType::Fixed64) as u8;
pub(crate) const DOUBLE: u8 = tag(message::DOUBLE_PARAMS, WireType::Fixed64) as u8;
pub(crate) const STRING: u8 = tag(message::STR_PARAM_IIDS, WireType::Varint) as u8;
pub(crate) const INT: u8 = tag(message::SINT64_PARAMS, WireType::Varint) as u8;
pub(crate) const BOOL: u8 = tag(message::BOOLEAN_PARAMS, WireType::Varint) as u8;

/// The id of a message, without its values; 0 if it has none. Of a damaged one it is the id with
/// which [`visit`] shows it, so that filters and counts see the id that is shown.
pub(crate) fn message_id(fields: Reader<'_>) -> u64 {
    // Writers put it first, and once.
    if let Some((id, _)) = outline(fields.rest(), |_| ()) {
        return id;
    }
    let mut id = 0;
    // An error is reported where the message is shown.
    let _ = visit(fields, |field| {
        if let MessageField::MessageId(found) = field {
            id = found;
        }
    });
    id
}

fn varints(field: Field<'_>, mut visitor: impl FnMut(u64)) -> Result<(), DecodeError> {
    let Value::Bytes(mut packed) = field.value else {
        visitor(field.as_u64()?);
        return Ok(());
    };
    while !packed.is_empty() {
        let Ok((value, len)) = decode_varint(packed) else {
            // Not a scalar, so this returns the error that names the field.
            return field.as_u64().map(|_| ());
        };
        visitor(value);
        packed = &packed[len..];
    }
    Ok(())
}

fn doubles(field: Field<'_>, mut visitor: impl FnMut(f64)) -> Result<(), DecodeError> {
    let Value::Bytes(packed) = field.value else {
        visitor(field.as_f64()?);
        return Ok(());
    };
    let (values, rest) = packed.as_chunks::<8>();
    if !rest.is_empty() {
        return field.as_f64().map(|_| ());
    }
    for bytes in values {
        visitor(f64::from_le_bytes(*bytes));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The id with which a message is shown.
    fn shown(bytes: &[u8]) -> u64 {
        let mut id = 0;
        let _ = visit(Reader::new(bytes), |field| {
            if let MessageField::MessageId(found) = field {
                id = found;
            }
        });
        id
    }

    #[test]
    fn a_damaged_message_is_counted_under_the_id_with_which_it_is_shown() {
        let mut message = vec![MESSAGE_ID, 1, 2, 3, 4, 5, 6, 7, 8];
        message.extend([INT, 0x81, 0x01, STRING, 7, DOUBLE, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        message.extend([BOOL, 1, MESSAGE_ID, 8, 7, 6, 5, 4, 3, 2, 1]);
        for bit in 0..message.len() * 8 {
            let mut damaged = message.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            for length in [damaged.len(), damaged.len() - 9, damaged.len() - 12] {
                let damaged = &damaged[..length];
                assert_eq!(message_id(Reader::new(damaged)), shown(damaged), "{damaged:x?}");
            }
        }
    }
}
