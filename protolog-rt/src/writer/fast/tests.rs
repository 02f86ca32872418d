//! The fast path's encoder writes the bytes that the slow path's writes.

use super::super::arg_slice::ArgSlice;
use super::super::cursor::SLACK;
use super::super::intern::InternTable;
use super::super::packet::Packet;
use super::super::plan::Base;
use super::super::sampled::Sampled;
use super::few::FewArgs;
use super::*;
use protolog_core::Arg;
use protolog_core::control::rate::Rate;
use protozero::wire::varint_len;
use std::fmt::Write as _;

const ID: u64 = 0x0123456789abcdef;
const ROOM: usize = 4096;
/// Bytes that nobody may touch.
const BEYOND: usize = 64;

/// A chunk's bytes, and the strings that are in it.
struct Chunk {
    bytes: Vec<u8>,
    table: InternTable,
    iid: u32,
}

impl Chunk {
    fn new() -> Self {
        let mut chunk = Self { bytes: vec![0xee; ROOM], table: InternTable::new(), iid: 1 };
        chunk.table.reset(chunk.bytes.as_ptr());
        chunk
    }

    fn strings(&self) -> ChunkStrings<'_> {
        // SAFETY: *readable*: nobody else has the bytes.
        unsafe { ChunkStrings::new(&self.table) }
    }

    /// The packet of `args` as the slow path writes it, at `at`; new strings are noted.
    fn encode<A: Args>(&mut self, at: usize, delta: u32, args: &A) -> Vec<u8> {
        let base = Base { delta: delta.into(), iid: self.iid, max_string_bytes: 1_000 };
        let (plan, measured) = args.plan(base, Some(self.strings()));
        let size = args.size(&plan);
        assert!(at + size + SLACK <= ROOM);
        // SAFETY: that is within the bytes.
        let start = unsafe { self.bytes.as_mut_ptr().add(at) };
        // SAFETY: the chunk has so many bytes and SLACK from there on.
        let mut to = unsafe { Cursor::new(start, size) };
        // SAFETY: *entries*: the table was reset to these bytes.
        let interner = unsafe { Interner::new(self.iid, &mut self.table) };
        Packet::encode(args, &mut to, ID, (&plan, measured), interner);
        self.iid = plan.next_iid();
        self.bytes[at..at + size].to_vec()
    }

    /// The same by the fast path, with its size before it; none where that is not for it. New
    /// strings are not noted.
    fn write_new<A: FastArgs>(&self, delta: u32, args: &A) -> Option<Vec<u8>> {
        let mut new = NewStrings::default();
        let found = args.find(self.strings(), &mut new)?;
        let most = most::<A>().map(|most| most + AROUND_NEW + new.bytes);
        let most = most.filter(|most| *most <= 0x80)?;
        Some(self.encode_fast(most, delta, (args, found), new.bytes))
    }

    /// Likewise, if the chunk has all strings.
    fn write<A: FastArgs>(&self, delta: u32, args: &A) -> Option<Vec<u8>> {
        let found = args.find_known(self.strings())?;
        Some(self.encode_fast(most::<A>()?, delta, (args, found), 0))
    }

    fn encode_fast<A: FastArgs>(
        &self,
        most: usize,
        delta: u32,
        args: (&A, A::Found),
        new: usize,
    ) -> Vec<u8> {
        let mut room = vec![0xee; most + SLACK + BEYOND];
        // SAFETY: the vector has `most` bytes and SLACK.
        let mut to = unsafe { Cursor::new(room.as_mut_ptr(), most) };
        encode(&mut to, (ID, delta), args, new, Interner::forgetful(self.iid));
        let len = to.at() as usize - room.as_ptr() as usize;
        assert!(len <= most, "{len} bytes of {most}");
        assert_eq!(room[len + SLACK..].iter().find(|byte| **byte != 0xee), None);
        room.truncate(len);
        room
    }
}

/// Checks that the fast path takes `args`, and writes the slow path's bytes, before and after the
/// chunk has the strings.
fn check<A: FastArgs>(delta: u32, args: &A) {
    let mut chunk = Chunk::new();
    let new = chunk.write_new(delta, args);
    let mut first = chunk.encode(0, delta, args);
    if let Some(new) = new {
        first.insert(0, first.len() as u8);
        assert_eq!(new, first);
    } else {
        assert!(first.len() > 0x80 - 11 * 3 - 4, "{} bytes", first.len());
    }
    check_known(&mut chunk, delta, args);
}

/// The same once the chunk has the strings.
fn check_known<A: FastArgs>(chunk: &mut Chunk, delta: u32, args: &A) {
    let mut expected = chunk.encode(2_000, delta, args);
    expected.insert(0, expected.len() as u8);
    assert_eq!(chunk.write(delta, args), Some(expected));
}

