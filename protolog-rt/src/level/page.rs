//! The page of switches of one group enum.
//!
//! One page-sized, page-aligned static per enum with a word per group, so that the runtime can map shared memory over it
//! (an operator's switch is then one operation on that memory) while every call goes on testing the same link-time address.
//! What stands in a word is said in [`protolog_core::control::switch`].
//!
//! How a page comes to be shared, while other threads test its words ([`Page::share`]):
//!
//! 1. the words are copied into the file;
//! 2. the file is mapped over the page, in one system call: a thread that tests a word meanwhile reads the old page or waits
//!    in the kernel for the new one, and finds the same bits in either.
//!
//! A word that changed between 1 and 2 would change back. None does: *switched* below.
//!
//! Invariants
//! - *switches*: nothing but switches lives in the page, so whatever others write there switches levels and no more.
//! - *one address*: the page stays readable and writable at its address for as long as its image is loaded.
//! - *switched*: words are changed by who holds the registry's lock, as who shares the page does; or, in a signal handler, by
//!   the thread that holds it already, and then not between 1 and 2, where its signals are blocked.
//! - *sealed*: the file's size never changes, so its pages never go away under a call.
#![allow(unsafe_code)] // A mapping over a static of ours.

use crate::note::GroupDef;
use crate::sys::mapping;
use crate::sys::thread::without_signals;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;
use protolog_core::Level;
use protolog_core::control::switch::{self, SwitchWord, TEXT_SHIFT, TRACE_BYTE};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes in a page: what the machine may map at the least.
#[cfg(target_arch = "x86_64")]
pub(super) const PAGE_SIZE: usize = 4096;
#[cfg(not(target_arch = "x86_64"))]
pub(super) const PAGE_SIZE: usize = 65536;

const WORDS: usize = PAGE_SIZE / 4;

/// The most groups an enum can have: the words of the smallest page.
pub(crate) const MAX_GROUPS: usize = 1024;

pub(super) use switch::UNREGISTERED;

/// The switches of one group enum.
#[cfg_attr(target_arch = "x86_64", repr(C, align(4096)))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C, align(65536)))]
#[derive(Debug)]
pub struct Page {
    words: [AtomicU32; WORDS],
}

impl Page {
    /// The page of an enum with these groups, not registered yet. Groups that are compiled out stay off.
    pub const fn new(groups: &[GroupDef]) -> Self {
        assert!(groups.len() <= MAX_GROUPS, "an enum can have at most 1,024 groups");
        let mut words = [const { AtomicU32::new(0) }; WORDS];
        let mut index = 0;
        while index < groups.len() {
            if groups[index].enabled {
                words[index] = AtomicU32::new(switch::initial(groups[index].log_to_text));
            }
            index += 1;
        }
        Self { words }
    }

    /// The word of group `index`.
    #[allow(clippy::inline_always)] // A call that is off must stay one load, at every level of optimisation.
    #[inline(always)]
    pub(super) fn word(&self, index: usize) -> u32 {
        // No more groups than that; and no check that could fail in the middle of a call.
        self.words[index % WORDS].load(Relaxed)
    }

    /// Where that word is.
    pub(super) const fn place(&self, index: usize) -> &AtomicU32 {
        &self.words[index % WORDS]
    }

    /// The same; what a session did before it changed the word is visible afterwards.
    #[inline]
    pub(super) fn word_acquire(&self, index: usize) -> u32 {
        self.words[index % WORDS].load_word()
    }

    /// Makes `levels` what sessions want of group `index`, and ends its being new.
    pub(super) fn set_trace(&self, index: usize, levels: u8) {
        switch::set_session_levels(&self.words[index], levels);
    }

    /// Makes `levels` what sessions may have of group `index`.
    pub(super) fn set_allowed(&self, index: usize, levels: u8) {
        switch::set_allowed_levels(&self.words[index], levels);
    }

    /// Makes `levels` what the text side wants of group `index`.
    pub(super) fn set_text(&self, index: usize, levels: u8) {
        switch::set_text_levels(&self.words[index], levels);
    }

    /// Maps page number `page` of `file` over this one. The registry is locked.
    pub(super) fn share(&'static self, file: &File, page: u32) -> io::Result<()> {
        let offset = u64::from(page) * PAGE_SIZE as u64;
        without_signals(|| {
            self.copy_to(file, offset)?;
            self.map(Some((file, offset)))
        })
    }

    /// Puts memory of this process's own in place of what is shared. For a forked child, which has one thread; it calls
    /// nothing that takes a lock or allocates.
    pub(super) fn unshare(&'static self) -> io::Result<()> {
        let words = [const { AtomicU32::new(0) }; PAGE_SIZE / 4];
        for (kept, word) in words.iter().zip(&self.words) {
            kept.store(word.load(Relaxed), Relaxed);
        }
        self.map(None)?;
        for (word, kept) in self.words.iter().zip(&words) {
            word.store(kept.load(Relaxed), Relaxed);
        }
        Ok(())
    }

