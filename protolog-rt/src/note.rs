//! The bytes of a call's note, and in them the message's id, computed in constants.
//!
//! The compiler interprets constants, statement by statement as they were written: nothing is optimised, and it does not
//! matter what a statement does, be it a sum or a copy of 128 bytes. A program has thousands of calls, so this code is flat, and
//! hashes the note's bytes where they stand (a note begins, after its fixed part, with what the id is the hash of). What looks
//! odd saves statements: `a += b` is half of `a = a + b`, since the latter copies `a` too, and then the sum; a name for a
//! constant is looked up in each call, a number is not; what is rare stands in functions of its own, since to enter one takes
//! time for each of its statements.
//!
//! Invariants: the bytes are those of [`protolog_core::note::encode`]; the hash is XXH3-64 as [`protolog_core::hash`] has it.
#![allow(unsafe_code)] // Words are read from bytes and written to them, at any alignment.
#![allow(clippy::ptr_as_ptr, clippy::ref_as_ptr)] // `cast` is a call.
#![allow(clippy::redundant_field_names)] // Only where the machine's byte order is that of notes.

mod group;

pub use group::GroupDef;

use protolog_core::Level;
use protolog_core::note::{ALIGN, HEADER_SIZE, NAME, TEXTS_AT, TYPE};

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
        unsafe { core::slice::from_raw_parts(self.0, HEADER_SIZE + head.size as usize) }
    }
}

/// More than any note: what pointers to bytes are taken to point to, so that they can be indexed, which is no call.
type Bytes = [u8; 0x40000];

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

/// What stands in a note before its texts.
#[derive(Clone, Copy, Debug)]
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

const _: () = assert!(size_of::<Head>() == TEXTS_AT);

/// Bytes of a group's texts that are copied at once: with a call for the right number it takes twice as long.
const BLOCK: usize = 64;

// Numbers that stand below without their names.
const _: () = assert!(TEXTS_AT == 60 && HEADER_SIZE == 24 && BLOCK == 64 && ALIGN == 4);

/// 64 bytes as words of the hash.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Words(u128, u128, u128, u128);

/// 16 bytes as a word of the hash.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Pair(u128);

/// A note while it is written, with room for what is too much of a [`GroupPart::block`].
#[repr(C)]
struct Draft<const N: usize> {
    note: NoteBytes<[u8; N]>,
    room: [u8; BLOCK],
}

/// The two parts of a note.
#[repr(C, packed)]
struct Start {
    head: Head,
    texts: Bytes,
}

/// What the notes of a group have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupPart {
    head: Head,
    /// The first bytes of name and tag, and zeros.
    block: [u8; BLOCK],
    /// Bytes of the name.
    name_length: usize,
    /// By severity.
    levels: [LevelPart; 6],
}

/// What the notes of a group at a level have in common.
#[derive(Clone, Copy, Debug)]
struct LevelPart {
    /// The level's name, and zeros.
    name: [u8; 8],
    /// Bytes of the name with its zero.
    length: usize,
    /// Bytes of a note without place, template and file, and what is needed to round it up.
    size: usize,
    /// Number on the wire.
    wire: u8,
}

/// The parts of levels with a group without a name.
const LEVELS: [LevelPart; 6] = {
    let mut levels = [LevelPart { name: [0; 8], length: 0, size: 0, wire: 0 }; 6];
    let mut index = 0;
    while index < levels.len() {
        let level = &mut levels[index];
        let name = Level::ALL[index].name().as_bytes();
        let mut byte = 0;
        while byte < name.len() {
            level.name[byte] = name[byte];
            byte += 1;
        }
        level.length = name.len() + 1;
        // Place and template have a zero each.
        level.size = TEXTS_AT + 2 + level.length + (ALIGN - 1);
        level.wire = Level::ALL[index].wire() as u8;
        index += 1;
    }
    levels
};

