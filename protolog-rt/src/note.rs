//! Call-site notes, which hold a call's message and its id, computed in constants.
//!
//! The compiler interprets constants statement by statement, without optimising, and each statement
//! costs the same, whether it adds two numbers or copies 128 bytes. A program has thousands of
//! calls, so this code is flat, and hashes the note's bytes in place (the id is the hash of the
//! bytes that follow the note's header). Odd-looking code saves statements: `a += b` is half of
//! `a = a + b`, which also copies `a` and then the sum. A named constant is looked up in each call,
//! a number is not. Rare cases have functions of their own: entering one takes time, too.
//!
//! Invariants
//! - *format*: the bytes are those of [`protolog_core::note::encode`]; the hash is XXH3-64, the
//!   same as [`protolog_core::hash`].
//! - *room*: [`new_note`] asserts that header and texts fit into the `N` bytes of the note. A
//!   [`Draft`] has [`BLOCK`] bytes more, so a block copy that starts within the note ends within
//!   the draft.
//! - *hashed*: `hash` and the functions it calls get a pointer to at least `length` initialised
//!   bytes that nothing writes meanwhile: the texts of a draft, of which `hash` reads those that
//!   are already copied.
#![allow(unsafe_code)] // Words are read from bytes and written to them, at any alignment.
#![allow(clippy::ptr_as_ptr, clippy::ref_as_ptr)] // `cast` is a call.
#![allow(clippy::redundant_field_names)] // Only where the machine's byte order is that of notes.

mod group;
mod named;
pub(crate) mod span;

pub use group::GroupDef;
pub use named::*;

use crate::compiled::is_level_compiled;
use protolog_core::Level;
use protolog_core::note::{ALIGN, HEADER_SIZE, NAME, TEXTS_AT, TYPE};

/// The bytes of a note, aligned as its section requires.
#[derive(Debug)]
#[repr(C, align(4))]
pub struct NoteBytes<B: ?Sized>(B);

const _: () = assert!(align_of::<NoteBytes<[u8; 0]>>() == ALIGN);

/// The address of a note in the binary, or null.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoteRef(pub(crate) *const u8);

impl NoteRef {
    pub(crate) const NONE: Self = Self(core::ptr::null());

    #[inline]
    pub(crate) const fn new(note: &'static NoteBytes<[u8]>) -> Self {
        Self(note.0.as_ptr())
    }

    /// Returns the note's bytes; empty if there is no note.
    pub(crate) fn bytes(self) -> &'static [u8] {
        if self.0.is_null() {
            return &[];
        }
        // SAFETY: `new` and `ForeignSite` got a whole note, which begins with its header
        // (*format*), aligned to four or less, and every bit pattern is a valid header.
        let head = unsafe { *(self.0 as *const NoteHeader) };
        // SAFETY: in a note, `size` is the length after the first `HEADER_SIZE` bytes, and nothing
        // changes it.
        unsafe { core::slice::from_raw_parts(self.0, HEADER_SIZE + head.size as usize) }
    }
}

/// An array longer than any note. Pointers to bytes are cast to it, since indexing an array is not
/// a function call.
type Bytes = [u8; 0x40000];

/// Converts a number between the machine's byte order and that of notes and of the hash.
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

/// The fixed part of a note, before its texts.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed)]
struct NoteHeader {
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
    has_names: u8,
}

const _: () = assert!(size_of::<NoteHeader>() == TEXTS_AT);

/// Number of bytes of a group's texts that are copied at once; to copy the exact number takes a
/// call, and twice as long.
const BLOCK: usize = 64;

// The numbers that are used below without their names.
const _: () = assert!(TEXTS_AT == 60 && HEADER_SIZE == 24 && BLOCK == 64 && ALIGN == 4);

/// 64 bytes, as four words of the hash.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Words(u128, u128, u128, u128);

/// 16 bytes, as a word of the hash.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Pair(u128);

/// A note while it is written, with room for the part of a [`GroupPart::block`] that exceeds the
/// note (*room*).
#[repr(C)]
struct Draft<const N: usize> {
    note: NoteBytes<[u8; N]>,
    room: [u8; BLOCK],
}

/// The two parts of a note.
#[repr(C, packed)]
struct NoteParts {
    head: NoteHeader,
    texts: Bytes,
}

/// The part that all notes of a group have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupPart {
    head: NoteHeader,
    /// The first bytes of name and tag, then zeros.
    block: [u8; BLOCK],
    /// Length of the name.
    name_length: usize,
    /// By severity of the level.
    levels: [LevelPart; 6],
}

/// The part that all notes of a group and level have in common.
#[derive(Clone, Copy, Debug)]
struct LevelPart {
    /// The level's name, then zeros.
    name: [u8; 8],
    /// Length of the name with its NUL.
    length: usize,
    /// Size of a note without place, template and file, plus 3 to round up.
    size: usize,
    /// Number on the wire.
    wire: u8,
}

