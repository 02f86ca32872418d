//! Memory that the caller provides, and the atomic words in it.
//!
//! Invariants
//! - *mapped*: `len` bytes from `base` can be read and written as long as the value lives;
//!   [`Backing`] promises it.
//! - *words*: bytes that are accessed as an atomic are not accessed otherwise while another thread
//!   may. Outside this crate a [`Memory`] gives out atomics only; inside it, a buffer accesses
//!   headers as atomics and payloads through pointers.
#![allow(unsafe_code)] // Memory is reached through addresses.

#[cfg(loom)]
use crate::slot::PAGE;
use crate::sync::{AtomicU16, AtomicU32};
#[cfg(not(loom))]
use protolog_core::chunk::CHUNK_HEADER;
#[cfg(loom)]
use protolog_core::chunk::PageLayout;
use protolog_core::chunk::{PACKETS_AT, WRITER_ID_AT};
use std::alloc;
#[cfg(loom)]
use std::collections::BTreeMap;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// Alignment of memory, in bytes: that of the largest atomic word.
const ALIGN: usize = align_of::<AtomicU64>();

/// An owner of memory: a mapping, an allocation.
///
/// # Safety
/// `len` bytes from `base`, an address aligned to 8 bytes, are initialized, can be read and written
/// from any thread, and are nobody else's in this process as long as the value lives; both
/// functions always return the same. After [`discard`](Self::discard) that still holds. Of memory
/// that [grows](Self::grow) it holds for the bytes that are there.
pub unsafe trait Backing: fmt::Debug + Send + Sync {
    /// The first byte.
    fn base(&self) -> NonNull<u8>;

    /// The size in bytes.
    fn len(&self) -> usize;

    /// Returns whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes `len` bytes from `at` on be there, all zero, where only a first part of the memory
    /// was; false where the system has no more. Several threads may ask for the same bytes, also
    /// when they are there already. Takes no lock and allocates nothing.
    fn grow(&self, _at: usize, _len: usize) -> bool {
        true
    }

    /// Gives the memory back to the system where it can, keeping the addresses. Bytes are zero
    /// afterwards, or as they were.
    fn discard(&self) {}
}

/// Zeroed memory of the allocator's, for tests and for buffers that need no mapping.
#[derive(Debug)]
pub struct Heap {
    base: NonNull<u8>,
    layout: alloc::Layout,
}

// SAFETY: the value owns the bytes as a box owns its contents, and gives out their address only.
unsafe impl Send for Heap {}
// SAFETY: a shared reference gives out the address only.
unsafe impl Sync for Heap {}

impl Heap {
    /// `len` zeroed bytes.
    ///
    /// # Panics
    /// Where `len` is 0 or more than the allocator can give.
    pub fn new(len: usize) -> Self {
        let layout =
            alloc::Layout::from_size_align(len, 4096).expect("a size that memory can have");
        assert!(len > 0, "memory of no bytes");
        // SAFETY: the size is not 0.
        let base = unsafe { alloc::alloc_zeroed(layout) };
        let Some(base) = NonNull::new(base) else { alloc::handle_alloc_error(layout) };
        Self { base, layout }
    }

    /// A copy of `bytes`, which are not empty.
    ///
    /// # Panics
    /// As [`Self::new`].
    pub fn copy_of(bytes: &[u8]) -> Self {
        let heap = Self::new(bytes.len());
        // SAFETY: the allocation is new, apart from `bytes`, and as large.
        unsafe { heap.base.as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        heap
    }
}

// SAFETY: the allocation is zeroed, aligned to 4096 bytes, and lives as long as the value, which
// alone has it.
unsafe impl Backing for Heap {
    fn base(&self) -> NonNull<u8> {
        self.base
    }

    fn len(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it with this layout, and nobody has an address in it once its
        // owner is gone.
        unsafe { alloc::dealloc(self.base.as_ptr(), self.layout) };
    }
}

/// The words of a chunk's header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkHeader<'a> {
    pub(crate) chunk_id: &'a AtomicU32,
    pub(crate) writer_id: &'a AtomicU16,
    /// Count and flags.
    pub(crate) packets: &'a AtomicU16,
}

/// Bytes shared between threads, whose words are atomics. See the module.
#[derive(Debug)]
pub struct Memory {
    base: NonNull<u8>,
    len: usize,
    owner: Box<dyn Backing>,
    #[cfg(loom)]
    words: Words,
}

// SAFETY: `base` is an address in memory that `owner`, which is Send, keeps.
unsafe impl Send for Memory {}
// SAFETY: a shared reference gives out addresses and atomics only, *words*.
unsafe impl Sync for Memory {}

impl Memory {
    /// The memory of `owner`.
    ///
    /// # Panics
    /// Where the owner breaks its promise on alignment.
    pub fn new(owner: impl Backing + 'static) -> Self {
        let owner: Box<dyn Backing> = Box::new(owner);
        let (base, len) = (owner.base(), owner.len());
        assert!(base.addr().get() % ALIGN == 0, "memory at {base:?} is not aligned");
        Self {
            base,
            len,
            owner,
            #[cfg(loom)]
            words: Words::new(len),
        }
    }

