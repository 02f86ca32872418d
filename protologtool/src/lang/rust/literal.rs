//! String literals: their value, and where in the file each part of it stands.

use crate::call::Text;

/// The value of the string literal `source`, which stands at `at`. None for other literals, and for such with a suffix.
pub(crate) fn text(source: &str, at: usize) -> Option<Text> {
    let raw = source.strip_prefix('r').map(|rest| rest.trim_start_matches('#'));
    let hashes = raw.map_or(0, |rest| source.len() - 1 - rest.len());
    let inner = raw.unwrap_or(source).strip_prefix('"')?;
    let inner = inner.strip_suffix(&"#".repeat(hashes))?.strip_suffix('"')?;
    let start = raw.map_or(0, |_| 1) + hashes + 1;
    let mut text = Text::default();
    let mut cursor = Cursor { inner, at: 0 };
    loop {
        let origin = at + start + cursor.at;
        let value = match cursor.next() {
            None => return Some(text),
            // A line end is a line feed, whatever the file has.
            Some('\r') if cursor.rest().starts_with('\n') => continue,
            Some('\\') if raw.is_some() => '\\',
            Some('\\') if cursor.rest().starts_with(['\n', '\r']) => {
                cursor.skip_white_space();
                continue;
            }
            Some('\\') => cursor.escape()?,
            Some(char) => char,
        };
        text.push(value, origin);
    }
}

/// Walks the source of a literal, between the quotes.
struct Cursor<'a> {
    inner: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.inner[self.at..]
    }

    fn next(&mut self) -> Option<char> {
        let char = self.rest().chars().next()?;
        self.at += char.len_utf8();
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
            'x' => {
                let digits: String = (0..2).map(|_| self.next()).collect::<Option<_>>()?;
                char::from(u8::from_str_radix(&digits, 16).ok().filter(u8::is_ascii)?)
            }
            'u' => {
                self.next().filter(|brace| *brace == '{')?;
                let (digits, _) = self.rest().split_once('}')?;
                self.at += digits.len() + 1;
                char::from_u32(u32::from_str_radix(&digits.replace('_', ""), 16).ok()?)?
            }
            _ => return None,
        })
    }

    /// Passes over the line end and the indentation that a backslash at the end of a line takes away.
    fn skip_white_space(&mut self) {
        self.at = self.inner.len() - self.rest().trim_start_matches([' ', '\t', '\n', '\r']).len();
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn values_are_what_the_compiler_makes_of_literals() {
        macro_rules! check {
            ($($literal:literal)*) => { $( assert_eq!(text(stringify!($literal), 0).unwrap().as_str(), $literal); )* };
        }
        check!("" "plain %d" "größe" "a\tb\nc\r\0\\\'\"" "\x41\u{1F600}\u{00_e9}" r"a\n" r#"a "quoted" %d"# "hash #");
        check!("one \
                two" "one
two");
        assert_eq!(text("\"a\r\nb \\\r\n  c\"", 0).unwrap().as_str(), "a\nb c");
        assert_eq!(text("r#\"a\"#b\"#", 0).unwrap().as_str(), "a\"#b");
    }

    #[test]
    fn origins_are_those_of_the_file() {
        for (source, needle, expected) in [
            ("\"ab %q\"", "%q", 4..6),
            ("\"\\n\\u{e9} %q\"", "%q", 10..12),
            ("r##\"a\\n%q\"##", "%q", 7..9),
            ("\"größe %q\"", "%q", 9..11),
        ] {
            let text = text(source, 0).unwrap();
            let at = text.as_str().find(needle).unwrap();
            assert_eq!(text.origin(at..at + needle.len()), expected, "{source}");
        }
    }

    #[test]
    fn other_literals_are_none() {
        for source in
            ["1", "b\"x\"", "c\"x\"", "'x'", "\"x\"suffix", "\"\\q\"", "\"\\u{zz}\"", "\"", "r#\""]
        {
            assert!(text(source, 0).is_none(), "{source}");
        }
    }
}
