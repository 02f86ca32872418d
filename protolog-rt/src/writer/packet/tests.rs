//! The slow path's encoder: exact bytes, and sizes as planned at every boundary.

use super::super::arg_slice::ArgSlice;
use super::super::cursor::SLACK;
use super::*;
use crate::value::{Bool, Float, Int, Str, Uint};
use protozero::Reader;

const ID: u64 = 0x0123456789abcdef;

/// The packet of `args`, 1234 ns after the one before, whose first string gets the id `iid`.
fn encode<A: Args>(args: &A, iid: u32, max_string_bytes: usize) -> Vec<u8> {
    let (plan, measured) = args.plan(Base { delta: 1234, iid, max_string_bytes }, None);
    let size = args.size(&plan);
    let mut room = vec![0xee; size + SLACK];
    // SAFETY: the vector has `size` bytes and SLACK.
    let mut to = unsafe { Cursor::new(room.as_mut_ptr(), size) };
    args.encode(&mut to, ID, (&plan, measured), Interner::forgetful(iid));
    assert_eq!(to.at() as usize - room.as_ptr() as usize, size, "as long as planned");
    room.truncate(size);
    for field in Reader::new(&room) {
        field.expect("a field");
    }
    room
}

fn check(args: &impl Args, expected: &str) {
    let hex: Vec<String> = encode(args, 1, 8).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex.join(" "), expected);
}

const HEAD: &str = "40 d2 09 c2 06";
const MESSAGE_ID: &str = "09 ef cd ab 89 67 45 23 01";

#[test]
fn packets_are_exact() {
    check(&(), &format!("{HEAD} 09 {MESSAGE_ID}"));
    let ints = (Int(0), (Int(-1), (Int(i64::MIN), ())));
    let min = "18 ff ff ff ff ff ff ff ff ff 01";
    check(&ints, &format!("{HEAD} 18 {MESSAGE_ID} 18 00 18 01 {min}"));
    check(&(Float(1.0), ()), &format!("{HEAD} 12 {MESSAGE_ID} 21 00 00 00 00 00 00 f0 3f"));
    check(&(Bool(true), (Bool(false), ())), &format!("{HEAD} 0d {MESSAGE_ID} 28 01 28 00"));
}

#[test]
fn unsigned_shows_only_where_it_matters() {
    check(&(Uint(5), ()), &format!("{HEAD} 0b {MESSAGE_ID} 18 0a"));
    let max = (Int(0), (Uint(u64::MAX), ()));
    check(&max, &format!("{HEAD} 10 {MESSAGE_ID} 18 00 18 01 c0 3e 02"));
}

#[test]
fn new_strings_come_with_their_message() {
    let head = "40 d2 09 62 0e a2 02 06 08 01 12 02 68 69";
    let second = "a2 02 04 08 02 12 00";
    let second = format!("{head} {second}").replace("62 0e", "62 10");
    check(
        &(Str("hi"), (Str(""), ())),
        &format!("{second} 68 02 c2 06 0d {MESSAGE_ID} 10 01 10 02"),
    );
    let cut = "40 d2 09 62 0e a2 02 0b 08 01 12 07 61 c3 a9 61 e2 80 a6";
    check(&(Str("aéaéaéa"), ()), &format!("{cut} 68 02 c2 06 0b {MESSAGE_ID} 10 01"));
}

#[test]
fn sizes_are_right_at_every_length() {
    for length in (0..300).chain([4_000, 16_300, 16_384, 70_000]) {
        for iid in [1, 127, 128, 16_384] {
            let text: String = ('a'..='z').cycle().take(length).collect();
            let packet = encode(&(Str(&text), (Int(length as i64), ())), iid, usize::MAX);
            let written = Reader::new(&packet).flatten().find(|field| field.number == 12);
            let written = written.expect("the strings").as_bytes().expect("bytes");
            assert!(written.ends_with(text.as_bytes()), "{length} bytes");
            encode(&(Str(&text), (Str(&text), ())), iid, 100);
        }
    }
    for bits in 0..64 {
        encode(&(Int(1 << bits), (Int(-1 << bits), (Uint(1 << bits), ()))), 1, 0);
    }
}

#[test]
fn lists_and_slices_are_the_same() {
    let list = (Int(-7), (Str("a"), (Float(0.5), (Bool(true), (Uint(u64::MAX), (Str("b"), ()))))));
    let mut args = Vec::new();
    list.visit(&mut |arg| args.push(arg));
    assert_eq!(args.len(), 6);
    assert_eq!(encode(&ArgSlice(&args), 3, 8), encode(&list, 3, 8));
}
