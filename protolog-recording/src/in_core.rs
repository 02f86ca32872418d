//! Recordings without a file, in the memory of a dead process: that of sessions whose buffers end
//! with it.
//!
//! The header says at which addresses the parts are ([`protolog_core::recorder::MemoryPart`]).
//! They are put together as a file has them.
//!
//! Invariants: any memory can be read, without a panic; what is put together takes no more memory
//! than a recording may have.

use crate::Recording;
use protolog_core::recorder::{
    Header, MAGIC, RING_AT, WRITER_ENTRY_SIZE, WRITER_LOSSES_SIZE, WRITERS, WRITERS_ADDRESS_AT,
    add_losses, add_messages, header_address, memory_parts, read_u64, writer_losses,
};
use std::io;

/// The memory of a dead process, as a core file has it.
pub trait ProcessMemory {
    /// Copies what is at an address, and leaves bytes as they are that there are none of. Returns
    /// the number of bytes that there are.
    ///
    /// # Errors
    ///
    /// If the file can't be read.
    fn copy(&self, address: u64, to: &mut [u8]) -> io::Result<usize>;
}

/// A recording that was put together.
#[derive(Debug)]
pub struct CoreRecording {
    bytes: Vec<u8>,
    missing: u64,
}

/// A page that begins as a recording does.
#[derive(Debug)]
pub enum FoundHeader {
    /// A recording without a file.
    Here(CoreRecording),
    /// One of another place: a file that is mapped or was read, a session that has ended.
    Elsewhere,
}

impl CoreRecording {
    /// True if a page that begins with these bytes may be the first one of a recording.
    pub fn matches(page: &[u8]) -> bool {
        page.starts_with(&MAGIC)
    }

    /// Puts together what begins at an address that [matches](Self::matches).
    ///
    /// # Errors
    ///
    /// As [`ProcessMemory::copy`].
    pub fn read(memory: &dyn ProcessMemory, address: u64) -> io::Result<FoundHeader> {
        let mut header = vec![0; RING_AT];
        let mut missing = (RING_AT - memory.copy(address, &mut header)?) as u64;
        if header_address(&header) != Some(address) {
            return Ok(FoundHeader::Elsewhere);
        }
        let Ok(parsed) = Header::parse(&header) else { return Ok(FoundHeader::Elsewhere) };
        let mut bytes = header.clone();
        let mut room = Recording::MAX_BYTES;
        for part in memory_parts(&header) {
            let end = part.at.saturating_add(part.size);
            if part.at < RING_AT as u64 || end > Recording::MAX_BYTES || part.size > room {
                missing = missing.saturating_add(part.size);
                continue;
            }
            // Parts are beside each other.
            room -= part.size;
            let (start, end) = (part.at as usize, end as usize);
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            let there = memory.copy(part.address, &mut bytes[start..end])?;
            missing = missing.saturating_add((end - start - there) as u64);
        }
        missing = missing.saturating_add(add_counts_of_writers(memory, &mut bytes)?);
        // Without them the rings would look as if they had nothing.
        let ring = parsed.page as u64 * parsed.pages as u64;
        let is_noted = memory_parts(&header).any(|it| it.at == parsed.ring_at && it.size >= ring);
        missing = missing.saturating_add(if is_noted { 0 } else { ring });
        Ok(FoundHeader::Here(Self { bytes, missing }))
    }

    /// The bytes as a file would have them, with zeros for those that are missing.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Number of bytes that the memory lacks.
    pub fn missing(&self) -> u64 {
        self.missing
    }
}

