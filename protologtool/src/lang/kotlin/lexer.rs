//! Kotlin's tokens, those within the `${…}` of texts included.
//!
//! A text is several tokens: its opening and closing quotes, its constant parts, and between them
//! references (`$name`) and expressions (`${…}`) with tokens of their own. So brackets pair up
//! across all of it, and a log call within a text is found like any other. No input fails: bytes
//! that are of no token are punctuation.

use std::ops::Range;

/// One token, with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lexeme {
    pub(crate) kind: LexemeKind,
    start: usize,
    end: usize,
}

impl Lexeme {
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LexemeKind {
    /// A name, with its backticks, or a keyword.
    Word,
    Number,
    /// A character with its quotes.
    Char,
    Comment,
    /// One byte of anything else.
    Punct(u8),
    /// The quotes that open a text, after any `$` that say how many begin a reference.
    TextOpen {
        is_raw: bool,
    },
    /// Constant bytes of a text, escapes included.
    TextPart,
    /// The `$` before a name in a text; the name is the next token.
    Reference,
    /// `${` in a text.
    ExpressionOpen,
    /// `}` in a text.
    ExpressionClose,
    TextClose,
}

/// All tokens of `text`, in order.
pub(crate) fn lex(text: &[u8]) -> Vec<Lexeme> {
    let mut lexer = Lexer { text, at: 0, found: Vec::new(), modes: vec![Mode::Code { braces: 0 }] };
    if text.starts_with(b"\xef\xbb\xbf") {
        lexer.at = 3;
    }
    if text[lexer.at..].starts_with(b"#!") {
        let start = lexer.at;
        lexer.push(LexemeKind::Comment, start, line_end(text, start));
    }
    while lexer.at < text.len() {
        match lexer.modes.last().copied() {
            Some(Mode::Text { quotes, dollars }) => lexer.text_part(quotes, dollars),
            _ => lexer.code(),
        }
    }
    lexer.found
}

/// The part of the syntax that a lexer is in.
#[derive(Clone, Copy)]
enum Mode {
    /// Code, with this many open braces of its own.
    Code { braces: usize },
    /// A text that this many quotes close, in which so many `$` begin a reference.
    Text { quotes: usize, dollars: usize },
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    found: Vec<Lexeme>,
    modes: Vec<Mode>,
}

impl Lexer<'_> {
    fn push(&mut self, kind: LexemeKind, start: usize, end: usize) {
        self.found.push(Lexeme { kind, start, end });
        self.at = end;
    }

    fn code(&mut self) {
        let (text, start) = (self.text, self.at);
        let rest = &text[start..];
        match rest[0] {
            byte if byte.is_ascii_whitespace() || byte < b' ' => self.at += 1,
            b'/' if rest.starts_with(b"//") => {
                self.push(LexemeKind::Comment, start, line_end(text, start));
            }
            b'/' if rest.starts_with(b"/*") => {
                self.push(LexemeKind::Comment, start, start + comment(rest));
            }
            b'"' => self.open(0),
            b'$' if run(rest, b'$') < rest.len() && rest[run(rest, b'$')] == b'"' => {
                self.open(run(rest, b'$'));
            }
            b'\'' => self.push(LexemeKind::Char, start, start + character(rest)),
            b'`' => {
                let end = rest[1..].iter().position(|byte| matches!(byte, b'`' | b'\n' | b'\r'));
                match end {
                    Some(end) if rest[1 + end] == b'`' => {
                        self.push(LexemeKind::Word, start, start + end + 2);
                    }
                    _ => self.push(LexemeKind::Punct(b'`'), start, start + 1),
                }
            }
            byte if byte.is_ascii_digit() => {
                self.push(LexemeKind::Number, start, start + number(rest));
            }
            byte if is_word(byte) => {
                let length = rest.iter().take_while(|byte| is_word(**byte)).count();
                self.push(LexemeKind::Word, start, start + length);
            }
            byte => self.punct(byte),
        }
    }

    fn punct(&mut self, byte: u8) {
        let start = self.at;
        let depth = self.modes.len();
        if let Some(Mode::Code { braces }) = self.modes.last_mut() {
            match byte {
                b'{' => *braces += 1,
                b'}' if *braces == 0 && depth > 1 => {
                    self.modes.pop();
                    return self.push(LexemeKind::ExpressionClose, start, start + 1);
                }
                b'}' => *braces = braces.saturating_sub(1),
                _ => {}
            }
        }
        self.push(LexemeKind::Punct(byte), start, start + 1);
    }

    /// Opens a text whose quotes follow so many `$`.
    fn open(&mut self, dollars: usize) {
        let (start, rest) = (self.at, &self.text[self.at + dollars..]);
        let quotes = if rest.starts_with(b"\"\"\"") { 3 } else { 1 };
        let kind = LexemeKind::TextOpen { is_raw: quotes == 3 };
        self.push(kind, start, start + dollars + quotes);
        self.modes.push(Mode::Text { quotes, dollars: dollars.max(1) });
    }

    /// One constant part of a text and the token that ends it.
    fn text_part(&mut self, quotes: usize, dollars: usize) {
        let (text, start) = (self.text, self.at);
        let mut at = start;
        while at < text.len() {
            let rest = &text[at..];
            let next = match rest[0] {
                b'\\' if quotes == 1 => 2,
                b'\n' | b'\r' if quotes == 1 => {
                    // Never closed: the line is the text's, and no bracket pairs with its opening
                    // bracket.
                    self.part(start, at);
                    self.modes.pop();
                    return;
                }
                b'"' if quotes == 1 => return self.close(start, at, at + 1),
                b'"' if rest.starts_with(b"\"\"\"") => {
                    // Of more quotes the last three close.
                    let end = at + run(rest, b'"');
                    return self.close(start, end - 3, end);
                }
                b'$' => match reference(rest, dollars) {
                    Ok((before, is_name)) => {
                        return self.refer(start, at + before, dollars, is_name);
                    }
                    Err(length) => length,
                },
                _ => 1,
            };
            at += next;
        }
        self.part(start, text.len());
        self.at = text.len();
    }

