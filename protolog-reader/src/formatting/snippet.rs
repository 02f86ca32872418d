//! Texts that lines are put together from: most are short, and are appended by one copy of a fixed
//! size, which takes no call.

use crate::formatting::line::{COPY, Line};

/// A text that is appended again and again.
#[derive(Clone, Debug)]
pub(crate) struct Snippet {
    text: String,
    /// The text and its padding, if it is no longer than this.
    copied: [u8; COPY],
}

impl Snippet {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut copied = [0; COPY];
        if text.len() <= COPY {
            copied[..text.len()].copy_from_slice(text.as_bytes());
        }
        Self { text, copied }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Appends the text.
    #[inline]
    pub(crate) fn push(&self, line: &mut Line<'_>) {
        if self.text.len() <= COPY {
            line.push(&self.copied, self.text.len());
        } else {
            line.push_slice(self.text.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formatting::line::LineRoom;

    #[test]
    fn texts_of_any_length() {
        let text = "0123456789".repeat(7);
        let mut room = LineRoom::default();
        for len in 0..text.len() {
            let mut line = room.begin();
            line.push_slice(b"before ");
            Snippet::new(&text[..len]).push(&mut line);
            assert_eq!(line.finish().unwrap(), format!("before {}", &text[..len]).as_bytes());
        }
    }
}