/// The most bytes of such a message.
fn most_of<A: FastArgs>(_: &A) -> Option<usize> {
    most::<A>()
}

/// Numbers around each length of a varint.
fn edges() -> impl Iterator<Item = u64> {
    (0..64).flat_map(|bits| [(1 << bits) - 1, 1 << bits, (1 << bits) + 1])
}

#[test]
fn numbers_are_the_same() {
    for number in edges() {
        for value in [number as i64, (number as i64).wrapping_neg()] {
            check(7, &(Int(value), ()));
            check(300, &(Bool(value > 0), (Int(value), (Float(value as f64), (Int(!value), ())))));
        }
        check(7, &(Uint(number >> 1), (Uint(number >> 2), ())));
    }
    check(7, &(Int(i64::MIN), (Uint(u64::MAX >> 1), (Int(i64::MAX), ()))));
    check(7, &());
}

#[test]
fn times_are_the_same() {
    for delta in edges().filter(|delta| *delta < MAX_DELTA) {
        check(delta as u32, &(Int(-5), ()));
        check(delta as u32, &(Str("hi"), ()));
    }
}

#[test]
fn strings_are_the_same() {
    for length in 0..=64 {
        let text: String = ('a'..='z').cycle().take(length).collect();
        check(7, &(Str(&text), ()));
        check(300, &(Int(70), (Str(&text), (Bool(true), (Str(&text), (Uint(1), ()))))));
    }
}

#[test]
fn arguments_of_kinds_known_at_run_time_are_the_same() {
    let kinds = |number: u64| {
        [
            Arg::Int(number as i64),
            Arg::Uint(number >> 1),
            Arg::Float(number as f64),
            Arg::Bool(number % 2 == 1),
            Arg::Str(if number % 2 == 1 { "odd" } else { "even" }),
        ]
    };
    for number in edges() {
        for count in 0..=9 {
            let args: Vec<Arg<'_>> = kinds(number).into_iter().cycle().take(count).collect();
            let mut chunk = Chunk::new();
            chunk.encode(0, 300, &ArgSlice(&args));
            check_known(&mut chunk, 300, &FewArgs::<9>::new(&args).unwrap());
            check(7, &FewArgs::<4>::new(&args[..count.min(4)]).unwrap());
            assert_eq!(FewArgs::<4>::new(&args).is_some(), count <= 4);
        }
    }
    let longest = [Arg::Int(i64::MIN); 9];
    check(MAX_DELTA as u32 - 1, &FewArgs::<9>::new(&longest).unwrap());
    // More arguments than always have room have it as long as they are short.
    for number in edges() {
        let args: Vec<Arg<'_>> = kinds(number).into_iter().cycle().take(32).collect();
        let mut chunk = Chunk::new();
        chunk.encode(0, 300, &ArgSlice(&args));
        // The texts are known: the bytes of the other arguments decide.
        let bytes = |arg: &Arg<'_>| match *arg {
            Arg::Int(value) => 1 + varint_len(zigzag(value)),
            Arg::Uint(value) => 1 + varint_len(value << 1),
            Arg::Float(_) => 9,
            Arg::Str(_) | Arg::Bool(_) => 2,
        };
        for count in 10..=32 {
            let few = FewArgs::<32>::new(&args[..count]).unwrap();
            if args[..count].iter().map(bytes).sum::<usize>() <= 0x80 - AROUND {
                check_known(&mut chunk, 300, &few);
            } else {
                assert_eq!(chunk.write(300, &few), None, "{number} {count}");
            }
        }
    }
    let [large, new] = [[Arg::Uint(1 << 63)], [Arg::Str("new")]];
    assert_eq!(Chunk::new().write(7, &FewArgs::<4>::new(&large).unwrap()), None);
    assert_eq!(Chunk::new().write(7, &FewArgs::<4>::new(&new).unwrap()), None);
}

/// The packet of `args` in a new chunk, in hexadecimal, without its time.
fn hex<A: Args>(args: &A) -> String {
    let packet = Chunk::new().encode(0, 0, args);
    assert_eq!(packet[..2], [0x40, 0]);
    let mut hex = String::new();
    for byte in &packet[2..] {
        write!(hex, "{byte:02x}").unwrap();
    }
    hex
}

