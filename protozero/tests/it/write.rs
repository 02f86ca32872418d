//! The bytes of the writer, with every delegate, split at every place.

use proptest::prelude::*;
use proptest::sample::Index;
use protozero::delegate::{Delegate, Ended, Exhausted, Patch};
use protozero::error::WriteErrorKind;
use protozero::wire::{MAX_FIELD_NUMBER, encode_varint, varint_len};
use protozero::{Finished, Fixed, Heap, Message, Reader, Writer};

use crate::scattered::{AnyDelegate, Scattered, write_scattered, write_with};

/// Writes with all delegates, over ranges that end at every place, and into memory that is too
/// short by any number of bytes.
fn check(expected: &[u8], write: impl Fn(&mut Message<'_, AnyDelegate<'_>>)) {
    let len = expected.len();
    assert_eq!(write_with(&mut Heap::new(), &write).unwrap().1, len as u64);

    for slack in 0..20 {
        let mut memory = vec![0xee; len + slack];
        let used = write_with(&mut Fixed::new(&mut memory), &write).unwrap().0.used;
        assert_eq!((used, &memory[..used]), (len, expected), "{slack} bytes to spare");
    }
    for room in 0..len {
        let mut memory = vec![0xee; room];
        let error = write_with(&mut Fixed::new(&mut memory), &write).unwrap_err();
        assert_eq!(
            (error.kind(), error.needed()),
            (WriteErrorKind::Exhausted, len as u64),
            "{room} bytes"
        );
    }
    for first in 0..len + 20 {
        for size in 8..32 {
            let bytes = write_scattered(first, &[size], &write);
            assert_eq!(bytes, expected, "first {first} bytes, then {size} each");
        }
    }
}

#[test]
fn nothing() {
    check(&[], |_| {});
}

#[test]
fn varint_fields() {
    let minus_one = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    let with_tag = |tag: u8, value: &[u8]| [&[tag], value].concat();
    check(&[0x08, 0x00], |to| _ = to.uint32(1, 0));
    check(&[0x08, 0x7f], |to| _ = to.uint64(1, 127));
    check(&[0x08, 0x80, 0x01], |to| _ = to.uint64(1, 128));
    check(&[0x08, 0xff, 0xff, 0xff, 0xff, 0x0f], |to| _ = to.uint32(1, u32::MAX));
    check(&with_tag(0x08, &minus_one), |to| _ = to.uint64(1, u64::MAX));
    check(&with_tag(0x08, &minus_one), |to| _ = to.int64(1, -1));
    check(&with_tag(0x08, &minus_one), |to| _ = to.int32(1, -1));
    check(&with_tag(0x08, &minus_one), |to| _ = to.enumeration(1, -1));
    check(&[0x08, 0x01], |to| _ = to.sint32(1, -1));
    check(&[0x08, 0xff, 0xff, 0xff, 0xff, 0x0f], |to| _ = to.sint32(1, i32::MIN));
    check(&with_tag(0x08, &minus_one), |to| _ = to.sint64(1, i64::MIN));
    check(&[0x08, 0x00, 0x10, 0x01], |to| _ = to.bool(1, false).bool(2, true));
}

#[test]
fn fixed_fields() {
    check(&[0x09, 8, 7, 6, 5, 4, 3, 2, 1], |to| _ = to.fixed64(1, 0x0102030405060708));
    check(&[0x09, 0xfe, 255, 255, 255, 255, 255, 255, 255], |to| _ = to.sfixed64(1, -2));
    check(&[0x0d, 4, 3, 2, 1], |to| _ = to.fixed32(1, 0x01020304));
    check(&[0x0d, 0xfe, 255, 255, 255], |to| _ = to.sfixed32(1, -2));
    check(&[0x09, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f], |to| _ = to.double(1, 1.5));
    check(&[0x09, 1, 0, 0, 0, 0, 0, 0xf8, 0x7f], |to| {
        _ = to.double(1, f64::from_bits(0x7ff8000000000001));
    });
    check(&[0x0d, 0, 0, 0xc0, 0x3f], |to| _ = to.float(1, 1.5));
}

