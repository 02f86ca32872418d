//! The reader on valid and invalid bytes: the fields, or the error with its position.

use protozero::error::DecodeErrorKind::{self, *};
use protozero::reader::MAX_GROUP_DEPTH;
use protozero::wire::WireType;
use protozero::{DecodeError, Field, Reader, Value};

/// Number, value and offset of each field, then the error's kind, offset and field if there is one.
fn check(
    bytes: &[u8],
    fields: &[(u32, Value<'_>, u64)],
    error: Option<(DecodeErrorKind, u64, Option<u32>)>,
) {
    for base in [0, 1_000_000_000_000] {
        let mut reader = Reader::with_offset(bytes, base);
        for &(number, value, offset) in fields {
            assert_eq!(reader.offset(), base + offset);
            let field = reader.next().expect("another field").expect("a good field");
            assert_eq!((field.number, field.value, field.offset), (number, value, base + offset));
        }
        let before = reader.offset();
        let last = reader.next().map(|last| last.expect_err("no more fields"));
        let last = last.map(|last| (last.kind(), last.offset() - base, last.field()));
        assert_eq!(last, error, "{bytes:02x?}");
        // After an error, the reader's offset is that of the field, and iteration ends.
        assert_eq!(reader.offset(), before);
        assert!(reader.next().is_none());
    }
}

fn first(bytes: &[u8]) -> Field<'_> {
    Reader::new(bytes).next().expect("a field").expect("a good field")
}

#[test]
fn every_wire_type() {
    check(&[], &[], None);
    check(&[0x08, 0x96, 0x01], &[(1, Value::Varint(150), 0)], None);
    check(&[0x11, 1, 2, 3, 4, 5, 6, 7, 8], &[(2, Value::Fixed64(0x0807060504030201), 0)], None);
    check(
        &[0x1d, 1, 2, 3, 4, 0x20, 5],
        &[(3, Value::Fixed32(0x04030201), 0), (4, Value::Varint(5), 5)],
        None,
    );
    check(
        &[0x2a, 0x00, 0x2a, 0x02, 7, 8],
        &[(5, Value::Bytes(&[]), 0), (5, Value::Bytes(&[7, 8]), 2)],
        None,
    );
    check(
        &[0x33, 0x08, 0x05, 0x34, 0x08, 0x01],
        &[(6, Value::Group(&[0x08, 0x05]), 0), (1, Value::Varint(1), 4)],
        None,
    );
    // Redundant forms of tag, length and value are valid.
    check(&[0x88, 0x80, 0x00, 0x85, 0x80, 0x00], &[(1, Value::Varint(5), 0)], None);
    check(&[0x0a, 0x82, 0x80, 0x80, 0x00, 7, 8], &[(1, Value::Bytes(&[7, 8]), 0)], None);
    check(&[0xf8, 0xff, 0xff, 0xff, 0x0f, 0x01], &[((1 << 29) - 1, Value::Varint(1), 0)], None);
}

/// Each kind of field, truncated anywhere, is a truncation of that field.
#[test]
fn truncated_fields() {
    let whole: [&[u8]; 5] = [
        &[0x80, 0x01, 0x96, 0x01],
        &[0x81, 0x01, 1, 2, 3, 4, 5, 6, 7, 8],
        &[0x85, 0x01, 1, 2, 3, 4],
        &[0x82, 0x01, 0x83, 0x80, 0x00, 7, 8, 9],
        &[0x83, 0x01, 0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x12, 0x01, 7, 0x1b, 0x1c, 0x84, 0x01],
    ];
    for field in whole {
        for cut in 1..field.len() {
            let bytes = [&[0x08, 0x01], &field[..cut]].concat();
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.next().unwrap().unwrap().number, 1);
            let error = reader.next().unwrap().unwrap_err();
            assert_eq!((error.kind(), error.is_truncated()), (Truncated, true), "{bytes:02x?}");
            assert_eq!(reader.offset(), 2);
        }
    }
    check(&[0x08], &[], Some((Truncated, 1, Some(1))));
    check(&[0x80], &[], Some((Truncated, 0, None)));
    check(&[0x0a, 0x03, 1, 2], &[], Some((Truncated, 2, Some(1))));
    check(&[0x0a, 0xff, 0xff, 0xff, 0xff, 0x07], &[], Some((Truncated, 6, Some(1))));
    check(&[0x0b, 0x08], &[], Some((Truncated, 2, Some(1))));
    check(&[0x0b], &[], Some((Truncated, 1, None)));
}

