//! The bytes of a call's note, and in them the message's id, computed in constants.
//!
//! The compiler interprets constants: about half a microsecond a statement, ten a function call, whatever they do. A program
//! has thousands of calls, so this code is flat, moves 16 bytes at a time, and hashes the note's bytes where they stand
//! (a note begins, after its fixed part, with what the id is the hash of). Plain code costs five times as much.
//!
//! Invariants: the bytes are those of [`protolog_core::note::write`]; the hash is XXH3-64 as [`protolog_core::hash`] has it.
#![allow(unsafe_code)] // Words are read from bytes and written to them, at any alignment.
#![allow(clippy::ptr_as_ptr, clippy::ref_as_ptr)] // `cast` is a call.
#![allow(clippy::redundant_field_names)] // Only where the machine's byte order is that of notes.

use crate::level::GroupDef;
use protolog_core::Level;
use protolog_core::note::{ALIGN, HEAD, HEADER, NAME, TYPE};

/// The bytes of a note, aligned as its section wants it.
#[derive(Debug)]
#[repr(C, align(4))]
pub struct NoteBytes<B: ?Sized>(B);

const _: () = assert!(align_of::<NoteBytes<[u8; 0]>>() == ALIGN);

/// A note in the binary, by its address alone, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoteRef(*const u8);

impl NoteRef {
    pub(crate) const NONE: Self = Self(core::ptr::null());

    #[inline]
    pub(crate) const fn new(note: &'static NoteBytes<[u8]>) -> Self {
        Self(note.0.as_ptr())
    }

    /// The bytes; none where there is no note.
    pub(crate) fn bytes(self) -> &'static [u8] {
        if self.0.is_null() {
            return &[];
        }
        // SAFETY: the address is that of a note, which begins with its fixed part; any bytes are valid.
        let head = unsafe { *(self.0 as *const Head) };
        // SAFETY: so many bytes follow: the note's creation counted them, and the field that says so is never changed.
        unsafe { core::slice::from_raw_parts(self.0, HEADER + head.size as usize) }
    }
}

/// More than any note: what pointers to bytes are taken to point to, so that they can be indexed, which is no call.
type Bytes = [u8; 0x40000];

/// What stands in a note before its texts.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Head {
    name_size: u32,
    size: u32,
    kind: u32,
    name: [u8; 12],
    id: u64,
    mask: u64,
    group_id: u32,
    line: u32,
    place: u16,
    template: u16,
    group: u16,
    tag: u16,
    file: u16,
    level: u8,
    zero: u8,
}

const _: () = assert!(size_of::<Head>() == HEAD);

/// 32 bytes as words.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Quad(u64, u64, u64, u64);

/// 16 bytes as words.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Pair(u64, u64);

/// 8 bytes as a word.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Word(u64);

/// 4 bytes as a word.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Half(u32);

/// Name with its zero, filled up to 8 bytes, bytes with the zero, and number on the wire, by severity.
const LEVELS: [([u8; 8], usize, u8); 6] = {
    let mut levels = [([0; 8], 0, 0); 6];
    let mut index = 0;
    while index < levels.len() {
        let name = Level::ALL[index].name().as_bytes();
        let mut byte = 0;
        while byte < name.len() {
            levels[index].0[byte] = name[byte];
            byte += 1;
        }
        levels[index].1 = name.len() + 1;
        levels[index].2 = Level::ALL[index].wire() as u8;
        index += 1;
    }
    levels
};

/// A number in the byte order of notes and of the hash, from that of the machine, or back.
#[cfg(target_endian = "little")]
macro_rules! little_endian {
    ($number:expr) => {
        $number
    };
}
#[cfg(target_endian = "big")]
macro_rules! little_endian {
    ($number:expr) => {
        $number.swap_bytes()
    };
}

/// Number of bytes of a text, by one call, where `str::len` makes three.
macro_rules! length {
    ($text:expr) => {
        size_of_val::<str>($text)
    };
}

/// Reads a type for which every bit pattern is valid, at any alignment.
macro_rules! read {
    ($bytes:expr, $at:expr, $type:ty) => {{
        // SAFETY: who passes the pointer says that so many bytes follow it.
        let place = unsafe { &raw const (*$bytes)[$at] } as *const $type;
        // SAFETY: likewise; the type is packed and takes any bytes.
        unsafe { *place }
    }};
}

/// Writes a packed type.
macro_rules! write {
    ($bytes:expr, $at:expr, $type:ty, $value:expr) => {{
        // SAFETY: who passes the pointer says that so many bytes follow it.
        let place = unsafe { &raw mut (*$bytes)[$at] } as *mut $type;
        let value = $value;
        // SAFETY: likewise; nothing else refers to the bytes meanwhile.
        unsafe { *place = value };
    }};
}