#[test]
fn tags_of_every_length() {
    check(&[0x78, 0x05], |to| _ = to.uint32(15, 5));
    check(&[0x80, 0x01, 0x05], |to| _ = to.uint32(16, 5));
    check(&[0xf8, 0x7f, 0x05], |to| _ = to.uint32(2047, 5));
    check(&[0x80, 0x80, 0x01, 0x05], |to| _ = to.uint32(2048, 5));
    check(&[0x80, 0x80, 0x80, 0x01, 0x05], |to| _ = to.uint32(1 << 18, 5));
    check(&[0x80, 0x80, 0x80, 0x80, 0x01, 0x05], |to| _ = to.uint32(1 << 25, 5));
    let longest = [0xf9, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3, 4, 5, 6, 7, 8];
    check(&longest, |to| _ = to.fixed64(MAX_FIELD_NUMBER, 0x0807060504030201));
    let longest = [&[0xf8, 0xff, 0xff, 0xff, 0x0f][..], &[0xff; 9], &[0x01]].concat();
    check(&longest, |to| _ = to.uint64(MAX_FIELD_NUMBER, u64::MAX));
}

#[test]
fn strings_and_bytes() {
    check(&[0x0a, 0x00], |to| _ = to.string(1, ""));
    check(&[0x0a, 0x03, 0xe2, 0x82, 0xac], |to| _ = to.string(1, "€"));
    let expected = |len: usize, size: &[u8]| [&[0x0a], size, &vec![7; len]].concat();
    check(&expected(127, &[0x7f]), |to| _ = to.bytes(1, &[7; 127]));
    check(&expected(128, &[0x80, 0x01]), |to| _ = to.bytes(1, &[7; 128]));
    check(&[0x08, 0x05, 0x10, 0x06], |to| _ = to.raw(&[0x08, 0x05]).raw(&[]).raw(&[0x10, 0x06]));
}

/// Their size takes one byte up to 127; up to 32 bytes are copied in a way of their own.
#[test]
fn bytes_of_every_length() {
    let content: Vec<u8> = (1..=131).collect();
    for len in (0..=34).chain(125..=131) {
        let mut expected = vec![0xca, 0x3e]; // field 1001
        expected.extend(&encode_varint(len as u64).0[..varint_len(len as u64)]);
        expected.extend(&content[..len]);
        check(&expected, |to| _ = to.bytes(1001, &content[..len]));
        check(&content[..len], |to| _ = to.raw(&content[..len]));
    }
}

#[test]
fn nested_messages() {
    check(&[0x0a, 0x80, 0x80, 0x80, 0x00], |to| drop(to.nested(1)));
    check(&[0x0a, 0x82, 0x80, 0x80, 0x00, 0x10, 0x05], |to| _ = to.nested(1).uint32(2, 5));
    check(&[0xc2, 0x06, 0x82, 0x80, 0x80, 0x00, 0x10, 0x05], |to| _ = to.nested(104).uint32(2, 5));
    let three_deep = [
        [0x08, 0x01].as_slice(),
        &[0x12, 0x97, 0x80, 0x80, 0x00, 0x08, 0x02],
        &[0x12, 0x8e, 0x80, 0x80, 0x00, 0x08, 0x03],
        &[0x12, 0x87, 0x80, 0x80, 0x00, 0x0a, 0x05, b'h', b'e', b'l', b'l', b'o'],
        &[0x18, 0x04],
        &[0x18, 0x05],
    ]
    .concat();
    check(&three_deep, |to| {
        let mut one = to.uint32(1, 1).nested(2);
        let mut two = one.uint32(1, 2).nested(2);
        two.uint32(1, 3).nested(2).string(1, "hello");
        drop(two);
        one.uint32(3, 4);
        drop(one);
        to.uint32(3, 5);
    });
    let long = [&[0x0a, 0xaf, 0x82, 0x80, 0x00, 0x12, 0xac, 0x02][..], &[1; 300]].concat();
    check(&long, |to| _ = to.nested(1).bytes(2, &[1; 300]));
}

