//! Text from a trace, made safe for a terminal.
//!
//! Invariant: the result has no character that controls a terminal or changes the direction of a
//! line, as [`protolog_core::escape`] has them.

use protolog_core::escape::Form;
use std::borrow::Cow;

/// The text with escapes in place of characters that control a terminal, or change the direction of
/// a line, as [`TextWriter`](crate::TextWriter) has it.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_printable(&mut out, text);
    out
}

const EACH: u64 = 0x0101_0101_0101_0101;

/// Returns whether each character is of ASCII and stands for itself, as in most messages.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    let Some(last) = text.last_chunk() else {
        return text.iter().fold(true, |is_plain, byte| is_plain & (b' '..=b'~').contains(byte));
    };
    // Eight at a time, without an early end. The last eight may be looked at twice.
    let (words, _) = text.as_chunks();
    words.iter().fold(marks(*last), |marked, word| marked | marks(*word)) == 0
}

/// Returns whether each character is of ASCII and stands for itself in a string of JSON.
pub(crate) fn is_plain_json(text: &[u8]) -> bool {
    let Some(last) = text.last_chunk() else {
        return text
            .iter()
            .all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'));
    };
    let (words, _) = text.as_chunks();
    words.iter().fold(json_marks(*last), |marked, word| marked | json_marks(*word)) == 0
}

/// As [`marks`], of bytes that JSON escapes, too.
#[inline]
fn json_marks(bytes: [u8; 8]) -> u64 {
    let word = u64::from_le_bytes(bytes);
    // Of ASCII, only a zero has a borrow from the top bit when one is taken away.
    let zeros = |word: u64| word.wrapping_sub(EACH) & (EACH * 0x80);
    marks(bytes) | zeros(word ^ (EACH * b'"' as u64)) | zeros(word ^ (EACH * b'\\' as u64))
}

/// The top bit of each byte that is not plain; others may be set too, but only beside one of these.
#[inline]
fn marks(bytes: [u8; 8]) -> u64 {
    let word = u64::from_le_bytes(bytes);
    // Above ASCII; `\x7f`, with a carry of 0xff only; below a space, with a borrow of one only.
    (word | word.wrapping_add(EACH) | word.wrapping_sub(EACH * 0x20)) & (EACH * 0x80)
}

/// Appends `text` with escapes, as the table of [`protolog_core::escape`] has them for lines.
pub(crate) fn push_printable(out: &mut String, text: &str) {
    if is_plain(text.as_bytes()) {
        out.push_str(text);
    } else {
        Form::Line.write(out, text).expect("a string takes every write");
    }
}

/// JSON with escapes in place of characters that JSON itself lets pass, and a terminal does not:
/// they stand in strings only.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    let is_passed = |char: char| char >= '\x7f' && Form::Json.escapes(char);
    if json.is_ascii() && !json.contains('\x7f') || !json.contains(is_passed) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for part in json.split_inclusive(is_passed) {
        let end = part.chars().next_back().filter(|char| is_passed(*char));
        let (plain, end) = part.split_at(part.len() - end.map_or(0, char::len_utf8));
        out.push_str(plain);
        Form::Json.write(&mut out, end).expect("a string takes every write");
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_not_plain_is_found_wherever_it_stands() {
        for len in 0..40 {
            for at in 0..len {
                for byte in 0..=u8::MAX {
                    let mut text = vec![b'~'; len];
                    text[at] = byte;
                    assert_eq!(is_plain(&text), (b' '..=b'~').contains(&byte), "{byte} at {at}");
                    let is_json = (b' '..=b'~').contains(&byte) && !b"\"\\".contains(&byte);
                    assert_eq!(is_plain_json(&text), is_json, "{byte} at {at}");
                    text.fill(b' ');
                    text[at] = byte;
                    assert_eq!(is_plain(&text), (b' '..=b'~').contains(&byte), "{byte} at {at}");
                }
            }
            assert!(is_plain(&vec![b'a'; len]) && is_plain_json(&vec![b'a'; len]));
        }
    }
}
