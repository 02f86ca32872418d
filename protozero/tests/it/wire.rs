//! The primitives at the boundaries of every length.

use proptest::prelude::*;
use protozero::wire::{
    MAX_FIELD_NUMBER, MAX_RESERVED_SIZE, VarintError, WireType, decode_varint, encode_varint,
    packed_varint, redundant_varint, short_varint, store_varint, tag, unzigzag, varint_len,
    write_varint, zigzag,
};

/// Encodes with every function and decodes again.
fn check(value: u64, expected: &[u8]) {
    let (bytes, len) = encode_varint(value);
    assert_eq!(&bytes[..len], expected, "{value:#x}");
    assert!(bytes[len..].iter().all(|&byte| byte == 0), "{value:#x}");
    assert_eq!(varint_len(value), expected.len(), "{value:#x}");
    let (packed, len) = packed_varint(value);
    assert_eq!(&packed.to_le_bytes()[..len], expected, "{value:#x}");
    assert!(packed >> (8 * len) == 0, "{value:#x}");
    if (1..1 << 28).contains(&value) {
        assert_eq!(short_varint(value as u32), (packed as u32, len), "{value:#x}");
    }
    let mut memory = [0xee; 10];
    assert_eq!(store_varint(&mut memory, value), len, "{value:#x}");
    assert_eq!(&memory[..len], expected, "{value:#x}");
    let mut memory = [0xee; 12];
    assert_eq!(write_varint(&mut memory[..len - 1], value), None);
    assert_eq!(memory, [0xee; 12]);
    assert_eq!(write_varint(&mut memory[..len], value), Some(len));
    assert_eq!(&memory[..len], expected);
    assert_eq!(memory[len], 0xee);
    assert_eq!(decode_varint(&memory), Ok((value, len)), "{value:#x}");
    for cut in 0..len {
        assert_eq!(decode_varint(&expected[..cut]), Err(VarintError::Truncated), "{value:#x}");
    }
}

/// A simple encoder, as a reference.
fn by_loop(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

#[test]
fn varints_at_every_boundary() {
    check(0, &[0x00]);
    check(1, &[0x01]);
    check(0x7f, &[0x7f]);
    check(0x80, &[0x80, 0x01]);
    check(300, &[0xac, 0x02]);
    check(0x3fff, &[0xff, 0x7f]);
    check(0x4000, &[0x80, 0x80, 0x01]);
    check(0x1f_ffff, &[0xff, 0xff, 0x7f]);
    check(0x20_0000, &[0x80, 0x80, 0x80, 0x01]);
    check(0xfff_ffff, &[0xff, 0xff, 0xff, 0x7f]);
    check(0x1000_0000, &[0x80, 0x80, 0x80, 0x80, 0x01]);
    check(u64::from(u32::MAX), &[0xff, 0xff, 0xff, 0xff, 0x0f]);
    check(1 << 35, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x01]);
    check((1 << 56) - 1, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    check(1 << 56, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]);
    check((1 << 63) - 1, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    check(1 << 63, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]);
    check(u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    for bits in 0..64 {
        for value in [1 << bits, (1_u64 << bits) - 1, (1_u64 << bits) + 1] {
            check(value, &by_loop(value));
        }
    }
}

#[test]
fn varints_that_are_too_long() {
    let check = |bytes: &[u8], expected| assert_eq!(decode_varint(bytes), expected, "{bytes:02x?}");
    check(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], Ok((0, 10)));
    check(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02], Err(VarintError::TooLong));
    check(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80], Err(VarintError::TooLong));
    check(&[0x80; 9], Err(VarintError::Truncated));
    check(&[0x80; 11], Err(VarintError::TooLong));
    check(&[], Err(VarintError::Truncated));
}

#[test]
fn redundant_varints_at_every_boundary() {
    let check = |size, expected| {
        let bytes = redundant_varint(size).expect("within the limit");
        assert_eq!(bytes, expected, "{size:#x}");
        assert_eq!(decode_varint(&bytes), Ok((u64::from(size), 4)), "{size:#x}");
    };
    check(0, [0x80, 0x80, 0x80, 0x00]);
    check(0x7f, [0xff, 0x80, 0x80, 0x00]);
    check(0x80, [0x80, 0x81, 0x80, 0x00]);
    check(0x3fff, [0xff, 0xff, 0x80, 0x00]);
    check(0x4000, [0x80, 0x80, 0x81, 0x00]);
    check(0x1f_ffff, [0xff, 0xff, 0xff, 0x00]);
    check(0x20_0000, [0x80, 0x80, 0x80, 0x01]);
    check(MAX_RESERVED_SIZE, [0xff, 0xff, 0xff, 0x7f]);
    assert_eq!(redundant_varint(MAX_RESERVED_SIZE + 1), None);
    assert_eq!(redundant_varint(u32::MAX), None);
}

#[test]
fn zigzag_keeps_small_numbers_small() {
    let check = |signed, unsigned| {
        assert_eq!(zigzag(signed), unsigned);
        assert_eq!(unzigzag(unsigned), signed);
    };
    check(0, 0);
    check(-1, 1);
    check(1, 2);
    check(-2, 3);
    check(i64::from(i32::MAX), 0xffff_fffe);
    check(i64::from(i32::MIN), 0xffff_ffff);
    check(i64::MAX, u64::MAX - 1);
    check(i64::MIN, u64::MAX);
}

#[test]
fn tags_and_wire_types() {
    assert_eq!(tag(1, WireType::Varint), 0x08);
    assert_eq!(tag(15, WireType::Fixed32), 0x7d);
    assert_eq!(tag(MAX_FIELD_NUMBER, WireType::Fixed32), 0xffff_fffd);
    for bits in 0..=u8::MAX {
        let wire_type = WireType::from_bits(bits);
        assert_eq!(wire_type.map(|wire_type| wire_type as u8), (bits < 6).then_some(bits));
    }
}

/// Values that are known at compile time can be encoded at compile time.
#[test]
fn primitives_are_const() {
    const TAG: ([u8; 10], usize) = encode_varint(tag(104, WireType::Bytes) as u64);
    const SIZE: Option<[u8; 4]> = redundant_varint(14);
    const BACK: Result<(u64, usize), VarintError> = decode_varint(&TAG.0);
    assert_eq!(TAG.0[..TAG.1], [0xc2, 0x06]);
    assert_eq!(SIZE, Some([0x8e, 0x80, 0x80, 0x00]));
    assert_eq!(BACK, Ok((0x342, 2)));
}

proptest! {
    #[test]
    fn any_value(value: u64, shift in 0..64_u32) {
        let value = value >> shift;
        check(value, &by_loop(value));
        prop_assert_eq!(unzigzag(zigzag(value as i64)), value as i64);
    }
}
