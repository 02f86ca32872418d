//! An attacker's traces that hold far more than their size: compressed once or in each other, few
//! large packets or many empty ones.
//!
//! Each command runs as a process whose memory is limited. It has to end by itself, to show what is
//! not compressed, and to say that something was left out. The work that it does is counted in
//! packets and bytes, which its limits bound; time is not looked at.

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use protolog_rt::{ProtoLogGroup, Session, i};
use protolog_testkit::{TempDir, temp_dir};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[derive(ProtoLogGroup)]
enum Log {
    Door,
}

/// The address space of a command, in KiB. Threads and their heaps reserve a good part of it.
const MEMORY: u64 = 900 << 10;

/// The bytes to which a small trace may expand.
const LIMIT: u64 = 64 << 20;

// Fields: a packet of a trace, and in it bundles of zlib and of zstd, and padding.
const PACKET: u32 = 1;
const ZLIB: u32 = 50;
const ZSTD: u32 = 133;
const PADDING: u32 = 36;

fn field(number: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for mut value in [u64::from(number << 3 | 2), content.len() as u64] {
        while value > 0x7f {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
    }
    bytes.extend_from_slice(content);
    bytes
}

fn zlib(content: &[u8], times: usize) -> Vec<u8> {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    (0..times).for_each(|_| zlib.write_all(content).unwrap());
    zlib.finish().unwrap()
}

fn gzip(content: &[u8], times: usize) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    (0..times).for_each(|_| gzip.write_all(content).unwrap());
    gzip.finish().unwrap()
}

/// A frame of zstd: a head, and blocks that are one byte each, repeated 128 KiB times. So 4 bytes
/// are 131,072.
fn zstd(head: &[u8], blocks: usize) -> Vec<u8> {
    let block = |kind: u32, size: u32| (size << 3 | kind << 1).to_le_bytes();
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x50];
    frame.extend_from_slice(&block(0, head.len() as u32)[..3]);
    frame.extend_from_slice(head);
    for _ in 0..blocks {
        frame.extend_from_slice(&block(1, 128 << 10)[..3]);
        frame.push(b' ');
    }
    frame.extend_from_slice(&[1, 0, 0]);
    frame
}

/// The beginning of a packet with nothing but padding, so many bytes of it.
fn padding(size: usize) -> Vec<u8> {
    let content = field(PADDING, &vec![b' '; size]);
    let whole = field(PACKET, &content);
    whole[..whole.len() - size].to_vec()
}

/// A trace with one message.
fn small_trace(dir: &Path) -> Vec<u8> {
    let path = dir.join("small.pftrace");
    let session = Session::builder().file(&path).enable_all().start().unwrap();
    i!(Log::Door, "knock %d", 3);
    session.stop().unwrap();
    fs::read(path).unwrap()
}

/// Bombs that a trace may have between its packets.
fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let large = [padding(64 << 10), vec![b' '; 64 << 10]].concat();
    let bundle = |number, content: &[u8]| field(PACKET, &field(number, content));
    let blocks = 2 * LIMIT as usize / (128 << 10);
    let nested = bundle(ZLIB, &zlib(&large, 100));
    let nested = bundle(ZLIB, &zlib(&bundle(ZLIB, &zlib(&nested, 10)), 10));
    let many = bundle(ZLIB, &zlib(&large, 40)).repeat(30);
    vec![
        ("large packets", bundle(ZLIB, &zlib(&large, 1200))),
        ("empty packets", bundle(ZLIB, &zlib(&[0x0a, 0].repeat(1 << 16), 600))),
        ("zstd", bundle(ZSTD, &zstd(&padding(blocks * (128 << 10)), blocks))),
        ("nested", nested),
        ("many", many),
    ]
}

/// Runs the command in so little memory.
fn run(args: &[&str], paths: &[&Path]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$@\"; exit 99"), "sh"]);
    command.arg(env!("CARGO_BIN_EXE_protologtool")).args(args).args(paths);
    command.env("TZ", "UTC").output().unwrap()
}