#[test]
fn nested_messages_of_known_size() {
    check(&[0x0a, 0x00], |to| drop(to.nested_exact(1, 0)));
    check(&[0x0a, 0x02, 0x10, 0x05], |to| _ = to.nested_exact(1, 2).uint32(2, 5));
    let long = [&[0x0a, 0xaf, 0x02, 0x12, 0xac, 0x02][..], &[1; 300]].concat();
    check(&long, |to| _ = to.nested_exact(1, 303).bytes(2, &[1; 300]));
    // Nested in each other, both ways.
    check(&[0x0a, 0x07, 0x12, 0x82, 0x80, 0x80, 0x00, 0x18, 0x01], |to| {
        _ = to.nested_exact(1, 7).nested(2).uint32(3, 1);
    });
    check(&[0x0a, 0x84, 0x80, 0x80, 0x00, 0x12, 0x02, 0x18, 0x01], |to| {
        _ = to.nested(1).nested_exact(2, 2).uint32(3, 1);
    });
}

#[test]
fn one_writer_for_several_messages() {
    let mut writer = Writer::new(Heap::new());
    writer.message().uint32(1, 1);
    assert_eq!(writer.written(), 2);
    writer.message().uint32(2, 2);
    assert_eq!(writer.into_vec().unwrap(), [0x08, 0x01, 0x10, 0x02]);
}

#[test]
fn delegates_give_their_memory_back() {
    let mut memory = [0; 40];
    let mut writer = Writer::new(Fixed::new(&mut memory));
    writer.message().string(1, "hi");
    assert_eq!(writer.into_slice().unwrap(), b"\x0a\x02hi");
    let mut writer = Writer::new(Heap::with_capacity(4));
    writer.message().string(1, "hi");
    assert_eq!(writer.into_vec().unwrap(), b"\x0a\x02hi");
    assert_eq!(Writer::new(Heap::new()).into_vec().unwrap(), b"");
    assert_eq!(Writer::new(Fixed::new(&mut [])).into_slice().unwrap(), b"");
}

/// The first error stays.
#[test]
fn errors_of_callers() {
    let check = |kind, text: &str, write: fn(&mut Message<'_, AnyDelegate<'_>>)| {
        let error = write_with(&mut Heap::new(), write).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert_eq!(error.to_string(), text);
    };
    let number = "a field number is not between 1 and 2^29 - 1";
    check(WriteErrorKind::FieldNumber, number, |to| _ = to.uint32(0, 1));
    check(WriteErrorKind::FieldNumber, number, |to| _ = to.string(1 << 29, "x"));
    check(WriteErrorKind::FieldNumber, number, |to| _ = to.fixed32(u32::MAX, 1));
    check(WriteErrorKind::FieldNumber, number, |to| drop(to.nested(0)));
    let size = "a nested message has another size than announced";
    check(WriteErrorKind::WrongSize, size, |to| _ = to.nested_exact(1, 1).uint32(1, 1));
    check(WriteErrorKind::WrongSize, size, |to| _ = to.nested_exact(1, 3).uint32(1, 1));
    check(WriteErrorKind::WrongSize, size, |to| {
        drop(to.nested_exact(1, 9));
        to.uint32(0, 1);
    });
    let mut writer = Writer::new(Heap::new());
    writer.message().uint32(0, 1).uint32(1, 1);
    assert_eq!(
        writer.error().map(|error| (error.kind(), error.needed())),
        Some((WriteErrorKind::FieldNumber, 4))
    );
}

