//! This crate against prost, an independent implementation of the same format: each reads what the
//! other writes, and both agree on arbitrary bytes.

use crate::all_types::{AllTypes, Sizes, all_types, same};
use crate::scattered::write_scattered;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use prost::Message as _;
use protozero::reader::MAX_GROUP_DEPTH;
use protozero::{Heap, Reader, Writer};

/// A schema without fields: every field is unknown, so prost checks the format and nothing else.
#[derive(Clone, PartialEq, prost::Message)]
struct Empty {}

fn read(bytes: &[u8]) -> Result<AllTypes, protozero::DecodeError> {
    let mut message = AllTypes::default();
    message.merge(Reader::new(bytes))?;
    Ok(message)
}

/// Both readers accept `bytes` with the same result, or both refuse them.
fn check_agreement(bytes: &[u8]) -> Result<(), TestCaseError> {
    let well_formed = Reader::new(bytes).all(|field| field.is_ok());
    prop_assert_eq!(well_formed, Empty::decode(bytes).is_ok(), "form of {:02x?}", bytes);
    match (read(bytes), AllTypes::decode(bytes)) {
        (Ok(ours), Ok(theirs)) => prop_assert!(same(&ours, &theirs), "{ours:?} and {theirs:?}"),
        (Err(_), Err(_)) => {}
        (ours, theirs) => prop_assert!(false, "{ours:?} and {theirs:?} of {bytes:02x?}"),
    }
    Ok(())
}

/// Bytes that look like fields: mostly small numbers, some bytes that continue a varint.
fn field_like() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => 0_u8..0x28,
        2 => any::<u8>(),
        1 => Just(0x80_u8),
        1 => Just(0xff_u8),
        1 => (1_u8..16, 3_u8..5).prop_map(|(number, group)| number << 3 | group),
    ];
    vec(byte, 0..60)
}

#[test]
fn groups_may_be_nested_equally_deep() {
    for (depth, expected) in [(1, true), (MAX_GROUP_DEPTH, true), (MAX_GROUP_DEPTH + 1, false)] {
        let bytes = [vec![0x0b; depth], vec![0x0c; depth]].concat();
        assert_eq!(Reader::new(&bytes).all(|field| field.is_ok()), expected, "{depth}");
        assert_eq!(Empty::decode(&*bytes).is_ok(), expected, "{depth}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn prost_reads_what_we_write(
        message in all_types(3),
        first in 0_usize..40,
        sizes in vec(8_usize..80, 1..4),
    ) {
        let bytes = write_scattered(first, &sizes, |to| message.write(to, Sizes::Reserved));
        prop_assert!(same(&AllTypes::decode(&*bytes).unwrap(), &message));
        prop_assert!(same(&read(&bytes).unwrap(), &message));
    }

    #[test]
    fn exact_sizes_give_the_bytes_of_prost(
        message in all_types(3),
        first in 0_usize..40,
        sizes in vec(8_usize..80, 1..4),
    ) {
        let theirs = message.encode_to_vec();
        prop_assert_eq!(&write_scattered(first, &sizes, |to| message.write(to, Sizes::Exact)), &theirs);
        let mut writer = Writer::new(Heap::new());
        message.write(&mut writer.message(), Sizes::Exact);
        prop_assert_eq!(writer.into_vec().unwrap(), theirs);
    }

    #[test]
    fn we_read_what_prost_writes(message in all_types(3)) {
        prop_assert!(same(&read(&message.encode_to_vec()).unwrap(), &message));
    }

    #[test]
    fn a_cut_message_is_truncated_and_can_be_resumed(message in all_types(2), cut: Index) {
        let bytes = message.encode_to_vec();
        let cut = cut.index(bytes.len() + 1);
        let mut reader = Reader::new(&bytes[..cut]);
        let before: Vec<_> = reader.by_ref().map_while(Result::ok).collect();
        let resume = reader.offset();
        prop_assert!(reader.next().is_none());
        let after = Reader::with_offset(&bytes[resume as usize..], resume);
        let pieces: Vec<_> = before.into_iter().chain(after.map(Result::unwrap)).collect();
        let whole: Vec<_> = Reader::new(&bytes).map(Result::unwrap).collect();
        // Debug text instead of equality, because of NaN.
        prop_assert_eq!(format!("{pieces:?}"), format!("{whole:?}"));
        let error = Reader::new(&bytes[..cut]).find_map(Result::err);
        prop_assert_eq!(error.is_some(), resume < cut as u64);
        prop_assert!(error.is_none_or(|error| error.is_truncated()));
    }

    #[test]
    fn damaged_messages(message in all_types(2), damage in vec((any::<Index>(), any::<u8>()), 1..4), cut: Index) {
        let mut bytes = message.encode_to_vec();
        for (place, byte) in damage {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        check_agreement(&bytes)?;
        check_agreement(&bytes[..cut.index(bytes.len() + 1)])?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn bytes_that_look_like_fields(bytes in field_like()) {
        check_agreement(&bytes)?;
    }

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..40)) {
        check_agreement(&bytes)?;
    }
}
