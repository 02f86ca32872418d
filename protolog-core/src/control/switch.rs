//! The switch word of a group, which the program and an operator can change at the same time.
//!
//! ```text
//! byte 0  trace levels, which calls test: the session levels that the operator allows;
//!         bit 7 (UNREGISTERED): the group's enum has not registered yet
//! byte 1  text levels, which calls test for text output;
//!         bit 7 is the Rust runtime's own ([`SITE_RULES`])
//! byte 2  allowed levels, set by the operator: sessions record no others; at first all
//! byte 3  session levels, set by the program: those that any session enables;
//!         bits 6 and 7 are the Rust runtime's own ([`UNWATCHED`])
//! ```
//!
//! A level is bit [`Level::severity`](crate::Level::severity) of a byte. The program writes byte 3,
//! the operator byte 2, both byte 1. Byte 0 follows from bytes 2 and 3 ([`trace_levels`]): each
//! side changes its own byte and then updates byte 0.
//!
//! ```text
//!              byte 3   byte 2   byte 0
//! start        000000   111111   000000
//! a session    111100   111111   111100    enables INFO and up
//! operator     111100   110000   110000    allows ERROR and up
//! operator     111100   111111   111100    allows all again, without a request to the program
//! ```
//!
//! Invariants
//! - *wait-free*: words change by `fetch_or` and `fetch_and` only, so neither side can make the
//!   other one wait.
//! - *consistent*: when both sides have returned, byte 0 is the intersection of bytes 2 and 3,
//!   because the side that changes the word last checks it again. A model checker explores the
//!   interleavings (`protolog-rt/tests/loom`).
//! - *no gap*: a level that is in bytes 2 and 3 before and after a change is never off in between.
//! - *any bits*: every function is total; arbitrary bits in a word can only turn levels on or off.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Release};

/// All levels.
pub const ALL_LEVELS: u32 = 0x3f;
/// Set as long as the group's enum has not registered; all levels of byte 0 are set with it.
pub const UNREGISTERED: u32 = 0x80;
/// Set by the Rust runtime while rules of single calls hold for calls of the group
/// ([`super::site_rule`]): each call then looks for its own.
pub const SITE_RULES: u32 = 0x8000;
/// Byte 0.
pub const TRACE_BYTE: u32 = 0xff;
/// Set by the Rust runtime for ERROR and WTF as long as no trigger waits for messages of the level.
/// Each stands [`UNWATCHED_SHIFT`] bits above the level's bit in byte 0, as session levels of lower
/// ones do, which are set whenever those of byte 0 are: sessions enable a level and all that are
/// more severe. So one mask finds out that a level is on, not printed and not watched.
pub const UNWATCHED: u32 = 0xc0 << SESSION_SHIFT;
/// See [`UNWATCHED`].
pub const UNWATCHED_SHIFT: u32 = 26;
/// Position of byte 1, in bits.
pub const TEXT_SHIFT: u32 = 8;
/// Position of byte 2, in bits.
pub const ALLOWED_SHIFT: u32 = 16;
/// Position of byte 3, in bits.
pub const SESSION_SHIFT: u32 = 24;

/// Maximum rounds of [`update_trace_byte`]. More could only be needed while the other side keeps
/// changing the word, and then that side updates byte 0 as well.
const MAX_ROUNDS: usize = 8;

