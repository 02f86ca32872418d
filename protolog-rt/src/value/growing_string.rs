//! Strings of arguments that are formatted before they are logged: on the stack, and in memory of
//! the heap where that is too small.
//!
//! Invariants
//! - A text is as long as the longest string that any session keeps, and a bit: whoever writes it
//!   cuts it to the session's own limit, and counts that.
//! - Where memory is short, a text is cut with an ellipsis rather than the process aborted;
//!   [`GrowingString::lacks_memory`] says so.
//! - A value that panics while it is formatted leaves what it wrote and the panic's message, and
//!   unwinds no further.

use core::fmt::{self, Display, Write};
use core::ops::Range;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stands for the rest of a string that was cut.
const ELLIPSIS: &str = "…";

/// The longest string that any session has kept so far, in bytes.
static LONGEST: AtomicUsize = AtomicUsize::new(4096);

/// Makes strings of so many bytes possible, for a session that keeps them.
pub(crate) fn allow_strings_of(bytes: usize) {
    LONGEST.fetch_max(bytes, Ordering::Relaxed);
}

/// Bytes that most texts have room in, so that only longer ones pay for the zeros of more.
const SMALL: usize = 128;

/// Texts, one after the other, of which the first `N` bytes need no memory of the heap.
pub(crate) struct GrowingString<const N: usize> {
    small: [u8; SMALL],
    /// None as long as `small` is enough, or as it would have less room.
    stack: Option<[u8; N]>,
    /// Bytes in `small` or `stack`; none of them count once `heap` has any.
    length: usize,
    heap: Vec<u8>,
    /// Where the present text ends at the latest.
    end: usize,
    lacks_memory: bool,
}

impl<const N: usize> GrowingString<N> {
    /// Creates an empty string.
    pub(crate) const fn new() -> Self {
        Self {
            small: [0; SMALL],
            stack: None,
            length: 0,
            heap: Vec::new(),
            end: 0,
            lacks_memory: false,
        }
    }

    /// Appends `value`, and returns its range. An error of its `Display` ends it early, as anywhere
    /// else.
    pub(crate) fn append(&mut self, value: &dyn Display) -> Range<usize> {
        let from = self.bytes().len();
        // A character may have to be left out, and still the text is longer than the session's.
        let longest = LONGEST.load(Ordering::Relaxed).saturating_add(4);
        self.end = from.saturating_add(longest);
        let printed = catch_unwind(AssertUnwindSafe(|| {
            let _ = write!(self, "{value}");
        }));
        if let Err(panic) = printed {
            let _ = write!(self, "<panicked: {}>", message(panic.as_ref()));
            // A payload that panics when it is dropped would unwind from here.
            std::mem::forget(panic);
        }
        from..self.bytes().len()
    }

    /// Returns a text that was appended.
    pub(crate) fn text(&self, range: Range<usize>) -> &str {
        core::str::from_utf8(self.bytes().get(range).unwrap_or_default()).unwrap_or_default()
    }

    /// True if a text was cut for want of memory.
    pub(crate) fn lacks_memory(&self) -> bool {
        self.lacks_memory
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        if self.heap.is_empty() { self.on_stack() } else { &self.heap }
    }

    #[inline]
    fn on_stack(&self) -> &[u8] {
        let all: &[u8] = self.stack.as_ref().map_or(&self.small, |stack| stack);
        &all[..self.length]
    }

    /// Appends bytes to those on the stack; false if they have no room there.
    #[inline]
    fn push_on_stack(&mut self, bytes: &[u8]) -> bool {
        let length = self.length + bytes.len();
        if !self.heap.is_empty() || length > N {
            return false;
        }
        if self.stack.is_none() && length > SMALL {
            self.grow();
        }
        let all: &mut [u8] = self.stack.as_mut().map_or(&mut self.small, |stack| stack);
        all[self.length..length].copy_from_slice(bytes);
        self.length = length;
        true
    }

    #[cold]
    fn grow(&mut self) {
        let stack = self.stack.insert([0; N]);
        stack[..self.length].copy_from_slice(&self.small[..self.length]);
    }

