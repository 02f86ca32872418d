//! The names of groups, as people, settings and commands write them.
//!
//! The name of a group may be any text: loggers of other libraries are groups, and they are called
//! `my logger`, `[a].[b]`, or any text in a request. So there is one form for all names, in
//! the variable `PROTOLOG`, in files, in the options of commands and in what they print:
//!
//! | name | form |
//! |---|---|
//! | of ASCII letters and digits, `_`, `:`, `.`, `$`, `-`, `/`, and of characters beyond ASCII that are seen | as it is |
//! | any other one, the empty one, `*` and those that begin with `-` included | in quotation marks |
//!
//! Between quotation marks `\"`, `\\`, `\n`, `\r`, `\t` and `\u{HEX}` stand for characters. All
//! that controls a terminal and white space other than a space is written so. So are characters
//! that a shell obeys in quotation marks (`$`, `` ` ``, `!`), and a `-` that begins the name: a
//! name copied from the screen to a command line is no option and runs nothing.
//! `testdata/names.tsv` has names and their forms, for Java, too.
//!
//! Invariants: a written name is read as the same name; a text that is no name in quotation marks
//! stands for itself, so that an option takes `my logger` as well.

use crate::escape::controls_output;
use core::fmt::{self, Write};
use core::str::Chars;

/// Displays a name in its form.
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a>(pub &'a str);

/// Displays a name as one word of a line of the protocol: as it is where that is one, else in
/// quotation marks and without spaces.
#[derive(Clone, Copy, Debug)]
pub struct NameWord<'a>(pub &'a str);

/// The characters of a name that is written down.
#[derive(Clone, Debug)]
pub struct Characters<'a> {
    rest: Chars<'a>,
    is_quoted: bool,
}

/// Returns the characters of the name that `written` stands for.
pub fn characters(written: &str) -> Characters<'_> {
    match quoted(written) {
        Some((inner, "")) => Characters { rest: inner.chars(), is_quoted: true },
        _ => Characters { rest: written.chars(), is_quoted: false },
    }
}

/// Returns the name that `written` stands for, where it stands there without escapes.
pub(super) fn literal(written: &str) -> Option<&str> {
    let Some(inner) = written.strip_prefix('"') else { return Some(written) };
    // Any other character of this kind ends the name before, or says that it is none.
    inner.strip_suffix('"').filter(|name| !name.contains(['"', '\\', '\n']))
}

/// Returns whether a name is written as it is.
pub fn is_plain(name: &str) -> bool {
    let is_part = |char: char| {
        char.is_ascii_alphanumeric() || "_:.$-/".contains(char) || !char.is_ascii() && is_seen(char)
    };
    !name.is_empty() && name.chars().all(is_part)
}

/// Returns whether a text is a name in quotation marks.
pub fn is_quoted(written: &str) -> bool {
    matches!(quoted(written), Some((_, "")))
}

/// Returns the text between the quotation marks at the start of `text`, still with its escapes, and
/// the rest after them; none if it does not start with a name in quotation marks.
pub(super) fn quoted(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut chars = inner.chars();
    loop {
        let rest = chars.as_str();
        match chars.next()? {
            '"' => return Some((inner.strip_suffix(rest)?, chars.as_str())),
            '\\' => drop(escape(&mut chars)?),
            '\n' => return None,
            _ => {}
        }
    }
}

/// Returns the text after the keyword `site` of a rule for single calls; none for other settings.
pub(super) fn after_keyword(text: &str) -> Option<&str> {
    after(text, "site")
}

/// Returns the text after the keyword `sessions` of a setting for sessions; none for other
/// settings.
pub(super) fn after_sessions(text: &str) -> Option<&str> {
    after(text, "sessions")
}

fn after<'a>(text: &'a str, keyword: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(keyword)?;
    rest.starts_with([' ', '\t']).then(|| rest.trim_ascii_start()).filter(|it| !it.starts_with('='))
}

/// Returns the position of the first of these characters that is not between quotation marks.
pub(super) fn find_unquoted(text: &str, is_it: impl Fn(char) -> bool) -> Option<usize> {
    let mut rest = text;
    loop {
        let char = rest.chars().next()?;
        if is_it(char) {
            return Some(text.len() - rest.len());
        }
        rest = match quoted(rest) {
            Some((_, after)) => after,
            None => rest.get(char.len_utf8()..)?,
        };
    }
}

