//! String literals: their value, and where in the source each part of it stands.

use proc_macro::{Literal, TokenTree};

/// A string literal.
#[derive(Debug, PartialEq)]
pub(super) struct Text {
    /// The value.
    pub(super) value: String,
    /// For each character of the value, where it begins in the value (bytes) and in the literal.
    positions: Vec<(usize, Position)>,
    /// Whether the literal has several lines.
    lines: bool,
}

/// A place between the quotes of a literal, line and column from 1, in characters as they are written.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Position {
    line: usize,
    column: usize,
}

impl Text {
    /// The literal that `tokens` are, none where they are anything but one string literal.
    pub(super) fn of_tokens(tokens: &[TokenTree]) -> Option<(Self, Literal)> {
        match tokens {
            [TokenTree::Literal(literal)] => {
                Some((Self::of_source(&literal.to_string())?, literal.clone()))
            }
            _ => None,
        }
    }

    /// Where the byte `at` of the value stands, in words.
    pub(super) fn place(&self, at: usize) -> String {
        let after = self.positions.partition_point(|(start, _)| *start <= at);
        let Position { line, column } =
            after.checked_sub(1).map_or(Position { line: 1, column: 1 }, |i| self.positions[i].1);
        if self.lines {
            format!("line {line}, column {column} of the template")
        } else {
            format!("column {column} of the template")
        }
    }

    fn of_source(source: &str) -> Option<Self> {
        let raw = source.strip_prefix('r').map(|rest| rest.trim_matches('#'));
        let inner = raw.unwrap_or(source).strip_prefix('"')?.strip_suffix('"')?;
        let mut text =
            Self { value: String::new(), positions: Vec::new(), lines: inner.contains('\n') };
        let mut cursor = Cursor { rest: inner, at: Position { line: 1, column: 1 } };
        loop {
            let position = cursor.at;
            let value = match cursor.next() {
                None => return Some(text),
                Some('\\') if raw.is_some() => '\\',
                Some('\\') if cursor.rest.starts_with('\n') => {
                    cursor.skip_white_space();
                    continue;
                }
                Some('\\') => cursor.escape()?,
                Some(char) => char,
            };
            text.positions.push((text.value.len(), position));
            text.value.push(value);
        }
    }
}

/// Walks the source of a literal.
struct Cursor<'a> {
    rest: &'a str,
    at: Position,
}

impl Cursor<'_> {
    fn next(&mut self) -> Option<char> {
        let char = self.rest.chars().next()?;
        self.rest = &self.rest[char.len_utf8()..];
        self.at = match char {
            '\n' => Position { line: self.at.line + 1, column: 1 },
            _ => Position { column: self.at.column + 1, ..self.at },
        };
        Some(char)
    }

    /// What the escape after a backslash stands for, none where it is no escape.
    fn escape(&mut self) -> Option<char> {
        Some(match self.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            char @ ('\\' | '\'' | '"') => char,
            'x' => char::from(u8::from_str_radix(&self.take(2)?, 16).ok()?),
            'u' => {
                self.next().filter(|brace| *brace == '{')?;
                let end = self.rest.find('}')?;
                let digits = self.take(end)?.replace('_', "");
                self.next();
                char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
            }
            _ => return None,
        })
    }

    /// Passes over the line feed and the indentation that a backslash at the end of a line takes away.
    fn skip_white_space(&mut self) {
        while self.rest.starts_with([' ', '\t', '\n', '\r']) {
            self.next();
        }
    }

    fn take(&mut self, count: usize) -> Option<String> {
        (0..count).map(|_| self.next()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(source: &str) -> String {
        Text::of_source(source).expect(source).value
    }

    #[test]
    fn values_are_what_the_compiler_makes_of_literals() {
        macro_rules! check {
            ($($literal:literal)*) => { $( assert_eq!(value(stringify!($literal)), $literal); )* };
        }
        check!("" "plain %d" "größe" "a\tb\nc\r\0\\\'\"" "\x41\u{1F600}\u{00_e9}" r"a\n" r#"a "quoted" %d"# "hash #");
        check!("one \
                two" "one
two");
    }

    #[test]
    fn places_are_those_of_the_source() {
        let place = |source: &str, part: &str| {
            let text = Text::of_source(source).unwrap();
            text.place(text.value.find(part).unwrap())
        };
        assert_eq!(place(r#""ab %q""#, "%"), "column 4 of the template");
        assert_eq!(place(r#""\n\u{e9} %q""#, "%"), "column 10 of the template");
        assert_eq!(place("r#\"a\\n%q\"#", "%"), "column 4 of the template");
        assert_eq!(place("\"größe %q\"", "%"), "column 7 of the template");
        assert_eq!(place("\"a \\\n   b %q\"", "%"), "line 2, column 6 of the template");
    }

    #[test]
    fn other_literals_are_none() {
        for source in ["1", "b\"x\"", "c\"x\"", "'x'", "\"x\"suffix", "\"\\q\"", "\"\\u{zz}\""] {
            assert_eq!(Text::of_source(source), None, "{source}");
        }
    }
}