impl GroupPart {
    /// That of a group: `texts` is its name and after it its tag, which has `tag_length` bytes.
    pub(crate) const fn new(id: u32, texts: &str, tag_length: usize) -> Self {
        let name_length = texts.len() - tag_length;
        let head = Head {
            name_size: NAME.len() as u32,
            size: 0,
            kind: TYPE,
            name: *b"protolog\0\0\0\0",
            id: 0,
            mask: 0,
            group_id: little_endian!(id),
            line: 0,
            place: 0,
            template: 0,
            group: little_endian!(name_length as u16),
            tag: little_endian!(tag_length as u16),
            file: 0,
            level: 0,
            zero: 0,
        };
        let mut block = [0; BLOCK];
        let length = if texts.len() < BLOCK { texts.len() } else { BLOCK };
        let (from, to) = (texts.as_ptr(), &raw mut block as *mut u8);
        // SAFETY: both have so many bytes.
        unsafe { core::ptr::copy_nonoverlapping(from, to, length) };
        let mut levels = LEVELS;
        let mut index = 0;
        while index < 6 {
            levels[index].size += texts.len();
            index += 1;
        }
        Self { head, block, name_length, levels }
    }
}

/// Number of bytes of a text, by one call, where `str::len` makes three.
macro_rules! length {
    ($text:expr) => {
        size_of_val::<str>($text)
    };
}

/// What stands at a byte, as a type that any bytes make, at any alignment.
macro_rules! read {
    ($bytes:ident, $at:expr, $type:ty) => {{
        // SAFETY: who passes the pointer says that so many bytes follow it.
        let place = unsafe { &raw const (*$bytes)[$at] } as *const $type;
        // SAFETY: likewise; nobody writes to them meanwhile.
        unsafe { &*place }
    }};
}

/// The same, to write to it.
macro_rules! write {
    ($bytes:ident, $at:expr, $type:ty) => {{
        // SAFETY: who passes the pointer says that so many bytes follow it.
        let place = unsafe { &raw mut (*$bytes)[$at] } as *mut $type;
        // SAFETY: likewise; nothing else refers to the bytes meanwhile.
        unsafe { &mut *place }
    }};
}

/// The lower half of a number, and nothing above it.
macro_rules! halved {
    ($number:ident) => {
        $number &= 0xffff_ffff_ffff_ffff;
    };
}

/// Adds to a sum what XXH3 makes of 16 bytes, as a number, and of 16 of its secret.
macro_rules! mix {
    ($sum:ident, $words:expr, $secret:literal) => {
        let mut low = little_endian!($words);
        low ^= $secret;
        let mut product = low;
        product >>= 64_u32;
        halved!(low);
        product *= low;
        let mut folded = product;
        folded >>= 64_u32;
        folded ^= product;
        halved!(folded);
        $sum += folded;
    };
}

/// The last step of XXH3, of a sum's lower half.
macro_rules! avalanche {
    ($sum:ident) => {
        halved!($sum);
        $sum ^= $sum >> 37_u32;
        $sum *= 0x1656_6791_9e37_79f9;
        halved!($sum);
        $sum ^= $sum >> 32_u32;
    };
}

/// Number of bytes of a call's note: 0 where the call is not compiled in. `texts` are place, template and file together.
pub const fn note_size(group: &GroupDef, level: Level, texts: &str) -> usize {
    if !group.enabled {
        return 0;
    }
    let mut size = length!(texts);
    size += group.part.levels[level as usize].size;
    size &= !3; // What rounds up is in what was added.
    size
}