/// Returns the position of the first `=` that is neither between quotation marks nor a part of a
/// comparison.
pub(super) fn find_equals(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let rest = text.get(from..)?;
        let at = find_unquoted(rest, |char| "=!<>".contains(char))?;
        let found = rest.get(at..)?;
        match found.strip_prefix(['=', '!', '<', '>']) {
            Some(after) if after.starts_with('=') => from += at + 2,
            _ if found.starts_with('=') => return Some(from + at),
            _ => from += at + 1,
        }
    }
}

/// Takes the characters after a backslash; none if they are no escape.
fn escape(chars: &mut Chars<'_>) -> Option<char> {
    match chars.next()? {
        same @ ('"' | '\\') => Some(same),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'u' => {
            let (digits, rest) = chars.as_str().strip_prefix('{')?.split_once('}')?;
            *chars = rest.chars();
            let is_number =
                digits.len() <= 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            is_number
                .then(|| u32::from_str_radix(digits, 16).ok())
                .flatten()
                .and_then(char::from_u32)
        }
        _ => None,
    }
}

/// Returns false for a character that controls a terminal, and for white space.
fn is_seen(char: char) -> bool {
    !controls_output(char)
        && !matches!(
            char,
            ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
                ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
        )
}

impl Iterator for Characters<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self.rest.next()? {
            '\\' if self.is_quoted => escape(&mut self.rest),
            char => Some(char),
        }
    }
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) && !self.0.starts_with('-') {
            return f.write_str(self.0);
        }
        write_quoted(self.0, |char| char == ' ' || is_seen(char), f)
    }
}

impl fmt::Display for NameWord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_word = |char: char| char != ' ' && !controls_output(char);
        if !self.0.is_empty() && !self.0.starts_with('"') && self.0.chars().all(is_word) {
            return f.write_str(self.0);
        }
        write_quoted(self.0, is_seen, f)
    }
}

fn write_quoted(
    name: &str,
    stands: impl Fn(char) -> bool,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_char('"')?;
    for (at, char) in name.char_indices() {
        match char {
            '$' | '`' | '!' => write!(f, "\\u{{{:x}}}", u32::from(char))?,
            '-' if at == 0 => f.write_str("\\u{2d}")?,
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            char if stands(char) => f.write_char(char)?,
            char => write!(f, "\\u{{{:x}}}", u32::from(char))?,
        }
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};
    use std::vec::Vec;

    fn text(cell: &str) -> String {
        let mut bytes = Vec::new();
        let mut rest = cell.as_bytes();
        while let [byte, more @ ..] = rest {
            rest = more;
            if *byte == b'%' {
                bytes.push(
                    u8::from_str_radix(core::str::from_utf8(&more[..2]).unwrap(), 16).unwrap(),
                );
                rest = &more[2..];
            } else {
                bytes.push(*byte);
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    /// The Java runtime reads the same table.
    #[test]
    fn names_have_the_forms_of_the_vectors() {
        let mut rows = 0;
        for line in include_str!("../../testdata/names.tsv").lines().skip(1) {
            let cells: Vec<String> = line.split('\t').map(text).collect();
            let [name, form, word, also] = &cells[..] else { panic!("{line}") };
            assert_eq!(&Quoted(name).to_string(), form, "{line}");
            assert_eq!(&NameWord(name).to_string(), word, "{line}");
            for written in [form, word, also] {
                assert_eq!(&characters(written).collect::<String>(), name, "{line}: {written}");
            }
            rows += 1;
        }
        assert!(rows > 20);
    }

    #[test]
    fn a_name_without_escapes_is_what_its_characters_are() {
        for written in ["", "net", "net.rs", "\"\"", "\"a b\"", "\"é %d\"", "a\"b"] {
            let name: String = characters(written).collect();
            assert_eq!(literal(written), Some(&*name), "{written}");
        }
        for written in ["\"", "\"a", "\"a\\n\"", "\"a\\\"", "\"a\"b\"", "\"a\nb\""] {
            assert_eq!(literal(written), None, "{written}");
        }
    }
}
