//! The value of a Java string literal or text block, as javac computes it.
//!
//! In javac's order: `\u` escapes are translated first (a backslash counts only after an even
//! number of backslashes); a text block then loses its incidental white space. Its line ends become
//! LF, the common indentation of all lines that are not blank and of the last line goes, and so do
//! trailing blanks. Other escapes come last, so `\n` and `\s` survive.

use crate::call::Text;
use std::ops::Range;

/// Why a literal has no value that can be logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadLiteral {
    pub(crate) range: Range<usize>,
    pub(crate) reason: &'static str,
}

/// A character and where its spelling begins in the source.
#[derive(Clone, Copy, Debug)]
struct CodeUnit {
    char: char,
    at: usize,
}

/// The value of the string literal or text block `raw`, which stands at `offset` in its source.
pub(crate) fn text(raw: &[u8], offset: usize) -> Result<Text, BadLiteral> {
    let bad = |reason| BadLiteral { range: offset..offset + raw.len(), reason };
    let block = raw.starts_with(b"\"\"\"") && raw.len() >= 6;
    let quotes = if block { 3 } else { 1 };
    if raw.len() < 2 * quotes {
        return Err(bad("is unfinished"));
    }
    let inner =
        std::str::from_utf8(&raw[quotes..raw.len() - quotes]).map_err(|_| bad("is not UTF-8"))?;
    let mut units = translate(inner, offset + quotes)?;
    if block {
        units = strip(&units);
    }
    interpret(&units)
}

/// The character of the character literal `raw`, which stands at `offset`.
pub(crate) fn char(raw: &[u8], offset: usize) -> Result<char, BadLiteral> {
    let bad = BadLiteral { range: offset..offset + raw.len(), reason: "is not one character" };
    let value = text(raw, offset)?;
    let mut chars = value.as_str().chars();
    match (chars.next(), chars.next()) {
        (Some(char), None) => Ok(char),
        _ => Err(bad),
    }
}

/// Translates `\u` escapes; surrogate pairs become one character.
fn translate(inner: &str, offset: usize) -> Result<Vec<CodeUnit>, BadLiteral> {
    let mut units = Vec::with_capacity(inner.len());
    let mut at = 0;
    while let Some(char) = inner[at..].chars().next() {
        if char != '\\' {
            units.push(CodeUnit { char, at: offset + at });
            at += char.len_utf8();
            continue;
        }
        let Some((unit, length)) = code_unit(&inner[at..]) else {
            // A backslash and the byte after it, which may be a backslash, then not eligible.
            units.push(CodeUnit { char, at: offset + at });
            at += 1;
            if inner[at..].starts_with('\\') {
                units.push(CodeUnit { char, at: offset + at });
                at += 1;
            }
            continue;
        };
        let second = code_unit(&inner[at + length..]);
        let pair =
            char::decode_utf16([unit].into_iter().chain(second.map(|(unit, _)| unit))).next();
        let Some(Ok(char)) = pair else {
            let range = offset + at..offset + at + length;
            return Err(BadLiteral { range, reason: "has half of a surrogate pair" });
        };
        if matches!(char, '"' | '\n' | '\r') {
            let range = offset + at..offset + at + length;
            return Err(BadLiteral { range, reason: "has a quote or line end as a `\\u` escape" });
        }
        units.push(CodeUnit { char, at: offset + at });
        at += length;
        if char.len_utf16() == 2 {
            at += second.map_or(0, |(_, length)| length);
        }
    }
    Ok(units)
}

/// The UTF-16 code unit of the `\u` escape that `text` begins with, and the escape's length.
fn code_unit(text: &str) -> Option<(u16, usize)> {
    let digits = text.strip_prefix("\\u")?.trim_start_matches('u').get(..4)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let unit = u16::from_str_radix(digits, 16).ok()?;
    Some((unit, digits.as_ptr() as usize + 4 - text.as_ptr() as usize))
}

/// A text block's content without incidental white space.
fn strip(units: &[CodeUnit]) -> Vec<CodeUnit> {
    let mut lines: Vec<Vec<CodeUnit>> = vec![Vec::new()];
    for (index, unit) in units.iter().enumerate() {
        match unit.char {
            '\r' if units.get(index + 1).is_some_and(|next| next.char == '\n') => {}
            '\n' | '\r' => {
                let end = CodeUnit { char: '\n', ..*unit };
                lines.last_mut().expect("never empty").push(end);
                lines.push(Vec::new());
            }
            _ => lines.last_mut().expect("never empty").push(*unit),
        }
    }
    let lines = &lines[1..]; // The first holds what follows the opening quotes: white space only.
    let blank = |line: &[CodeUnit]| line.iter().all(|unit| is_white_space(unit.char));
    let indentation = lines
        .iter()
        .enumerate()
        .filter(|(index, line)| index + 1 == lines.len() || !blank(line))
        .map(|(_, line)| {
            line.iter().take_while(|unit| is_white_space(unit.char) && unit.char != '\n').count()
        })
        .min()
        .unwrap_or(0);
    let mut stripped = Vec::new();
    for line in lines {
        let (content, end) = match line.split_last() {
            Some((end, content)) if end.char == '\n' => (content, Some(*end)),
            _ => (&line[..], None),
        };
        let trailing = content.iter().rev().take_while(|unit| is_white_space(unit.char)).count();
        stripped.extend(content[..content.len() - trailing].iter().skip(indentation));
        stripped.extend(end);
    }
    stripped
}

