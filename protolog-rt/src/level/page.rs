//! The page of switches of one group enum.
//!
//! Each enum has one page-sized, page-aligned static with a word per group. The runtime can map
//! shared memory over it, so that an operator's switch is one operation on that memory, while every
//! call goes on testing the same link-time address. [`protolog_core::control::switch`] defines the
//! bits of a word.
//!
//! [`SwitchPage::share`] shares a page while other threads test its words:
//!
//! 1. it copies the words into the file;
//! 2. it maps the file over the page, in one system call: a thread that tests a word meanwhile
//!    reads the old page or waits in the kernel for the new one, and finds the same bits in either.
//!
//! A word that changed between 1 and 2 would change back. None does, by *locked*.
//!
//! Invariants
//! - *switches*: the page holds nothing but switches, so any write of others there switches levels
//!   and no more.
//! - *one address*: the page stays readable and writable at its address for as long as its module
//!   is loaded.
//! - *locked*: this process changes words only under the registry's lock, which `share` holds too;
//!   or in a signal handler that interrupted the lock's holder, but not between 1 and 2, where
//!   signals are blocked.
//! - *sealed*: the file's size never changes, so its pages never go away under a call.
#![allow(unsafe_code)] // A mapping over a static of ours.

use crate::note::GroupDef;
use crate::sys::mapping;
use crate::sys::thread::without_signals;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicPtr, AtomicU32};
use protolog_core::Level;
use protolog_core::control::switch::{
    self, SITE_RULES, SwitchWord, TEXT_SHIFT, TRACE_BYTE, UNWATCHED, UNWATCHED_SHIFT,
};
use protolog_files::FileExt;
use std::fs::File;
use std::io;

/// Size of a page: the largest page size that systems of this architecture have. Where no page is
/// shared, it is what the form of the binary can align.
#[cfg(any(target_arch = "x86_64", not(unix)))]
pub(super) const PAGE_SIZE: usize = 4096;
#[cfg(all(not(target_arch = "x86_64"), target_vendor = "apple"))]
pub(super) const PAGE_SIZE: usize = 16384;
#[cfg(not(any(target_arch = "x86_64", not(unix), target_vendor = "apple")))]
pub(super) const PAGE_SIZE: usize = 65536;

const WORDS: usize = PAGE_SIZE / 4;

/// Maximum number of groups of an enum: the words of the smallest page.
pub(crate) const MAX_GROUPS: usize = 1024;

pub(super) use switch::UNREGISTERED;

/// The levels (bit = severity) that a trigger can wait for at no cost for others of the group.
pub(super) const FREE_TO_WATCH: u8 = (UNWATCHED >> UNWATCHED_SHIFT) as u8;

/// The switches of one group enum.
#[cfg_attr(any(target_arch = "x86_64", not(unix)), repr(C, align(4096)))]
#[cfg_attr(all(not(target_arch = "x86_64"), target_vendor = "apple"), repr(C, align(16384)))]
#[cfg_attr(
    not(any(target_arch = "x86_64", not(unix), target_vendor = "apple")),
    repr(C, align(65536))
)]
#[derive(Debug)]
pub struct SwitchPage {
    words: [AtomicU32; WORDS],
}

impl SwitchPage {
    /// Creates the page of an enum that has not registered yet. Groups that are compiled out stay
    /// off.
    pub const fn new(groups: &[GroupDef]) -> Self {
        assert!(groups.len() <= MAX_GROUPS, "an enum can have at most 1,024 groups");
        let mut words = [const { AtomicU32::new(0) }; WORDS];
        let mut index = 0;
        while index < groups.len() {
            if groups[index].enabled {
                let word = switch::initial(groups[index].log_to_text) | UNWATCHED;
                words[index] = AtomicU32::new(word);
            }
            index += 1;
        }
        Self { words }
    }

    /// Returns the word of group `index`.
    #[allow(clippy::inline_always)] // A call that is off must stay one load, at every level of optimisation.
    #[inline(always)]
    pub(super) fn word(&self, index: usize) -> u32 {
        // An enum has no more groups; and the index needs no check that could fail in a log call.
        self.words[index % WORDS].load(Relaxed)
    }

