//! Notes and ids computed in constants, compared with `protolog-core` and with test vectors.

use super::*;
use protolog_core::ParamMask;
use protolog_core::note::{Note, ParsedNote, encode};

const ON: GroupDef = GroupDef::new("app::Log::NetNET", 3, 0, true, false);

/// A call, as the macro passes it.
#[derive(Clone, Copy)]
struct Call {
    group: &'static GroupDef,
    level: Level,
    /// Place, NUL, template, NUL.
    texts: &'static str,
    /// Length of the template.
    template: usize,
    mask: u64,
    file: &'static str,
    line: u32,
}

const CALL: Call = Call {
    group: &ON,
    level: Level::Wtf,
    texts: "app::net\0a %d €\0",
    template: "a %d €".len(),
    mask: 1,
    file: "src/net.rs",
    line: 70_000,
};

/// A string longer than those of the tests.
const TEXT: &str = {
    const BYTES: [u8; 1024] = [b'x'; 1024];
    match core::str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => unreachable!(),
    }
};

impl Call {
    /// Returns the note's size; of the texts only the length matters.
    const fn size(&self) -> usize {
        let texts = TEXT.split_at(self.texts.len() - 2 + self.file.len()).0;
        note_size(self.group, self.level, texts)
    }

    const fn note<const N: usize>(self) -> NoteBytes<[u8; N]> {
        let Self { group, level, texts, template, mask, file, line } = self;
        new_note(group, level, texts, template, mask, file, line)
    }
}

/// The note that `protolog-core` makes of the same call.
fn core_note(call: &Call) -> Note<'static> {
    let place = &call.texts[..call.texts.len() - call.template - 2];
    let template = &call.texts[place.len() + 1..][..call.template];
    let group = call.group;
    Note {
        id: protolog_core::message_id(place, template, call.level, group.name),
        mask: ParamMask::from_bits(call.mask),
        group_id: group.id,
        level: call.level,
        place,
        file: call.file,
        line: call.line,
        template,
        names: "",
        group: group.name,
        tag: group.tag,
    }
}

fn id(note: &NoteBytes<[u8]>) -> u64 {
    note.id()
}

#[test]
fn notes_are_those_core_note() {
    static NOTE: NoteBytes<[u8; CALL.size()]> = CALL.note();
    let core = core_note(&CALL);
    assert_eq!(NOTE.0, encode(&core));
    assert_eq!(id(&NOTE), core.id);
    assert_eq!(NoteRef::new(&NOTE).bytes(), NOTE.0);
    assert!(NoteRef::NONE.bytes().is_empty());

    const OFF: Call = Call { group: &GroupDef { enabled: false, ..ON }, ..CALL };
    static NOTHING: NoteBytes<[u8; OFF.size()]> = OFF.note();
    assert_eq!((size_of_val(&NOTHING), id(&NOTHING)), (0, 0));
}

#[test]
fn names_stand_behind_the_template() {
    const NAMED: Call =
        Call { texts: "app::net\0a %d €\0bytes\0", template: "a %d €\0bytes".len(), ..CALL };
    const OFF: Call = Call { group: &GroupDef { enabled: false, ..ON }, ..NAMED };
    static NOTE: NoteBytes<[u8; NAMED.size()]> = {
        let Call { group, level, texts, template, mask, file, line } = NAMED;
        new_named_note(group, level, texts, template, mask, file, line)
    };
    static NOTHING: NoteBytes<[u8; OFF.size()]> = {
        let Call { group, level, texts, template, mask, file, line } = OFF;
        new_named_note(group, level, texts, template, mask, file, line)
    };
    let core = core_note(&CALL);
    let id =
        protolog_core::named_message_id(core.place, core.template, "bytes", core.level, core.group);
    let named = Note { id, names: "bytes", ..core };
    assert_eq!(NOTE.0, encode(&named));
    assert_eq!(NoteRef::new(&NOTE).bytes(), NOTE.0);
    assert_eq!(size_of_val(&NOTHING), 0);
}

#[test]
fn texts_of_every_length_are_copied() {
    let long: &'static str = "abcdefghijklmnopqrstuvwxyz".repeat(20).leak();
    for length in 0..=400 {
        let texts = format!("{}\0{}\0", &long[..length / 3], &long[..length]).leak();
        let (file, level) = (&long[..length % 97], Level::ALL[length % 6]);
        let call = Call { texts, template: length, file, level, ..CALL };
        let note = call.note::<1024>();
        let of_core = core_note(&call);
        assert_eq!(id(&note), of_core.id, "{length}");
        // The size is that of the array, so the parser takes the next bytes for padding of ours.
        let (parsed, _) = Note::parse(&note.0).unwrap();
        assert_eq!(parsed, ParsedNote::Note(of_core), "{length}");
        assert!(note.0[of_core.size()..].iter().all(|byte| *byte == 0), "{length}");
        assert_eq!(call.size(), of_core.size(), "{length}");
    }
}

#[test]
fn groups_of_every_length_are_copied() {
    let long: &'static str = "abcdefghijklmnopqrstuvwxyz".repeat(10).leak();
    for length in 1..=200 {
        let def = GroupDef::new(&long[..length], length / 3, 0, true, false);
        for file in ["", "a.rs", CALL.file, &long[..150]] {
            let (group, level) = (&*Box::leak(Box::new(def)), Level::ALL[length % 6]);
            let call = Call { group, level, file, ..CALL };
            let note = call.note::<1024>();
            let of_core = core_note(&call);
            assert_eq!(Note::parse(&note.0).unwrap().0, ParsedNote::Note(of_core), "{length}");
            assert!(note.0[of_core.size()..].iter().all(|byte| *byte == 0), "{length}");
            assert_eq!(call.size(), of_core.size(), "{length}");
        }
    }
}

#[test]
fn the_hash_is_xxh3_at_every_length() {
    let bytes: Vec<u8> =
        (0..2100_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for length in 0..=2000 {
        for start in [0, 1, 60] {
            let first = bytes[start..].as_ptr() as *const Bytes;
            let expected = protolog_core::hash(&bytes[start..start + length]);
            assert_eq!(hash(first, length), expected, "{length} from {start}");
        }
    }
}

#[test]
fn the_hash_agrees_with_the_vectors() {
    let vectors = include_str!("../../../protolog-core/testdata/xxh3.tsv");
    let mut count = 0;
    for line in vectors.lines().skip(1) {
        let (bytes, expected) = line.split_once('\t').unwrap();
        let byte = |at: usize| u8::from_str_radix(&bytes[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..bytes.len()).step_by(2).map(byte).collect();
        let hash = hash(bytes.as_ptr() as *const Bytes, bytes.len());
        assert_eq!(format!("{hash:016x}"), expected, "{} bytes", bytes.len());
        count += 1;
    }
    assert!(count > 10);
}

#[test]
fn a_note_is_parsed() {
    const OTHER: Call = Call { level: Level::Verbose, texts: "a\0\0", template: 0, ..CALL };
    static NOTE: NoteBytes<[u8; OTHER.size()]> = OTHER.note();
    let (parsed, rest) = Note::parse(&NOTE.0).unwrap();
    assert_eq!((parsed, rest), (ParsedNote::Note(core_note(&OTHER)), &[][..]));
}

#[test]
#[should_panic(expected = "a text of a log call is longer than 65,535 bytes")]
fn a_longer_text_than_a_note_can_hold_is_an_error() {
    let texts = format!("app\0{}\0", "x".repeat(65_536)).leak();
    let call = Call { texts, template: 65_536, ..CALL };
    let _ = call.note::<70_000>();
}
