//! Files that are no programs of ours, damaged, or signed.

use super::fixture::PLAIN;
use protologtool::binary::{self, BinaryError};
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;
use std::process::Command;
use viewer_config::Collector;

fn read(bytes: &[u8]) -> Result<usize, BinaryError> {
    binary::read(bytes, &mut Collector::new())
}

#[track_caller]
fn check(bytes: &[u8], message: &str, help: &str) {
    let error = read(bytes).expect_err("a file that is refused");
    assert_eq!((error.to_string().as_str(), error.help()), (message, help));
}

#[test]
fn foreign_files_are_named() {
    const FORMS: &str = "give an executable or shared object of ELF, PE or Mach-O";
    const NO_FORM: &str = "no ELF, PE or Mach-O file";
    check(b"", NO_FORM, FORMS);
    check(b"#!/bin/sh\necho this is a script, and long enough to be looked at\n", NO_FORM, FORMS);
    check(b"\0asm\x01\0\0\0 and so on, long enough to be looked at", NO_FORM, FORMS);
    check(b"!<arch>\n0123456789abcdef", "an archive of object files, not linked", FORMS);
}

#[test]
fn programs_without_calls_are_refused() {
    let bytes = std::fs::read("/bin/sh").expect("a shell");
    check(
        &bytes,
        "it has no log calls of `protolog_rt`",
        "give the program that calls the macros of `protolog_rt`, not one that only starts it",
    );
}

#[test]
fn cut_and_damaged_files_do_no_harm() {
    let bytes = std::fs::read(&PLAIN.build().plugin).expect("read the library");
    assert_eq!(read(&bytes).ok(), Some(1));
    let note = bytes.windows(9).position(|at| at == b"protolog\0").expect("a note") - 12;
    for end in (0..200).chain([note - 1, note, note + 1, note + 12, note + 59, note + 80]) {
        assert!(read(&bytes[..end]).is_err(), "cut at {end}");
    }
    let places = (0..1024).chain(note..note + 160);
    for at in places {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            let _ = read(&damaged);
            let _ = binary::strip(&mut damaged, 1);
        }
    }
}

/// An ELF file that has nothing but a segment of notes.
fn elf(is_32: bool, is_big: bool, notes: &[u8]) -> Vec<u8> {
    let (header, entry) = if is_32 { (52, 32) } else { (64, 56) };
    let number = |value: usize, size: usize| {
        let bytes = (value as u64).to_be_bytes()[8 - size..].to_vec();
        if is_big { bytes } else { bytes.into_iter().rev().collect() }
    };
    let word = if is_32 { 4 } else { 8 };
    let mut bytes = vec![0x7f, b'E', b'L', b'F', 2 - u8::from(is_32), 1 + u8::from(is_big), 1];
    bytes.resize(16, 0);
    // A shared object, for any machine; program headers stand after this header.
    let parts = [(3, 2), (0, 2), (1, 4), (0, word), (header, word), (0, word), (0, 4)];
    bytes.extend(parts.iter().flat_map(|(value, size)| number(*value, *size)));
    bytes.extend([header, entry, 1, 0, 0, 0].iter().flat_map(|value| number(*value, 2)));
    let (at, size) = (number(header + entry, word), number(notes.len(), word));
    let place = [&at[..], &at, &at, &size, &size].concat();
    let (kind, readable) = (number(4, 4), number(4, 4));
    bytes.extend(if is_32 {
        [&kind, &place[..], &readable, &number(4, 4)].concat()
    } else {
        [&kind[..], &readable, &place, &number(4, 8)].concat()
    });
    [&bytes, notes].concat()
}

#[test]
fn programs_for_other_machines_are_read_and_stripped() {
    let bytes = std::fs::read(&PLAIN.build().plugin).expect("read the library");
    let start = bytes.windows(9).position(|at| at == b"protolog\0").expect("a note") - 12;
    let size = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let note = &bytes[start..start + 24 + size(start + 4).next_multiple_of(4)];
    for (is_32, is_big) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut own = note.to_vec();
        // Others of the name, and of the type, say nothing.
        let mut of_the_name = [&9_u32.to_le_bytes()[..], &[0; 4], &99_u32.to_le_bytes()].concat();
        of_the_name.extend(b"protolog\0\0\0\0");
        let mut of_the_type =
            [4_u32.to_le_bytes(), 4_u32.to_le_bytes(), 1_u32.to_le_bytes(), *b"GNU\0", [7; 4]]
                .concat();
        if is_big {
            for head in [&mut own, &mut of_the_name, &mut of_the_type] {
                head[..12].chunks_mut(4).for_each(<[u8]>::reverse);
            }
        }
        let mut file = elf(is_32, is_big, &[&of_the_name[..], &own, &of_the_type, &own].concat());
        let mut collector = Collector::new();
        assert_eq!(binary::read(&file, &mut collector).ok(), Some(2), "{is_32} {is_big}");
        let dictionary = collector.finish().expect("no contradictions").dictionary;
        assert_eq!(dictionary.messages()[0].template, "plugin: %d");
        let whole = file.clone();
        binary::strip(&mut file, 0x0123_4567_89ab_cdef).expect("it is not signed");
        let error = read(&file).unwrap_err().to_string();
        assert!(error.ends_with("moved to the dictionary `0123456789abcdef`"), "{error}");
        let changed = (0..file.len()).filter(|at| file[*at] != whole[*at]).collect::<Vec<_>>();
        let from = whole.len() - own.len() - of_the_type.len() - own.len();
        let untouched = from + own.len()..from + own.len() + of_the_type.len();
        assert!(changed.iter().all(|at| *at > from && !untouched.contains(at)), "{changed:?}");
        // The header names bytes outside of the file.
        assert!(read(&whole[..whole.len() - 1]).is_err());
    }
}