    /// Appends bytes; false if there is no memory for them.
    fn push(&mut self, bytes: &[u8]) -> bool {
        if self.push_on_stack(bytes) {
            return true;
        }
        let stack = if self.heap.is_empty() { self.on_stack().len() } else { 0 };
        if self.heap.try_reserve(stack + bytes.len()).is_err() {
            return false;
        }
        if self.heap.is_empty() {
            let all: &[u8] = self.stack.as_ref().map_or(&self.small, |stack| stack);
            self.heap.extend_from_slice(&all[..stack]);
        }
        self.heap.extend_from_slice(bytes);
        true
    }

    /// Appends as much of a text as there is memory for, about.
    fn push_part(&mut self, mut text: &str) {
        let mut length = text.len() / 2;
        while length > 0 {
            let boundary = (0..=length).rev().find(|at| text.is_char_boundary(*at));
            let (part, rest) = text.split_at(boundary.unwrap_or(0));
            if self.push(part.as_bytes()) {
                text = rest;
            }
            length /= 2;
        }
    }

    /// Appends an ellipsis, in place of the last characters if need be.
    fn cut(&mut self) {
        self.lacks_memory = true;
        while !self.push(ELLIPSIS.as_bytes()) && self.pop_char() {}
    }

    /// Takes the last character away; false if there is none.
    fn pop_char(&mut self) -> bool {
        let text = core::str::from_utf8(self.bytes()).unwrap_or_default();
        let length = text.len();
        let kept = length - text.chars().next_back().map_or(0, char::len_utf8);
        // One byte stays: an empty vector would mean the stack.
        if kept == length || kept == 0 {
            return false;
        }
        if self.heap.is_empty() {
            self.length = kept;
        } else {
            self.heap.truncate(kept);
        }
        true
    }
}

impl<const N: usize> Write for GrowingString<N> {
    /// Never fails, since some `Display` implementations unwrap the result.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut taken = text.len().min(self.end.saturating_sub(self.bytes().len()));
        while !text.is_char_boundary(taken) {
            taken -= 1;
        }
        if taken < text.len() {
            // Nothing follows: the text is longer than all that is kept.
            self.end = 0;
        }
        if !self.lacks_memory && !self.push(&text.as_bytes()[..taken]) {
            self.end = 0;
            self.push_part(&text[..taken]);
            self.cut();
        }
        Ok(())
    }
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Short = GrowingString<16>;

    fn printed(value: &dyn Display) -> String {
        let mut string = Short::new();
        let range = string.append(value);
        string.text(range).to_owned()
    }

    #[test]
    fn texts_are_whole_and_apart() {
        let mut string = Short::new();
        let parts = ["", "one", "größer als sechzehn Bytes", "", "x"];
        let ranges = parts.map(|part| string.append(&part));
        for (part, range) in parts.iter().zip(ranges) {
            assert_eq!(string.text(range), *part);
        }
        assert!(!string.lacks_memory());
        assert_eq!(printed(&format_args!("{}{}", "ab".repeat(8), 1)), "abababababababab1");
        let mut string = GrowingString::<300>::new();
        let mut all = String::new();
        for round in 0..100 {
            let part = format!("{round} {}", "é".repeat(round % 7));
            let range = string.append(&part);
            assert_eq!(string.text(range), part);
            all += &part;
        }
        assert!(all.len() > 600);
        assert_eq!(string.text(0..all.len()), all);
    }

    #[test]
    fn a_text_is_longer_than_every_session_keeps() {
        for char in ["x", "é", "€", "𝄞"] {
            let mut string = Short::new();
            string.append(&"before");
            let longest = LONGEST.load(Ordering::Relaxed);
            let range = string.append(&char.repeat(longest + 10));
            // Another test may have allowed longer ones meanwhile.
            let then = LONGEST.load(Ordering::Relaxed);
            assert!(range.len() > longest && range.len() <= then + 4, "{char}");
            let after = string.append(&"after");
            assert_eq!(string.text(after), "after");
        }
    }

    #[test]
    fn a_panic_stays_in_its_text() {
        struct Panics(bool);
        impl Display for Panics {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("half")?;
                assert!(!self.0, "at {}", 7);
                std::panic::panic_any(7)
            }
        }
        assert_eq!(printed(&Panics(true)), "half<panicked: at 7>");
        assert_eq!(printed(&Panics(false)), "half<panicked: no message>");
    }

    #[test]
    fn an_error_keeps_what_was_written() {
        struct Fails;
        impl Display for Fails {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("half")?;
                Err(fmt::Error)
            }
        }
        assert_eq!(printed(&Fails), "half");
    }
}
