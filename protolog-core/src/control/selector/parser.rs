//! The parser of selectors: from their text to conditions, one at a time.

use super::{Condition, SelectorError, SelectorProblem, WHOLE, argument};
use crate::Level;
use crate::control::levels_at_least;
use crate::control::name::{is_plain, is_quoted, quoted};
use crate::escape::controls_output;

/// The endings of source files, by which a word is a file.
const SOURCES: [&str; 3] = [".rs", ".java", ".kt"];

/// The rest of a text that is parsed.
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) rest: &'a str,
}

impl<'a> Parser<'a> {
    /// Parses a condition; `is_next` says that `and` stands before it.
    pub(super) fn condition(&mut self, is_next: bool) -> Result<Condition<'a>, SelectorError<'a>> {
        self.skip_spaces();
        if self.rest.starts_with('"') {
            return self.quoted().map(Condition::Template);
        }
        if let Some((condition, rest)) = argument::parse(self.rest) {
            let start = self.rest;
            self.rest = rest;
            let text = start.strip_suffix(rest).unwrap_or(start);
            let error = |problem| self.error(text.trim_ascii_end(), problem);
            return condition.map(Condition::Argument).map_err(error);
        }
        let word = self.word();
        if word.is_empty() || is_and(word) && is_next {
            let problem =
                if is_next { SelectorProblem::NoCondition } else { SelectorProblem::Empty };
            return Err(self.error(word, problem));
        }
        match word {
            "group" => self.operand(word).map(Condition::Group),
            "module" => self.operand(word).map(Condition::Module),
            // Reserved: it would take no call.
            "fn" => Err(self.error(word, SelectorProblem::Function)),
            "file" => {
                let path = self.operand(word)?;
                Ok(self.file(path)?.unwrap_or(Condition::File { path, first: 1, last: u32::MAX }))
            }
            _ => self.plain(word),
        }
    }

    /// A condition of one word.
    fn plain(&self, word: &'a str) -> Result<Condition<'a>, SelectorError<'a>> {
        if let Some(digits) = word.strip_prefix('#') {
            let id = id(digits).ok_or_else(|| self.error(word, SelectorProblem::BadId))?;
            return Ok(Condition::Id(id));
        }
        if let Some(levels) = levels(word) {
            return match levels {
                0 => Err(self.error(word, SelectorProblem::BadLevels)),
                levels => Ok(Condition::Levels(levels)),
            };
        }
        // Separators of settings, outside of quotation marks.
        if word.contains(['=', ';']) || word.contains(controls_output) {
            return Err(self.error(word, SelectorProblem::BadName));
        }
        if let Some(file) = self.file(word)? {
            return Ok(file);
        }
        if word == "*" || is_plain(word) {
            return Ok(Condition::Name(word));
        }
        Err(self.error(word, SelectorProblem::BadName))
    }

    /// A file with lines, or one that is known by its ending; none for other words.
    fn file(&self, word: &'a str) -> Result<Option<Condition<'a>>, SelectorError<'a>> {
        let whole = |path: &'a str| {
            let is_source = SOURCES.iter().any(|ending| path.ends_with(ending));
            is_source.then_some(Condition::File { path, first: WHOLE.0, last: WHOLE.1 })
        };
        let Some((path, lines)) = word.rsplit_once(':') else { return Ok(whole(word)) };
        let is_source = SOURCES.iter().any(|ending| path.ends_with(ending));
        let has_digit = lines.starts_with(|char: char| char.is_ascii_digit());
        if path.is_empty() || path.ends_with(':') || !is_source && !has_digit {
            return Ok(None);
        }
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse::<u32>().ok()).flatten().filter(|line| *line > 0)
        };
        match number(first).zip(number(last)) {
            Some((first, last)) if first <= last => Ok(Some(Condition::File { path, first, last })),
            _ => Err(self.error(word, SelectorProblem::BadLines)),
        }
    }

    /// The name after a keyword, maybe in quotation marks.
    fn operand(&mut self, keyword: &'a str) -> Result<&'a str, SelectorError<'a>> {
        self.skip_spaces();
        if self.rest.starts_with('"') {
            return self.quoted();
        }
        let word = self.word();
        if word.is_empty() || is_and(word) {
            return Err(self.error(keyword, SelectorProblem::NoName));
        }
        let is_name = word == "*" || is_plain(word) || is_quoted(word);
        if is_name { Ok(word) } else { Err(self.error(word, SelectorProblem::BadName)) }
    }

    /// Takes `and`; false at the end.
    pub(super) fn and(&mut self) -> Result<bool, SelectorError<'a>> {
        self.skip_spaces();
        if self.rest.is_empty() {
            return Ok(false);
        }
        let rest = self.rest;
        let word = self.word();
        if is_and(word) {
            return Ok(true);
        }
        let text = if word.is_empty() { rest } else { word };
        Err(self.error(text, SelectorProblem::NoAnd))
    }

    /// Takes a text in quotation marks, with them.
    fn quoted(&mut self) -> Result<&'a str, SelectorError<'a>> {
        let start = self.rest;
        let Some((_, after)) = quoted(start) else {
            return Err(self.error(start, SelectorProblem::NoQuote));
        };
        self.rest = after;
        Ok(start.strip_suffix(after).unwrap_or(start))
    }

    /// Takes the characters up to a space or a quotation mark.
    fn word(&mut self) -> &'a str {
        let end = self.rest.find([' ', '\t', '"']);
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// The error about a part of the text; about its end, if the part is empty.
    pub(super) fn error(&self, part: &'a str, problem: SelectorProblem) -> SelectorError<'a> {
        let start = part.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
        let at = if part.is_empty() { self.text.len() - self.rest.len() } else { start };
        let before = self.text.get(..at).unwrap_or(self.text);
        SelectorError { column: before.chars().count() + 1, text: part, problem }
    }
}

fn is_and(word: &str) -> bool {
    word.eq_ignore_ascii_case("and") || word == "&&"
}

/// The id in up to 16 hexadecimal digits.
fn id(digits: &str) -> Option<u64> {
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let is_number = digits.len() <= 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_number.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

/// The levels that a word means, of which there may be none; none if it is about no level.
fn levels(word: &str) -> Option<u8> {
    let level = |text: &str| Level::ALL.into_iter().find(|it| text.eq_ignore_ascii_case(it.name()));
    let (first, last) = match word.split_once('-') {
        Some((first, last)) => (level(first)?, level(last)?),
        None => (level(word)?, Level::Wtf),
    };
    let above = levels_at_least(Some(last)) & !(1 << last.severity());
    Some(levels_at_least(Some(first)) & !above)
}