/// The level parts of a group with an empty name.
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
        // Place and template have a NUL each.
        level.size = TEXTS_AT + 2 + level.length + (ALIGN - 1);
        level.wire = Level::ALL[index].wire() as u8;
        index += 1;
    }
    levels
};

impl GroupPart {
    /// Creates the part of a group. `texts` is its name followed by its tag, which has `tag_length`
    /// bytes.
    pub(crate) const fn new(id: u32, texts: &str, tag_length: usize) -> Self {
        let name_length = texts.len() - tag_length;
        let head = NoteHeader {
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
            has_names: 0,
        };
        let mut block = [0; BLOCK];
        let length = if texts.len() < BLOCK { texts.len() } else { BLOCK };
        let (from, to) = (texts.as_ptr(), &raw mut block as *mut u8);
        // SAFETY: `length` is at most the length of `texts` and of `block`, and a new local array
        // does not overlap it.
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

/// The length of a string in one call, where `str::len` makes three.
macro_rules! length {
    ($text:expr) => {
        size_of_val::<str>($text)
    };
}

/// A shared reference to the bytes at an offset, as a type without padding and alignment that every
/// bit pattern is valid for.
macro_rules! view {
    ($bytes:ident, $at:expr, $type:ty) => {{
        // SAFETY: *hashed*: the hash reads only within its `length` bytes, so the offset is in
        // bounds.
        let place = unsafe { &raw const (*$bytes)[$at] } as *const $type;
        // SAFETY: *hashed*: those bytes are initialised, and nothing writes them while the hash
        // runs.
        unsafe { &*place }
    }};
}

/// An exclusive reference to the bytes at an offset, as such a type.
macro_rules! view_mut {
    ($bytes:ident, $at:expr, $type:ty) => {{
        // SAFETY: *room*: `new_note` has asserted that the offset is within the note.
        let place = unsafe { &raw mut (*$bytes)[$at] } as *mut $type;
        // SAFETY: *room*: at most `BLOCK` bytes from there are still in the draft, of which there
        // is no other reference.
        unsafe { &mut *place }
    }};
}

/// Clears the upper half of a number.
macro_rules! halved {
    ($number:ident) => {
        $number &= 0xffff_ffff_ffff_ffff;
    };
}

/// Adds to a sum the folded product that XXH3 makes of 16 bytes of the input and 16 of its secret.
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

/// XXH3's last step, on the lower half of a sum.
macro_rules! avalanche {
    ($sum:ident) => {
        halved!($sum);
        $sum ^= $sum >> 37_u32;
        $sum *= 0x1656_6791_9e37_79f9;
        halved!($sum);
        $sum ^= $sum >> 32_u32;
    };
}

/// Returns the size of a call's note: 0 if the group or the level is not compiled in. `texts` are
/// place, template and file, concatenated.
pub const fn note_size(group: &GroupDef, level: Level, texts: &str) -> usize {
    if !group.enabled || !is_level_compiled(level) {
        return 0;
    }
    let mut size = length!(texts);
    size += group.part.levels[level as usize].size;
    size &= !3; // Rounds up, since 3 was added.
    size
}

/// Returns the note of a call; `N` is its [`note_size`]. `texts` is place, NUL, template, NUL; the
/// template has `template` bytes.
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
    // Offsets from the first text.
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
    let start = &raw mut draft as *mut NoteParts;
    // SAFETY: *room*: `N`, and so the draft, is larger than a header, so the field is in bounds.
    let bytes = unsafe { &raw mut (*start).texts };
    let from = texts as *const str as *const u8;
    // SAFETY: `texts` has `texts_length` bytes; *room*: so has the draft; a local draft overlaps no
    // string.
    unsafe { core::ptr::copy_nonoverlapping(from, bytes as *mut u8, texts_length) };
    // The excess of these copies is overwritten by the next bytes, or is zero, or lies behind the
    // note.
    *view_mut!(bytes, texts_length, [u8; 8]) = level.name;
    *view_mut!(bytes, group_at, [u8; 64]) = group.part.block;
    if group.texts_length > 64 {
        copy_group(bytes, group_at, group.texts);
    }
    let from = file as *const str as *const u8;
    // SAFETY: *room*: `file_at` is at most `end`, which is within the note.
    let to = unsafe { &raw mut (*bytes)[file_at] };
    // SAFETY: `file` has `file_length` bytes; *room*: so has the note from `file_at` on; a local
    // draft overlaps no string.
    unsafe { core::ptr::copy_nonoverlapping(from, to, file_length) };
    let mut place = texts_length;
    place -= template;
    place -= 2;
    let mut hashed = group_at;
    hashed += group.part.name_length;
    let id = hash(bytes, hashed);
    // SAFETY: *room*: the draft is larger than a header, and there is no other reference to it.
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
    /// Returns the message's id; 0 if the call is not compiled in. In release code it is an
    /// immediate, since the compiler reads the static.
    #[inline]
    pub(crate) const fn id(&self) -> u64 {
        if self.0.len() < TEXTS_AT {
            return 0;
        }
        // SAFETY: the length was checked just now; a header is packed, and valid for every bit
        // pattern.
        let head = unsafe { *(&raw const self.0 as *const NoteHeader) };
        little_endian!(head.id)
    }
}

/// Refuses texts that are too long for a note's 16-bit lengths.
const fn check_lengths(texts: usize, group: usize, file: usize) {
    assert!(
        texts <= 0xffff && group <= 0xffff && file <= 0xffff,
        "a text of a log call is longer than 65,535 bytes"
    );
}

/// Copies a group's texts if they are longer than a block.
const fn copy_group(bytes: *mut Bytes, at: usize, texts: &str) {
    // SAFETY: *room*: `at` is the offset of the group's texts, which is within the note.
    let to = unsafe { &raw mut (*bytes)[at] };
    // SAFETY: *room*: `file_at`, which is `at` plus this length, is within the note; a local draft
    // overlaps no string.
    unsafe { core::ptr::copy_nonoverlapping(texts.as_ptr(), to, texts.len()) };
}

/// Returns the XXH3-64 (seed 0) of `length` bytes. The numbers are the first prime of XXH64 and
/// words of XXH3's default secret.
const fn hash(bytes: *const Bytes, length: usize) -> u64 {
    if length > 128 {
        return long_hash(bytes, length);
    }
    if length <= 64 {
        return short_hash(bytes, length);
    }
    let mut sum = length as u128;
    sum *= 0x9e37_79b1_85eb_ca87;
    // SAFETY: *hashed*: `length`, here more than 64, bytes are initialised, and nothing writes them
    // meanwhile.
    let start = unsafe { &*(bytes as *const Words) };
    let end = view!(bytes, length - 64, Words);
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

/// [`hash`] for up to 64 bytes.
const fn short_hash(bytes: *const Bytes, length: usize) -> u64 {
    if length <= 16 {
        return library_hash(bytes, length);
    }
    let mut sum = length as u128;
    sum *= 0x9e37_79b1_85eb_ca87;
    mix!(sum, view!(bytes, 0, Pair).0, 0x1cad_21f7_2c81_017c_be4b_a423_396c_feb8);
    mix!(sum, view!(bytes, length - 16, Pair).0, 0x1f67_b3b7_a4a4_4072_db97_9083_e96d_d4de);
    if length > 32 {
        mix!(sum, view!(bytes, 16, Pair).0, 0x2172_ffcc_7dd0_5a82_78e5_c0cc_4ee6_79cb);
        mix!(sum, view!(bytes, length - 32, Pair).0, 0x4c26_3a81_e690_35e0_8e24_43f7_7446_08b8);
    }
    avalanche!(sum);
    sum as u64
}

/// [`hash`] for more than 128 bytes.
const fn long_hash(bytes: *const Bytes, length: usize) -> u64 {
    if length > 240 {
        return library_hash(bytes, length);
    }
    let mut sum = length as u128;
    sum *= 0x9e37_79b1_85eb_ca87;
    let start = view!(bytes, 0, [Words; 2]);
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
        mix!(sum, view!(bytes, 128, Pair).0, 0x6dd4_de1c_ad21_f72c_8101_7cbe_4ba4_2339);
    }
    if length >= 160 {
        mix!(sum, view!(bytes, 144, Pair).0, 0xe679_cb1f_67b3_b7a4_a440_72db_9790_83e9);
    }
    if length >= 176 {
        mix!(sum, view!(bytes, 160, Pair).0, 0x4608_b821_72ff_cc7d_d05a_8278_e5c0_cc4e);
    }
    if length >= 192 {
        mix!(sum, view!(bytes, 176, Pair).0, 0x5228_3c4c_263a_81e6_9035_e08e_2443_f774);
    }
    if length >= 208 {
        mix!(sum, view!(bytes, 192, Pair).0, 0x4864_71a3_2e53_1b8b_65d0_88cb_00c3_91bb);
    }
    if length >= 224 {
        mix!(sum, view!(bytes, 208, Pair).0, 0x76fa_a8d8_acde_a946_ef19_384e_f90d_a297);
    }
    if length >= 240 {
        mix!(sum, view!(bytes, 224, Pair).0, 0xe051_8a1d_4f0b_c7c7_bbdc_f93f_349c_e33f);
    }
    mix!(sum, view!(bytes, length - 16, Pair).0, 0xebd3_3483_acc5_ea64_7378_d9c9_7e9f_c831);
    avalanche!(sum);
    sum as u64
}

/// [`hash`] for any length, by the library, which is fast enough for rare lengths.
const fn library_hash(bytes: *const Bytes, length: usize) -> u64 {
    // SAFETY: *hashed*: `length` bytes are initialised, and nothing writes them meanwhile.
    protolog_core::hash(unsafe { core::slice::from_raw_parts(bytes as *const u8, length) })
}

#[cfg(test)]
mod tests;