/// The note of a call; `N` is its [`note_size`]. `texts` is place, NUL, template, NUL; the template has `template` bytes.
pub const fn new_note<const N: usize>(
    group: &GroupDef,
    level: Level,
    texts: &str,
    template: usize,
    mask: u64,
    file: &str,
    line: u32,
) -> NoteBytes<[u8; N]> {
    if N == 0 {
        return NoteBytes([0; N]);
    }
    let mut draft = Draft { note: NoteBytes([0; N]), room: [0; 64] };
    let level = &group.part.levels[level as usize];
    let texts_length = length!(texts);
    let file_length = length!(file);
    // Places in the note, from the texts on.
    let mut group_at = texts_length;
    group_at += level.length;
    let mut file_at = group_at;
    file_at += group.texts_length;
    let mut end = file_at;
    end += file_length;
    end += 60;
    assert!(end <= N, "N must be the note's size");
    if N > 0xffff {
        check_lengths(texts_length, group.texts_length, file_length);
    }
    let start = &raw mut draft as *mut Start;
    // SAFETY: a draft is larger than the fixed part of a note.
    let bytes = unsafe { &raw mut (*start).texts };
    let from = texts as *const str as *const u8;
    // SAFETY: so many bytes are there, and there is room for them; a note being made is none of the texts.
    unsafe { core::ptr::copy_nonoverlapping(from, bytes as *mut u8, texts_length) };
    // What is too much is written over by what follows, or zero, or behind the note.
    *write!(bytes, texts_length, [u8; 8]) = level.name;
    *write!(bytes, group_at, [u8; 64]) = group.part.block;
    if group.texts_length > 64 {
        copy_group(bytes, group_at, group.texts);
    }
    let from = file as *const str as *const u8;
    // SAFETY: there is room, as was asserted.
    let to = unsafe { &raw mut (*bytes)[file_at] };
    // SAFETY: as above.
    unsafe { core::ptr::copy_nonoverlapping(from, to, file_length) };
    let mut place = texts_length;
    place -= template;
    place -= 2;
    let mut hashed = group_at;
    hashed += group.part.name_length;
    let id = hash(bytes, hashed);
    // SAFETY: as above; nothing else refers to the fixed part.
    let head = unsafe { &mut (*start).head };
    *head = group.part.head;
    head.size = (N - 24) as u32;
    head.id = little_endian!(id);
    head.mask = little_endian!(mask);
    head.line = little_endian!(line);
    head.place = little_endian!(place as u16);
    head.template = little_endian!(template as u16);
    head.file = little_endian!(file_length as u16);
    head.level = level.wire;
    draft.note
}

impl NoteBytes<[u8]> {
    /// The message's id; 0 where the call is not compiled in. Release code has it as an immediate: the compiler looks into the
    /// static.
    #[inline]
    pub(crate) const fn id(&self) -> u64 {
        if self.0.len() < TEXTS_AT {
            return 0;
        }
        // SAFETY: so many bytes are there; any bytes make a head, at any alignment.
        let head = unsafe { *(&raw const self.0 as *const Head) };
        little_endian!(head.id)
    }
}

/// Refuses lengths that a note has no room for.
const fn check_lengths(texts: usize, group: usize, file: usize) {
    assert!(
        texts <= 0xffff && group <= 0xffff && file <= 0xffff,
        "a text of a log call is longer than 65,535 bytes"
    );
}

/// Copies a group's texts where they are longer than usual.
const fn copy_group(bytes: *mut Bytes, at: usize, texts: &str) {
    // SAFETY: who passes the pointer says that there is room for the texts.
    let to = unsafe { &raw mut (*bytes)[at] };
    // SAFETY: likewise; a note being made is none of them.
    unsafe { core::ptr::copy_nonoverlapping(texts.as_ptr(), to, texts.len()) };
}

/// XXH3-64 (seed 0) of `length` bytes. The numbers are the first prime of XXH64, and words of XXH3's default secret.
const fn hash(bytes: *const Bytes, length: usize) -> u64 {
    if length > 128 {
        return long_hash(bytes, length);
    }
    if length <= 64 {
        return short_hash(bytes, length);
    }
    let mut sum = length as u128;
    sum *= 0x9e37_79b1_85eb_ca87;
    // SAFETY: who passes the pointer says that `length` bytes follow it; nobody writes to them meanwhile.
    let start = unsafe { &*(bytes as *const Words) };
    let end = read!(bytes, length - 64, Words);
    mix!(sum, start.0, 0x1cad_21f7_2c81_017c_be4b_a423_396c_feb8);
    mix!(sum, start.1, 0x2172_ffcc_7dd0_5a82_78e5_c0cc_4ee6_79cb);
    mix!(sum, start.2, 0xa32e_531b_8b65_d088_cb00_c391_bb52_283c);
    mix!(sum, end.1, 0xd8ac_dea9_46ef_1938_4ef9_0da2_9748_6471);
    mix!(sum, end.2, 0x4c26_3a81_e690_35e0_8e24_43f7_7446_08b8);
    mix!(sum, end.3, 0x1f67_b3b7_a4a4_4072_db97_9083_e96d_d4de);
    if length > 96 {
        mix!(sum, start.3, 0x1d4f_0bc7_c7bb_dcf9_3f34_9ce3_3f76_faa8);
        mix!(sum, end.0, 0x6473_78d9_c97e_9fc8_3159_b4cd_4be0_518a);
    }
    avalanche!(sum);
    sum as u64
}

