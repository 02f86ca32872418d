//! Comments and line ends of text that is replaced: they stay, so that no line moves.

use super::escapes;
use super::lexer::{TokenKind, tokens};

/// The part of replaced text that must stay: its comments and its line ends (with the indentation
/// that follows them), and nothing else. Begins with a space where a comment comes first.
///
/// Where an escape such as `\u002f` stands for a character of the syntax, only the line ends stay,
/// since comments there differ from their looks.
pub(crate) fn kept_trivia(text: &[u8]) -> String {
    let mut kept = String::new();
    if escapes::hides_syntax(text) {
        keep_line_ends(text, &mut kept);
        return kept;
    }
    let mut at = 0;
    // The indentation of the current line, which is of use only where something follows on it.
    let mut indentation = String::new();
    for token in tokens(text) {
        let (kind, range) = (token.kind, token.range());
        keep_lines(&text[at..range.start], &mut kept, &mut indentation);
        if kind == TokenKind::Comment {
            kept.push_str(if kept.ends_with(['\n', '\r']) { &indentation } else { " " });
            kept.push_str(&String::from_utf8_lossy(&text[range.clone()]));
            indentation.clear();
        } else {
            keep_line_ends(&text[range.clone()], &mut kept);
        }
        at = range.end;
    }
    keep_lines(&text[at..], &mut kept, &mut indentation);
    if kept.ends_with(['\n', '\r']) {
        kept.push_str(&indentation);
    }
    kept
}

fn keep_lines(space: &[u8], kept: &mut String, indentation: &mut String) {
    if let Some(last) = space.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')) {
        keep_line_ends(&space[..=last], kept);
        *indentation = String::from_utf8_lossy(&space[last + 1..]).into_owned();
    }
}

fn keep_line_ends(text: &[u8], kept: &mut String) {
    for end in crate::source::line_ends(text) {
        keep_line_end(&text[end], kept);
    }
}

/// Appends a line end. One that was cut off from a carriage return before it must not become one
/// with it.
pub(crate) fn keep_line_end(end: &[u8], kept: &mut String) {
    if kept.ends_with('\r') && end == b"\n" {
        kept.push(' ');
    }
    kept.push_str(&String::from_utf8_lossy(end));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_lines_stay() {
        assert_eq!(
            kept_trivia(b"\"a\" + // one\r\n    \"b\" /* two */"),
            " // one\r\n    /* two */"
        );
        assert_eq!(kept_trivia(b"\"\"\"\n  a\n  b\"\"\""), "\n\n");
        assert_eq!(kept_trivia(b"\"a\" + \"b\""), "");
        assert_eq!(kept_trivia(b"\"\"\"\r\"\"\" +\n\"a\""), "\r \n", "two line ends stay two");
        assert_eq!(kept_trivia(br#""a" + // \u002f"#), "", "comments may be other than they look");
    }
}
