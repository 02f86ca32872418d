//! The record that a Rust binary carries for each of its log calls: an ELF note, found in every loaded image and in the
//! file, which holds the call's dictionary entry.
//!
//! Notes describe themselves (they carry their size) and hold no pointers, so they need no relocations, no page of them
//! is touched before a dictionary is written, and sections of several objects may simply be joined by the linker. They
//! stand in the section `.note.protolog`.
//!
//! ```text
//!  0  u32 name size = 9   u32 description size   u32 type = 1      (in the byte order of the machine)
//! 12  "protolog\0" and three zero bytes
//! 24  description, little-endian:
//!     0 u64 message id    8 u64 mask             16 u32 group id        20 u32 line
//!    24 u16 place length 26 u16 file length      28 u16 template length 30 u16 group length
//!    32 u16 tag length   34 u8 level (wire)      35 u8 zero
//!    36 place, file, template, group, tag, then zeros up to a multiple of 4
//! ```
//!
//! A note of type 2 holds a whole dictionary (`ProtoLogViewerConfig`) as its description: that of sources that were rewritten,
//! whose calls have no notes of their own.
//!
//! Invariants: [`write()`] in a constant and [`Note::parse`] are inverses; any bytes may be parsed.

use crate::{Level, ParamMask};

/// Name in each note's header, with its terminating zero.
pub const NAME: &[u8; 9] = b"protolog\0";
/// Type in each note's header: the version of the description.
pub const TYPE: u32 = 1;
/// Type of a note that holds a whole dictionary, in protobuf.
pub const DICTIONARY_TYPE: u32 = 2;
/// Alignment of a note, in bytes.
pub const ALIGN: usize = 4;

const HEADER: usize = 24;
const FIXED: usize = 36;

/// Number of bytes of a note before its texts: [`Note::head`].
pub const HEAD: usize = HEADER + FIXED;

/// A call's dictionary entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    /// The message's id.
    pub id: u64,
    /// Kinds of the arguments.
    pub mask: ParamMask,
    /// The group's id.
    pub group_id: u32,
    /// The message's level.
    pub level: Level,
    /// What the id is computed over: the module's path.
    pub place: &'a str,
    /// The source file, as the compiler names it.
    pub file: &'a str,
    /// The line of the call, from 1.
    pub line: u32,
    /// The template, in full form.
    pub template: &'a str,
    /// The group's full name.
    pub group: &'a str,
    /// The group's tag.
    pub tag: &'a str,
}

/// What a stretch of a notes section holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed<'a> {
    /// A call's entry.
    Note(Note<'a>),
    /// A whole dictionary, in protobuf.
    Dictionary(&'a [u8]),
    /// A well-formed note of another name or type.
    Foreign,
}

impl<'a> Note<'a> {
    /// Number of bytes of the note, header included.
    pub const fn size(&self) -> usize {
        let texts = self.place.len()
            + self.file.len()
            + self.template.len()
            + self.group.len()
            + self.tag.len();
        HEAD + texts.next_multiple_of(ALIGN)
    }

    /// The bytes of the note before its texts, as the words that they make up on this machine. With [`Note::texts`] for who
    /// writes many notes in constants and can copy faster than [`write()`], which goes byte by byte.
    pub const fn head(&self) -> [u32; HEAD / 4] {
        let (id, mask) = (self.id, self.mask.bits());
        let mut words = [
            NAME.len() as u32,
            (self.size() - HEADER) as u32,
            TYPE,
            u32::from_ne_bytes(*b"prot"),
            u32::from_ne_bytes(*b"olog"),
            0,
            id as u32,
            (id >> 32) as u32,
            mask as u32,
            (mask >> 32) as u32,
            self.group_id,
            self.line,
            halves(self.place.len(), self.file.len()),
            halves(self.template.len(), self.group.len()),
            halves(self.tag.len(), self.level.wire() as usize),
        ];
        let mut description = if cfg!(target_endian = "big") { HEADER / 4 } else { words.len() };
        while description < words.len() {
            words[description] = words[description].swap_bytes();
            description += 1;
        }
        words
    }

    /// The texts that follow [`Note::head`], without anything between them.
    pub const fn texts(&self) -> [&'a str; 5] {
        [self.place, self.file, self.template, self.group, self.tag]
    }

    /// The note at the start of `bytes` and what follows it; none where `bytes` is no well-formed note.
    pub fn parse(bytes: &'a [u8]) -> Option<(Parsed<'a>, &'a [u8])> {
        let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let (name_size, size, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let name = bytes.get(12..12usize.checked_add(name_size)?)?;
        let start = 12 + name_size.next_multiple_of(ALIGN);
        let description = bytes.get(start..start.checked_add(size)?)?;
        let rest = bytes.get(start + size.next_multiple_of(ALIGN)..).unwrap_or_default();
        let parsed = match kind {
            TYPE if name == NAME => Parsed::Note(Self::parse_description(description)?),
            DICTIONARY_TYPE if name == NAME => Parsed::Dictionary(description),
            _ => Parsed::Foreign,
        };
        Some((parsed, rest))
    }

    fn parse_description(bytes: &'a [u8]) -> Option<Self> {
        let (fixed, mut texts) = bytes.split_at_checked(FIXED)?;
        let u16_at = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]) as usize;
        let u32_at = |at: usize| u16_at(at) as u32 | (u16_at(at + 2) as u32) << 16;
        let u64_at = |at: usize| u32_at(at) as u64 | (u32_at(at + 4) as u64) << 32;
        let mut text = |length: usize| {
            let (text, rest) = texts.split_at_checked(length)?;
            texts = rest;
            core::str::from_utf8(text).ok()
        };
        Some(Self {
            id: u64_at(0),
            mask: ParamMask::from_bits(u64_at(8)),
            group_id: u32_at(16),
            line: u32_at(20),
            level: Level::from_wire(fixed[34] as u64)?,
            place: text(u16_at(24))?,
            file: text(u16_at(26))?,
            template: text(u16_at(28))?,
            group: text(u16_at(30))?,
            tag: text(u16_at(32))?,
        })
    }
}

