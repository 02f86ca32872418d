//! The word of switches of one group, and how its two sides change it at once.
//!
//! ```text
//! byte 0  what calls test for tracing: levels that sessions want and the operator allows;
//!         bit 7 (UNREGISTERED): the group's enum has not registered yet
//! byte 1  what calls test for text: levels that are printed
//! byte 2  levels that the operator allows sessions to have; all, at the start
//! byte 3  levels that sessions want, whatever the operator allows
//! ```
//!
//! A level is bit [`Level::severity`](crate::Level::severity) of a byte. The program writes byte 3, the operator byte 2, both
//! byte 1, and byte 0 follows from 2 and 3 ([`trace_levels`]): each side changes its own byte and then settles byte 0.
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
pub const ALL_LEVELS: u32 = 0x3f;
/// Set as long as the group's enum has not registered; all levels of byte 0 are set with it.
pub const UNREGISTERED: u32 = 0x80;
/// Byte 0.
pub const TRACE_BYTE: u32 = 0xff;
/// Where byte 1 begins.
pub const TEXT_SHIFT: u32 = 8;
/// Where byte 2 begins.
pub const ALLOWED_SHIFT: u32 = 16;
/// Where byte 3 begins.
pub const SESSION_SHIFT: u32 = 24;

/// How often a side looks again whether the other one interfered. More can only be needed when the other side changes the
/// word without end, and then it settles it too.
const MAX_ROUNDS: usize = 8;

/// A word in memory that both sides have. One trait, so that a model checker's words can stand in for real ones.
pub trait SwitchWord {
    /// The word; what was done before it was changed is visible.
    fn load_word(&self) -> u32;
    /// Sets these bits.
    fn set_bits(&self, bits: u32);
    /// Clears these bits.
    fn clear_bits(&self, bits: u32);
}

impl SwitchWord for AtomicU32 {
    #[inline]
    fn load_word(&self) -> u32 {
        self.load(Acquire)
    }

    #[inline]
    fn set_bits(&self, bits: u32) {
        self.fetch_or(bits, Release);
    }

    #[inline]
    fn clear_bits(&self, bits: u32) {
        self.fetch_and(!bits, Release);
    }
}

/// The word of a group whose enum has not registered.
pub const fn initial(log_to_text: bool) -> u32 {
    let text = if log_to_text { ALL_LEVELS << TEXT_SHIFT } else { 0 };
    ALL_LEVELS << ALLOWED_SHIFT | text | UNREGISTERED | ALL_LEVELS
}

/// Makes `levels` what sessions want; ends the group's being new.
pub fn set_session_levels(word: &impl SwitchWord, levels: u8) {
    let levels = levels as u32 & ALL_LEVELS;
    word.set_bits(levels << SESSION_SHIFT);
    word.clear_bits((ALL_LEVELS & !levels) << SESSION_SHIFT);
    update_trace_byte(word);
}

/// Makes `levels` what the operator allows sessions to have.
pub fn set_allowed_levels(word: &impl SwitchWord, levels: u8) {
    let levels = levels as u32 & ALL_LEVELS;
    let denied = ALL_LEVELS & !levels;
    if denied != 0 {
        // At once, where the group is not new: from here on no call begins that is not allowed.
        let at_once = if word.load_word() & UNREGISTERED == 0 { denied } else { 0 };
        word.clear_bits(denied << ALLOWED_SHIFT | at_once);
    }
    if levels != 0 {
        word.set_bits(levels << ALLOWED_SHIFT);
    }
    if word.load_word() & UNREGISTERED == 0 {
        update_trace_byte(word);
    }
}

/// Makes `levels` what is printed.
pub fn set_text_levels(word: &impl SwitchWord, levels: u8) {
    let levels = levels as u32 & ALL_LEVELS;
    if levels != 0 {
        word.set_bits(levels << TEXT_SHIFT);
    }
    if levels != ALL_LEVELS {
        word.clear_bits((ALL_LEVELS & !levels) << TEXT_SHIFT);
    }
}

/// What sessions want and the operator allows: what byte 0 is to be.
pub const fn trace_levels(word: u32) -> u8 {
    session_levels(word) & allowed_levels(word)
}

/// The levels that are printed.
pub const fn text_levels(word: u32) -> u8 {
    byte(word, TEXT_SHIFT)
}

/// The levels that the operator allows sessions to have.
pub const fn allowed_levels(word: u32) -> u8 {
    byte(word, ALLOWED_SHIFT)
}

/// The levels that sessions want.
pub const fn session_levels(word: u32) -> u8 {
    byte(word, SESSION_SHIFT)
}

const fn byte(word: u32, shift: u32) -> u8 {
    (word >> shift & ALL_LEVELS) as u8
}

