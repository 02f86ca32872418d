//! Rust string literals: the characters that they stand for, and where in the source each of them
//! is written. The macros see literals as the compiler hands them over, the tool as a file holds
//! them; both must take the same template from them.
//!
//! Invariant: a literal that parses yields the compiler's value. Line ends count as line
//! feeds, as in the compiler.

/// A string literal as it is written: plain or raw, without a suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrLiteral<'a> {
    body: &'a str,
    start: usize,
    is_raw: bool,
}

impl<'a> StrLiteral<'a> {
    /// Parses `source`, which begins and ends with the literal. None for literals of other kinds,
    /// for those with a suffix, and where an escape is none.
    pub fn parse(source: &'a str) -> Option<Self> {
        let raw = source.strip_prefix('r').map(|rest| rest.trim_start_matches('#'));
        let hashes = raw.map_or(0, |rest| source.len() - 1 - rest.len());
        let open = raw.unwrap_or(source).strip_prefix('"')?;
        let (body, close) = open.split_at_checked(open.len().checked_sub(hashes)?)?;
        let body = body.strip_suffix('"').filter(|_| close.bytes().all(|byte| byte == b'#'))?;
        let literal = Self { body, start: source.len() - open.len(), is_raw: raw.is_some() };
        let mut chars = literal.chars();
        while chars.advance().ok()?.is_some() {}
        Some(literal)
    }

    /// The text between the quotes, as it is written.
    pub const fn body(&self) -> &'a str {
        self.body
    }

    /// The offset of [`body`](Self::body) in the source.
    pub const fn start(&self) -> usize {
        self.start
    }

    /// The characters of the value, each with the offset in the source where it, or its escape,
    /// begins.
    pub const fn chars(&self) -> LiteralChars<'a> {
        LiteralChars { literal: *self, offset: 0 }
    }
}

/// The characters of a [`StrLiteral`]'s value, with their offsets in the source.
#[derive(Clone, Debug)]
pub struct LiteralChars<'a> {
    literal: StrLiteral<'a>,
    /// Offset in the body.
    offset: usize,
}

/// A backslash that begins no escape.
struct NoEscape;

impl Iterator for LiteralChars<'_> {
    type Item = (usize, char);

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().ok().flatten()
    }
}

impl<'a> LiteralChars<'a> {
    fn advance(&mut self) -> Result<Option<(usize, char)>, NoEscape> {
        loop {
            let begin = self.literal.start + self.offset;
            let char = match self.take() {
                None => return Ok(None),
                Some('\r') if self.rest().starts_with('\n') => continue,
                Some('\\') if self.literal.is_raw => '\\',
                Some('\\') if self.rest().starts_with(['\n', '\r']) => {
                    self.skip_white_space();
                    continue;
                }
                Some('\\') => self.escape().ok_or(NoEscape)?,
                Some(char) => char,
            };
            return Ok(Some((begin, char)));
        }
    }

    fn rest(&self) -> &'a str {
        &self.literal.body[self.offset..]
    }

    fn take(&mut self) -> Option<char> {
        let char = self.rest().chars().next()?;
        self.offset += char.len_utf8();
        Some(char)
    }

    /// The character that the escape after a backslash stands for.
    fn escape(&mut self) -> Option<char> {
        Some(match self.take()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            char @ ('\\' | '\'' | '"') => char,
            'x' => {
                let (high, low) = (self.take()?.to_digit(16)?, self.take()?.to_digit(16)?);
                char::from_u32(high << 4 | low).filter(char::is_ascii)?
            }
            'u' => self.unicode_escape()?,
            _ => return None,
        })
    }

    /// The character of `{1F_600}`: one to six digits, and underscores.
    fn unicode_escape(&mut self) -> Option<char> {
        self.take().filter(|brace| *brace == '{')?;
        let (mut value, mut digits) = (0, 0);
        loop {
            match self.take()? {
                '}' if digits > 0 => return char::from_u32(value),
                '_' => {}
                digit if digits < 6 => {
                    value = value << 4 | digit.to_digit(16)?;
                    digits += 1;
                }
                _ => return None,
            }
        }
    }

    /// Skips the line end and the indentation that a backslash at the end of a line removes.
    fn skip_white_space(&mut self) {
        let rest = self.rest().trim_start_matches([' ', '\t', '\n', '\r']);
        self.offset = self.literal.body.len() - rest.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    fn value(source: &str) -> Option<String> {
        Some(StrLiteral::parse(source)?.chars().map(|(_, char)| char).collect())
    }

    #[test]
    fn values_are_what_the_compiler_makes_of_literals() {
        macro_rules! check {
            ($($literal:literal)*) => { $( assert_eq!(value(stringify!($literal)).as_deref(), Some($literal)); )* };
        }
        check!("" "plain %d" "größe" "a\tb\nc\r\0\\\'\"" "\x41\u{1F600}\u{00_e9}" r"a\n" r#"a "quoted" %d"# "hash #");
        check!("one \
                two" "one
two");
        assert_eq!(value("\"a\r\nb \\\r\n  c\"").as_deref(), Some("a\nb c"));
        assert_eq!(value("r#\"a\"#b\"#").as_deref(), Some("a\"#b"));
        assert_eq!(value("\"\\u{10ffff}\"").as_deref(), Some("\u{10ffff}"));
    }

    #[test]
    fn offsets_are_those_of_the_source() {
        for (source, expected) in [
            ("\"a\\n\\u{e9}b\"", &[1, 2, 4, 10][..]),
            ("r##\"a\\n\"##", &[4, 5, 6]),
            ("\"öß\"", &[1, 3]),
            ("\"a\\\n  b\r\nc\"", &[1, 6, 8, 9]),
        ] {
            let literal = StrLiteral::parse(source).expect(source);
            let offsets: Vec<usize> = literal.chars().map(|(offset, _)| offset).collect();
            assert_eq!(offsets, expected, "{source}");
            assert!(source[literal.start()..].starts_with(literal.body()), "{source}");
        }
    }

    #[test]
    fn other_literals_are_none() {
        for source in [
            "",
            "1",
            "b\"x\"",
            "c\"x\"",
            "'x'",
            "r",
            "\"x\"suffix",
            "\"",
            "\"x",
            "r#\"",
            "r#\"x\"",
            "r\"x\"#",
            "r#\"é",
            "\"\\q\"",
            "\"\\\"",
            "\"\\x8",
            "\"\\x80\"",
            "\"\\x+1\"",
            "\"\\u{}\"",
            "\"\\u{zz}\"",
            "\"\\u{41\"",
            "\"\\u41\"",
            "\"\\u{d800}\"",
            "\"\\u{1100000}\"",
            "\"\\u{110000}\"",
        ] {
            assert_eq!(StrLiteral::parse(source), None, "{source}");
        }
    }
}
