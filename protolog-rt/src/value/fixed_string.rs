//! Text on the stack: `%s` arguments that have to be printed first.
//!
//! Invariant: a string of `N` bytes holds at most `N`; a longer text is cut between characters and ends in an ellipsis.

use core::fmt::{self, Display, Write};

/// The most bytes of a `%s` argument that has to be printed first. Text that is a `str` already has no such limit.
pub(crate) const SHOWN_CAPACITY: usize = 1024;

/// Stands for the rest of a cut text.
const ELLIPSIS: &str = "…";

/// Text of at most `N` bytes.
pub(crate) struct FixedString<const N: usize> {
    bytes: [u8; N],
    length: usize,
    cut: bool,
}

impl<const N: usize> FixedString<N> {
    /// No text yet.
    pub(crate) fn new() -> Self {
        Self { bytes: [0; N], length: 0, cut: false }
    }

    /// What `value` prints, as far as there is room. An error of its own ends it early, as it would anywhere else.
    pub(crate) fn print(&mut self, value: &dyn Display) -> &str {
        let _ = write!(self, "{value}");
        self.text()
    }

    /// What was printed.
    pub(crate) fn text(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    /// What was printed last, `from` here, or the ellipsis where there was no room for it.
    #[cfg(feature = "tracing")]
    pub(crate) fn last(&self, from: usize) -> core::ops::Range<usize> {
        let to = self.length;
        if self.cut && from == to { to - ELLIPSIS.len()..to } else { from..to }
    }

    /// Takes back what stands beyond the last boundary of characters that leaves room for the ellipsis, and adds it.
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
    /// Never an error, since a `Display` may take one for impossible and panic.
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

    fn printed(value: &dyn Display) -> String {
        FixedString::<SHOWN_CAPACITY>::new().print(value).to_owned()
    }

    #[test]
    fn what_fits_is_whole() {
        assert_eq!(printed(&""), "");
        assert_eq!(printed(&format_args!("{}-{:?}", 1, "a")), "1-\"a\"");
        let full = "ä".repeat(SHOWN_CAPACITY / 2);
        assert_eq!(printed(&full), full);
    }

    #[test]
    fn what_does_not_fit_is_cut_between_characters() {
        for char in ["x", "ä", "€", "𝄞"] {
            for prefix in 0..4 {
                let text = format!("{}{}", "p".repeat(prefix), char.repeat(SHOWN_CAPACITY + 1));
                let cut = printed(&text);
                assert!(cut.len() <= SHOWN_CAPACITY && cut.len() > SHOWN_CAPACITY - 7, "{char}");
                let kept = cut.strip_suffix(ELLIPSIS).unwrap();
                assert!(text.starts_with(kept) && kept.len() >= prefix, "{char}");
                assert_eq!(printed(&format_args!("{text}{text}")), cut, "in several pieces");
            }
        }
        let exact = "x".repeat(SHOWN_CAPACITY);
        assert_eq!(printed(&format_args!("{exact}y")).len(), SHOWN_CAPACITY);
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
