//! Strings on the stack, for texts that have a limit.
//!
//! Invariant: a string holds at most `N` bytes; a longer one is cut between characters and ends in
//! an ellipsis.

use core::fmt::{self, Display, Write};

/// Stands for the rest of a string that was cut.
const ELLIPSIS: &str = "…";

/// A string of at most `N` bytes.
pub(crate) struct FixedString<const N: usize> {
    bytes: [u8; N],
    length: usize,
    cut: bool,
}

impl<const N: usize> FixedString<N> {
    /// Creates an empty string.
    pub(crate) fn new() -> Self {
        Self { bytes: [0; N], length: 0, cut: false }
    }

    /// Appends `value` as far as there is room, and returns the string. An error of its `Display`
    /// ends it early, as anywhere else.
    pub(crate) fn print(&mut self, value: &dyn Display) -> &str {
        let _ = write!(self, "{value}");
        self.text()
    }

    /// Returns the string.
    pub(crate) fn text(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    /// Truncates at the last character boundary that leaves room for the ellipsis, and appends it.
    fn cut(&mut self) {
        let mut end = self.length.min(N - ELLIPSIS.len());
        while end > 0 && end < self.length && self.bytes[end] & 0xc0 == 0x80 {
            end -= 1;
        }
        self.bytes[end..end + ELLIPSIS.len()].copy_from_slice(ELLIPSIS.as_bytes());
        self.length = end + ELLIPSIS.len();
        self.cut = true;
    }
}

impl<const N: usize> Write for FixedString<N> {
    /// Never fails, since some `Display` implementations unwrap the result.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.cut {
            return Ok(());
        }
        let mut taken = text.len().min(N - self.length);
        while !text.is_char_boundary(taken) {
            taken -= 1;
        }
        self.bytes[self.length..self.length + taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.length += taken;
        if taken < text.len() {
            self.cut();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: usize = 1024;

    fn printed(value: &dyn Display) -> String {
        FixedString::<CAPACITY>::new().print(value).to_owned()
    }

    #[test]
    fn what_fits_is_whole() {
        assert_eq!(printed(&""), "");
        assert_eq!(printed(&format_args!("{}-{:?}", 1, "a")), "1-\"a\"");
        let full = "ä".repeat(CAPACITY / 2);
        assert_eq!(printed(&full), full);
    }

    #[test]
    fn what_does_not_fit_is_cut_between_characters() {
        for char in ["x", "ä", "€", "𝄞"] {
            for prefix in 0..4 {
                let text = format!("{}{}", "p".repeat(prefix), char.repeat(CAPACITY + 1));
                let cut = printed(&text);
                assert!(cut.len() <= CAPACITY && cut.len() > CAPACITY - 7, "{char}");
                let kept = cut.strip_suffix(ELLIPSIS).unwrap();
                assert!(text.starts_with(kept) && kept.len() >= prefix, "{char}");
                assert_eq!(printed(&format_args!("{text}{text}")), cut, "in several pieces");
            }
        }
        let exact = "x".repeat(CAPACITY);
        assert_eq!(printed(&format_args!("{exact}y")).len(), CAPACITY);
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