/// Writes a text, in pieces that may overlap.
macro_rules! copy {
    ($to:ident, $at:expr, $text:expr, $length:expr) => {{
        let (from, at, length) = ($text as *const str as *const Bytes, $at, $length);
        if length >= 32 {
            let last = length - 32;
            write!($to, at, Quad, read!(from, 0, Quad));
            let mut done = 32;
            while done < last {
                write!($to, at + done, Quad, read!(from, done, Quad));
                done += 32;
            }
            write!($to, at + last, Quad, read!(from, last, Quad));
        } else if length >= 16 {
            let last = length - 16;
            write!($to, at, Pair, read!(from, 0, Pair));
            write!($to, at + last, Pair, read!(from, last, Pair));
        } else if length >= 8 {
            let last = length - 8;
            write!($to, at, Word, read!(from, 0, Word));
            write!($to, at + last, Word, read!(from, last, Word));
        } else if length >= 4 {
            write!($to, at, Half, read!(from, 0, Half));
            write!($to, at + length - 4, Half, read!(from, length - 4, Half));
        } else {
            let mut done = 0;
            while done < length {
                write!($to, at + done, u8, read!(from, done, u8));
                done += 1;
            }
        }
    }};
}

/// The first prime of XXH64.
const PRIME: u128 = 0x9e37_79b1_85eb_ca87;

/// 16 bytes, as words, with 16 bytes of the secret: one word, in a type that does not overflow when some are summed up.
macro_rules! mix {
    ($low:expr, $high:expr, $first:tt, $second:tt) => {{
        let product = (little_endian!($low) ^ secret!($first)) as u128
            * (little_endian!($high) ^ secret!($second)) as u128;
        (product as u64 ^ (product >> 64) as u64) as u128
    }};
}

/// The 16 bytes from `$at` on with the secret's words at these places.
macro_rules! pair {
    ($bytes:expr, $at:expr, $first:tt $second:tt) => {{
        let Pair(low, high) = read!($bytes, $at, Pair);
        mix!(low, high, $first, $second)
    }};
}

/// Twice as many.
macro_rules! quad {
    ($bytes:expr, $at:expr, $first:tt $second:tt $third:tt $fourth:tt) => {{
        let Quad(a, b, c, d) = read!($bytes, $at, Quad);
        mix!(a, b, $first, $second) + mix!(c, d, $third, $fourth)
    }};
}

/// The last step of XXH3.
macro_rules! avalanche {
    ($sum:expr) => {{
        let sum = $sum as u64;
        let mixed = ((sum ^ sum >> 37) as u128 * 0x1656_6791_9e37_79f9) as u64;
        mixed ^ mixed >> 32
    }};
}

/// The word of XXH3's default secret that begins at a byte.
#[rustfmt::skip]
macro_rules! secret {
    (0) => { 0xbe4ba423396cfeb8 };
    (8) => { 0x1cad21f72c81017c };
    (16) => { 0xdb979083e96dd4de };
    (24) => { 0x1f67b3b7a4a44072 };
    (32) => { 0x78e5c0cc4ee679cb };
    (40) => { 0x2172ffcc7dd05a82 };
    (48) => { 0x8e2443f7744608b8 };
    (56) => { 0x4c263a81e69035e0 };
    (64) => { 0xcb00c391bb52283c };
    (72) => { 0xa32e531b8b65d088 };
    (80) => { 0x4ef90da297486471 };
    (88) => { 0xd8acdea946ef1938 };
    (96) => { 0x3f349ce33f76faa8 };
    (104) => { 0x1d4f0bc7c7bbdcf9 };
    (112) => { 0x3159b4cd4be0518a };
    (120) => { 0x647378d9c97e9fc8 };
    (3) => { 0x81017cbe4ba42339 };
    (11) => { 0x6dd4de1cad21f72c };
    (19) => { 0xa44072db979083e9 };
    (27) => { 0xe679cb1f67b3b7a4 };
    (35) => { 0xd05a8278e5c0cc4e };
    (43) => { 0x4608b82172ffcc7d };
    (51) => { 0x9035e08e2443f774 };
    (59) => { 0x52283c4c263a81e6 };
    (67) => { 0x65d088cb00c391bb };
    (75) => { 0x486471a32e531b8b };
    (83) => { 0xef19384ef90da297 };
    (91) => { 0x76faa8d8acdea946 };
    (99) => { 0xbbdcf93f349ce33f };
    (107) => { 0xe0518a1d4f0bc7c7 };
    (115) => { 0x7e9fc83159b4cd4b };
    (119) => { 0x7378d9c97e9fc831 };
    (127) => { 0xebd33483acc5ea64 };
}

/// Number of bytes of a call's note: 0 where the call is not compiled in. `texts` are place, template and file together.
pub const fn note_size(group: &GroupDef, level: Level, texts: &str) -> usize {
    if !group.enabled {
        return 0;
    }
    let zeros = 2; // Beside the level's.
    let texts = length!(texts) + LEVELS[level as usize].1 + group.texts_length + zeros;
    HEAD + ((texts + ALIGN - 1) & !(ALIGN - 1))
}