/// The words of a note that come before a dictionary of so many bytes; zeros up to a multiple of 4 come after it.
pub const fn dictionary_head(length: usize) -> [u32; HEADER / 4] {
    assert!(length <= u32::MAX as usize, "a dictionary is larger than 4 GiB");
    let name = [u32::from_ne_bytes(*b"prot"), u32::from_ne_bytes(*b"olog")];
    [NAME.len() as u32, length as u32, DICTIONARY_TYPE, name[0], name[1], 0]
}

/// The bytes of `note`, whose [`Note::size`] is `N`. For constants: a wrong size or a text over 65,535 bytes fails there.
pub const fn write<const N: usize>(note: &Note<'_>) -> [u8; N] {
    assert!(N == note.size(), "N must be the note's size");
    let mut bytes = [0; N];
    let (head, texts) = (note.head(), note.texts());
    let mut index = 0;
    while index < head.len() {
        put(&mut bytes, 4 * index, &head[index].to_ne_bytes());
        index += 1;
    }
    let (mut index, mut at) = (0, HEAD);
    while index < texts.len() {
        put(&mut bytes, at, texts[index].as_bytes());
        at += texts[index].len();
        index += 1;
    }
    bytes
}

/// Two 16-bit numbers.
const fn halves(low: usize, high: usize) -> u32 {
    const MAX: usize = u16::MAX as usize;
    assert!(low <= MAX && high <= MAX, "a text of a log call is longer than 65,535 bytes");
    low as u32 | (high as u32) << 16
}

/// `bytes[at..][..part.len()].copy_from_slice(part)`, in constants.
const fn put(bytes: &mut [u8], at: usize, part: &[u8]) {
    let mut index = 0;
    while index < part.len() {
        bytes[at + index] = part[index];
        index += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const NOTE: Note<'_> = Note {
        id: 0x0102_0304_0506_0708,
        mask: ParamMask::from_bits(9),
        group_id: 0xdead_beef,
        level: Level::Warn,
        place: "app::net",
        file: "src/net.rs",
        line: 42,
        template: "sent %04d in %f ms €",
        group: "app::AppLog::Net",
        tag: "Net",
    };
    static BYTES: [u8; NOTE.size()] = write(&NOTE);

    #[test]
    fn a_constant_note_parses() {
        assert_eq!(BYTES.len() % ALIGN, 0);
        assert_eq!(Note::parse(&BYTES), Some((Parsed::Note(NOTE), &[][..])));
    }

    #[test]
    fn notes_follow_one_another() {
        const EMPTY: Note<'_> =
            Note { place: "", file: "", template: "", group: "", tag: "", ..NOTE };
        static SMALL: [u8; EMPTY.size()] = write(&EMPTY);
        let foreign = [4, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, b'G', b'N', b'U', 0, 1, 2, 3, 0];
        let section: Vec<u8> = [&BYTES[..], &foreign, &SMALL, &BYTES].concat();
        let mut rest = &section[..];
        let mut found = Vec::new();
        while let Some((parsed, after)) = Note::parse(rest) {
            found.push(parsed);
            rest = after;
        }
        assert_eq!(
            found,
            [Parsed::Note(NOTE), Parsed::Foreign, Parsed::Note(EMPTY), Parsed::Note(NOTE)]
        );
    }

    #[test]
    fn a_dictionary_is_a_note() {
        let head = dictionary_head(5).map(u32::to_ne_bytes).concat();
        let section = [&head[..], b"abcde\0\0\0", &BYTES].concat();
        let (parsed, rest) = Note::parse(&section).unwrap();
        assert_eq!(parsed, Parsed::Dictionary(b"abcde"));
        assert_eq!(Note::parse(rest), Some((Parsed::Note(NOTE), &[][..])));
    }

    #[test]
    fn any_bytes_may_be_parsed() {
        for end in 0..BYTES.len() {
            assert_eq!(Note::parse(&BYTES[..end]), None, "cut at {end}");
        }
        for at in 0..BYTES.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = BYTES;
                bytes[at] = value;
                let _ = Note::parse(&bytes);
            }
        }
    }
}
