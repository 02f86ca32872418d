//! Core files that no process leaves: whoever wrote them, they cost little time and memory, and
//! what they name is shown as it is.

use protolog_core::recorder::{
    BuildId, ClockSource, HEADER_ADDRESS_AT, Header, MAGIC, MemoryPart, PART_COUNT_AT, RING_AT,
    VERSION, memory_part_at,
};
use protolog_testkit::temp_dir;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::{Duration, Instant};

const LOAD: u32 = 1;
const NOTE: u32 = 4;

/// Where the test files have what is not a table.
const BODY: u64 = 1 << 16;

const ADDRESS: u64 = 0x7000_0000_0000;

/// A part of a core file: its kind, its place in the file, address and size.
type Part = (u32, u64, u64, u64);

/// The tables of a core file.
fn tables(parts: &[Part]) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    // Core file, machine, version.
    bytes[16..24].copy_from_slice(&[4, 0, 62, 0, 1, 0, 0, 0]);
    bytes[32] = 64;
    bytes[52..56].copy_from_slice(&[64, 0, 56, 0]);
    bytes[56..58].copy_from_slice(&(parts.len() as u16).to_le_bytes());
    for (kind, offset, address, size) in parts {
        bytes.extend([kind.to_le_bytes(), 6_u32.to_le_bytes()].concat());
        bytes.extend([*offset, *address, 0, *size, *size, 4].map(u64::to_le_bytes).concat());
    }
    bytes
}

/// The header of a session whose ring has so many pages and is at an address.
fn header(address: u64, ring: u64, pages: u64) -> Vec<u8> {
    let size = 4096 * pages;
    let header = Header {
        version: VERSION,
        pid: 4711,
        page: 4096,
        pages: pages as _,
        clock: ClockSource::Kernel,
        ring_at: RING_AT as u64,
        metadata_at: RING_AT as u64 + size,
        realtime: 1,
        monotonic: 2,
        boottime: 3,
        boot_id: [7; 16],
        build_id: BuildId::new(&[9; 20]),
        positions_at: 0,
        session_id: [6; 16],
    };
    let mut bytes = header.to_bytes().to_vec();
    bytes[..8].copy_from_slice(&MAGIC);
    bytes.resize(RING_AT, 0);
    let part = MemoryPart { at: RING_AT as u64, address: ring, size };
    let words = part.to_words();
    let parts = words.iter().enumerate().map(|(at, word)| (memory_part_at(0) + 8 * at, *word));
    for (at, word) in parts.chain([(HEADER_ADDRESS_AT, address), (PART_COUNT_AT, 1)]) {
        bytes[at..][..8].copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Recovers from a sparse file with these bytes at places in it: exit code, output and errors.
#[track_caller]
fn recover(bytes: &[(u64, Vec<u8>)], size: u64) -> (i32, String) {
    let dir = temp_dir();
    let file = File::create(dir.path().join("core")).unwrap();
    file.set_len(size).unwrap();
    for (at, bytes) in bytes {
        file.write_all_at(bytes, *at).unwrap();
    }
    let limited = "ulimit -v 3000000; exec \"$0\" recover --core core -o out";
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_protologtool")]).current_dir(dir.path());
    let begin = Instant::now();
    let output = command.output().unwrap();
    let all = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(all).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}: {text}", begin.elapsed());
    (output.status.code().expect(&text), text)
}

#[test]
fn memory_that_a_core_file_has_twice_counts_once() {
    let size = RING_AT as u64 + 8192;
    let segment = (LOAD, BODY, ADDRESS, size);
    let session = (BODY, header(ADDRESS, ADDRESS + RING_AT as u64, 2));
    for parts in [vec![segment], vec![segment; 3], vec![segment, (LOAD, BODY, ADDRESS, 4096)]] {
        let (code, text) = recover(&[(0, tables(&parts)), session.clone()], BODY + size);
        assert_eq!(code, 0, "{text}");
        assert_eq!(text.matches("process 4711").count(), 1, "{text}");
    }
    // A part of the ring, twice.
    let parts = [segment; 2];
    let (code, text) = recover(&[(0, tables(&parts)), session], BODY + size - 4096);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("4096 bytes of its buffers are not in the core file"), "{text}");
}

#[test]
fn memory_ends_where_addresses_do() {
    let parts = [(LOAD, BODY, u64::MAX - 4095, BODY)];
    let bytes = [(0, tables(&parts)), (BODY + 4096, MAGIC.to_vec())];
    let (code, text) = recover(&bytes, 2 * BODY);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("has no buffers of sessions"), "{text}");
}

#[test]
fn tables_have_a_limit() {
    let mut head = tables(&[]);
    head[40..48].copy_from_slice(&64_u64.to_le_bytes());
    head[56..62].copy_from_slice(&[0xff, 0xff, 64, 0, 1, 0]);
    let mut section = vec![0; 64];
    section[44..48].copy_from_slice(&[0xff; 4]);
    let (code, text) = recover(&[(0, head), (64, section)], 300 << 30);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("too many parts"), "{text}");
    let notes: Vec<Part> = (0..500).map(|at| (NOTE, BODY + 4 * at, 0, 200 << 20)).collect();
    let (code, text) = recover(&[(0, tables(&notes))], 1 << 30);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("has no buffers of sessions"), "{text}");
}

#[test]
fn the_names_of_files_make_no_lines() {
    let name = b"/var/\nhelp: run `evil`\x1b[2J/protolog-app.rec\0";
    let mut note = [1_u64, 4096, 0, 4096, 0].map(u64::to_le_bytes).concat();
    note.extend(name);
    let head = [5, note.len() as u32, 0x4649_4c45].map(u32::to_le_bytes).concat();
    let mut bytes = [head, b"CORE\0\0\0\0".to_vec(), note].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let parts = [(NOTE, BODY, 0, bytes.len() as u64)];
    let (code, text) = recover(&[(0, tables(&parts)), (BODY, bytes)], 2 * BODY);
    assert_eq!((code, text.lines().count()), (2, 2), "{text}");
    assert!(text.contains("protolog-app.rec") && !text.contains('\x1b'), "{text}");
}

/// Each has the whole ring.
#[test]
fn sessions_share_no_memory() {
    const SESSIONS: u64 = 1000;
    const PAGES: u64 = 16_384;
    let step = RING_AT as u64;
    let (ring, size) = (ADDRESS + SESSIONS * step, SESSIONS * step + 4096 * PAGES);
    let parts = [(LOAD, BODY, ADDRESS, size)];
    let sessions =
        (0..SESSIONS).map(|at| (BODY + at * step, header(ADDRESS + at * step, ring, PAGES)));
    let bytes: Vec<_> = [(0, tables(&parts))].into_iter().chain(sessions).collect();
    let (code, text) = recover(&bytes, BODY + size);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("it has more sessions than memory"), "{text}");
}

/// However many segments have the same part of it, of which each page looks like a header.
#[test]
fn a_core_file_is_looked_through_once() {
    const SIZE: u64 = 24 << 20;
    let parts: Vec<Part> = (0..1000).map(|at| (LOAD, BODY, at << 32, SIZE)).collect();
    let mut page = MAGIC.to_vec();
    page.resize(4096, 0);
    let pages = page.repeat(SIZE as usize / 4096);
    let (code, text) = recover(&[(0, tables(&parts)), (BODY, pages)], BODY + SIZE);
    assert_eq!(code, 2, "{text}");
}