/// A field that exceeds the length of its message can't be completed: it is corrupt.
#[test]
fn overrun_of_a_nested_message() {
    let bytes = [0x08, 0x01, 0x12, 0x03, 0x0a, 0x05, 0x07, 0x08, 0x09];
    let nested = Reader::with_offset(&bytes, 100).nth(1).unwrap().unwrap();
    let error = nested.as_message().unwrap().next().unwrap().unwrap_err();
    assert_eq!((error.kind(), error.offset(), error.field()), (Overrun, 106, Some(1)));
    assert!(!error.is_truncated());
    assert_eq!(
        error.to_string(),
        "a field continues beyond the end of its message at offset 106, field 1"
    );
}

#[test]
fn corrupt_bytes() {
    let good = (1, Value::Varint(1), 0);
    let check_after_good = |bytes: &[u8], kind, offset: u64, field| {
        check(&[&[0x08, 0x01], bytes].concat(), &[good], Some((kind, offset, field)));
    };
    check_after_good(&[0x00, 0x01], InvalidTag, 2, None);
    check_after_good(&[0x07], InvalidTag, 2, None);
    check_after_good(&[0x80, 0x80, 0x80, 0x80, 0x10, 0x01], InvalidTag, 2, None);
    check_after_good(&[0x0e, 0x01], InvalidWireType(6), 2, Some(1));
    check_after_good(&[0x0f, 0x01], InvalidWireType(7), 2, Some(1));
    check_after_good(&[0xff; 12], VarintTooLong, 2, None);
    check_after_good(&[&[0x08], &[0xff; 9][..], &[0x02]].concat(), VarintTooLong, 3, Some(1));
    check_after_good(&[&[0x08], &[0x80; 10][..], &[0x00]].concat(), VarintTooLong, 3, Some(1));
    check_after_good(&[0x0a, 0x80, 0x80, 0x80, 0x80, 0x08], LengthTooLarge(1 << 31), 3, Some(1));
    check_after_good(
        &[&[0x0a], &[0xff; 9][..], &[0x01]].concat(),
        LengthTooLarge(u64::MAX),
        3,
        Some(1),
    );
}

#[test]
fn groups() {
    let check_error =
        |bytes: &[u8], kind, offset, field| check(bytes, &[], Some((kind, offset, field)));
    check_error(&[0x0c], UnmatchedEndGroup, 0, Some(1));
    check_error(&[0x0b, 0x14], UnmatchedEndGroup, 1, Some(2));
    check_error(&[0x0b, 0x13, 0x0c, 0x14], UnmatchedEndGroup, 2, Some(1));
    check_error(&[0x0b, 0x00], InvalidTag, 1, None);
    check_error(&[0x0b, 0x0e], InvalidWireType(6), 1, Some(1));
    // The end of a group inside bytes is ignored.
    check(&[0x0b, 0x12, 0x01, 0x0c, 0x0c], &[(1, Value::Group(&[0x12, 0x01, 0x0c]), 0)], None);

    let nested = |depth: usize| [vec![0x0b; depth], vec![0x0c; depth]].concat();
    let deepest = nested(MAX_GROUP_DEPTH);
    check(&deepest, &[(1, Value::Group(&deepest[1..deepest.len() - 1]), 0)], None);
    let too_deep = nested(MAX_GROUP_DEPTH + 1);
    check_error(&too_deep, TooDeep, MAX_GROUP_DEPTH as u64, Some(1));
    check_error(&vec![0x0b; 1_000_000], TooDeep, MAX_GROUP_DEPTH as u64, Some(1));
}

