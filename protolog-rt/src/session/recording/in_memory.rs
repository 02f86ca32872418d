//! Recordings without a file, of sessions whose buffers end with the process: a core file of the
//! process has them, for `protologtool recover --core CORE`.
//!
//! ```text
//! header      pages of its own; says at which addresses the others are
//! buffers     as they are mapped anyway
//! metadata    pages as they are needed, twice as many each time
//! writers     addresses of their counters: counted there alone, so that no message takes longer
//! ```
//!
//! What is not written takes no memory.
//!
//! Invariant: a part is in the header before anything in it counts.

use crate::error::Error;
use crate::session::recording::form::{BufferForm, Buffers, Layout, POSITIONS_SIZE};
use crate::session::recording::state::{MetadataStore, RecordingState};
use crate::sync::Ordering;
use crate::sys::growing;
use crate::sys::mapping::Mapping;
use protolog_core::FillPolicy;
use protolog_core::recorder::{
    HEADER_ADDRESS_AT, MAX_PARTS, MemoryPart, PART_COUNT_AT, PINNED_RING_AT, RING_AT,
    WRITER_ENTRY_SIZE, WRITERS, WRITERS_ADDRESS_AT, memory_part_at,
};
use protolog_shmem::{Backing, Buffer, Memory, PAGE, size};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Size of the first part of the metadata, in bytes.
const FIRST_PART: usize = 64 * 1024;

/// Bytes of a word.
const WORD: usize = 8;

/// The metadata of a recording in memory.
#[derive(Debug)]
struct MetadataParts {
    /// The offset in the recording.
    start: u64,
    parts: Mutex<Vec<Memory>>,
}

impl RecordingState {
    /// Makes buffers, and the state around them if there is memory for it.
    pub(in crate::session) fn in_memory(
        form: BufferForm<'_>,
    ) -> Result<(Option<Arc<Self>>, Buffers), Error> {
        let map = |bytes| Mapping::anonymous(size(bytes)).map_err(Error::Resources);
        let is_stream = form.fill_policy == FillPolicy::Stream;
        let main = if is_stream {
            Mapping::untouched(size(form.bytes)).map_err(Error::Resources)?
        } else {
            map(form.bytes)?
        };
        let pinned = form.pinned_bytes.map(map).transpose()?;
        let state = Self::around(form, &main, pinned.as_ref()).ok();
        let buffer = |mapping| Buffer::new(Memory::new(mapping), form.fill_policy);
        let main = if is_stream {
            let none = || Error::Resources(io::ErrorKind::OutOfMemory.into());
            growing::in_memory(main).ok_or_else(none)?
        } else {
            buffer(main)
        };
        let buffers = Buffers { main, pinned: pinned.map(buffer) };
        if let Some(state) = &state {
            state.begin(&form.session_id, form.filter);
        }
        Ok((state, buffers))
    }

    /// The state of a recording with these buffers.
    fn around(
        form: BufferForm<'_>,
        main: &Mapping,
        pinned: Option<&Mapping>,
    ) -> io::Result<Arc<Self>> {
        let Layout { header: head, pinned: pinned_ring, .. } = Layout::of(form);
        let mapping = Mapping::untouched(RING_AT)?;
        let address = address(&mapping);
        let header = Memory::new(mapping);
        let words = |at: usize, bytes: &[u8]| {
            for (index, word) in bytes.chunks_exact(WORD).enumerate() {
                let word = u64::from_ne_bytes(word.try_into().unwrap_or_default());
                header.u64(at + WORD * index).store(word, Ordering::Relaxed);
            }
        };
        words(0, &head.to_bytes());
        add_part(&header, RING_AT as u64, main);
        if let Some((ring, mapping)) = pinned_ring.zip(pinned) {
            words(PINNED_RING_AT, &ring.to_bytes());
            add_part(&header, ring.at, mapping);
        }
        let (mut positions, mut writers) = (None, None);
        if form.fill_policy == FillPolicy::Stream {
            let mapping = Mapping::untouched(POSITIONS_SIZE as usize)?;
            add_part(&header, head.positions_at, &mapping);
            positions = Some(Memory::new(mapping));
        } else {
            let mapping = Mapping::untouched(WRITER_ENTRY_SIZE * WRITERS)?;
            header.u64(WRITERS_ADDRESS_AT).store(self::address(&mapping), Ordering::Relaxed);
            writers = Some(Memory::new(mapping));
        }
        header.u64(HEADER_ADDRESS_AT).store(address, Ordering::Relaxed);
        let store = MetadataParts { start: head.metadata_at, parts: Mutex::default() };
        let state = Self::new(header, pinned.is_some(), positions, Box::new(store));
        Ok(Arc::new(state.with_writers(writers)))
    }
}

