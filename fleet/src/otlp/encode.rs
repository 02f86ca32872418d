//! The protobuf of OTLP, as far as logs need it, by hand: what all records of a message have in
//! common is encoded once, and lengths are known before what they are of.
//!
//! Field numbers are those of `opentelemetry/proto/logs/v1/logs.proto`, `common/v1/common.proto`
//! and `resource/v1/resource.proto` at version 1; those of metrics alone are in
//! `metrics/points.rs`; the tests decode all of it with the official
//! protobufs.

use protolog_core::Arg;

/// `LogRecord`
pub(super) mod log_record {
    pub(in super::super) const TIME: u32 = 1;
    pub(in super::super) const SEVERITY: u32 = 2;
    pub(in super::super) const SEVERITY_TEXT: u32 = 3;
    pub(in super::super) const BODY: u32 = 5;
    pub(in super::super) const ATTRIBUTES: u32 = 6;
    pub(in super::super) const TRACE_ID: u32 = 9;
    pub(in super::super) const SPAN_ID: u32 = 10;
    pub(in super::super) const OBSERVED_TIME: u32 = 11;
    pub(in super::super) const EVENT_NAME: u32 = 12;
}

/// `ExportLogsServiceRequest` and `ExportMetricsServiceRequest`, and the messages between them and
/// what is exported: the numbers are the same in both.
pub(super) mod export_request {
    /// `ResourceLogs` or `ResourceMetrics`.
    pub(in super::super) const OF_RESOURCE: u32 = 1;
    /// Of these.
    pub(in super::super) const RESOURCE: u32 = 1;
    /// Of these: `ScopeLogs` or `ScopeMetrics`.
    pub(in super::super) const OF_SCOPE: u32 = 2;
    /// Of these.
    pub(in super::super) const SCOPE: u32 = 1;
    /// Of these: `LogRecord` or `Metric`.
    pub(in super::super) const ITEMS: u32 = 2;
    /// Of `InstrumentationScope`.
    pub(in super::super) const SCOPE_NAME: u32 = 1;
    /// Of `InstrumentationScope`.
    pub(in super::super) const SCOPE_VERSION: u32 = 2;
}

/// `Resource`
pub(super) const RESOURCE_ATTRIBUTES: u32 = 1;

/// `KeyValue`
mod key_value {
    pub(super) const KEY: u32 = 1;
    pub(super) const VALUE: u32 = 2;
}

/// `AnyValue`
mod any_value {
    pub(super) const STRING: u32 = 1;
    pub(super) const BOOL: u32 = 2;
    pub(super) const INT: u32 = 3;
    pub(super) const DOUBLE: u32 = 4;
}

/// Wire types.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;

/// Adds a field of bytes: a text or a message.
pub(super) fn bytes_field(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    length_field(out, number, bytes.len());
    out.extend_from_slice(bytes);
}

/// Adds the beginning of a field of so many bytes, which follow.
pub(super) fn length_field(out: &mut Vec<u8>, number: u32, length: usize) {
    varint(out, u64::from(number << 3 | LENGTH));
    varint(out, length as u64);
}

/// The bytes of a field with so many bytes of content.
pub(super) fn field_size(number: u32, length: usize) -> usize {
    varint_size(u64::from(number << 3)) + varint_size(length as u64) + length
}

/// Adds an integer, a truth value or an enumerator.
pub(super) fn varint_field(out: &mut Vec<u8>, number: u32, value: u64) {
    varint(out, u64::from(number << 3 | VARINT));
    varint(out, value);
}

/// Adds 8 bytes.
pub(super) fn fixed64_field(out: &mut Vec<u8>, number: u32, value: u64) {
    varint(out, u64::from(number << 3 | FIXED64));
    out.extend_from_slice(&value.to_le_bytes());
}

/// Adds a value as `AnyValue`.
pub(super) fn any_field(out: &mut Vec<u8>, number: u32, value: Arg<'_>) {
    let value = Any::of(value);
    length_field(out, number, value.size());
    value.write(out);
}

/// Adds a `KeyValue` with a value of its own type.
pub(super) fn attribute(out: &mut Vec<u8>, number: u32, key: &str, value: Arg<'_>) {
    let value = Any::of(value);
    let size = value.size();
    let pair = field_size(key_value::KEY, key.len()) + field_size(key_value::VALUE, size);
    length_field(out, number, pair);
    bytes_field(out, key_value::KEY, key.as_bytes());
    length_field(out, key_value::VALUE, size);
    value.write(out);
}

/// A value that OTLP has. An integer without sign that does not fit is a text.
enum Any<'a> {
    Text(&'a str),
    Digits(String),
    Bool(bool),
    Int(i64),
    Double(f64),
}

impl<'a> Any<'a> {
    fn of(value: Arg<'a>) -> Self {
        match value {
            Arg::Str(text) => Self::Text(text),
            Arg::Int(value) => Self::Int(value),
            Arg::Uint(value) => {
                i64::try_from(value).map_or_else(|_| Self::Digits(value.to_string()), Self::Int)
            }
            Arg::Float(value) => Self::Double(value),
            Arg::Bool(value) => Self::Bool(value),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Text(text) => field_size(any_value::STRING, text.len()),
            Self::Digits(text) => field_size(any_value::STRING, text.len()),
            Self::Bool(_) => 2,
            Self::Int(value) => 1 + varint_size(*value as u64),
            Self::Double(_) => 9,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => bytes_field(out, any_value::STRING, text.as_bytes()),
            Self::Digits(text) => bytes_field(out, any_value::STRING, text.as_bytes()),
            Self::Bool(value) => varint_field(out, any_value::BOOL, u64::from(*value)),
            Self::Int(value) => varint_field(out, any_value::INT, *value as u64),
            Self::Double(value) => fixed64_field(out, any_value::DOUBLE, value.to_bits()),
        }
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn varint_size(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_what_is_written() {
        let values = [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX];
        for value in values {
            let mut out = Vec::new();
            varint(&mut out, value);
            assert_eq!(out.len(), varint_size(value), "{value}");
        }
        let long = "x".repeat(300);
        for value in [
            Arg::Str(""),
            Arg::Str(&long),
            Arg::Int(-1),
            Arg::Int(300),
            Arg::Uint(u64::MAX),
            Arg::Float(0.5),
            Arg::Bool(false),
        ] {
            let (mut out, any) = (Vec::new(), Any::of(value));
            any.write(&mut out);
            assert_eq!(out.len(), any.size(), "{value:?}");
        }
    }
}