#[test]
fn exhausted_memory() {
    let write = |to: &mut Message<'_, AnyDelegate<'_>>| {
        let mut nested = to.nested(1);
        nested.nested(2).bytes(3, &[0; 100]);
        nested.nested_exact(2, 2).uint32(1, 1);
    };
    let needed = write_scattered(8, &[8], write).len();
    for limit in 1..needed / 8 {
        let mut delegate = Scattered::limited(8, &[8], limit);
        let error = write_with(&mut delegate, write).unwrap_err();
        assert_eq!(error.kind(), WriteErrorKind::Exhausted);
        assert_eq!(error.needed(), needed as u64);
        assert_eq!(error.to_string(), format!("no memory left for a message of {needed} bytes"));
        assert_eq!(delegate.ranges(), limit);
        assert_eq!(delegate.patches(), 0);
    }
    // A range that is too small counts as exhausted.
    let error = write_with(&mut Scattered::new(8, &[7]), write).unwrap_err();
    assert_eq!((error.kind(), error.needed()), (WriteErrorKind::Exhausted, needed as u64));
}

/// A nested message that is never dropped keeps the size 0; the writer goes on.
#[test]
fn a_leaked_message() {
    let mut writer = Writer::new(Heap::new());
    let mut message = writer.message();
    let mut nested = message.nested(1);
    nested.uint32(2, 5);
    core::mem::forget(nested);
    message.uint32(3, 6);
    let finished = writer.finish().unwrap();
    assert_eq!((finished.ended.open_sizes, finished.length), (1, 9));
}

/// One range that is written again and again, so that size costs no memory.
#[derive(Debug)]
struct Recycled(Vec<u8>, Option<Patch>);

impl Delegate for Recycled {
    fn range(&mut self) -> &mut [u8] {
        &mut self.0
    }

    fn next_range(&mut self, _: Ended) -> Result<(), Exhausted> {
        Ok(())
    }

    fn patch(&mut self, patch: Patch) {
        self.1 = Some(patch);
    }
}

/// Writes a nested message of `size` bytes.
fn write_nested(size: usize) -> Result<Finished<Recycled>, WriteErrorKind> {
    let filler = vec![0; 1 << 20];
    let mut writer = Writer::new(Recycled(vec![0; 1 << 20], None));
    let mut message = writer.message();
    let mut nested = message.nested(1);
    for _ in 0..size >> 20 {
        nested.raw(&filler);
    }
    nested.raw(&filler[..size & 0xfffff]);
    drop(nested);
    writer.finish().map_err(|error| error.kind())
}

#[test]
fn the_longest_nested_message() {
    let finished = write_nested((1 << 28) - 1).unwrap();
    assert_eq!(finished.length, (1 << 28) + 4);
    let bytes = [0xff, 0xff, 0xff, 0x7f];
    assert_eq!(finished.delegate.1, Some(Patch { range: 0, offset: 1, position: 1, bytes }));
    assert_eq!(write_nested(1 << 28).unwrap_err(), WriteErrorKind::NestedTooLong);
}

/// Several megabytes over thousands of chunks, deep nesting included, read back field by field.
#[test]
fn large_messages() {
    let blob: Vec<u8> = (0..100_000_u32).map(|i| (i * 7 / 8) as u8).collect();
    let write = |to: &mut Message<'_, AnyDelegate<'_>>| {
        let mut trace = to.nested(1);
        for i in 0..20_000_u32 {
            let mut packet = trace.nested(1);
            packet.uint64(8, u64::from(i) << (i % 50));
            packet
                .nested(104)
                .fixed64(1, u64::from(i))
                .sint64(3, -i64::from(i))
                .double(4, f64::from(i));
            if i % 1000 == 0 {
                packet.bytes(2, &blob);
            }
        }
    };
    let whole = write_scattered(64 << 20, &[8], write);
    assert!(whole.len() > 2_500_000, "{} bytes", whole.len());
    for sizes in [&[8][..], &[4088], &[13, 600, 21]] {
        let mut scattered = Scattered::new(100, sizes);
        let (ended, length) = write_with(&mut scattered, write).unwrap();
        assert!(scattered.ranges() > 600);
        assert!(scattered.patches() > 0);
        assert!(scattered.into_message(ended, length) == whole);
    }
    let mut writer = Writer::new(Heap::new());
    writer.message().raw(&whole);
    assert!(writer.into_vec().unwrap() == whole);

    let mut count = 0;
    let trace = Reader::new(&whole).next().unwrap().unwrap();
    for packet in trace.as_message().unwrap() {
        let mut packet = packet.unwrap().as_message().unwrap();
        assert_eq!(packet.next().unwrap().unwrap().as_u64(), Ok(count << (count % 50)));
        let message = packet.next().unwrap().unwrap().as_message().unwrap();
        assert_eq!(message.map(|field| field.unwrap().number).collect::<Vec<_>>(), [1, 3, 4]);
        let bytes = packet.next().map(|field| field.unwrap().as_bytes().unwrap());
        assert!(bytes == (count % 1000 == 0).then_some(&blob));
        count += 1;
    }
    assert_eq!(count, 20_000);
}

