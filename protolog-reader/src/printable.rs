//! Text from a trace, made safe for a terminal.
//!
//! Invariant: the result has no character that controls a terminal or changes the direction of a line.

/// The text with escapes in place of characters that control a terminal, or change the direction of a line, as [`TextWriter`](crate::TextWriter) has it.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_printable(&mut out, text);
    out
}

/// Returns whether each character is of ASCII and stands for itself, as in most messages.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    // Without an early end, which is faster.
    text.iter().fold(true, |is_plain, byte| is_plain & (b' '..=b'~').contains(byte))
}

/// Appends `text` with escapes for control characters except tabs, for line separators, and for characters that embed,
/// override or isolate the direction of writing.
pub(crate) fn push_printable(out: &mut String, text: &str) {
    let is_control = |char: char| match char {
        '\t' => false,
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        char => char.is_control(),
    };
    if is_plain(text.as_bytes()) {
        out.push_str(text);
        return;
    }
    let mut rest = text;
    while let Some(at) = rest.find(is_control) {
        out.push_str(&rest[..at]);
        let mut chars = rest[at..].chars();
        out.extend(chars.next().into_iter().flat_map(char::escape_default));
        rest = chars.as_str();
    }
    out.push_str(rest);
}