/// Of many headers that name the same notes, each would have all of them read again.
#[test]
fn notes_that_many_headers_name_are_read_once() {
    let bytes = std::fs::read(&PLAIN.build().plugin).expect("read the library");
    let start = bytes.windows(9).position(|at| at == b"protolog\0").expect("a note") - 12;
    let size = u32::from_le_bytes(bytes[start + 4..start + 8].try_into().unwrap()) as usize;
    let note = &bytes[start..start + 24 + size.next_multiple_of(4)];
    let (notes, size) = ([note, note].concat(), note.len());
    let one = elf(false, false, &notes);
    let with_headers = |all: &[(usize, usize)]| {
        let (mut file, header) = (one[..64].to_vec(), &one[64..120]);
        file[56..58].copy_from_slice(&(all.len() as u16).to_le_bytes());
        for (from, size) in all {
            let at = (64 + 56 * all.len() + from).to_le_bytes();
            let size = size.to_le_bytes();
            file.extend([&header[..8], &at, &at, &at, &size, &size, &header[48..]].concat());
        }
        [&file, &notes[..]].concat()
    };
    assert_eq!(read(&with_headers(&vec![(0, 2 * size); 60_000])).ok(), Some(2));
    assert_eq!(read(&with_headers(&[(size, size), (0, size), (size, size)])).ok(), Some(2));
    assert_eq!(binary::strip(&mut with_headers(&[(0, 2 * size); 3]), 1), Ok(()));
    for overlapping in [[(0, 2 * size), (size, size)], [(size, size), (0, size + 4)]] {
        let error = read(&with_headers(&overlapping)).unwrap_err().to_string();
        assert!(error.contains("segments of its notes overlap"), "{error}");
    }
}

#[test]
fn signed_programs_are_not_stripped() {
    const REFUSAL: &str = "it is signed, and stripping would invalidate the signature";
    let plugin = PLAIN.build().plugin;
    let bytes = std::fs::read(&plugin).expect("read the library");
    assert_eq!(binary::strip(&mut bytes.clone(), 1), Ok(()));
    let mut appended = [&bytes[..], b"signature~Module signature appended~\n"].concat();
    assert_eq!(binary::strip(&mut appended, 1).unwrap_err().to_string(), REFUSAL);
    assert_eq!(read(&appended).ok(), Some(1), "it may be read");

    let directory = protolog_testkit::temp_dir();
    let (signature, signed) = (directory.path().join("s"), directory.path().join("signed.so"));
    std::fs::write(&signature, "a signature").unwrap();
    let section = format!(".signature={}", signature.display());
    let mut objcopy = Command::new("objcopy");
    objcopy.args(["--add-section", &section]).arg(&plugin).arg(&signed);
    if !objcopy.status().is_ok_and(|status| status.success()) {
        protolog_testkit::skip("a section with a signature", "objcopy is missing");
        return;
    }
    let mut bytes = std::fs::read(&signed).unwrap();
    assert_eq!(binary::strip(&mut bytes, 1).unwrap_err().to_string(), REFUSAL);
}

#[test]
fn the_command_says_what_is_wrong() {
    let run = |args: &[&str]| {
        let system = Memory::default();
        system.add_file("app.txt", b"no program".to_vec());
        let words = ["protologtool", "generate-viewer-config"].iter().chain(args);
        let exit = cli::run(words.map(Into::into), &system);
        assert_eq!(exit, Exit::Failed);
        system.errors()
    };
    assert_eq!(
        run(&["--from-binary", "app.txt", "--viewer-config", "app.pb"]),
        "error: can't read `app.txt`: no ELF, PE or Mach-O file\nhelp: give an executable or shared object of ELF, PE or Mach-O\n"
    );
    assert_eq!(
        run(&["--from-binary=app", "--viewer-config", "app.pb"]),
        "error: can't read `app`: entity not found\nhelp: check the path; it starts at the working directory\n"
    );
    assert_eq!(
        run(&["--from-binary", "a", "b", "--strip-to", "c", "--viewer-config", "d.pb"]),
        "error: `--strip-to` can't take both `a` and `b`\nhelp: strip one program at a time\n"
    );
    assert!(run(&["--from-binary", "a"]).contains("--viewer-config"));
    assert!(run(&["--from-binary", "a", "--strip-to", "b"]).contains("--viewer-config"));
}