#[test]
fn scalars_as_the_schema_says() {
    let all = first(&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    assert_eq!(all.as_u64(), Ok(u64::MAX));
    assert_eq!(all.as_i64(), Ok(-1));
    assert_eq!(all.as_u32(), Ok(u32::MAX));
    assert_eq!(all.as_i32(), Ok(-1));
    assert_eq!(all.as_sint64(), Ok(i64::MIN));
    assert_eq!(all.as_sint32(), Ok(i32::MIN));
    assert_eq!(all.as_bool(), Ok(true));
    assert_eq!(first(&[0x08, 0x00]).as_bool(), Ok(false));
    assert_eq!(first(&[0x08, 0x80, 0x80, 0x80, 0x80, 0x10]).as_bool(), Ok(true));
    assert_eq!(first(&[0x08, 0x80, 0x80, 0x80, 0x80, 0x10]).as_u32(), Ok(0));
    assert_eq!(first(&[0x08, 0x01]).as_sint32(), Ok(-1));
    let eight = first(&[0x09, 0xfe, 255, 255, 255, 255, 255, 255, 255]);
    assert_eq!((eight.as_fixed64(), eight.as_sfixed64()), (Ok(u64::MAX - 1), Ok(-2)));
    assert_eq!(first(&[0x09, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f]).as_f64(), Ok(1.5));
    let four = first(&[0x0d, 0xfe, 255, 255, 255]);
    assert_eq!((four.as_fixed32(), four.as_sfixed32()), (Ok(u32::MAX - 1), Ok(-2)));
    assert_eq!(first(&[0x0d, 0, 0, 0xc0, 0x3f]).as_f32(), Ok(1.5));
}

#[test]
fn strings_that_are_not_utf8() {
    let bytes = [0x08, 0x01, 0x12, 0x04, b'a', b'b', 0xff, b'c'];
    let field = Reader::with_offset(&bytes, 10).nth(1).unwrap().unwrap();
    let error = field.as_str().unwrap_err();
    assert_eq!((error.kind(), error.offset(), error.field()), (InvalidUtf8, 16, Some(2)));
    assert_eq!(field.as_bytes(), Ok(&[b'a', b'b', 0xff, b'c'][..]));
    assert_eq!(first(&[0x0a, 0x03, 0xe2, 0x82, 0xac]).as_str(), Ok("€"));
}

#[test]
fn values_of_another_type() {
    let check = |field: Field<'_>, found: WireType| {
        let error = |expected| Err(UnexpectedWireType { expected, found });
        let check = |expected, result: Result<(), DecodeError>| {
            let result = result.map_err(|error| error.kind());
            assert_eq!(result, if expected == found { Ok(()) } else { error(expected) });
        };
        check(WireType::Varint, field.as_u64().map(drop));
        check(WireType::Varint, field.as_bool().map(drop));
        check(WireType::Varint, field.as_sint32().map(drop));
        check(WireType::Fixed64, field.as_fixed64().map(drop));
        check(WireType::Fixed64, field.as_f64().map(drop));
        check(WireType::Fixed32, field.as_fixed32().map(drop));
        check(WireType::Fixed32, field.as_f32().map(drop));
        check(WireType::Bytes, field.as_bytes().map(drop));
        check(WireType::Bytes, field.as_str().map(drop));
        check(WireType::Bytes, field.as_message().map(drop));
    };
    check(first(&[0x08, 0x01]), WireType::Varint);
    check(first(&[0x09, 1, 2, 3, 4, 5, 6, 7, 8]), WireType::Fixed64);
    check(first(&[0x0d, 1, 2, 3, 4]), WireType::Fixed32);
    check(first(&[0x0a, 0x01, b'x']), WireType::Bytes);
    check(first(&[0x0b, 0x0c]), WireType::StartGroup);
    let error = first(&[0x3a, 0x00]).as_u64().unwrap_err();
    assert_eq!(
        error.to_string(),
        "a field has another type than expected (`bytes` instead of `varint`) at offset 0, field 7"
    );
}
