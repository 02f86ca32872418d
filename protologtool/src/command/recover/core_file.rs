//! Core files of Linux: what was at which address, and which files were mapped.
//!
//! Invariants: any file can be opened, without a panic; only its tables are in memory.

use crate::exit::Failure;
use crate::output::cant_read;
use crate::system::{System, os};
use object::LittleEndian;
use object::elf::{ELF_NOTE_CORE, ET_CORE, FileHeader64, NT_FILE, PT_LOAD, PT_NOTE};
use object::read::ReadCache;
use object::read::elf::{FileHeader, ProgramHeader};
use protolog_reader::{ByteSource, ProcessMemory};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The largest notes that are read, in bytes: the kernel writes a few MiB at most for the files,
/// and a few KiB for each thread.
const MAX_NOTES: u64 = 256 << 20;

/// The most parts of a file that are looked at: more than the kernel gives a process mappings.
const MAX_PARTS: u32 = 4 << 20;

/// Bytes that are read at once.
const BLOCK: usize = 4 << 20;

/// The smallest pages that a machine has, in bytes.
const PAGE: usize = 4096;

/// The first bytes of files that are compressed, and what decompresses them.
const COMPRESSED: [(&[u8], &str); 4] = [
    (b"\x28\xb5\x2f\xfd", "zstd -d"),
    (b"\x1f\x8b", "gzip -d"),
    (b"\xfd7zXZ", "xz -d"),
    (b"\x04\x22\x4d\x18", "lz4 -d"),
];

/// A core file.
#[derive(Debug)]
pub(super) struct CoreFile {
    source: Box<dyn ByteSource>,
    /// By address, none of which is in two of them.
    segments: Vec<LoadedRange>,
    /// The files that the process had mapped.
    pub(super) mapped: Vec<PathBuf>,
    /// The size that its tables give it.
    pub(super) whole_size: u64,
}

/// A part of the memory of the process that the file has.
#[derive(Clone, Copy, Debug)]
struct LoadedRange {
    address: u64,
    offset: u64,
    size: u64,
}

impl CoreFile {
    /// Opens the file at `path`.
    pub(super) fn open(path: &Path, system: &dyn System) -> Result<Self, Failure> {
        let failed = |error: io::Error| cant_read(path, &error);
        let shown = path.display();
        let Some(source) = system.source(path).map_err(failed)? else {
            return Err(Failure::new(format!("`{shown}` is no regular file"))
                .help("write the core to a file first"));
        };
        let head = source.read_at(0, 16).map_err(failed)?;
        if let Some((_, tool)) = COMPRESSED.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Err(Failure::new(format!("`{shown}` is compressed")).help(format!(
                "decompress it with `{tool}` first; `coredumpctl dump -o CORE` writes one that is not"
            )));
        }
        let none = |what: &str| {
            Failure::new(format!("`{shown}` is {what}"))
                .help("give the core file of a process, as the kernel or `gcore` writes it")
        };
        let is_64_bit_le = matches!(head.get(4..6), Some([2, 1]));
        if head.starts_with(b"\x7fELF") && !is_64_bit_le {
            return Err(none("of a machine that is not 64-bit little-endian"));
        }
        let tables = ReadCache::new(SeekingSource { source: &*source, at: 0 });
        let header = FileHeader64::<LittleEndian>::parse(&tables);
        let header = header.map_err(|_| none("no core file"))?;
        let endian = LittleEndian;
        if header.e_type(endian) != ET_CORE {
            return Err(none("a program or a library, and no core file"));
        }
        let cut_off = |_| none("cut off before its memory begins");
        if header.phnum(endian, &tables).map_err(cut_off)? > MAX_PARTS {
            return Err(none("no core file: it has too many parts"));
        }
        let programs = header.program_headers(endian, &tables).map_err(cut_off)?;
        let (mut segments, mut mapped, mut whole_size) = (Vec::new(), Vec::new(), 0);
        let mut room_for_notes = MAX_NOTES;
        for program in programs {
            let (offset, size) = program.file_range(endian);
            whole_size = offset.saturating_add(size).max(whole_size);
            match program.p_type(endian) {
                PT_LOAD if size > 0 => {
                    let address = program.p_vaddr(endian);
                    segments.push(LoadedRange { address, offset, size });
                }
                PT_NOTE if size <= room_for_notes => {
                    room_for_notes -= size;
                    let Ok(Some(mut notes)) = program.notes(endian, &tables) else { continue };
                    while let Ok(Some(note)) = notes.next() {
                        let is_core = note.name() == ELF_NOTE_CORE;
                        if is_core && note.n_type(endian) == NT_FILE {
                            mapped.extend(mapped_files(note.desc()));
                        }
                    }
                }
                _ => {}
            }
        }
        drop(tables);
        make_disjoint(&mut segments);
        mapped.dedup();
        Ok(Self { source, segments, mapped, whole_size })
    }

    /// Size of the file.
    pub(super) fn size(&self) -> u64 {
        self.source.size()
    }

    /// The addresses of pages whose first bytes match. Each byte of the file is looked at once,
    /// however many segments have it.
    pub(super) fn find_pages(&self, matches: fn(&[u8]) -> bool) -> io::Result<Vec<u64>> {
        let (mut found, mut done) = (Vec::new(), 0);
        let mut segments = self.segments.clone();
        segments.sort_by_key(|segment| segment.offset);
        for segment in &segments {
            let end = segment.size.min(self.size().saturating_sub(segment.offset));
            let looked_at =
                (done.max(segment.offset) - segment.offset).next_multiple_of(PAGE as u64);
            for at in (looked_at..end).step_by(BLOCK) {
                let len = (end - at).min(BLOCK as u64) as usize;
                let block = self.source.read_at(segment.offset + at, len)?;
                let pages = block.chunks(PAGE).enumerate().filter(|(_, page)| matches(page));
                let address = |number| segment.address.checked_add(at + (number * PAGE) as u64);
                found.extend(pages.filter_map(|(number, _)| address(number)));
            }
            done = done.max(segment.offset.saturating_add(end));
        }
        Ok(found)
    }
}

