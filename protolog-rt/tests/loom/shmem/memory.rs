//! Memory whose headers are loom's atomics. Bytes of packets are plain memory; who may touch them when is checked by
//! the cells of [`crate::cells`].

use crate::sync::{AtomicU16, AtomicU32};
use protolog_core::chunk::{PACKETS_AT, PageLayout, WRITER_ID_AT};
use std::collections::BTreeMap;
use std::io;
use std::ptr::NonNull;

const PAGE: usize = 4096;

/// See the module.
#[derive(Debug)]
pub(crate) struct Memory {
    words: BTreeMap<usize, AtomicU32>,
    halves: BTreeMap<usize, AtomicU16>,
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the value owns the bytes; loom runs one thread at a time.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn anonymous(len: usize) -> io::Result<Self> {
        let (mut words, mut halves) = (BTreeMap::new(), BTreeMap::new());
        for page in (0..len).step_by(PAGE) {
            words.insert(page, AtomicU32::new(0));
            for layout in PageLayout::ALL {
                for index in 0..layout.chunks() {
                    let at = page + layout.chunk_at(PAGE, index);
                    words.entry(at).or_insert_with(|| AtomicU32::new(0));
                    for at in [at + WRITER_ID_AT, at + PACKETS_AT] {
                        halves.entry(at).or_insert_with(|| AtomicU16::new(0));
                    }
                }
            }
        }
        let bytes = Box::leak(vec![0u8; len].into_boxed_slice());
        Ok(Self { words, halves, base: NonNull::from(bytes).cast(), len })
    }

    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn u32(&self, at: usize) -> &AtomicU32 {
        &self.words[&at]
    }

    pub(crate) fn u16(&self, at: usize) -> &AtomicU16 {
        &self.halves[&at]
    }

    pub(crate) fn discard(&self) {}
}

impl Drop for Memory {
    fn drop(&mut self) {
        let bytes = NonNull::slice_from_raw_parts(self.base, self.len);
        // SAFETY: the box that `anonymous` leaked; nobody has a pointer into it any more.
        drop(unsafe { Box::from_raw(bytes.as_ptr()) });
    }
}