impl MetadataStore for MetadataParts {
    fn write(&self, header: &Memory, used: u64, record: &[u8]) -> bool {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut room = parts.iter().map(Memory::len).sum::<usize>();
        let (used, end) = (used as usize, used as usize + record.len());
        while room < end {
            let bytes = room.max(FIRST_PART).max((end - room).next_multiple_of(PAGE));
            let Ok(mapping) = Mapping::untouched(bytes) else { return false };
            if !add_part(header, self.start + room as u64, &mapping) {
                return false;
            }
            parts.push(Memory::new(mapping));
            room += bytes;
        }
        let mut start = 0;
        for part in parts.iter() {
            let range = used.max(start)..end.min(start + part.len());
            if !range.is_empty() {
                store(part, range.start - start, &record[range.start - used..range.end - used]);
            }
            start += part.len();
        }
        true
    }

    fn is_file(&self) -> bool {
        false
    }
}

/// Notes a part that begins there in the recording; false where no more can be noted.
fn add_part(header: &Memory, at: u64, mapping: &Mapping) -> bool {
    let count = header.u64(PART_COUNT_AT);
    let index = count.load(Ordering::Relaxed) as usize;
    if index >= MAX_PARTS {
        return false;
    }
    let part = MemoryPart { at, address: address(mapping), size: mapping.len() as u64 };
    for (number, word) in part.to_words().into_iter().enumerate() {
        header.u64(memory_part_at(index) + WORD * number).store(word, Ordering::Relaxed);
    }
    count.store(index as u64 + 1, Ordering::Release);
    true
}

fn address(mapping: &Mapping) -> u64 {
    mapping.base().addr().get() as u64
}

/// Stores bytes behind those that are there.
fn store(to: &Memory, at: usize, mut bytes: &[u8]) {
    let mut at = at;
    while !bytes.is_empty() {
        let within = at % WORD;
        let (now, rest) = bytes.split_at(bytes.len().min(WORD - within));
        let word = to.u64(at - within);
        let mut value = word.load(Ordering::Relaxed).to_ne_bytes();
        value[within..within + now.len()].copy_from_slice(now);
        word.store(u64::from_ne_bytes(value), Ordering::Relaxed);
        (at, bytes) = (at + now.len(), rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protolog_core::recorder::memory_parts;

    fn bytes(memory: &Memory) -> Vec<u8> {
        let words = (0..memory.len()).step_by(WORD);
        words.flat_map(|at| memory.u64(at).load(Ordering::Relaxed).to_ne_bytes()).collect()
    }

    #[test]
    fn records_are_stored_one_behind_the_other_in_parts_that_the_header_has() {
        let header = Memory::new(Mapping::untouched(RING_AT).expect("memory"));
        let store = MetadataParts { start: 1 << 20, parts: Mutex::default() };
        let mut expected = Vec::new();
        for (number, size) in [1, 7, 8, 30_000, 40_000, 5, 300_000, 100_001].into_iter().enumerate()
        {
            let record: Vec<u8> = (0..size).map(|at| (at * 7 + number) as u8).collect();
            assert!(store.write(&header, expected.len() as u64, &record));
            expected.extend(record);
        }
        let parts = store.parts.lock().expect("not poisoned");
        let written: Vec<u8> = parts.iter().flat_map(bytes).collect();
        assert_eq!(written[..expected.len()], expected);
        let mut end = 1 << 20;
        let noted: Vec<MemoryPart> = memory_parts(&bytes(&header)).collect();
        for (noted, part) in noted.iter().zip(parts.iter()) {
            assert_eq!((noted.at, noted.size), (end, part.len() as u64));
            end += noted.size;
        }
        assert_eq!((noted.len(), noted.len() < 8), (parts.len(), true), "few, as they grow");
    }

    #[test]
    fn metadata_beyond_the_last_part_is_refused() {
        let header = Memory::new(Mapping::untouched(RING_AT).expect("memory"));
        let store = MetadataParts { start: 0, parts: Mutex::default() };
        header.u64(PART_COUNT_AT).store(MAX_PARTS as u64, Ordering::Relaxed);
        assert!(!store.write(&header, 0, b"record"));
    }
}