impl<const N: usize> NoteBytes<[u8; N]> {
    /// The note of a call; `N` is its [`note_size`]. `texts` is place, NUL, template, NUL; the template has `template` bytes.
    pub const fn new(
        group: &GroupDef,
        level: Level,
        texts: &str,
        template: usize,
        mask: u64,
        file: &str,
        line: u32,
    ) -> Self {
        let mut note = [0; N];
        if N == 0 {
            return Self(note);
        }
        let (name, name_length, wire) = LEVELS[level as usize];
        let (texts_length, file_length) = (length!(texts), length!(file));
        let group_length = group.texts_length;
        let level_at = HEAD + texts_length;
        let group_at = level_at + name_length;
        let file_at = group_at + group_length;
        assert!(
            texts_length <= 0xffff && group_length <= 0xffff && file_length <= 0xffff,
            "a text of a log call is longer than 65,535 bytes"
        );
        assert!(file_at + file_length <= N && level_at + 8 <= N, "N must be the note's size");
        let bytes = &raw mut note as *mut Bytes;
        copy!(bytes, HEAD, texts, texts_length);
        // What is too much is written over by the group.
        write!(bytes, level_at, [u8; 8], name);
        copy!(bytes, group_at, group.texts, group_length);
        copy!(bytes, file_at, file, file_length);
        let group_name_length = group_length - group.tag_length;
        let head = Head {
            name_size: NAME.len() as u32,
            size: (N - HEADER) as u32,
            kind: TYPE,
            name: *b"protolog\0\0\0\0",
            id: little_endian!(hash(bytes, HEAD, group_at + group_name_length - HEAD)),
            mask: little_endian!(mask),
            group_id: little_endian!(group.id),
            line: little_endian!(line),
            place: little_endian!((texts_length - template - 2) as u16),
            template: little_endian!(template as u16),
            group: little_endian!(group_name_length as u16),
            tag: little_endian!(group.tag_length as u16),
            file: little_endian!(file_length as u16),
            level: wire,
            zero: 0,
        };
        write!(bytes, 0, Head, head);
        Self(note)
    }

    /// Whether the call is compiled in. A constant of the type is computed once for all notes of a size, where one of the call
    /// would be a body of its own.
    pub const COMPILED: bool = N != 0;
}

impl NoteBytes<[u8]> {
    /// The message's id; 0 where the call is not compiled in. Release code has it as an immediate: the compiler looks into the
    /// static.
    #[inline]
    pub(crate) const fn id(&self) -> u64 {
        if self.0.len() < HEAD {
            return 0;
        }
        let head = read!(&raw const self.0 as *const Bytes, 0, Head);
        little_endian!(head.id)
    }
}

/// XXH3-64 (seed 0) of the `length` bytes from `start` on.
const fn hash(bytes: *const Bytes, start: usize, length: usize) -> u64 {
    if length > 240 || length <= 16 {
        // Rare, so the library's way is good enough.
        // SAFETY: who passes the pointer says that so many bytes follow it.
        let first = unsafe { &raw const (*bytes)[start] };
        // SAFETY: likewise; they are initialised, and nobody writes them meanwhile.
        return protolog_core::hash(unsafe { core::slice::from_raw_parts(first, length) });
    }
    let sum = length as u128 * PRIME;
    let end = start + length;
    if length > 128 {
        return long_hash(bytes, start, length, sum);
    }
    if length <= 32 {
        return avalanche!(sum + pair!(bytes, start, 0 8) + pair!(bytes, end - 16, 16 24));
    }
    let sum = sum + quad!(bytes, start, 0 8 32 40) + quad!(bytes, end - 32, 48 56 16 24);
    if length > 96 {
        let start = quad!(bytes, start + 32, 64 72 96 104);
        return avalanche!(sum + start + quad!(bytes, end - 64, 112 120 80 88));
    }
    if length > 64 {
        return avalanche!(sum + pair!(bytes, start + 32, 64 72) + pair!(bytes, end - 48, 80 88));
    }
    avalanche!(sum)
}

/// The same for 129 to 240 bytes; `sum` is what the length adds.
const fn long_hash(bytes: *const Bytes, start: usize, length: usize, sum: u128) -> u64 {
    let sum = sum + quad!(bytes, start, 0 8 16 24) + quad!(bytes, start + 32, 32 40 48 56);
    let sum =
        sum + quad!(bytes, start + 64, 64 72 80 88) + quad!(bytes, start + 96, 96 104 112 120);
    let mut sum = avalanche!(sum) as u128;
    if length >= 144 {
        sum += pair!(bytes, start + 128, 3 11);
    }
    if length >= 160 {
        sum += pair!(bytes, start + 144, 19 27);
    }
    if length >= 176 {
        sum += pair!(bytes, start + 160, 35 43);
    }
    if length >= 192 {
        sum += pair!(bytes, start + 176, 51 59);
    }
    if length >= 208 {
        sum += pair!(bytes, start + 192, 67 75);
    }
    if length >= 224 {
        sum += pair!(bytes, start + 208, 83 91);
    }
    if length >= 240 {
        sum += pair!(bytes, start + 224, 99 107);
    }
    avalanche!(sum + pair!(bytes, start + length - 16, 119 127))
}

#[cfg(test)]
mod tests;