    fn part(&mut self, start: usize, end: usize) {
        let end = end.min(self.text.len());
        if start < end {
            self.push(LexemeKind::TextPart, start, end);
        }
    }

    fn close(&mut self, start: usize, part_end: usize, end: usize) {
        self.part(start, part_end);
        self.push(LexemeKind::TextClose, part_end, end);
        self.modes.pop();
    }

    fn refer(&mut self, start: usize, dollar: usize, dollars: usize, is_name: bool) {
        self.part(start, dollar);
        let after = dollar + dollars;
        if !is_name {
            self.push(LexemeKind::ExpressionOpen, dollar, after + 1);
            self.modes.push(Mode::Code { braces: 0 });
            return;
        }
        self.push(LexemeKind::Reference, dollar, after);
        let rest = &self.text[after..];
        let length = match rest[0] {
            b'`' => rest[1..].iter().position(|byte| *byte == b'`').map_or(1, |end| end + 2),
            _ => rest.iter().take_while(|byte| is_word(**byte)).count(),
        };
        self.push(LexemeKind::Word, after, after + length);
    }
}

/// A run of `$` in a text: what of it is text before a reference, and that a name follows rather
/// than a brace; or the length of the run if it is all text.
fn reference(rest: &[u8], dollars: usize) -> Result<(usize, bool), usize> {
    let length = run(rest, b'$');
    let is_name = match rest.get(length) {
        Some(b'{') => false,
        Some(b'`') => {
            let end = rest[length + 1..].iter().position(|b| matches!(b, b'`' | b'\n' | b'\r'));
            if end.is_none_or(|end| end == 0 || rest[length + 1 + end] != b'`') {
                return Err(length);
            }
            true
        }
        Some(byte) if is_word(*byte) && !byte.is_ascii_digit() => true,
        _ => return Err(length),
    };
    length.checked_sub(dollars).map(|before| (before, is_name)).ok_or(length)
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The number of bytes `byte` that `text` begins with.
fn run(text: &[u8], byte: u8) -> usize {
    text.iter().take_while(|other| **other == byte).count()
}

fn line_end(text: &[u8], from: usize) -> usize {
    memchr::memchr2(b'\n', b'\r', &text[from..]).map_or(text.len(), |end| from + end)
}

/// The length of a comment between `/*` and `*/`; comments nest.
fn comment(text: &[u8]) -> usize {
    let (mut depth, mut at) = (1_usize, 2);
    while depth > 0 {
        let Some(next) = memchr::memchr2(b'*', b'/', &text[at.min(text.len())..]) else {
            return text.len();
        };
        at += next;
        match &text[at..] {
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            _ => at += 1,
        }
    }
    at
}

/// The length of a character literal; of an unfinished one that of its quote.
fn character(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\'' => return at + 1,
            b'\n' | b'\r' => break,
            _ => {}
        }
        at += 1;
    }
    1
}

/// The length of a number: `1_000L`, `0x1F`, `1.5e-3f`; of `1..2` that of `1`.
fn number(text: &[u8]) -> usize {
    let is_hexadecimal = text.starts_with(b"0x") || text.starts_with(b"0X");
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        let is_part = match byte {
            b'.' => !is_hexadecimal && text.get(at + 1).is_some_and(u8::is_ascii_digit),
            b'+' | b'-' => !is_hexadecimal && matches!(text[at - 1], b'e' | b'E'),
            byte => byte.is_ascii_alphanumeric() || *byte == b'_',
        };
        if !is_part {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<&str> {
        lex(text.as_bytes()).iter().map(|token| &text[token.range()]).collect()
    }

    #[test]
    fn texts_and_what_is_in_them() {
        for (text, expected) in [
            (r#""a=$n b""#, &["\"", "a=", "$", "n", " b", "\""][..]),
            (r#""${f("}")}$""#, &["\"", "${", "f", "(", "\"", "}", "\"", ")", "}", "$", "\""]),
            (r#""\$n $1 \"""#, &["\"", r#"\$n $1 \""#, "\""]),
            ("\"\"\"a\"b$n\"\"\"\"x", &["\"\"\"", "a\"b", "$", "n", "\"", "\"\"\"", "x"]),
            (r#"$$"$a $$b $$${c}""#, &["$$\"", "$a ", "$$", "b", " $", "$${", "c", "}", "\""]),
            (r#""${ { 1 } }""#, &["\"", "${", "{", "1", "}", "}", "\""]),
            ("\"a\nb", &["\"", "a", "b"]),
            ("\"$`a b`c\"", &["\"", "$", "`a b`", "c", "\""]),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }

    #[test]
    fn code() {
        for (text, expected) in [
            (
                "a /* b /* c */ */ d // e\n`f g`",
                &["a", "/* b /* c */ */", "d", "// e", "`f g`"][..],
            ),
            ("1..2 1.5e-3f 0x1F 1.f", &["1", ".", ".", "2", "1.5e-3f", "0x1F", "1", ".", "f"]),
            ("'\\'' '\"' 'a", &["'\\''", "'\"'", "'", "a"]),
            ("\u{feff}#!x\né", &["#!x", "é"]),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }
}
