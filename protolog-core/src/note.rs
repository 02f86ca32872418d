//! The call-site note: an ELF note in a Rust binary, one per log call, which holds the call's
//! dictionary entry. It can be found in every loaded module and in the file.
//!
//! Notes carry their size and hold no pointers. So they need no relocations, and the linker can
//! simply concatenate the sections of several objects. No page of them is touched before a
//! dictionary is written, unless the compiler left a call's id out of the code: then that call
//! reads it from its note. They are in the section `.note.protolog`.
//!
//! ```text
//!  0  u32 name size = 9   u32 description size   u32 type = 1      (in the byte order of the machine)
//! 12  "protolog\0" and three zero bytes
//! 24  description, little-endian:
//!     0 u64 message id    8 u64 mask             16 u32 group id        20 u32 line
//!    24 u16 place length 26 u16 template length  28 u16 group length   30 u16 tag length
//!    32 u16 file length  34 u8 level (wire)      35 u8 1 with names of arguments, else 0
//!    36 place NUL template NUL level NUL group, whose hash is the id; then tag and file, then zeros up to a
//!       multiple of 4
//! ```
//!
//! Names of arguments ([`crate::ArgumentNames`]) stand behind the template, after a NUL, and count
//! as a part of it in its length. So a call without names has the note that it always had, and the
//! code that makes notes does not know of names.
//!
//! A note of type 2 has a whole dictionary (`ProtoLogViewerConfig`) as its description. It belongs
//! to rewritten sources, whose calls have no notes of their own.
//!
//! A note of type 3 is a stripped note of either type. Its description begins with the message's id
//! (zero for a dictionary), which a call may read when it logs, followed by the hash (u64) of the
//! dictionary that holds the content; the rest is zero.
//!
//! A note of type 4 is a call of C or C++, where no compiler computes hashes: it has the format
//! string of `printf` ([`crate::printf`]), and neither id nor group id. Each of its texts ends in a
//! zero byte, the group's name and tag too; the kinds in its mask are those of the types that were
//! passed, 0 for a text, 1 for a signed integer, 2 for a float, 3 for an unsigned one. Its zero
//! byte is the number of arguments; numbers are in the byte order of the machine. One whose texts
//! are not UTF-8 is foreign.
//!
//! Invariants: [`encode`] in a constant and [`Note::parse`] are inverses; any bytes can be parsed.

use crate::{ArgumentNames, Level, ParamMask, Template, group_id, identity_len, message_id};

/// The name in each note's header, with its terminating zero.
pub const NAME: &[u8; 9] = b"protolog\0";
/// The type in each note's header: the version of the description.
pub const TYPE: u32 = 1;
/// The type of a note that holds a whole dictionary, in protobuf.
pub const DICTIONARY_TYPE: u32 = 2;
/// The type of a stripped note.
pub const STRIPPED_TYPE: u32 = 3;
/// The type of the note of a call of C or C++.
pub const PRINTF_TYPE: u32 = 4;
/// Alignment of a note, in bytes.
pub const ALIGN: usize = 4;

/// Size of a note's header, in bytes.
pub const HEADER_SIZE: usize = 24;
const FIXED: usize = 36;

/// Offset of the byte that says whether arguments have names.
pub const HAS_NAMES_AT: usize = HEADER_SIZE + 35;

/// Offset of the texts in a note.
pub const TEXTS_AT: usize = HEADER_SIZE + FIXED;

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
    /// The place that goes into the id: the module's path.
    pub place: &'a str,
    /// The path of the source file, as the compiler names it.
    pub file: &'a str,
    /// The line of the call, from 1.
    pub line: u32,
    /// The template, in full form.
    pub template: &'a str,
    /// The list of the arguments' names; empty where there are none.
    pub names: &'a str,
    /// The group's full name.
    pub group: &'a str,
    /// The group's tag.
    pub tag: &'a str,
}