/// A word in shared memory. A trait, so that a model checker can use words of its own.
pub trait SwitchWord {
    /// Loads the word. Everything that happened before its last change is visible.
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

/// The initial word of a group, before its enum registers.
pub const fn initial(log_to_text: bool) -> u32 {
    let text = if log_to_text { ALL_LEVELS << TEXT_SHIFT } else { 0 };
    ALL_LEVELS << ALLOWED_SHIFT | text | UNREGISTERED | ALL_LEVELS
}

/// Sets the session levels, and clears [`UNREGISTERED`].
pub fn set_session_levels(word: &impl SwitchWord, levels: u8) {
    let levels = levels as u32 & ALL_LEVELS;
    word.set_bits(levels << SESSION_SHIFT);
    word.clear_bits((ALL_LEVELS & !levels) << SESSION_SHIFT);
    update_trace_byte(word);
}

/// Sets the allowed levels.
pub fn set_allowed_levels(word: &impl SwitchWord, levels: u8) {
    let levels = levels as u32 & ALL_LEVELS;
    let denied = ALL_LEVELS & !levels;
    if denied != 0 {
        // In one operation if the group has registered, so that no call begins from here on that is
        // not allowed.
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

/// Sets the text levels.
pub fn set_text_levels(word: &impl SwitchWord, levels: u8) {
    let levels = levels as u32 & ALL_LEVELS;
    if levels != 0 {
        word.set_bits(levels << TEXT_SHIFT);
    }
    if levels != ALL_LEVELS {
        word.clear_bits((ALL_LEVELS & !levels) << TEXT_SHIFT);
    }
}

/// The session levels that are allowed: the value that byte 0 must get.
pub const fn trace_levels(word: u32) -> u8 {
    session_levels(word) & allowed_levels(word)
}

/// The text levels.
pub const fn text_levels(word: u32) -> u8 {
    byte(word, TEXT_SHIFT)
}

/// The allowed levels.
pub const fn allowed_levels(word: u32) -> u8 {
    byte(word, ALLOWED_SHIFT)
}

/// The session levels.
pub const fn session_levels(word: u32) -> u8 {
    byte(word, SESSION_SHIFT)
}

const fn byte(word: u32, shift: u32) -> u8 {
    (word >> shift & ALL_LEVELS) as u8
}

/// Brings byte 0 in line with bytes 2 and 3.
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
    fn the_example_of_the_module_doc_holds() {
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
        assert_eq!(get(&word), [0, 0, 0, 0x3f], "a new session does not override the operator");
    }

    /// The Java runtime reads the same table.
    #[test]
    fn words_change_as_the_vectors_say() {
        let vectors = include_str!("../../testdata/switches.tsv");
        let mut rows = 0;
        for line in vectors.lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            let [word, change, levels, changed] = cells[..] else { panic!("four cells: {line}") };
            let number = |text| u32::from_str_radix(text, 16).unwrap();
            let (word, levels) = (AtomicU32::new(number(word)), number(levels) as u8);
            match change {
                "session" => set_session_levels(&word, levels),
                "allowed" => set_allowed_levels(&word, levels),
                _ => set_text_levels(&word, levels),
            }
            assert_eq!(word.load_word(), number(changed), "{line}");
            rows += 1;
        }
        assert!(rows > 10);
    }

    #[test]
    fn text_levels_are_independent() {
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
    fn an_unregistered_group_stays_so_whatever_is_allowed() {
        let word = AtomicU32::new(initial(false));
        set_allowed_levels(&word, 0);
        assert_eq!(get(&word), [0xbf, 0, 0, 0], "the first call must pass its test");
        set_session_levels(&word, 0x3f);
        assert_eq!(get(&word), [0, 0, 0, 0x3f]);
    }

    /// A word, with its value after each change.
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

    /// The values of byte 0 after each change that `change` makes to a word that begins with these
    /// bytes.
    fn steps(bytes: [u8; 4], change: impl FnOnce(&Watched)) -> Vec<u8> {
        let word = Watched(AtomicU32::new(u32::from_le_bytes(bytes)), RefCell::default());
        change(&word);
        word.1.into_inner().into_iter().map(|word| word as u8).collect()
    }

    #[test]
    fn a_denied_level_is_off_at_once() {
        let found = steps([0b11, 0, 0b11, 0b11], |word| set_allowed_levels(word, 0b01));
        assert_eq!(found, [0b01, 0b01], "denied, allowed");
        let found =
            steps([UNREGISTERED as u8 | 0x3f, 0, 0x3f, 0], |word| set_allowed_levels(word, 0));
        assert_eq!(found, [UNREGISTERED as u8 | 0x3f], "but not for an unregistered group");
    }

    #[test]
    fn byte_0_changes_only_if_it_must() {
        // Two changes of byte 3, then those of byte 0, only in the direction in which it is wrong.
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
    fn byte_0_is_consistent_from_any_bits() {
        for start in [u32::MAX, 0, 0xdead_beef, 0x8000_0080, 0x0102_0304] {
            let word = AtomicU32::new(start);
            set_session_levels(&word, 0b10);
            set_allowed_levels(&word, 0b11);
            assert_eq!(word.load_word() & TRACE_BYTE, 0b10, "{start:x}");
        }
    }
}