/// The same for up to 64 bytes.
const fn short_hash(bytes: *const Bytes, length: usize) -> u64 {
    if length <= 16 {
        return library_hash(bytes, length);
    }
    let mut sum = length as u128;
    sum *= 0x9e37_79b1_85eb_ca87;
    mix!(sum, read!(bytes, 0, Pair).0, 0x1cad_21f7_2c81_017c_be4b_a423_396c_feb8);
    mix!(sum, read!(bytes, length - 16, Pair).0, 0x1f67_b3b7_a4a4_4072_db97_9083_e96d_d4de);
    if length > 32 {
        mix!(sum, read!(bytes, 16, Pair).0, 0x2172_ffcc_7dd0_5a82_78e5_c0cc_4ee6_79cb);
        mix!(sum, read!(bytes, length - 32, Pair).0, 0x4c26_3a81_e690_35e0_8e24_43f7_7446_08b8);
    }
    avalanche!(sum);
    sum as u64
}

/// The same for more than 128 bytes.
const fn long_hash(bytes: *const Bytes, length: usize) -> u64 {
    if length > 240 {
        return library_hash(bytes, length);
    }
    let mut sum = length as u128;
    sum *= 0x9e37_79b1_85eb_ca87;
    let start = read!(bytes, 0, [Words; 2]);
    mix!(sum, start[0].0, 0x1cad_21f7_2c81_017c_be4b_a423_396c_feb8);
    mix!(sum, start[0].1, 0x1f67_b3b7_a4a4_4072_db97_9083_e96d_d4de);
    mix!(sum, start[0].2, 0x2172_ffcc_7dd0_5a82_78e5_c0cc_4ee6_79cb);
    mix!(sum, start[0].3, 0x4c26_3a81_e690_35e0_8e24_43f7_7446_08b8);
    mix!(sum, start[1].0, 0xa32e_531b_8b65_d088_cb00_c391_bb52_283c);
    mix!(sum, start[1].1, 0xd8ac_dea9_46ef_1938_4ef9_0da2_9748_6471);
    mix!(sum, start[1].2, 0x1d4f_0bc7_c7bb_dcf9_3f34_9ce3_3f76_faa8);
    mix!(sum, start[1].3, 0x6473_78d9_c97e_9fc8_3159_b4cd_4be0_518a);
    avalanche!(sum);
    if length >= 144 {
        mix!(sum, read!(bytes, 128, Pair).0, 0x6dd4_de1c_ad21_f72c_8101_7cbe_4ba4_2339);
    }
    if length >= 160 {
        mix!(sum, read!(bytes, 144, Pair).0, 0xe679_cb1f_67b3_b7a4_a440_72db_9790_83e9);
    }
    if length >= 176 {
        mix!(sum, read!(bytes, 160, Pair).0, 0x4608_b821_72ff_cc7d_d05a_8278_e5c0_cc4e);
    }
    if length >= 192 {
        mix!(sum, read!(bytes, 176, Pair).0, 0x5228_3c4c_263a_81e6_9035_e08e_2443_f774);
    }
    if length >= 208 {
        mix!(sum, read!(bytes, 192, Pair).0, 0x4864_71a3_2e53_1b8b_65d0_88cb_00c3_91bb);
    }
    if length >= 224 {
        mix!(sum, read!(bytes, 208, Pair).0, 0x76fa_a8d8_acde_a946_ef19_384e_f90d_a297);
    }
    if length >= 240 {
        mix!(sum, read!(bytes, 224, Pair).0, 0xe051_8a1d_4f0b_c7c7_bbdc_f93f_349c_e33f);
    }
    mix!(sum, read!(bytes, length - 16, Pair).0, 0xebd3_3483_acc5_ea64_7378_d9c9_7e9f_c831);
    avalanche!(sum);
    sum as u64
}

/// The same for any length, by the library's way, which is good enough for what is rare.
const fn library_hash(bytes: *const Bytes, length: usize) -> u64 {
    // SAFETY: who passes the pointer says that so many bytes follow it; they are initialised, and nobody writes them meanwhile.
    protolog_core::hash(unsafe { core::slice::from_raw_parts(bytes as *const u8, length) })
}

#[cfg(test)]
mod tests;
