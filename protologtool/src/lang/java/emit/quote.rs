//! Texts as Java string literals.

use std::fmt::Write;

/// The literal, with its quotes. Characters that do not print are escaped; others beyond ASCII
/// stay, as sources are UTF-8.
pub(crate) fn quoted(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for char in text.chars() {
        match char {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            char if char < ' ' || char == '\u{7f}' => {
                let _ = write!(literal, "\\{:03o}", u32::from(char));
            }
            char => literal.push(char),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn what_does_not_print_is_escaped() {
        assert_eq!(quoted("a\"b\\c\n\r\t\0\u{1}1é\\u0041"), r#""a\"b\\c\n\r\t\000\0011é\\u0041""#);
    }
}