/// The same with memory on the heap, where ranges grow and patches land in what has been appended.
#[test]
fn large_nested_messages_on_the_heap() {
    for size in [1, 59, 60, 64, 1000, 65_536, 3_000_000] {
        let mut writer = Writer::new(Heap::new());
        let mut message = writer.message();
        let mut outer = message.nested(1);
        let mut inner = outer.nested(2);
        (0..size).for_each(|_| _ = inner.uint32(3, 1));
        drop(inner);
        drop(outer);
        let bytes = writer.into_vec().unwrap();
        assert_eq!(bytes.len(), 10 + 2 * size);
        let outer = Reader::new(&bytes).next().unwrap().unwrap();
        let inner = outer.as_message().unwrap().next().unwrap().unwrap();
        assert_eq!(
            inner.as_message().unwrap().map(|field| field.unwrap().as_u64().unwrap()).sum::<u64>(),
            size as u64
        );
    }
}

/// One step of a generated message.
#[derive(Clone, Debug)]
enum Step {
    Varint(u32, u64),
    Bytes(u32, Vec<u8>),
    Nested(u32, Vec<Step>),
}

fn steps(depth: u32) -> BoxedStrategy<Vec<Step>> {
    let number =
        || (1..=MAX_FIELD_NUMBER, 0..29_u32).prop_map(|(number, shift)| (number >> shift).max(1));
    let varint = (number(), any::<u64>(), 0..64_u32)
        .prop_map(|(number, value, shift)| Step::Varint(number, value >> shift));
    let bytes = (number(), proptest::collection::vec(any::<u8>(), 0..50))
        .prop_map(|(number, bytes)| Step::Bytes(number, bytes));
    if depth == 0 {
        return proptest::collection::vec(prop_oneof![varint, bytes], 0..5).boxed();
    }
    let nested =
        (number(), steps(depth - 1)).prop_map(|(number, steps)| Step::Nested(number, steps));
    proptest::collection::vec(prop_oneof![varint, bytes, nested], 0..5).boxed()
}

fn write_steps<D: Delegate>(steps: &[Step], to: &mut Message<'_, D>) {
    for step in steps {
        match step {
            Step::Varint(number, value) => _ = to.uint64(*number, *value),
            Step::Bytes(number, bytes) => _ = to.bytes(*number, bytes),
            Step::Nested(number, steps) => write_steps(steps, &mut to.nested(*number)),
        }
    }
}

proptest! {
    /// The sizes of ranges make no difference to any message.
    #[test]
    fn cuts_make_no_difference(
        steps in steps(4),
        first in 0_usize..64,
        sizes in proptest::collection::vec(8_usize..64, 1..5),
        room: Index,
    ) {
        let mut writer = Writer::new(Heap::new());
        write_steps(&steps, &mut writer.message());
        let expected = writer.into_vec().unwrap();
        prop_assert_eq!(&write_scattered(first, &sizes, |to| write_steps(&steps, to)), &expected);
        let mut memory = vec![0; room.index(expected.len() + 1)];
        let fits = memory.len() == expected.len();
        let written = write_with(&mut Fixed::new(&mut memory), |to| write_steps(&steps, to));
        let needed = written.map_or_else(|error| error.needed(), |(_, length)| length);
        prop_assert_eq!((written.is_ok(), needed), (fits, expected.len() as u64));
    }
}
