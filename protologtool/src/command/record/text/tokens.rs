//! The words of the text format: names, numbers, texts, punctuation.
//!
//! Invariant: each token has its place, so that each problem has one.

use super::Problem;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TextToken<'a> {
    /// A name: of a field, of a value of an enumeration, `true`, `inf`.
    Name(&'a str),
    /// A number without its sign, as it is written.
    Number(&'a str),
    /// A text or bytes, unescaped.
    Text(Vec<u8>),
    /// One character of punctuation.
    Symbol(char),
    /// The end.
    End,
}

/// The words of a text, one by one.
pub(super) struct TextTokens<'a> {
    text: &'a str,
    /// Where the next token begins, or what is before it.
    next: usize,
}

impl<'a> TextTokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, next: 0 }
    }

    /// Returns the next token and its place.
    pub(super) fn next(&mut self) -> Result<(usize, TextToken<'a>), Problem> {
        self.skip_blank();
        let (at, rest) = (self.next, &self.text[self.next..]);
        let Some(first) = rest.chars().next() else { return Ok((at, TextToken::End)) };
        let token = match first {
            '"' | '\'' => return Ok((at, TextToken::Text(self.text(first)?))),
            'a'..='z' | 'A'..='Z' | '_' => TextToken::Name(self.take(length_of_name(rest))),
            '0'..='9' | '.' => TextToken::Number(self.take(length_of_number(rest))),
            other => {
                self.next += other.len_utf8();
                TextToken::Symbol(other)
            }
        };
        Ok((at, token))
    }

    /// A problem at this place.
    pub(super) fn problem(&self, at: usize, what: impl Into<String>) -> Problem {
        Problem::at(self.text, at, what.into())
    }

    fn take(&mut self, length: usize) -> &'a str {
        let taken = &self.text[self.next..self.next + length];
        self.next += length;
        taken
    }

    fn skip_blank(&mut self) {
        loop {
            let rest =
                self.text[self.next..].trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
            self.next = self.text.len() - rest.len();
            if !rest.starts_with('#') {
                return;
            }
            self.next += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// A text between quotes, of which the next character is the first.
    fn text(&mut self, quote: char) -> Result<Vec<u8>, Problem> {
        let begin = self.next;
        self.next += 1;
        let mut bytes = Vec::new();
        loop {
            let at = self.next;
            let Some(char) = self.text[at..].chars().next().filter(|char| *char != '\n') else {
                return Err(self.problem(begin, "this text has no end on its line"));
            };
            self.next += char.len_utf8();
            match char {
                _ if char == quote => return Ok(bytes),
                '\\' => self.escape(at, &mut bytes)?,
                char => bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }

    /// An escape, after its `\`, which is at `at`.
    fn escape(&mut self, at: usize, bytes: &mut Vec<u8>) -> Result<(), Problem> {
        let unknown = |tokens: &Self| tokens.problem(at, "this escape is unknown");
        let char = self.text[self.next..].chars().next().ok_or_else(|| unknown(self))?;
        if let '0'..='7' = char {
            let digits = self.digits(8, 3);
            // Of three octal digits only 8 bits count.
            bytes.push(u32::from_str_radix(digits, 8).unwrap_or_default() as u8);
            return Ok(());
        }
        self.next += char.len_utf8();
        let most = match char {
            'x' | 'X' => 2,
            'u' => 4,
            'U' => 8,
            simple => {
                let simple = simple_escape(simple).ok_or_else(|| unknown(self))?;
                bytes.push(simple);
                return Ok(());
            }
        };
        let digits = self.digits(16, most);
        let number = u32::from_str_radix(digits, 16).map_err(|_| unknown(self))?;
        if most == 2 {
            bytes.push(number as u8);
            return Ok(());
        }
        let char = char::from_u32(number).filter(|_| digits.len() == most);
        let char = char.ok_or_else(|| unknown(self))?;
        bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    /// The digits that follow, at most `most` of them.
    fn digits(&mut self, radix: u32, most: usize) -> &'a str {
        let rest = self.text[self.next..].chars();
        let length = rest.take(most).take_while(|char| char.is_digit(radix)).count();
        self.take(length)
    }
}

fn simple_escape(char: char) -> Option<u8> {
    Some(match char {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '?' | '\\' | '\'' | '"' => char as u8,
        _ => return None,
    })
}

fn length_of_name(text: &str) -> usize {
    text.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(text.len())
}

/// With its exponent, which may have a sign.
fn length_of_number(text: &str) -> usize {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let mut before = ' ';
    for (at, char) in text.char_indices() {
        let is_exponent = !is_hex && matches!(before, 'e' | 'E') && matches!(char, '+' | '-');
        if !char.is_ascii_alphanumeric() && !matches!(char, '.' | '_') && !is_exponent {
            return at;
        }
        before = char;
    }
    text.len()
}
