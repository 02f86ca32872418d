//! Texts that lines are put together from: most are short, and are appended by one copy of a fixed
//! size, which takes no call.

/// The size of a copy, in bytes.
const COPY: usize = 32;

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
    pub(crate) fn push(&self, out: &mut Vec<u8>) {
        push_copy(out, &self.copied, self.text.as_bytes());
    }
}

/// Appends the first bytes of a window, which has them and the bytes after them.
#[inline]
pub(crate) fn push_start(out: &mut Vec<u8>, window: &[u8], len: usize) {
    let bytes = window.get(..len).unwrap_or(window);
    match window.first_chunk() {
        Some(copied) => push_copy(out, copied, bytes),
        None => out.extend_from_slice(bytes),
    }
}

/// Appends `bytes`, which `copied` begins with if they are no longer than it.
#[inline]
fn push_copy(out: &mut Vec<u8>, copied: &[u8; COPY], bytes: &[u8]) {
    if bytes.len() <= COPY {
        let end = out.len() + bytes.len();
        out.extend_from_slice(copied);
        out.truncate(end);
    } else {
        out.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length() {
        let text = "0123456789".repeat(7);
        for len in 0..text.len() {
            let mut out = b"before ".to_vec();
            Snippet::new(&text[..len]).push(&mut out);
            assert_eq!(out, format!("before {}", &text[..len]).as_bytes());
            out.clear();
            push_start(&mut out, text.as_bytes(), len);
            push_start(&mut out, &text.as_bytes()[text.len() - len..], len);
            assert_eq!(out, format!("{}{}", &text[..len], &text[text.len() - len..]).as_bytes());
        }
    }
}