    /// Writes the words into the file, which is zero there. Allocates nothing, since a signal handler's call may be the
    /// first one of its enum.
    fn copy_to(&self, file: &File, offset: u64) -> io::Result<()> {
        const PART: usize = 64;
        for (part, words) in self.words.chunks(PART).enumerate() {
            let mut bytes = [0; PART * 4];
            for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
                to.copy_from_slice(&word.load(Relaxed).to_ne_bytes());
            }
            if bytes.iter().any(|byte| *byte != 0) {
                file.write_all_at(&bytes, offset + (part * PART * 4) as u64)?;
            }
        }
        Ok(())
    }

    /// Maps a page of `file`, or one of this process's own, over this one.
    fn map(&'static self, file: Option<(&File, u64)>) -> io::Result<()> {
        let start = std::ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the range is exactly this static, which is page-sized, page-aligned and holds only atomics (*switches*); it
        // stays readable and writable (*one address*) and has the same words, or zeros until `unshare` has put them back,
        // in a process of one thread.
        unsafe { mapping::replace(start, PAGE_SIZE, file) }
    }
}

/// The bits that a call at `level` tests: sessions or text want it.
pub(crate) const fn call_bits(level: Level) -> u32 {
    trace_bit(level) | text_bit(level)
}

/// The bit of `level` in what sessions want.
pub(super) const fn trace_bit(level: Level) -> u32 {
    1 << level.severity()
}

/// The bit of `level` in what the text side wants.
pub(super) const fn text_bit(level: Level) -> u32 {
    1 << (level.severity() as u32 + TEXT_SHIFT)
}

/// Whether of what a call of this severity tests only what sessions want is set, in a word that is not new.
#[inline]
pub(super) const fn only_traced(word: u32, severity: u8) -> bool {
    word & UNREGISTERED == 0 && word >> (severity & 31) & (1 | 1 << TEXT_SHIFT) == 1
}

/// The word without what stands in byte 0 only because the enum is new.
pub(super) const fn settled(word: u32) -> u32 {
    if word & UNREGISTERED == 0 { word } else { word & !TRACE_BYTE }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: GroupDef = GroupDef::new("t::G::OnOn", 2, 0, true, true);
    const OFF: GroupDef = GroupDef { index: 1, enabled: false, ..ON };

    #[test]
    fn a_new_word_lets_every_call_through() {
        let page = Page::new(&[ON, OFF]);
        assert_eq!(align_of::<Page>(), size_of::<Page>());
        assert_eq!((page.word(0), page.word(1), page.word(2)), (0x3f3fbf, 0, 0));
        for level in Level::ALL {
            assert_ne!(page.word(0) & call_bits(level), 0);
        }
        assert_eq!(settled(page.word(0)), 0x3f3f00);
    }

    /// Threads test words all the time while their page is shared, again and again, and changes come before and after.
    #[test]
    fn sharing_a_page_changes_no_word() {
        use std::sync::atomic::AtomicBool;
        let defs = [ON; 3];
        let page: &'static Page = Box::leak(Box::new(Page::new(&defs)));
        let file = crate::sys::file::memory_file(c"test", 64 * PAGE_SIZE as u64).unwrap();
        page.set_trace(0, 0x3f);
        page.set_trace(1, 0);
        page.set_text(1, 0);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Relaxed) {
                        assert_eq!(page.word(0) & 0x3f, 0x3f, "on before, on after");
                        assert_eq!(page.word(1) & 0x3f3f, 0, "off before, off after");
                    }
                });
            }
            for number in 0..64 {
                page.set_text(2, number as u8);
                page.share(&file, number).unwrap();
                assert_eq!(page.word(2) >> 8 & 0xff, number);
            }
            over.store(true, Relaxed);
        });
        let mut word = [0; 4];
        file.read_exact_at(&mut word, 63 * PAGE_SIZE as u64).unwrap();
        assert_eq!(u32::from_ne_bytes(word), page.word(0), "the file has what the program has");
        page.set_text(0, 1);
        file.read_exact_at(&mut word, 63 * PAGE_SIZE as u64).unwrap();
        assert_eq!(u32::from_ne_bytes(word), page.word(0));
    }

    #[test]
    fn switches_touch_their_own_byte() {
        let page = Page::new(&[ON]);
        page.set_trace(0, 0b1100);
        assert_eq!(page.word(0), 0x0c3f_3f0c);
        page.set_allowed(0, 0b1000);
        assert_eq!(page.word(0), 0x0c08_3f08);
        page.set_text(0, 0b100001);
        assert_eq!(page.word(0), 0x0c08_2108);
    }
}
