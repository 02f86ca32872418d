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
    const ELF: &str = "give an ELF executable or shared object";
    const SOURCES: &str = "make the dictionary from the sources: only ELF is read so far";
    check(b"", "no ELF file", ELF);
    check(
        b"#!/bin/sh\necho this is a script, and long enough to be looked at\n",
        "no ELF file",
        ELF,
    );
    check(b"!<arch>\n0123456789abcdef", "an archive of object files, not linked", ELF);
    let mach_o = [&0xfeed_facf_u32.to_le_bytes()[..], &[0; 60]].concat();
    check(&mach_o, "a Mach-O file, not ELF", SOURCES);
    let mut pe = vec![0; 256];
    pe[..2].copy_from_slice(b"MZ");
    pe[60] = 0x80;
    pe[0x80..0x84].copy_from_slice(b"PE\0\0");
    pe[0x98..0x9a].copy_from_slice(&0x20b_u16.to_le_bytes());
    check(&pe, "a PE file, not ELF", SOURCES);
}

#[test]
fn programs_without_calls_are_refused() {
    let bytes = std::fs::read("/bin/sh").expect("a shell");
    check(
        &bytes,
        "no log call of `protolog_rt` is in it",
        "give a program that calls the macros of `protolog_rt`, not what only starts it",
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

#[test]
fn signed_programs_are_not_stripped() {
    const REFUSAL: &str = "it is signed, and stripping would void that";
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
        "error: can't read `app.txt`: no ELF file\nhelp: give an ELF executable or shared object\n"
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