/// Adds the losses and the messages of writers to those in the header. Returns the number of bytes
/// that the memory lacks.
fn add_counts_of_writers(memory: &dyn ProcessMemory, bytes: &mut [u8]) -> io::Result<u64> {
    let table = read_u64(bytes, WRITERS_ADDRESS_AT).filter(|address| *address != 0);
    let Some(table) = table else { return Ok(0) };
    let mut writers = vec![0; WRITER_ENTRY_SIZE * WRITERS];
    let mut missing = (writers.len() - memory.copy(table, &mut writers)?) as u64;
    let (mut losses, mut messages) = ([0; WRITER_LOSSES_SIZE], [0; 8]);
    let mut read = |at: Option<u64>, to: &mut [u8]| -> io::Result<()> {
        to.fill(0);
        if let Some(address) = at.filter(|address| *address != 0) {
            missing += (to.len() - memory.copy(address, to)?) as u64;
        }
        Ok(())
    };
    for (id, entry) in writers.chunks_exact(WRITER_ENTRY_SIZE).enumerate() {
        if entry.iter().all(|byte| *byte == 0) {
            continue;
        }
        read(read_u64(entry, 0), &mut losses)?;
        for (key, count) in writer_losses(&losses) {
            add_losses(bytes, key, count);
        }
        read(read_u64(entry, 8), &mut messages)?;
        add_messages(bytes, id as u16, u64::from_ne_bytes(messages));
    }
    Ok(missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protolog_core::recorder::{
        BuildId, ClockSource, HEADER_ADDRESS_AT, MemoryPart, PART_COUNT_AT, VERSION, memory_part_at,
    };

    const ADDRESS: u64 = 0x7000_0000_0000;

    /// Memory from [`ADDRESS`] on.
    struct Bytes(Vec<u8>);

    impl ProcessMemory for Bytes {
        fn copy(&self, address: u64, to: &mut [u8]) -> io::Result<usize> {
            let start = address.checked_sub(ADDRESS).and_then(|at| usize::try_from(at).ok());
            let from = start.and_then(|at| self.0.get(at..)).unwrap_or_default();
            let count = from.len().min(to.len());
            to[..count].copy_from_slice(&from[..count]);
            Ok(count)
        }
    }

    fn memory(parts: &[MemoryPart], size: usize) -> Bytes {
        let header = Header {
            version: VERSION,
            pid: 4711,
            page: 4096,
            pages: 2,
            clock: ClockSource::Kernel,
            ring_at: RING_AT as u64,
            metadata_at: RING_AT as u64 + 8192,
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
        let mut put = |at: usize, word: u64| bytes[at..][..8].copy_from_slice(&word.to_ne_bytes());
        put(HEADER_ADDRESS_AT, ADDRESS);
        put(PART_COUNT_AT, parts.len() as u64);
        for (index, part) in parts.iter().enumerate() {
            for (number, word) in part.to_words().into_iter().enumerate() {
                put(memory_part_at(index) + 8 * number, word);
            }
        }
        bytes.resize(size, 0xaa);
        Bytes(bytes)
    }

    fn read(memory: &Bytes) -> CoreRecording {
        match CoreRecording::read(memory, ADDRESS).unwrap() {
            FoundHeader::Here(found) => found,
            FoundHeader::Elsewhere => panic!("it is there"),
        }
    }

    const RING: MemoryPart =
        MemoryPart { at: RING_AT as u64, address: ADDRESS + RING_AT as u64, size: 8192 };

    #[test]
    fn parts_are_put_where_a_file_has_them() {
        let far = MemoryPart { at: RING_AT as u64 + 8192, address: ADDRESS + 0x2_0000, size: 4096 };
        let mut memory = memory(&[RING, far], 0x2_1000);
        memory.0[0x2_0000] = 0xbb;
        let found = read(&memory);
        assert_eq!((found.missing(), found.bytes().len()), (0, RING_AT + 12288));
        assert_eq!(found.bytes()[..RING_AT], memory.0[..RING_AT]);
        assert_eq!(found.bytes()[RING_AT + 8192], 0xbb);
        assert!(Recording::parse(found.bytes()).is_ok());
    }

    #[test]
    fn bytes_that_are_not_there_are_counted() {
        assert_eq!(read(&memory(&[RING], RING_AT + 8000)).missing(), 192);
        assert_eq!(read(&memory(&[], RING_AT + 8192)).missing(), 8192, "no part is the ring");
        let elsewhere = MemoryPart { address: 1, ..RING };
        assert_eq!(read(&memory(&[elsewhere], RING_AT)).missing(), 8192);
        let huge = MemoryPart { size: u64::MAX, ..RING };
        let found = read(&memory(&[huge], RING_AT));
        assert_eq!((found.missing(), found.bytes().len()), (u64::MAX, RING_AT));
    }

    #[test]
    fn a_copy_of_a_header_is_none() {
        let mut memory = memory(&[RING], RING_AT + 8192);
        memory.0[HEADER_ADDRESS_AT] ^= 0x10;
        let found = CoreRecording::read(&memory, ADDRESS).unwrap();
        assert!(matches!(found, FoundHeader::Elsewhere));
        let short = Bytes(memory.0[..4096].to_vec());
        let found = CoreRecording::read(&short, ADDRESS).unwrap();
        assert!(matches!(found, FoundHeader::Elsewhere));
    }
}