/// As `Character.isWhitespace` has it.
fn is_white_space(char: char) -> bool {
    matches!(char, '\u{1c}'..='\u{1f}')
        || char.is_whitespace() && !matches!(char, '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}')
}

/// Interprets escape sequences.
fn interpret(units: &[CodeUnit]) -> Result<Text, BadLiteral> {
    let mut text = Text::default();
    let mut rest = units;
    while let [unit, tail @ ..] = rest {
        rest = tail;
        if unit.char != '\\' {
            text.push(unit.char, unit.at);
            continue;
        }
        let unknown = BadLiteral { range: unit.at..unit.at + 2, reason: "has an unknown escape" };
        let Some(letter) = tail.first() else {
            return Err(unknown);
        };
        rest = &tail[1..];
        let char = match letter.char {
            'b' => '\u{8}',
            't' => '\t',
            'n' => '\n',
            'f' => '\u{c}',
            'r' => '\r',
            's' => ' ',
            plain @ ('"' | '\'' | '\\') => plain,
            '\n' => continue,
            '0'..='7' => {
                let most = if letter.char <= '3' { 3 } else { 2 };
                let octal =
                    tail.iter().take(most).take_while(|unit| matches!(unit.char, '0'..='7'));
                let (count, value) = octal.fold((0, 0), |(count, value), unit| {
                    (count + 1, value * 8 + unit.char.to_digit(8).unwrap_or(0))
                });
                rest = &tail[count..];
                char::from_u32(value).ok_or(unknown)?
            }
            _ => return Err(unknown),
        };
        text.push(char, unit.at);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(raw: &str) -> Result<String, &'static str> {
        text(raw.as_bytes(), 0).map(|text| text.as_str().to_owned()).map_err(|bad| bad.reason)
    }

    #[test]
    fn strings() {
        for (raw, expected) in [
            (r#""""#, ""),
            (r#""a\tb\\n\"\'\s""#, "a\tb\\n\"' "),
            (r#""\0\7\47\101\377\400""#, "\0\u{7}'A\u{ff}\u{20}0"),
            (r#""\u0041\uuu00e9 \\u0041 \\\u0041""#, "Aé \\u0041 \\A"),
            (r#""\ud83d\ude00!""#, "😀!"),
            (r#""\u005cn""#, "\n"),
        ] {
            assert_eq!(value(raw), Ok(expected.to_owned()), "{raw}");
        }
    }

    #[test]
    fn what_has_no_value() {
        assert_eq!(value(r#""\q""#), Err("has an unknown escape"));
        assert_eq!(value(r#""\ud83d""#), Err("has half of a surrogate pair"));
        assert_eq!(value(r#""\u0022""#), Err("has a quote or line end as a `\\u` escape"));
    }

    #[test]
    fn text_blocks() {
        for (raw, expected) in [
            ("\"\"\"\n    a\n      b  \n    \"\"\"", "a\n  b\n"),
            ("\"\"\"\n    a\n  \"\"\"", "  a\n"),
            ("\"\"\"  \r\n\ta\\\r\n\tb\\s \r\n\r\n\tc\\tx\"\"\"", "ab \n\nc\tx"),
            ("\"\"\"\n  \\\"\"\" \\n x\"\"\"", "\"\"\" \n x"),
            ("\"\"\"\r  a\r  b\"\"\"", "a\nb"),
            ("\"\"\"\n  a\n\t\n  b\"\"\"", "a\n\nb"),
        ] {
            assert_eq!(value(raw), Ok(expected.to_owned()), "{raw:?}");
        }
    }

    #[test]
    fn values_know_where_they_come_from() {
        let text = text(br#""a\tb\u0041c""#, 10).unwrap();
        assert_eq!(text.as_str(), "a\tbAc");
        assert_eq!(
            [0..1, 1..2, 3..4, 4..5].map(|range| text.origin(range).start),
            [11, 12, 15, 21]
        );
    }
}