/// Java's tests have the same vectors.
#[test]
fn packets_match_the_vectors() {
    let vectors = include_str!("../../../../protolog-core/testdata/packets.tsv");
    let expected: Vec<&str> =
        vectors.lines().skip(1).map(|row| row.split_once('\t').unwrap().1).collect();
    let actual = [
        hex(&()),
        hex(&(Int(1), ())),
        hex(&(Int(-1), ())),
        hex(&(Int(i64::MAX), (Int(i64::MIN), ()))),
        hex(&(Int(512), (Str("example.org"), ()))),
        hex(&(Bool(true), (Bool(false), ()))),
        hex(&(Float(1.5), (Float(-0.0), ()))),
        hex(&(Float(f64::INFINITY), (Int(64), ()))),
        hex(&(Str(""), ())),
        hex(&(Str("a"), (Str("grün €"), ()))),
        hex(&(Int(1), (Str("a"), (Float(2.5), (Bool(true), ()))))),
        hex(&(Str(&"long ".repeat(40)), (Int(7), (Str("b"), ())))),
    ];
    assert_eq!(actual.as_slice(), expected);
}

/// Java's tests have the same vectors.
#[test]
fn packets_of_sampled_messages_match_the_vectors() {
    let vectors = include_str!("../../../../protolog-core/testdata/sampled.tsv");
    let rows: Vec<Vec<&str>> =
        vectors.lines().skip(1).map(|row| row.split('\t').collect()).collect();
    let mut rates = rows.iter().map(|row| Rate::parse(row[0]).expect("a rate"));
    let mut rate = || rates.next().expect("a row");
    fn hex_of<A: Args>(args: &A, rate: Rate) -> String {
        hex(&Sampled { args, rate })
    }
    let actual = [
        hex_of(&(), rate()),
        hex_of(&(Int(1), ()), rate()),
        hex_of(&(Bool(true), ()), rate()),
        hex_of(&(Int(-1), (Float(1.5), ())), rate()),
        hex_of(&(Int(512), (Str("example.org"), ())), rate()),
        hex_of(&(Str("a"), (Str("grün €"), ())), rate()),
        hex_of(&(Int(7), ()), rate()),
        hex_of(&(Int(i64::MAX), (Int(i64::MIN), (Float(0.5), ()))), rate()),
        hex_of(&(), rate()),
        hex_of(&(Int(1), (Str("a"), (Float(2.5), (Bool(true), ())))), rate()),
        hex_of(&(Str(&"long ".repeat(40)), (Int(7), (Str("b"), ()))), rate()),
        hex_of(&(Int(42), ()), rate()),
        hex_of(&(Bool(true), ()), rate()),
        hex_of(&(Int(7), (Str("request-1"), ())), rate()),
    ];
    assert!(actual.iter().eq(rows.iter().map(|row| row[2])), "{actual:#?}");
}

#[test]
fn everything_else_is_left_to_the_slow_path() {
    let chunk = Chunk::new();
    assert_eq!(chunk.write(7, &(Uint(1 << 63), ())), None, "it looks unsigned");
    assert_eq!(chunk.write(7, &(Str("new"), ())), None, "the chunk does not have it");
    let ten = (Int(1), (Int(2), (Int(3), (Int(4), (Int(5), ())))));
    let ten = (Int(1), (Int(2), (Int(3), (Int(4), (Int(5), ten)))));
    assert_eq!(chunk.write(7, &ten), None, "its size may take two bytes");
    let mut chunk = Chunk::new();
    let long = "long".repeat(17);
    chunk.encode(0, 7, &(Str(&long), ()));
    assert_eq!(chunk.write(7, &(Str(&long), ())), None);
}

#[test]
fn strings_of_long_ids_come_again() {
    let mut chunk = Chunk::new();
    chunk.iid = 128;
    for at in [0, 1_000] {
        let packet = chunk.encode(at, 7, &(Str("again"), ()));
        assert!(packet.windows(5).any(|bytes| bytes == b"again"));
        assert_eq!(chunk.write(7, &(Str("again"), ())), None);
    }
}

#[test]
fn the_longest_message_is_the_same() {
    let number = Int(i64::MIN);
    let numbers =
        (number, (number, (number, (number, (number, (number, (number, (number, ()))))))));
    let (late, float) = (MAX_DELTA as u32 - 1, Float(1.5));
    let longest = (Str("hi"), (float, (float, numbers)));
    assert_eq!(most_of(&longest), Some(0x80));
    check(late, &longest);
    check(late, &(Str("hi"), (Uint(u64::MAX >> 1), ())));
    let mut chunk = Chunk::new();
    let longer =
        (Bool(true), (Str("hi"), (number, (Bool(true), (Bool(true), (Bool(true), numbers))))));
    chunk.encode(0, late, &longer);
    assert_eq!(chunk.encode(1_000, late, &longer).len(), 0x80, "too long by one");
    assert_eq!(chunk.write(late, &longer), None);
}
