//! The word of switches of one group, and how its two sides change it at once.
//!
//! ```text
//! byte 0  what calls test for tracing: levels that sessions want and the operator allows;
//!         bit 7 (NEW): the group's enum has not registered yet
//! byte 1  what calls test for text: levels that are printed
//! byte 2  levels that the operator allows sessions to have; all, at the start
//! byte 3  levels that sessions want, whatever the operator allows
//! ```
//!
//! A level is bit [`Level::severity`](crate::Level::severity) of a byte. The program writes byte 3, the operator byte 2, both
//! byte 1, and byte 0 follows from 2 and 3 ([`traced`]): each side changes its own byte and then settles byte 0.
//!
//! ```text
//!              byte 3   byte 2   byte 0
//! start        000000   111111   000000
//! a session    111100   111111   111100    wants INFO and up
//! operator     111100   110000   110000    allows ERROR and up
//! operator     111100   111111   111100    allows all again: nobody had to ask the program
//! ```
//!
//! Invariants
//! - *or, and*: words change by fetch_or and fetch_and only, so no side can make the other one wait.
//! - *settled*: when both sides have returned, byte 0 is bytes 2 and 3: whoever changes the word last looks once more. A
//!   model checker goes through the orders (`protolog-rt/tests/loom`).
//! - *stays*: a level that is wanted and allowed before and after a change is never off in between.
//! - *any bits*: every function is total; what else stands in a word only says which levels are on.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Release};

/// All levels.
pub const ALL: u32 = 0x3f;
/// Set as long as the group's enum has not registered; all levels of byte 0 are set with it.
pub const NEW: u32 = 0x80;
/// Byte 0.
pub const TRACE_BYTE: u32 = 0xff;
/// Where byte 1 begins.
pub const TEXT_SHIFT: u32 = 8;
/// Where byte 2 begins.
pub const ALLOWED_SHIFT: u32 = 16;
/// Where byte 3 begins.
pub const WANTED_SHIFT: u32 = 24;

/// How often a side looks again whether the other one interfered. More can only be needed when the other side changes the
/// word without end, and then it settles it too.
const LOOKS: usize = 8;

/// A word in memory that both sides have. One trait, so that a model checker's words can stand in for real ones.
pub trait Word {
    /// The word; what was done before it was changed is visible.
    fn get(&self) -> u32;
    /// Sets these bits.
    fn set(&self, bits: u32);
    /// Clears these bits.
    fn clear(&self, bits: u32);
}

impl Word for AtomicU32 {
    #[inline]
    fn get(&self) -> u32 {
        self.load(Acquire)
    }

    #[inline]
    fn set(&self, bits: u32) {
        self.fetch_or(bits, Release);
    }

    #[inline]
    fn clear(&self, bits: u32) {
        self.fetch_and(!bits, Release);
    }
}

/// The word of a group whose enum has not registered.
pub const fn initial(log_to_text: bool) -> u32 {
    let text = if log_to_text { ALL << TEXT_SHIFT } else { 0 };
    ALL << ALLOWED_SHIFT | text | NEW | ALL
}

/// Makes `levels` what sessions want; ends the group's being new.
pub fn want(word: &impl Word, levels: u8) {
    let levels = levels as u32 & ALL;
    word.set(levels << WANTED_SHIFT);
    word.clear((ALL & !levels) << WANTED_SHIFT);
    settle(word);
}

/// Makes `levels` what the operator allows sessions to have.
pub fn allow(word: &impl Word, levels: u8) {
    let levels = levels as u32 & ALL;
    let denied = ALL & !levels;
    if denied != 0 {
        // At once, where the group is not new: from here on no call begins that is not allowed.
        let at_once = if word.get() & NEW == 0 { denied } else { 0 };
        word.clear(denied << ALLOWED_SHIFT | at_once);
    }
    if levels != 0 {
        word.set(levels << ALLOWED_SHIFT);
    }
    if word.get() & NEW == 0 {
        settle(word);
    }
}

/// Makes `levels` what is printed.
pub fn print(word: &impl Word, levels: u8) {
    let levels = levels as u32 & ALL;
    if levels != 0 {
        word.set(levels << TEXT_SHIFT);
    }
    if levels != ALL {
        word.clear((ALL & !levels) << TEXT_SHIFT);
    }
}

/// What sessions want and the operator allows: what byte 0 is to be.
pub const fn traced(word: u32) -> u8 {
    wanted(word) & allowed(word)
}

/// The levels that are printed.
pub const fn printed(word: u32) -> u8 {
    byte(word, TEXT_SHIFT)
}

/// The levels that the operator allows sessions to have.
pub const fn allowed(word: u32) -> u8 {
    byte(word, ALLOWED_SHIFT)
}

/// The levels that sessions want.
pub const fn wanted(word: u32) -> u8 {
    byte(word, WANTED_SHIFT)
}

const fn byte(word: u32, shift: u32) -> u8 {
    (word >> shift & ALL) as u8
}

