//! Programs for Windows and macOS, which have their notes in sections of their own. They are made
//! here byte by byte, as no linker for them is at hand.

use protolog_core::note::{self, Note};
use protolog_core::{Level, ParamMask};
use protologtool::binary;
use viewer_config::Collector;

const NOTE: Note<'_> = Note {
    id: 0x1234_5678_9abc_def0,
    mask: ParamMask::EMPTY,
    group_id: 7,
    line: 11,
    level: Level::Info,
    place: "app::net",
    template: "connected",
    names: "",
    group: "Log::Net",
    tag: "Net",
    file: "src/net.rs",
};
const BYTES: [u8; NOTE.size()] = note::encode(&NOTE);

fn words(all: &[u32]) -> Vec<u8> {
    all.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn padded(text: &str, size: usize) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(size, 0);
    bytes
}

/// A program for Windows with two sections, of which the second one has the notes; and with a
/// signature if `is_signed`.
fn pe(notes: &[u8], is_signed: bool) -> Vec<u8> {
    let mut bytes = [padded("MZ", 60), words(&[64]), b"PE\0\0".to_vec()].concat();
    // For x86-64: two sections, 240 bytes of options, an executable.
    bytes.extend([0x64, 0x86, 2, 0].iter().chain(&[0; 12]).chain(&[240, 0, 0x22, 0]));
    let mut options = vec![0; 240];
    options[..2].copy_from_slice(&0x20b_u16.to_le_bytes());
    options[108] = 16;
    let (sections, at) = (bytes.len() + 240, bytes.len() + 240 + 80);
    if is_signed {
        options[112 + 4 * 8..][..8].copy_from_slice(&words(&[at as u32, 8]));
    }
    bytes.extend(options);
    assert_eq!(bytes.len(), sections);
    for (name, size) in [(".text", 0), (".plog", notes.len() as u32)] {
        // Its size in memory is smaller than in the file, which is rounded up.
        let place = [size, 0x1000, size.next_multiple_of(512), at as u32, 0, 0, 0, 0x4000_0040];
        bytes.extend([padded(name, 8), words(&place)].concat());
    }
    bytes.extend(notes);
    let file = at + notes.len().next_multiple_of(512);
    bytes.resize(file, 0xcc);
    bytes
}

/// A library for macOS with a section of notes; and with a signature if `is_signed`.
fn mach_o(notes: &[u8], is_signed: bool) -> Vec<u8> {
    let commands = 72 + 80 + 16;
    let at = 32 + commands;
    let mut bytes = words(&[0xfeed_facf, 0x0100_000c, 0, 6, 2, commands, 0, 0]);
    let size = notes.len() as u32;
    bytes.extend([words(&[0x19, 72 + 80]), padded("__DATA", 16)].concat());
    bytes.extend(words(&[0, 0, size, 0, at, 0, size, 0, 3, 3, 1, 0]));
    bytes.extend([padded("__protolog", 16), padded("__DATA", 16)].concat());
    bytes.extend(words(&[0, 0, size, 0, at, 2, 0, 0, 0, 0, 0, 0]));
    let last = if is_signed { 0x1d } else { 0x26 };
    bytes.extend(words(&[last, 16, at + size, 0]));
    assert_eq!(bytes.len(), at as usize);
    [&bytes, notes].concat()
}

/// A file with both for two processors.
fn fat(parts: &[Vec<u8>]) -> Vec<u8> {
    let head = 8 + 20 * parts.len();
    let mut bytes: Vec<u8> =
        [0xcafe_babe_u32, parts.len() as u32].iter().flat_map(|word| word.to_be_bytes()).collect();
    let mut at = head.next_multiple_of(16);
    for part in parts {
        let arch = [0x0100_000c, 0, at as u32, part.len() as u32, 4];
        bytes.extend(arch.iter().flat_map(|word: &u32| word.to_be_bytes()));
        at = (at + part.len()).next_multiple_of(16);
    }
    for part in parts {
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        bytes.extend(part);
    }
    bytes
}

#[track_caller]
fn check(file: &[u8], count: usize) {
    let mut collector = Collector::new();
    assert_eq!(binary::read(file, &mut collector), Ok(count));
    let dictionary = collector.finish().expect("no contradictions").dictionary;
    assert_eq!(dictionary.messages()[0].template, "connected");
    let mut stripped = file.to_vec();
    assert_eq!(binary::strip(&mut stripped, 0x77), Ok(()));
    assert_eq!(stripped.len(), file.len());
    assert!(!stripped.windows(9).any(|part| part == b"connected"));
    let error = binary::read(&stripped, &mut Collector::new()).unwrap_err().to_string();
    assert!(error.contains("0000000000000077"), "{error}");
    for end in 0..file.len().min(1000) {
        let _ = binary::read(&file[..end], &mut Collector::new());
        let mut damaged = file.to_vec();
        damaged[end] ^= 0xff;
        let _ = binary::read(&damaged, &mut Collector::new());
        let _ = binary::strip(&mut damaged, 1);
    }
}

#[test]
fn programs_for_windows_and_macos_have_their_dictionaries() {
    // The linker aligns what each object file has.
    let notes = [&BYTES[..], &[0; 8], &BYTES].concat();
    check(&pe(&notes, false), 2);
    check(&mach_o(&notes, false), 2);
    check(&fat(&[mach_o(&notes, false), mach_o(&BYTES, false)]), 3);
    for none in [pe(&[], false), mach_o(&[], false)] {
        let error = binary::read(&none, &mut Collector::new()).unwrap_err();
        assert_eq!(error.to_string(), "it has no log calls of `protolog_rt`");
    }
}

#[test]
fn signed_programs_are_read_and_not_stripped() {
    for mut file in [pe(&BYTES, true), mach_o(&BYTES, true), fat(&[mach_o(&BYTES, true)])] {
        assert_eq!(binary::read(&file, &mut Collector::new()), Ok(1));
        let error = binary::strip(&mut file, 1).unwrap_err().to_string();
        assert_eq!(error, "it is signed, and stripping would invalidate the signature");
    }
}

/// Each processor would have the whole file read again, and a file within itself has no end.
#[test]
fn a_file_for_many_processors_is_refused() {
    let part = mach_o(&BYTES, false);
    let error = binary::read(&fat(&vec![part; 17]), &mut Collector::new()).unwrap_err();
    assert_eq!(error.to_string(), "the file is damaged: it is for too many processors");
    let mut own = fat(&[vec![0; 64]]);
    let size = own.len() as u32;
    own[16..24].copy_from_slice(&[0_u32, size].map(u32::to_be_bytes).concat());
    assert!(binary::read(&own, &mut Collector::new()).is_err());
}