    /// The size in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The 64 bits at `at`, a multiple of 8. No model has such words, so they are the standard
    /// library's.
    ///
    /// # Panics
    /// Where they are not in the memory, or not aligned.
    pub fn u64(&self, at: usize) -> &AtomicU64 {
        // SAFETY: `place` checked range and alignment; *mapped*, *words*.
        unsafe { AtomicU64::from_ptr(self.place(at, size_of::<AtomicU64>()).cast()) }
    }

    /// The word of the page at `at`.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn page_word(&self, at: usize) -> &AtomicU64 {
        self.u64(at)
    }

    /// The header of the chunk at `at`, a multiple of 4, checked as a whole.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn chunk_header(&self, at: usize) -> ChunkHeader<'_> {
        assert!(at % 4 == 0 && self.has(at, CHUNK_HEADER), "a header at {at} of {}", self.len);
        // SAFETY: *mapped*: the header's bytes are in the memory, as was asserted.
        let base = unsafe { self.base.as_ptr().add(at) };
        let half = |offset: usize| {
            // SAFETY: *mapped*: the two bytes are in the header.
            let half = unsafe { base.add(offset) };
            // SAFETY: the header is aligned to 4 and the offset to 2; *words*.
            unsafe { AtomicU16::from_ptr(half.cast()) }
        };
        ChunkHeader {
            // SAFETY: the header is aligned to 4 and begins with this word; *words*.
            chunk_id: unsafe { AtomicU32::from_ptr(base.cast()) },
            writer_id: half(WRITER_ID_AT),
            packets: half(PACKETS_AT),
        }
    }

    #[cfg(loom)]
    pub(crate) fn page_word(&self, at: usize) -> &crate::sync::AtomicU64 {
        &self.words.pages[&at]
    }

    #[cfg(loom)]
    pub(crate) fn chunk_header(&self, at: usize) -> ChunkHeader<'_> {
        ChunkHeader {
            chunk_id: &self.words.words[&at],
            writer_id: &self.words.halves[&(at + WRITER_ID_AT)],
            packets: &self.words.halves[&(at + PACKETS_AT)],
        }
    }

    /// The address of `size` bytes at `at`, a multiple of `size`.
    #[inline]
    fn place(&self, at: usize, size: usize) -> *mut u8 {
        assert!(at % size == 0 && self.has(at, size), "{size} bytes at {at} of {}", self.len);
        // SAFETY: *mapped*: the byte is one of `len` from `base`, as was asserted.
        unsafe { self.base.as_ptr().add(at) }
    }

    /// Returns whether `size` bytes at `at` are in the memory.
    #[inline]
    fn has(&self, at: usize, size: usize) -> bool {
        at < self.len && size <= self.len - at
    }

    /// The address of the byte at `at`.
    #[inline]
    pub(crate) fn address(&self, at: usize) -> *mut u8 {
        assert!(at < self.len, "byte {at} of {}", self.len);
        // SAFETY: *mapped*: the byte is one of `len` from `base`.
        unsafe { self.base.as_ptr().add(at) }
    }

    /// The address of the byte at `at`, in the memory or not: for prefetching.
    #[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
    #[inline]
    pub(crate) fn hint(&self, at: usize) -> *mut u8 {
        self.base.as_ptr().wrapping_add(at)
    }

    /// As [`Backing::grow`].
    pub(crate) fn grow(&self, at: usize, len: usize) -> bool {
        self.owner.grow(at, len)
    }

    /// As [`Backing::discard`].
    pub(crate) fn discard(&self) {
        self.owner.discard();
    }
}

/// The model checker's atomics, one for each place where a page or a chunk may have a header.
#[cfg(loom)]
#[derive(Debug)]
struct Words {
    pages: BTreeMap<usize, crate::sync::AtomicU64>,
    words: BTreeMap<usize, AtomicU32>,
    halves: BTreeMap<usize, AtomicU16>,
}

#[cfg(loom)]
impl Words {
    fn new(len: usize) -> Self {
        let (mut words, mut halves) = (BTreeMap::new(), BTreeMap::new());
        let mut pages = BTreeMap::new();
        for page in (0..len).step_by(PAGE) {
            pages.insert(page, crate::sync::AtomicU64::new(0));
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
        Self { pages, words, halves }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::Ordering;

    #[test]
    fn words_are_bytes_of_the_owner() {
        let memory = Memory::new(Heap::copy_of(&[1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]));
        let header = memory.chunk_header(0);
        let halves = (header.writer_id, header.packets);
        let halves = (halves.0.load(Ordering::Relaxed), halves.1.load(Ordering::Relaxed));
        assert_eq!(halves, (u16::from_le(0), u16::from_le(0)));
        assert_eq!(memory.chunk_header(8).chunk_id.load(Ordering::Relaxed), u32::from_le(3));
        assert_eq!(memory.page_word(0).load(Ordering::Relaxed), u64::from_le(0x2_0001));
        assert_eq!(memory.u64(8).load(Ordering::Relaxed), u64::from_le(3));
        assert_eq!(memory.len(), 16);
    }

    #[test]
    #[should_panic(expected = "8 bytes at 16 of 16")]
    fn a_word_beyond_the_end_is_refused() {
        Memory::new(Heap::new(16)).u64(16);
    }

    #[test]
    #[should_panic(expected = "8 bytes at 6 of 16")]
    fn a_word_that_is_not_aligned_is_refused() {
        Memory::new(Heap::new(16)).u64(6);
    }
}
