//! The page of switches of one group enum.
//!
//! One page-sized, page-aligned static per enum with a word per group, so that the runtime can map shared memory over it
//! (an operator's switch is then one store) while every call goes on testing the same link-time address.
//!
//! ```text
//! word   byte 0: levels that sessions want, bit = Level::severity(); bit 7 ([`NEW`]): the enum has not registered yet
//!        byte 1: levels that the text side wants
//!        bytes 2 and 3: zero
//! ```
//!
//! Invariants: nothing but switches lives in the page; words change by fetch_or and fetch_and only; [`NEW`] never comes
//! back; while it is set, all levels of byte 0 are set too, so that the first call of the enum gets past the test of its
//! word and registers the enum.

use super::GroupDef;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use protolog_core::Level;

/// Bytes in a page: what the machine may map at the least.
#[cfg(target_arch = "x86_64")]
const PAGE_SIZE: usize = 4096;
#[cfg(not(target_arch = "x86_64"))]
const PAGE_SIZE: usize = 65536;

/// The most groups an enum can have: the words of the smallest page.
pub(crate) const MAX_GROUPS: usize = 1024;

/// Set in a word as long as its enum has not registered.
pub(super) const NEW: u32 = 0x80;
/// All levels, in byte 0.
pub(super) const ALL: u32 = 0x3f;
const TRACE_BYTE: u32 = 0xff;
const TEXT_SHIFT: u32 = 8;

/// The switches of one group enum.
#[cfg_attr(target_arch = "x86_64", repr(C, align(4096)))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C, align(65536)))]
#[derive(Debug)]
pub struct Page {
    words: [AtomicU32; PAGE_SIZE / 4],
}

impl Page {
    /// The page of an enum with these groups, not registered yet. Groups that are compiled out stay off.
    pub const fn new(groups: &[GroupDef]) -> Self {
        assert!(groups.len() <= MAX_GROUPS, "an enum can have at most 1,024 groups");
        let mut words = [const { AtomicU32::new(0) }; PAGE_SIZE / 4];
        let mut index = 0;
        while index < groups.len() {
            let text = if groups[index].log_to_text { ALL << TEXT_SHIFT } else { 0 };
            if groups[index].enabled {
                words[index] = AtomicU32::new(text | NEW | ALL);
            }
            index += 1;
        }
        Self { words }
    }

    /// The word of group `index`.
    #[allow(clippy::inline_always)] // A call that is off must stay one load, at every level of optimisation.
    #[inline(always)]
    pub(super) fn word(&self, index: usize) -> u32 {
        self.words[index].load(Relaxed)
    }

    /// The same; what a session did before it changed the word is visible afterwards.
    #[inline]
    pub(super) fn word_acquire(&self, index: usize) -> u32 {
        self.words[index].load(Acquire)
    }

    /// Makes `levels` what sessions want of group `index`, and ends its being new.
    pub(super) fn set_trace(&self, index: usize, levels: u8) {
        let levels = u32::from(levels) & ALL;
        // What is wanted before and after stays wanted in between.
        self.words[index].fetch_or(levels, Release);
        self.words[index].fetch_and(!(TRACE_BYTE & !levels), Release);
    }

    /// Makes `levels` what the text side wants of group `index`.
    pub(super) fn set_text(&self, index: usize, levels: u8) {
        let levels = u32::from(levels) & ALL;
        self.words[index].fetch_or(levels << TEXT_SHIFT, Relaxed);
        self.words[index].fetch_and(!((ALL & !levels) << TEXT_SHIFT), Relaxed);
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

/// The levels that the text side wants, as a set of bits.
#[cfg(feature = "log")]
pub(super) const fn text_levels(word: u32) -> u8 {
    (word >> TEXT_SHIFT & ALL) as u8
}

/// The word without what stands in byte 0 only because the enum is new.
pub(super) const fn settled(word: u32) -> u32 {
    if word & NEW == 0 { word } else { word & !TRACE_BYTE }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: GroupDef =
        GroupDef { id: 1, name: "t::G::On", tag: "On", index: 0, enabled: true, log_to_text: true };
    const OFF: GroupDef = GroupDef { index: 1, enabled: false, ..ON };

    #[test]
    fn a_new_word_lets_every_call_through() {
        let page = Page::new(&[ON, OFF]);
        assert_eq!(align_of::<Page>(), size_of::<Page>());
        assert_eq!((page.word(0), page.word(1), page.word(2)), (0x3fbf, 0, 0));
        for level in Level::ALL {
            assert_ne!(page.word(0) & call_bits(level), 0);
        }
        assert_eq!(settled(page.word(0)), 0x3f00);
    }

    #[test]
    fn switches_touch_their_own_byte() {
        let page = Page::new(&[ON]);
        page.words[0].fetch_or(0xabcd << 16, Relaxed);
        page.set_trace(0, 0b1100);
        assert_eq!(page.word(0), 0xabcd_3f0c);
        page.set_trace(0, 0xff);
        assert_eq!(page.word(0), 0xabcd_3f3f, "bits that are no levels stay clear");
        page.set_text(0, 0b100001);
        assert_eq!(page.word(0), 0xabcd_213f);
        page.set_trace(0, 0);
        page.set_text(0, 0);
        assert_eq!(page.word(0), 0xabcd_0000);
    }
}
