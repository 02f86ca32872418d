//! The fields of a `ProtoLogMessage` on the wire.
//!
//! Each kind of value has a repeated field of its own; the template has their common order. Packed fields are read too,
//! although trace_processor reads unpacked ones only.

use protolog_core::schema::message;
use protozero::wire::{decode_varint, unzigzag};
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
}

/// Calls `visitor` for each field, in the order of the wire.
pub(crate) fn visit(
    fields: Reader<'_>,
    mut visitor: impl FnMut(MessageField),
) -> Result<(), DecodeError> {
    for field in fields {
        let field = field?;
        match field.number {
            message::MESSAGE_ID => visitor(MessageField::MessageId(field.as_fixed64()?)),
            message::STACKTRACE_IID => visitor(MessageField::StackTrace(field.as_u64()?)),
            message::UNSIGNED => visitor(MessageField::Unsigned(field.as_u32()?)),
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

/// The id of a message, without its values; 0 if it has none.
pub(crate) fn message_id(fields: Reader<'_>) -> u64 {
    let ids = fields.map_while(Result::ok).filter(|field| field.number == message::MESSAGE_ID);
    ids.last().and_then(|field| field.as_fixed64().ok()).unwrap_or_default()
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