fn check(output: &Output, name: &str, is_cut: bool) -> String {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(if is_cut { 3 } else { 0 }), "{name}: {errors}");
    assert_eq!(errors.contains("expands to more than its limit"), is_cut, "{name}: {errors}");
    assert_eq!(errors.contains("--max-expansion"), is_cut, "{name}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The packets and bytes that `--stats` says were read.
fn work(output: &Output) -> [u64; 2] {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = errors.lines().find(|line| line.starts_with("trace: ")).expect("statistics");
    let before = |word: &str| {
        let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let at = words.iter().position(|other| *other == word)?;
        words[at - 1].parse().ok()
    };
    [before("packets").expect("packets"), before("when").unwrap_or_default()]
}

struct Fixture {
    _dir: TempDir,
    small: Vec<u8>,
    path: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let dir = temp_dir();
        let (small, path) = (small_trace(dir.path()), dir.path().join("bomb.pftrace"));
        Self { _dir: dir, small, path }
    }

    /// Writes a trace, and returns its size.
    fn write(&self, bytes: &[u8]) -> u64 {
        fs::write(&self.path, bytes).unwrap();
        bytes.len() as u64
    }
}

#[test]
fn what_is_beside_a_bomb_is_read_within_limits() {
    let fixture = Fixture::new();
    let merged = fixture.path.with_file_name("merged.pftrace");
    for (name, bomb) in bombs() {
        let size = fixture.write(&[&bomb, &*fixture.small, &bomb].concat());
        let limit = LIMIT.max(64 * size);
        let output = run(&["read-log", "--stats"], &[&fixture.path]);
        assert!(check(&output, name, true).contains("knock 3"), "{name}");
        let [packets, inflated] = work(&output);
        assert!(packets <= limit / 16 + size && inflated <= limit, "{name}: {packets} {inflated}");

        if name == "empty packets" {
            // Those of a whole trace are merged below.
            continue;
        }
        check(&run(&["merge", "-o", merged.to_str().unwrap()], &[&fixture.path]), name, true);
        let bytes = fs::read(&merged).unwrap();
        assert!(bytes.len() as u64 <= limit + 2 * size, "{name}");
        assert!(memchr::memmem::find(&bytes, b"knock %d").is_some(), "{name}");
    }
}

#[test]
fn traces_that_are_compressed_as_a_whole_are_read_within_limits() {
    let fixture = Fixture::new();
    let small = fixture.small.len();
    let large = [padding(64 << 10), vec![b' '; 64 << 10]].concat();
    let blocks = 2 * LIMIT as usize / (128 << 10);
    let begun = [&fixture.small[..], &padding(blocks * (128 << 10))].concat();
    for (name, bomb) in [
        ("gzip of large packets", [gzip(&fixture.small, 1), gzip(&large, 1200)].concat()),
        (
            "gzip of empty packets",
            [gzip(&fixture.small, 1), gzip(&[0x0a, 0].repeat(1 << 16), 600)].concat(),
        ),
        ("zstd", zstd(&begun, blocks)),
    ] {
        let limit = LIMIT.max(64 * fixture.write(&bomb));
        let output = run(&["read-log", "--stats"], &[&fixture.path]);
        assert!(check(&output, name, true).contains("knock 3"), "{name}");
        let [packets, inflated] = work(&output);
        assert!(packets <= limit / 16 + 1 && inflated <= limit, "{name}: {packets} {inflated}");
        let merged = fixture.path.with_file_name("merged.pftrace");
        check(&run(&["merge", "-o", merged.to_str().unwrap()], &[&fixture.path]), name, true);
        assert!(fs::metadata(&merged).unwrap().len() <= limit + small as u64, "{name}");
    }
}

#[test]
fn every_command_that_reads_traces_has_the_limit_and_the_option() {
    let fixture = Fixture::new();
    let (_, bomb) = bombs().swap_remove(0);
    fixture.write(&[&bomb, &*fixture.small].concat());
    let dir = fixture.path.parent().unwrap();
    let page = dir.join("page.html");
    let page = page.to_str().unwrap();
    let path = fixture.path.as_path();
    // The small trace is in the directory, too.
    check(&run(&["read-log"], &[dir]), "directory", true);
    check(&run(&["view", "-o", page], &[path]), "view", true);
    check(&run(&["diff"], &[path, path]), "diff", true);
    let text = check(&run(&["read-log", "--max-expansion=2000"], &[path]), "read-log", false);
    assert!(text.contains("knock 3"));
    let merged = dir.join("merged");
    let merge = ["merge", "--max-expansion=2000", "-o", merged.to_str().unwrap()];
    check(&run(&merge, &[path]), "merge", false);
    assert!(fs::metadata(&merged).unwrap().len() > LIMIT);
}
