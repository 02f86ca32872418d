//! The scalar types of a schema, for code that is generated from one: what a repeated field of each
//! looks like on the wire.
//!
//! A value is 64 bits for every type: those of its varint, or of its four or eight bytes. So one
//! function packs the values of all types, and one iterator reads them, packed or not.

use crate::wire::{WireType, unzigzag, zigzag};

/// A scalar type. Its types are names only, without values.
pub trait Scalar {
    /// The type in Rust.
    type Value: Copy;

    /// The wire type of a field that is not packed: a varint, or four or eight bytes.
    const WIRE_TYPE: WireType;

    /// The bits of a value on the wire.
    fn to_bits(value: Self::Value) -> u64;

    /// The value of these bits. As everywhere in protobuf, 32-bit types take the low half.
    fn from_bits(bits: u64) -> Self::Value;
}

macro_rules! scalars {
    ($($(#[$doc:meta])* $name:ident: $type:ty, $wire:ident, $to:expr, $from:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Scalar for $name {
            type Value = $type;
            const WIRE_TYPE: WireType = WireType::$wire;

            #[inline]
            fn to_bits(value: $type) -> u64 {
                let to: fn($type) -> u64 = $to;
                to(value)
            }

            #[inline]
            fn from_bits(bits: u64) -> $type {
                let from: fn(u64) -> $type = $from;
                from(bits)
            }
        }
    )*};
}

scalars! {
    /// `int32`, and the values of enums. Negative values take ten bytes.
    Int32: i32, Varint, |value| i64::from(value) as u64, |bits| bits as i32;
    /// `int64`. Negative values take ten bytes.
    Int64: i64, Varint, |value| value as u64, |bits| bits as i64;
    /// `uint32`.
    Uint32: u32, Varint, u64::from, |bits| bits as u32;
    /// `uint64`.
    Uint64: u64, Varint, |value| value, |bits| bits;
    /// `sint32`.
    Sint32: i32, Varint, |value| zigzag(i64::from(value)), |bits| unzigzag(bits & 0xffff_ffff) as i32;
    /// `sint64`.
    Sint64: i64, Varint, zigzag, unzigzag;
    /// `bool`: anything but 0 is true.
    Bool: bool, Varint, u64::from, |bits| bits != 0;
    /// `fixed32`.
    Fixed32: u32, Fixed32, u64::from, |bits| bits as u32;
    /// `fixed64`.
    Fixed64: u64, Fixed64, |value| value, |bits| bits;
    /// `sfixed32`.
    Sfixed32: i32, Fixed32, |value| u64::from(value as u32), |bits| bits as i32;
    /// `sfixed64`.
    Sfixed64: i64, Fixed64, |value| value as u64, |bits| bits as i64;
    /// `float`, with every bit of it.
    Float: f32, Fixed32, |value| u64::from(value.to_bits()), |bits| f32::from_bits(bits as u32);
    /// `double`, with every bit of it.
    Double: f64, Fixed64, f64::to_bits, f64::from_bits;
}