impl ProcessMemory for CoreFile {
    fn copy(&self, address: u64, to: &mut [u8]) -> io::Result<usize> {
        let end = address.saturating_add(to.len() as u64);
        let mut count = 0;
        let before =
            self.segments.partition_point(|it| it.address.saturating_add(it.size) <= address);
        for segment in self.segments[before..].iter().take_while(|it| it.address < end) {
            let start = address.max(segment.address);
            let stop = end.min(segment.address.saturating_add(segment.size));
            let offset = segment.offset.saturating_add(start - segment.address);
            // The file may end before.
            let there = self.size().saturating_sub(offset).min(stop - start) as usize;
            if there == 0 {
                continue;
            }
            let bytes = self.source.read_at(offset, there)?;
            let at = (start - address) as usize;
            to[at..at + bytes.len()].copy_from_slice(&bytes);
            count += bytes.len();
        }
        Ok(count)
    }
}

/// Sorts segments by address, and leaves each address to one of them.
fn make_disjoint(segments: &mut Vec<LoadedRange>) {
    segments.sort_by_key(|segment| segment.address);
    let mut end = 0_u64;
    segments.retain_mut(|segment| {
        let taken = end.saturating_sub(segment.address).min(segment.size);
        end = end.max(segment.address.saturating_add(segment.size));
        segment.address += taken;
        segment.offset = segment.offset.saturating_add(taken);
        segment.size -= taken;
        segment.size > 0
    });
}

/// The names in a note about mapped files: their number and the size of a page, three words for
/// each, then the names with a zero behind each.
fn mapped_files(note: &[u8]) -> Vec<PathBuf> {
    let count = note.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    let names = count.checked_mul(24).and_then(|size| size.checked_add(16));
    let names = names.and_then(|at| note.get(usize::try_from(at).ok()?..)).unwrap_or_default();
    let names = names.split(|byte| *byte == 0).take(count as usize);
    names.map(|name| PathBuf::from(os::from_bytes(name))).collect()
}

/// A source that `object` can read.
#[derive(Debug)]
struct SeekingSource<'a> {
    source: &'a dyn ByteSource,
    at: u64,
}

impl Read for SeekingSource<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let bytes = self.source.read_at(self.at, to.len())?;
        to[..bytes.len()].copy_from_slice(&bytes);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
}

impl Seek for SeekingSource<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.source.size().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