/// Makes byte 0 what bytes 2 and 3 say.
fn settle(word: &impl Word) {
    for _ in 0..LOOKS {
        let now = word.get();
        let (is, due) = (now & TRACE_BYTE, traced(now) as u32);
        if is == due {
            return;
        }
        if due & !is != 0 {
            word.set(due & !is);
        }
        if is & !due != 0 {
            word.clear(is & !due);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::control::levels_from;
    use std::cell::RefCell;
    use std::vec::Vec;

    fn get(word: &AtomicU32) -> [u8; 4] {
        word.get().to_le_bytes()
    }

    #[test]
    fn a_word_goes_the_way_of_the_module_doc() {
        let word = AtomicU32::new(initial(false));
        assert_eq!(get(&word), [0xbf, 0, 0x3f, 0]);
        want(&word, 0);
        assert_eq!(get(&word), [0, 0, 0x3f, 0]);
        want(&word, levels_from(Some(Level::Info)));
        assert_eq!(get(&word), [0b11_1100, 0, 0x3f, 0b11_1100]);
        allow(&word, levels_from(Some(Level::Error)));
        assert_eq!(get(&word), [0b11_0000, 0, 0b11_0000, 0b11_1100]);
        allow(&word, 0x3f);
        assert_eq!(get(&word), [0b11_1100, 0, 0x3f, 0b11_1100]);
        allow(&word, 0);
        want(&word, 0x3f);
        assert_eq!(get(&word), [0, 0, 0, 0x3f], "a session that starts does not undo the operator");
    }

    #[test]
    fn text_is_apart() {
        let word = AtomicU32::new(initial(true));
        want(&word, 0x3f);
        assert_eq!(get(&word), [0x3f; 4]);
        print(&word, 0b10_0001);
        assert_eq!(get(&word), [0x3f, 0b10_0001, 0x3f, 0x3f]);
        assert_eq!(printed(word.get()), 0b10_0001);
        print(&word, 0);
        assert_eq!(get(&word), [0x3f, 0, 0x3f, 0x3f]);
        print(&word, 0xff);
        assert_eq!(get(&word), [0x3f, 0x3f, 0x3f, 0x3f], "bits that are no levels stay clear");
    }

    #[test]
    fn a_new_group_stays_new_whatever_is_allowed() {
        let word = AtomicU32::new(initial(false));
        allow(&word, 0);
        assert_eq!(get(&word), [0xbf, 0, 0, 0], "the first call must get past its test");
        want(&word, 0x3f);
        assert_eq!(get(&word), [0, 0, 0, 0x3f]);
    }

    /// A word, and what it was after each change.
    struct Watched(AtomicU32, RefCell<Vec<u32>>);

    impl Word for Watched {
        fn get(&self) -> u32 {
            self.0.get()
        }

        fn set(&self, bits: u32) {
            self.0.set(bits);
            self.1.borrow_mut().push(self.get());
        }

        fn clear(&self, bits: u32) {
            self.0.clear(bits);
            self.1.borrow_mut().push(self.get());
        }
    }

    /// What byte 0 is after each change that `change` makes to a word that begins with these bytes.
    fn steps(bytes: [u8; 4], change: impl FnOnce(&Watched)) -> Vec<u8> {
        let word = Watched(AtomicU32::new(u32::from_le_bytes(bytes)), RefCell::default());
        change(&word);
        word.1.into_inner().into_iter().map(|word| word as u8).collect()
    }

    #[test]
    fn what_is_denied_is_off_at_once() {
        let found = steps([0b11, 0, 0b11, 0b11], |word| allow(word, 0b01));
        assert_eq!(found, [0b01, 0b01], "denied, allowed");
        let found = steps([NEW as u8 | 0x3f, 0, 0x3f, 0], |word| allow(word, 0));
        assert_eq!(found, [NEW as u8 | 0x3f], "but not of a new group");
    }

    #[test]
    fn nothing_is_changed_without_need() {
        // Bytes 3 and 2 twice, byte 0 where it is wrong, and only the way that it is.
        assert_eq!(steps([0b01, 0, 0x3f, 0b01], |word| want(word, 0b01)), [0b01; 2]);
        assert_eq!(steps([0b01, 0, 0x3f, 0b01], |word| want(word, 0b11)), [0b01, 0b01, 0b11]);
        assert_eq!(steps([0b11, 0, 0x3f, 0b11], |word| want(word, 0b01)), [0b11, 0b11, 0b01]);
        assert_eq!(steps([0b10, 0, 0x3f, 0b10], |word| want(word, 0b01)), [0b10, 0b10, 0b11, 0b01]);
    }

    #[test]
    fn any_bits_settle() {
        for start in [u32::MAX, 0, 0xdead_beef, 0x8000_0080, 0x0102_0304] {
            let word = AtomicU32::new(start);
            want(&word, 0b10);
            allow(&word, 0b11);
            assert_eq!(word.get() & TRACE_BYTE, 0b10, "{start:x}");
        }
    }
}