    /// Returns a reference to the word of group `index`.
    pub(super) const fn word_ref(&self, index: usize) -> &AtomicU32 {
        &self.words[index % WORDS]
    }

    /// Returns the word of group `index`; all that a session did before it changed the word is
    /// visible afterwards.
    #[inline]
    pub(super) fn word_acquire(&self, index: usize) -> u32 {
        self.words[index % WORDS].load_word()
    }

    /// Sets the levels of group `index` that are enabled for sessions, and clears its mark as
    /// unregistered.
    pub(super) fn set_trace(&self, index: usize, levels: u8) {
        switch::set_session_levels(&self.words[index], levels);
    }

    /// Sets the levels of group `index` that sessions are allowed to record.
    pub(super) fn set_allowed(&self, index: usize, levels: u8) {
        switch::set_allowed_levels(&self.words[index], levels);
    }

    /// Sets the levels of group `index` that are enabled for the text output.
    pub(super) fn set_text(&self, index: usize, levels: u8) {
        switch::set_text_levels(&self.words[index], levels);
    }

    /// Sets the levels of group `index` of ERROR and WTF at which triggers wait for messages.
    pub(super) fn set_watched(&self, index: usize, levels: u8) {
        let watched = u32::from(levels) << UNWATCHED_SHIFT & UNWATCHED;
        self.words[index].set_bits(UNWATCHED & !watched);
        self.words[index].clear_bits(watched);
    }

    /// Marks group `index` as one of which calls have rules, or as one without.
    pub(super) fn set_rules(&self, index: usize, has_rules: bool) {
        let word = &self.words[index];
        if has_rules { word.set_bits(SITE_RULES) } else { word.clear_bits(SITE_RULES) }
    }

    /// Maps page number `page` of `file` over this one. The registry is locked.
    pub(super) fn share(&'static self, file: &File, page: u32) -> io::Result<()> {
        let offset = u64::from(page) * PAGE_SIZE as u64;
        without_signals(|| {
            self.copy_to(file, offset)?;
            self.map(Some((file, offset)))
        })
    }

    /// Replaces the shared page by private memory, in a forked child, which has one thread. Takes
    /// no lock and allocates nothing.
    pub(super) fn unshare(&'static self) -> io::Result<()> {
        let words = [const { AtomicU32::new(0) }; PAGE_SIZE / 4];
        for (copy, word) in words.iter().zip(&self.words) {
            copy.store(word.load(Relaxed), Relaxed);
        }
        self.map(None)?;
        for (word, copy) in self.words.iter().zip(&words) {
            word.store(copy.load(Relaxed), Relaxed);
        }
        Ok(())
    }

    /// Writes the words into the file, which is zero there. Allocates nothing, since the first call
    /// of an enum may be in a signal handler.
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

    /// Maps a page of `file`, or a private one, over this page.
    fn map(&'static self, file: Option<(&File, u64)>) -> io::Result<()> {
        let start = ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the range is exactly this static, which is page-sized, page-aligned and holds
        // only atomics, valid for every bit pattern (*switches*). It stays readable and writable
        // (*one address*). It keeps its words (*locked*); `unshare`, whose page is zero at first,
        // runs in a process of one thread, which restores them.
        unsafe { mapping::replace(start, PAGE_SIZE, file) }
    }
}

/// The word by which an enabled call finds out whether it takes the fast path: that of its group,
/// or one that sends all calls of the group the other way. The other is for triggers that wait for
/// messages of any of their levels. Either is found by two loads, so that a group without triggers
/// pays nothing.
///
/// Invariant: *static*: the pointer is that of a static.
#[derive(Debug)]
pub(super) struct PathWord(AtomicPtr<AtomicU32>);

/// The words that send all calls out of line, by the levels at which triggers wait: no level is on
/// in any of them.
static SLOW_PATHS: [AtomicU32; 1 << Level::ALL.len()] =
    [const { AtomicU32::new(0) }; 1 << Level::ALL.len()];

impl PathWord {
    pub(super) const fn new(word: &'static AtomicU32) -> Self {
        Self(AtomicPtr::new(ptr::from_ref(word).cast_mut()))
    }