/// An entry of a notes section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParsedNote<'a> {
    /// A call's entry.
    Note(Note<'a>),
    /// A whole dictionary, in protobuf.
    Dictionary(&'a [u8]),
    /// A stripped note; the dictionary with this hash holds its content.
    Stripped(u64),
    /// An entry of a call of C or C++.
    Printf(PrintfNote<'a>),
    /// A well-formed note of another name or type.
    Foreign,
}

/// The entry of a call of C or C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintfNote<'a> {
    /// Kinds of the types that are passed, two bits each; see the module.
    pub types: u64,
    /// Number of arguments.
    pub arguments: u8,
    /// The message's level.
    pub level: Level,
    /// The place that goes into the id: the name of the source file.
    pub place: &'a str,
    /// The path of the source file, as the compiler names it.
    pub file: &'a str,
    /// The line of the call, from 1.
    pub line: u32,
    /// The format string.
    pub format: &'a str,
    /// The group's full name.
    pub group: &'a str,
    /// The group's tag.
    pub tag: &'a str,
}

impl<'a> PrintfNote<'a> {
    /// Returns the entry with the [`crate::printf::template`] that its format becomes.
    pub fn with_template(&self, template: &'a str) -> Note<'a> {
        let Self { level, place, file, line, group, tag, .. } = *self;
        let mask = Template::parse(template).map_or(ParamMask::EMPTY, |template| template.mask());
        let id = message_id(place, template, level, group);
        let (names, group_id) = ("", group_id(group));
        Note { id, mask, group_id, level, place, file, line, template, names, group, tag }
    }

    fn parse(bytes: &'a [u8], big_endian: bool) -> Option<Self> {
        let (fixed, texts) = bytes.split_at_checked(FIXED)?;
        let mut texts = texts.split(|byte| *byte == 0).map(core::str::from_utf8);
        let mut text = || texts.next()?.ok();
        let level = Level::from_wire(fixed[34] as u64)?;
        let (place, format, _) = (text()?, text()?, text()?);
        let (types, line) = (*fixed[8..].first_chunk()?, *fixed[20..].first_chunk()?);
        let from_big = (u64::from_be_bytes(types), u32::from_be_bytes(line));
        let from_little = (u64::from_le_bytes(types), u32::from_le_bytes(line));
        let (types, line) = if big_endian { from_big } else { from_little };
        let (group, tag, file) = (text()?, text()?, text()?);
        Some(Self { types, arguments: fixed[35], level, place, file, line, format, group, tag })
    }
}

impl<'a> Note<'a> {
    /// Number of bytes of the note, header included.
    pub const fn size(&self) -> usize {
        let identity = identity_len(self.place, self.template, self.level, self.group);
        let names = self.names.len() + if self.names.is_empty() { 0 } else { 1 };
        TEXTS_AT + (identity + names + self.tag.len() + self.file.len()).next_multiple_of(ALIGN)
    }

    /// Parses the note at the start of `bytes`, and returns the rest; none if it is not
    /// well-formed. A zero word, as there is between the notes of a program that is built for
    /// AddressSanitizer, is a foreign note.
    pub fn parse(bytes: &'a [u8]) -> Option<(ParsedNote<'a>, &'a [u8])> {
        Self::parse_as(bytes, cfg!(target_endian = "big"))
    }

    /// As [`parse`](Self::parse), for a binary of a machine with this byte order.
    pub fn parse_as(bytes: &'a [u8], big_endian: bool) -> Option<(ParsedNote<'a>, &'a [u8])> {
        let word = |at: usize| {
            let word = bytes.get(at..at + 4)?.try_into().ok()?;
            Some(if big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) })
        };
        if word(0)? == 0 {
            return Some((ParsedNote::Foreign, bytes.get(4..).unwrap_or_default()));
        }
        let (name_size, size, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let name = bytes.get(12..12usize.checked_add(name_size)?)?;
        let start = 12 + name_size.next_multiple_of(ALIGN);
        let description = bytes.get(start..start.checked_add(size)?)?;
        let rest = bytes.get(start + size.next_multiple_of(ALIGN)..).unwrap_or_default();
        let parsed = match kind {
            TYPE if name == NAME => ParsedNote::Note(Self::parse_description(description)?),
            DICTIONARY_TYPE if name == NAME => ParsedNote::Dictionary(description),
            PRINTF_TYPE if name == NAME => PrintfNote::parse(description, big_endian)
                .map_or(ParsedNote::Foreign, ParsedNote::Printf),
            STRIPPED_TYPE if name == NAME => {
                ParsedNote::Stripped(u64::from_le_bytes(description.get(8..16)?.try_into().ok()?))
            }
            _ => ParsedNote::Foreign,
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
        let level = Level::from_wire(fixed[34] as u64)?;
        let (place, _) = (text(u16_at(24))?, text(1)?);
        let (template, _) = (text(u16_at(26))?, text(1)?);
        let (template, names) = match template.rsplit_once('\0') {
            Some((template, names)) if fixed[35] != 0 => (template, names),
            _ => (template, ""),
        };
        text(level.name().len() + 1)?;
        Some(Self {
            id: u64_at(0),
            mask: ParamMask::from_bits(u64_at(8)),
            group_id: u32_at(16),
            line: u32_at(20),
            level,
            place,
            template,
            names: ArgumentNames::parse(names).list(),
            group: text(u16_at(28))?,
            tag: text(u16_at(30))?,
            file: text(u16_at(32))?,
        })
    }
}

/// The header of the note of a dictionary of `length` bytes, as words. The dictionary is padded
/// with zeros to a multiple of 4 bytes.
pub const fn dictionary_header(length: usize) -> [u32; HEADER_SIZE / 4] {
    assert!(length <= u32::MAX as usize, "a dictionary is larger than 4 GiB");
    let name = [u32::from_ne_bytes(*b"prot"), u32::from_ne_bytes(*b"olog")];
    [NAME.len() as u32, length as u32, DICTIONARY_TYPE, name[0], name[1], 0]
}

/// The bytes of `note`, whose [`Note::size`] is `N`. In a constant, a wrong size or a text over
/// 65,535 bytes is a compile error. This function defines the format and works byte by byte;
/// `protolog-rt`, which makes thousands of notes at compile time, has a faster one with the same
/// result.
pub const fn encode<const N: usize>(note: &Note<'_>) -> [u8; N] {
    assert!(N == note.size(), "N must be the note's size");
    let mut bytes = [0; N];
    put(&mut bytes, 0, &(NAME.len() as u32).to_ne_bytes());
    put(&mut bytes, 4, &((N - HEADER_SIZE) as u32).to_ne_bytes());
    put(&mut bytes, 8, &TYPE.to_ne_bytes());
    put(&mut bytes, 12, NAME);
    put(&mut bytes, 24, &note.id.to_le_bytes());
    put(&mut bytes, 32, &note.mask.bits().to_le_bytes());
    put(&mut bytes, 40, &note.group_id.to_le_bytes());
    put(&mut bytes, 44, &note.line.to_le_bytes());
    put(&mut bytes, 48, &length(note.place.len()));
    let has_names = !note.names.is_empty();
    let named = if has_names { note.names.len() + 1 } else { 0 };
    put(&mut bytes, 50, &length(note.template.len() + named));
    put(&mut bytes, 52, &length(note.group.len()));
    put(&mut bytes, 54, &length(note.tag.len()));
    put(&mut bytes, 56, &length(note.file.len()));
    bytes[58] = note.level.wire() as u8;
    bytes[HAS_NAMES_AT] = has_names as u8;
    let texts = [
        note.place,
        "\0",
        note.template,
        if has_names { "\0" } else { "" },
        note.names,
        "\0",
        note.level.name(),
        "\0",
        note.group,
        note.tag,
        note.file,
    ];
    let (mut index, mut at) = (0, TEXTS_AT);
    while index < texts.len() {
        put(&mut bytes, at, texts[index].as_bytes());
        at += texts[index].len();
        index += 1;
    }
    bytes
}

/// The length of a text, as it is encoded in the description.
const fn length(text: usize) -> [u8; 2] {
    assert!(text <= u16::MAX as usize, "a text of a log call is longer than 65,535 bytes");
    (text as u16).to_le_bytes()
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
        names: "",
        group: "app::AppLog::Net",
        tag: "Net",
    };
    static BYTES: [u8; NOTE.size()] = encode(&NOTE);

    #[test]
    fn notes_between_red_zones_are_found() {
        for zeros in (0..=64).step_by(ALIGN) {
            let mut bytes = Vec::new();
            for _ in 0..3 {
                bytes.extend(BYTES);
                bytes.resize(bytes.len() + zeros, 0);
            }
            let (mut rest, mut found) = (&bytes[..], 0);
            while let Some((parsed, after)) = Note::parse(rest) {
                found += usize::from(parsed == ParsedNote::Note(NOTE));
                rest = after;
            }
            assert_eq!((found, rest.len()), (3, 0), "{zeros} zeros");
        }
    }

    #[test]
    fn a_constant_note_is_parsed() {
        let texts = "app::net\0sent %04d in %f ms €\0WARN\0app::AppLog::Net".len() + "Net".len();
        assert_eq!(BYTES.len(), TEXTS_AT + (texts + "src/net.rs".len()).next_multiple_of(ALIGN));
        assert_eq!(Note::parse(&BYTES), Some((ParsedNote::Note(NOTE), &[][..])));
    }

    #[test]
    fn names_stand_behind_the_template() {
        const NAMED: Note<'_> = Note { names: "bytes,", ..NOTE };
        static NAMED_BYTES: [u8; NAMED.size()] = encode(&NAMED);
        assert_eq!(Note::parse(&NAMED_BYTES), Some((ParsedNote::Note(NAMED), &[][..])));
        let texts = &NAMED_BYTES[TEXTS_AT..];
        assert!(texts.starts_with("app::net\0sent %04d in %f ms €\0bytes,\0WARN\0app".as_bytes()));
        // Hashed as they stand there, up to the tag.
        let hashed = NAMED.place.len() + NAMED.template.len() + "bytes,".len() + 1;
        let hashed = &texts[..hashed + "\0\0\0WARN".len() + NAMED.group.len()];
        let (level, group) = (NAMED.level, NAMED.group);
        let id = crate::named_message_id(NAMED.place, NAMED.template, "bytes,", level, group);
        assert_eq!(crate::hash(hashed), id);
        // A NUL in a template is no mark of names.
        const NUL: Note<'_> = Note { template: "a %d\0b", ..NOTE };
        static NUL_BYTES: [u8; NUL.size()] = encode(&NUL);
        assert_eq!(Note::parse(&NUL_BYTES), Some((ParsedNote::Note(NUL), &[][..])));
    }

    #[test]
    fn notes_follow_one_another() {
        const EMPTY: Note<'_> =
            Note { place: "", file: "", template: "", group: "", tag: "", ..NOTE };
        static SMALL: [u8; EMPTY.size()] = encode(&EMPTY);
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
            [
                ParsedNote::Note(NOTE),
                ParsedNote::Foreign,
                ParsedNote::Note(EMPTY),
                ParsedNote::Note(NOTE)
            ]
        );
    }

    #[test]
    fn a_note_with_another_name_is_foreign_whatever_its_type() {
        for kind in [TYPE, DICTIONARY_TYPE, STRIPPED_TYPE] {
            let head = [4, 3, kind].map(u32::to_le_bytes).concat();
            let note = [&head[..], b"GNU\0\x01\x02\x03\0"].concat();
            assert_eq!(
                Note::parse_as(&note, false),
                Some((ParsedNote::Foreign, &[][..])),
                "{kind}"
            );
        }
    }

    #[test]
    fn a_dictionary_is_a_note() {
        let head = dictionary_header(5).map(u32::to_ne_bytes).concat();
        let section = [&head[..], b"abcde\0\0\0", &BYTES].concat();
        let (parsed, rest) = Note::parse(&section).unwrap();
        assert_eq!(parsed, ParsedNote::Dictionary(b"abcde"));
        assert_eq!(Note::parse(rest), Some((ParsedNote::Note(NOTE), &[][..])));
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_dictionary_of_4_gib_is_refused() {
        assert_eq!(dictionary_header(u32::MAX as usize)[1], u32::MAX);
        let larger = std::panic::catch_unwind(|| dictionary_header(u32::MAX as usize + 1));
        let message = larger.unwrap_err().downcast::<&str>().map(|text| *text);
        assert_eq!(message.ok(), Some("a dictionary is larger than 4 GiB"));
    }

    #[test]
    fn a_stripped_note_is_parsed() {
        let mut bytes = BYTES;
        bytes[8..12].copy_from_slice(&STRIPPED_TYPE.to_ne_bytes());
        bytes[HEADER_SIZE + 8..].fill(0);
        bytes[HEADER_SIZE + 8..HEADER_SIZE + 16]
            .copy_from_slice(&0x0123_4567_89ab_cdef_u64.to_le_bytes());
        assert_eq!(
            Note::parse(&bytes),
            Some((ParsedNote::Stripped(0x0123_4567_89ab_cdef), &[][..]))
        );
    }

    /// A note as the header of C makes it.
    fn c_note(format: &[u8]) -> Vec<u8> {
        let mut description = Vec::from([0; FIXED]);
        description[8..16].copy_from_slice(&0b01_00_u64.to_le_bytes());
        description[20..24].copy_from_slice(&7_u32.to_le_bytes());
        (description[34], description[35]) = (Level::Info.wire() as u8, 2);
        for text in [b"net.c", format, b"INFO", b"AppLog::Net", b"Net", b"src/net.c"] {
            description.extend(text);
            description.push(0);
        }
        description.resize(description.len().next_multiple_of(ALIGN), 0);
        let mut note = Vec::new();
        for word in [NAME.len() as u32, description.len() as u32, PRINTF_TYPE] {
            note.extend(word.to_le_bytes());
        }
        note.extend(b"protolog\0\0\0\0");
        note.extend(description);
        note
    }

    #[test]
    fn a_note_of_c_becomes_one_with_the_template() {
        let bytes = c_note(b"%s sent %lu");
        let Some((ParsedNote::Printf(note), &[])) = Note::parse_as(&bytes, false) else { panic!() };
        assert_eq!((note.types, note.arguments, note.line), (0b01_00, 2, 7));
        assert_eq!((note.format, note.file, note.tag), ("%s sent %lu", "src/net.c", "Net"));
        let whole = note.with_template("%s sent %d");
        let id = message_id("net.c", "%s sent %d", Level::Info, "AppLog::Net");
        assert_eq!((whole.id, whole.mask.bits()), (id, 0b01_00));
        assert_eq!((whole.group_id, whole.place), (group_id("AppLog::Net"), "net.c"));
        let latin = c_note(b"gr\xf6\xdfe");
        assert_eq!(Note::parse_as(&latin, false), Some((ParsedNote::Foreign, &[][..])));
        for end in 0..bytes.len() {
            let _ = Note::parse_as(&bytes[..end], false);
        }
    }

    #[test]
    fn a_note_for_another_machine_is_parsed() {
        let mut bytes = BYTES;
        for word in 0..3 {
            bytes[4 * word..4 * word + 4].reverse();
        }
        let big_endian = cfg!(target_endian = "little");
        assert_eq!(Note::parse_as(&bytes, big_endian), Some((ParsedNote::Note(NOTE), &[][..])));
    }

    #[test]
    fn any_bytes_can_be_parsed() {
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