/// Makes byte 0 what bytes 2 and 3 say.
fn update_trace_byte(word: &impl SwitchWord) {
    for _ in 0..MAX_ROUNDS {
        let now = word.load_word();
        let (is, due) = (now & TRACE_BYTE, trace_levels(now) as u32);
        if is == due {
            return;
        }
        if due & !is != 0 {
            word.set_bits(due & !is);
        }
        if is & !due != 0 {
            word.clear_bits(is & !due);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::control::levels_at_least;
    use std::cell::RefCell;
    use std::vec::Vec;

    fn get(word: &AtomicU32) -> [u8; 4] {
        word.load_word().to_le_bytes()
    }

    #[test]
    fn a_word_goes_the_way_of_the_module_doc() {
        let word = AtomicU32::new(initial(false));
        assert_eq!(get(&word), [0xbf, 0, 0x3f, 0]);
        set_session_levels(&word, 0);
        assert_eq!(get(&word), [0, 0, 0x3f, 0]);
        set_session_levels(&word, levels_at_least(Some(Level::Info)));
        assert_eq!(get(&word), [0b11_1100, 0, 0x3f, 0b11_1100]);
        set_allowed_levels(&word, levels_at_least(Some(Level::Error)));
        assert_eq!(get(&word), [0b11_0000, 0, 0b11_0000, 0b11_1100]);
        set_allowed_levels(&word, 0x3f);
        assert_eq!(get(&word), [0b11_1100, 0, 0x3f, 0b11_1100]);
        set_allowed_levels(&word, 0);
        set_session_levels(&word, 0x3f);
        assert_eq!(get(&word), [0, 0, 0, 0x3f], "a session that starts does not undo the operator");
    }

    #[test]
    fn text_is_apart() {
        let word = AtomicU32::new(initial(true));
        set_session_levels(&word, 0x3f);
        assert_eq!(get(&word), [0x3f; 4]);
        set_text_levels(&word, 0b10_0001);
        assert_eq!(get(&word), [0x3f, 0b10_0001, 0x3f, 0x3f]);
        assert_eq!(text_levels(word.load_word()), 0b10_0001);
        set_text_levels(&word, 0);
        assert_eq!(get(&word), [0x3f, 0, 0x3f, 0x3f]);
        set_text_levels(&word, 0xff);
        assert_eq!(get(&word), [0x3f, 0x3f, 0x3f, 0x3f], "bits that are no levels stay clear");
    }

    #[test]
    fn a_new_group_stays_new_whatever_is_allowed() {
        let word = AtomicU32::new(initial(false));
        set_allowed_levels(&word, 0);
        assert_eq!(get(&word), [0xbf, 0, 0, 0], "the first call must get past its test");
        set_session_levels(&word, 0x3f);
        assert_eq!(get(&word), [0, 0, 0, 0x3f]);
    }

    /// A word, and what it was after each change.
    struct Watched(AtomicU32, RefCell<Vec<u32>>);

    impl SwitchWord for Watched {
        fn load_word(&self) -> u32 {
            self.0.load_word()
        }

        fn set_bits(&self, bits: u32) {
            self.0.set_bits(bits);
            self.1.borrow_mut().push(self.load_word());
        }

        fn clear_bits(&self, bits: u32) {
            self.0.clear_bits(bits);
            self.1.borrow_mut().push(self.load_word());
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
        let found = steps([0b11, 0, 0b11, 0b11], |word| set_allowed_levels(word, 0b01));
        assert_eq!(found, [0b01, 0b01], "denied, allowed");
        let found =
            steps([UNREGISTERED as u8 | 0x3f, 0, 0x3f, 0], |word| set_allowed_levels(word, 0));
        assert_eq!(found, [UNREGISTERED as u8 | 0x3f], "but not of a new group");
    }

    #[test]
    fn nothing_is_changed_without_need() {
        // Bytes 3 and 2 twice, byte 0 where it is wrong, and only the way that it is.
        assert_eq!(steps([0b01, 0, 0x3f, 0b01], |word| set_session_levels(word, 0b01)), [0b01; 2]);
        assert_eq!(
            steps([0b01, 0, 0x3f, 0b01], |word| set_session_levels(word, 0b11)),
            [0b01, 0b01, 0b11]
        );
        assert_eq!(
            steps([0b11, 0, 0x3f, 0b11], |word| set_session_levels(word, 0b01)),
            [0b11, 0b11, 0b01]
        );
        assert_eq!(
            steps([0b10, 0, 0x3f, 0b10], |word| set_session_levels(word, 0b01)),
            [0b10, 0b10, 0b11, 0b01]
        );
    }

    #[test]
    fn any_bits_settle() {
        for start in [u32::MAX, 0, 0xdead_beef, 0x8000_0080, 0x0102_0304] {
            let word = AtomicU32::new(start);
            set_session_levels(&word, 0b10);
            set_allowed_levels(&word, 0b11);
            assert_eq!(word.load_word() & TRACE_BYTE, 0b10, "{start:x}");
        }
    }
}
