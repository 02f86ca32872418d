//! The characters that no output for people passes on as they are, and their escapes in each form.
//!
//! Text in a log comes from anywhere: a file's name, a header of a request. A terminal that is
//! shown it must not obey it, an editor must not show its characters in another order, and a
//! spreadsheet must not compute it.
//!
//! | form | escapes | otherwise |
//! |---|---|---|
//! | [`Form::Line`]: lines of text, text sinks, syslog, the journal | `\r`, `\u{9b}` | tabs stand; line feeds begin a line before they come here |
//! | [`Form::Json`]: JSON, quoted values of logfmt | `\n`, `\u009b` | quotation marks and backslashes have one, too |
//! | [`Form::Csv`]: cells | `\r`, `\u{9b}` | tabs and line feeds stand, in quotes; a [formula](is_formula) has an apostrophe before it |
//!
//! Invariant: a character that [`controls_output`] names is escaped in every form, but for tabs and
//! line feeds. It is all of Unicode's controls (category Cc), its separators of lines and
//! paragraphs, and its characters that control the direction of writing (property Bidi_Control):
//! `testdata/controls.tsv` lists them.

use core::fmt::{self, Write};

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A line of text.
    Line,
    /// A string of JSON, and a quoted value of logfmt.
    Json,
    /// A cell of CSV.
    Csv,
}

/// Returns true for a character that controls a terminal, ends a line or changes the direction of
/// writing.
#[must_use]
pub const fn controls_output(char: char) -> bool {
    matches!(char,
        '\0'..='\x1f'
        | '\x7f'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}')
}

impl Form {
    /// Returns true if `char` has an escape in this form.
    #[must_use]
    pub const fn escapes(self, char: char) -> bool {
        match (self, char) {
            (Self::Line | Self::Csv, '\t') | (Self::Csv, '\n') => false,
            (Self::Json, '"' | '\\') => true,
            _ => controls_output(char),
        }
    }

    /// Writes `text` with escapes.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(self, out: &mut (impl Write + ?Sized), text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(|char| self.escapes(char)) {
            let (plain, from) = rest.split_at(at);
            out.write_str(plain)?;
            let mut chars = from.chars();
            if let Some(char) = chars.next() {
                self.write_escape(out, char)?;
            }
            rest = chars.as_str();
        }
        out.write_str(rest)
    }

    /// Writes the escape of a character.
    fn write_escape(self, out: &mut (impl Write + ?Sized), char: char) -> fmt::Result {
        if self != Self::Json {
            return write!(out, "{}", char.escape_default());
        }
        match char {
            '"' => out.write_str("\\\""),
            '\\' => out.write_str("\\\\"),
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            '\x08' => out.write_str("\\b"),
            '\x0c' => out.write_str("\\f"),
            // Each is in the basic plane.
            char => write!(out, "\\u{:04x}", u32::from(char)),
        }
    }
}

/// Text with the escapes of a form, for `write!`.
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(pub Form, pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, self.1)
    }
}

/// Returns true for the text of a cell that spreadsheets take for a formula, and compute. A number
/// of either sign is none. Invisible characters before it they may leave out.
#[must_use]
pub fn is_formula(cell: &str) -> bool {
    let seen = cell.trim_start_matches(|char: char| char.is_whitespace() || is_invisible(char));
    let begins = seen.starts_with([
        '=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '\u{2212}',
    ]);
    let is_part = |char: char| char.is_ascii_digit() || matches!(char, '.' | 'e' | 'E' | '+' | '-');
    let is_number = seen.parse::<f64>().is_ok() && seen.chars().all(is_part);
    begins && !is_number
}

/// Returns true for a character that nothing is shown of, nor any space: Unicode's property
/// Default_Ignorable_Code_Point.
const fn is_invisible(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::string::{String, ToString};
    use std::{assert_eq, format};

    fn escaped(form: Form, text: &str) -> String {
        Escaped(form, text).to_string()
    }

    #[test]
    fn exactly_unicodes_controls_have_escapes() {
        let table = include_str!("../testdata/controls.tsv");
        let rows = table.lines().skip(1).map(|line| {
            let mut fields = line.split('\t');
            let code = u32::from_str_radix(fields.next().unwrap(), 16).unwrap();
            (char::from_u32(code).unwrap(), [fields.next().unwrap(), fields.next().unwrap()])
        });
        let rows: BTreeMap<char, [&str; 2]> = rows.collect();
        assert_eq!(rows.len(), 65 + 2 + 12, "controls, separators, directions");
        for char in '\0'..=char::MAX {
            let text = char.to_string();
            let expected = rows.get(&char);
            assert_eq!(controls_output(char), expected.is_some(), "{char:?}");
            let [line, json] = expected.copied().unwrap_or([&text, &text]);
            let csv = if matches!(char, '\t' | '\n') { &text } else { line };
            let line = if char == '\t' { &text } else { line };
            let quoted = format!("\\{char}");
            let json = if matches!(char, '"' | '\\') { &quoted } else { json };
            for (form, expected) in [(Form::Line, line), (Form::Json, json), (Form::Csv, csv)] {
                assert_eq!(escaped(form, &text), expected, "{form:?} {char:?}");
                assert_eq!(form.escapes(char), expected != text, "{form:?} {char:?}");
            }
        }
    }

    #[test]
    fn the_rest_stays() {
        assert_eq!(escaped(Form::Line, "\x1bgrün\u{202e}\tß"), "\\u{1b}grün\\u{202e}\tß");
        assert_eq!(escaped(Form::Json, "a\"\u{9b}\n"), "a\\\"\\u009b\\n");
    }

    #[test]
    fn numbers_are_no_formulas() {
        for cell in ["=1+2", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "-", "+inf", "-nan", "＝1"]
            .into_iter()
            .chain(["\u{200b}=1", " \u{feff}\u{ad}@A1", "\u{2212}A1", "\u{e0041}+A1", "﹦1"])
        {
            assert!(is_formula(cell), "{cell:?}");
        }
        for cell in ["", "-5", "+0.25", "-1e-7", "a=1", "1-2", "5", "\u{200b}5", " -5"] {
            assert!(!is_formula(cell), "{cell:?}");
        }
    }
}
