//! Any bytes as the memory of a buffer: its reader finds chunks, reads, releases and pins them, and
//! never leaves a chunk; writers find free chunks beside them.
//!
//! Covers what the unit tests, which draw some hundred pages, do not reach: all states of a page's
//! header, with any chunks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protolog_core::FillPolicy;
use protolog_core::chunk::PageLayout;
use protolog_shmem::{Buffer, Heap, MAX_BUFFER, Memory, PAGE};

fuzz_target!(|bytes: &[u8]| {
    let len = (bytes.len() / PAGE * PAGE).min(MAX_BUFFER);
    if len == 0 {
        return;
    }
    for fill_policy in [FillPolicy::Stream, FillPolicy::RingBuffer] {
        let buffer = Buffer::new(Memory::new(Heap::copy_of(&bytes[..len])), fill_policy);
        let mut reader = buffer.reader();
        for info in reader.find(true) {
            let length = if fill_policy == FillPolicy::RingBuffer {
                reader.pin(&info).map(|chunk| sum(chunk.committed().bytes))
            } else {
                reader.read(&info).map(|chunk| sum(chunk.committed().bytes))
            };
            assert!(length.expect("nobody takes it") <= info.size());
        }
        drop(reader);
        for layout in PageLayout::ALL {
            while let Some(mut chunk) = buffer.acquire(layout, 200) {
                let open = buffer.open(&mut chunk, 1, 0);
                assert_eq!(open.end.addr() - open.start.addr(), chunk.payload());
            }
        }
    }
});

/// The number of bytes, all of which are touched.
fn sum(bytes: &[u8]) -> usize {
    std::hint::black_box(bytes.iter().fold(0u8, |sum, byte| sum ^ byte));
    bytes.len()
}