    #[inline]
    pub(super) fn get(&self) -> &'static AtomicU32 {
        // SAFETY: *static*.
        unsafe { &*self.0.load(Relaxed) }
    }

    /// Sends all calls of the group whose word is `word` to the slow path, since triggers wait at
    /// these levels or some of its calls have rules; else only those that the word sends there.
    pub(super) fn set_slow(&self, levels: u8, has_rules: bool, word: &'static AtomicU32) {
        let is_slow = levels != 0 || has_rules;
        let slow = SLOW_PATHS.get(usize::from(levels)).filter(|_| is_slow);
        self.0.store(ptr::from_ref(slow.unwrap_or(word)).cast_mut(), Relaxed);
    }

    /// Returns the levels (bit = severity) for which all calls of the group take the slow path.
    #[inline]
    pub(super) fn slow_levels(&self) -> u8 {
        let offset = self.0.load(Relaxed).addr().wrapping_sub(SLOW_PATHS.as_ptr().addr());
        let at = offset / size_of::<AtomicU32>();
        if at < SLOW_PATHS.len() { at as u8 } else { 0 }
    }
}

/// Returns whether triggers wait for messages of the level of this severity, which is ERROR or WTF.
#[inline]
pub(super) const fn is_watched(word: u32, severity: u8) -> bool {
    !word & UNWATCHED & 1 << ((severity as u32 & 7) + UNWATCHED_SHIFT) != 0
}

/// The bits that a call at `level` tests: enabled for sessions or the text output.
pub(crate) const fn call_bits(level: Level) -> u32 {
    trace_bit(level) | text_bit(level)
}

/// The bit of `level` among those for sessions.
pub(super) const fn trace_bit(level: Level) -> u32 {
    1 << level.severity()
}

/// The bit of `level` among those for the text output.
pub(super) const fn text_bit(level: Level) -> u32 {
    1 << (level.severity() as u32 + TEXT_SHIFT)
}

/// Returns true if, in the word of a group that a call found enabled, the level of this severity is
/// enabled for sessions only, and watched by no trigger ([`UNWATCHED`]).
///
/// Such a group is registered, and stays so; or its level is enabled for the text output, where it
/// could not be registered ([`effective`]), and then the answer is no.
#[inline]
pub(super) const fn is_trace_only(word: u32, severity: u8) -> bool {
    const ON: u32 = 1 | 1 << UNWATCHED_SHIFT;
    word >> (severity & 31) & (ON | 1 << TEXT_SHIFT) == ON
}

/// Returns the word without the bits that are set only because the enum is not registered.
pub(super) const fn effective(word: u32) -> u32 {
    if word & UNREGISTERED == 0 { word } else { word & !TRACE_BYTE }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: GroupDef = GroupDef::new("t::G::OnOn", 2, 0, true, true);
    const OFF: GroupDef = GroupDef { index: 1, enabled: false, ..ON };

    #[test]
    fn an_unregistered_word_lets_every_call_through() {
        let page = SwitchPage::new(&[ON, OFF]);
        assert_eq!(align_of::<SwitchPage>(), size_of::<SwitchPage>());
        assert_eq!((page.word(0), page.word(1), page.word(2)), (0xc03f3fbf, 0, 0));
        for level in Level::ALL {
            assert_ne!(page.word(0) & call_bits(level), 0);
        }
        assert_eq!(effective(page.word(0)), 0xc03f3f00);
    }

    /// Threads test words all the time while their page is shared, again and again, and changes
    /// come before and after.
    #[test]
    fn sharing_a_page_changes_no_word() {
        use std::sync::atomic::AtomicBool;
        let defs = [ON; 3];
        let page: &'static SwitchPage = Box::leak(Box::new(SwitchPage::new(&defs)));
        let file = crate::sys::file::memory_file(c"test", 64 * PAGE_SIZE as u64).unwrap();
        page.set_trace(0, 0x3f);
        page.set_trace(1, 0);
        page.set_text(1, 0);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_over.load(Relaxed) {
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
            is_over.store(true, Relaxed);
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
        let page = SwitchPage::new(&[ON]);
        page.set_trace(0, 0b1100);
        assert_eq!(page.word(0), 0xcc3f_3f0c);
        page.set_allowed(0, 0b1000);
        assert_eq!(page.word(0), 0xcc08_3f08);
        page.set_text(0, 0b100001);
        assert_eq!(page.word(0), 0xcc08_2108);
    }
}
