//! The value of a template: constant text, and between it expressions whose values belong there.
//!
//! ```text
//! "size=$n of ${host.name}"  ->  text `size=`, expression `n`, text ` of `, expression `host.name`
//! "a" + TAG                  ->  text `a…`, if `TAG` is a `const val` of one of the sources
//! ```

use super::lexer::LexemeKind;
use super::names::ScopedFile;
use super::scopes::{DeclaredKind, DeclaredName};
use crate::call::Text;
use std::ops::Range;

/// A part of a template.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(Text),
    /// The tokens of an expression.
    Expression(Range<usize>),
}

/// A template that has no value: the bytes that have none, why, and a remedy.
#[derive(Clone, Debug)]
pub(crate) struct NoTemplate {
    pub(crate) range: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: String,
}

/// The limit on sums in parentheses and on texts in texts. Deeper ones are no constants.
const MAX_NESTING: usize = 64;

/// The parts of the template that the tokens `tokens` give; texts next to each other are one.
pub(crate) fn pieces(
    named: &ScopedFile<'_>,
    tokens: Range<usize>,
) -> Result<Vec<Piece>, NoTemplate> {
    let mut reader = TemplateReader { named, pieces: Vec::new(), nesting: 0, needed: Vec::new() };
    named.effort.begin();
    reader.sum(tokens, 0)?;
    Ok(reader.pieces)
}

/// The text of these tokens, if it is a constant.
pub(super) fn constant_text(named: &ScopedFile<'_>, tokens: &Range<usize>) -> Option<String> {
    let texts = pieces(named, tokens.clone()).ok()?.into_iter().map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str().to_owned()),
        Piece::Expression(_) => None,
    });
    texts.collect::<Option<Vec<_>>>().map(|texts| texts.concat())
}

/// The text of the constant `declared` of a file, whose name stands at `depth`.
pub(crate) fn constant(
    named: &ScopedFile<'_>,
    declared: &DeclaredName,
    depth: usize,
) -> Option<Text> {
    let reader = TemplateReader { named, pieces: Vec::new(), nesting: 0, needed: Vec::new() };
    reader.declared(declared, depth)
}

struct TemplateReader<'n, 's> {
    named: &'n ScopedFile<'s>,
    pieces: Vec<Piece>,
    /// Sums and texts around the expression that is read.
    nesting: usize,
    /// The constants whose values are being read, by offset.
    needed: Vec<usize>,
}

impl<'s> TemplateReader<'_, 's> {
    fn push(&mut self, char: char, offset: usize) {
        if let Some(Piece::Text(text)) = self.pieces.last_mut() {
            return text.push(char, offset);
        }
        let mut text = Text::default();
        text.push(char, offset);
        self.pieces.push(Piece::Text(text));
    }

    /// A reader of a nested expression.
    fn within(&self) -> Self {
        let (named, needed) = (self.named, self.needed.clone());
        Self { named, pieces: Vec::new(), nesting: self.nesting, needed }
    }

    fn append(&mut self, piece: Piece) {
        match (self.pieces.last_mut(), piece) {
            (Some(Piece::Text(text)), Piece::Text(more)) => text.append(more),
            (_, piece) => self.pieces.push(piece),
        }
    }

    /// Operands with `+` between them, of which the first must be a text.
    fn sum(&mut self, tokens: Range<usize>, depth: usize) -> Result<(), NoTemplate> {
        let file = &self.named.file;
        self.nesting += 1;
        let effort = &self.named.effort;
        if self.nesting > MAX_NESTING {
            return Err(self.too_deep(tokens));
        }
        if !effort.reach(depth) || !effort.spend(1) {
            return Err(self.too_long(tokens));
        }
        let tokens = file.unparenthesized(tokens);
        let (mut at, mut from, mut is_first) = (tokens.start, tokens.start, true);
        while at <= tokens.end {
            if at == tokens.end || file.is_punct(at, b'+') && at > from {
                self.operand(from..at, depth + 1, is_first)?;
                (from, is_first) = (at + 1, false);
            }
            at = if at < tokens.end { file.next(at, tokens.end) } else { at + 1 };
        }
        self.nesting -= 1;
        Ok(())
    }

    fn operand(
        &mut self,
        tokens: Range<usize>,
        depth: usize,
        is_first: bool,
    ) -> Result<(), NoTemplate> {
        let file = &self.named.file;
        let at = tokens.start;
        match file.kind(at) {
            Some(LexemeKind::Punct(b'(')) if file.partner(at) + 1 == tokens.end => {
                self.sum(tokens, depth)
            }
            Some(LexemeKind::TextOpen { is_raw }) => {
                let close = file.partner(at);
                if close + 1 < tokens.end {
                    return Err(self.computed(close + 1..tokens.end));
                }
                self.text(at + 1..close, is_raw, depth)
            }
            Some(LexemeKind::Char | LexemeKind::Number) if tokens.len() == 1 && !is_first => {
                self.literal(at)
            }
            Some(LexemeKind::Word) => self.constant(tokens, depth),
            _ => Err(self.not_constant(tokens)),
        }
    }

    /// The parts between the quotes of a text.
    fn text(&mut self, tokens: Range<usize>, is_raw: bool, depth: usize) -> Result<(), NoTemplate> {
        let file = &self.named.file;
        let mut at = tokens.start;
        // An empty text is a text.
        if self.pieces.is_empty() {
            self.pieces.push(Piece::Text(Text::default()));
        }
        while at < tokens.end {
            let range = file.tokens[at].range();
            match file.kind(at) {
                Some(LexemeKind::TextPart) if is_raw => self.raw(range)?,
                Some(LexemeKind::TextPart) => self.escaped(range)?,
                Some(LexemeKind::Reference) => {
                    self.value(at + 1..at + 2, depth);
                    at += 1;
                }
                Some(LexemeKind::ExpressionOpen) => {
                    self.value(at + 1..file.partner(at), depth);
                    at = file.partner(at);
                }
                _ => {}
            }
            at += 1;
        }
        Ok(())
    }

    /// An expression in a text: its constant value, or itself.
    fn value(&mut self, tokens: Range<usize>, depth: usize) {
        let inner = self.named.file.unparenthesized(tokens.clone());
        let kind = self.named.file.kind(inner.start);
        let is_literal = matches!(
            kind,
            Some(LexemeKind::TextOpen { .. } | LexemeKind::Char | LexemeKind::Number)
        );
        let is_path = self.named.file.path(inner.clone()).is_some();
        // A text that is too deep is an expression as well.
        if (is_literal || is_path) && self.nesting < MAX_NESTING && !self.named.effort.is_over() {
            let mut reader = self.within();
            reader.nesting += 1;
            if reader.operand(inner, depth + 1, false).is_ok() {
                reader.pieces.into_iter().for_each(|piece| self.append(piece));
                return;
            }
        }
        self.pieces.push(Piece::Expression(tokens));
    }

    fn raw(&mut self, range: Range<usize>) -> Result<(), NoTemplate> {
        let text = self.utf_8(range.clone())?;
        let mut chars = text.char_indices().peekable();
        while let Some((at, char)) = chars.next() {
            // The compiler has line feeds at the ends of all lines.
            if char == '\r' {
                if chars.peek().is_none_or(|(_, next)| *next != '\n') {
                    self.push('\n', range.start + at);
                }
            } else {
                self.push(char, range.start + at);
            }
        }
        Ok(())
    }

    fn escaped(&mut self, range: Range<usize>) -> Result<(), NoTemplate> {
        let text = self.utf_8(range.clone())?;
        let mut at = 0;
        while let Some(char) = text[at..].chars().next() {
            let offset = range.start + at;
            if char != '\\' {
                self.push(char, offset);
                at += char.len_utf8();
                continue;
            }
            let Some((char, length)) = escape(&text[at..]) else {
                return Err(NoTemplate {
                    range: offset..(offset + 2).min(range.end),
                    message: "the template has an escape that is none".to_owned(),
                    help: r"write `\\` for a backslash".to_owned(),
                });
            };
            self.push(char, offset);
            at += length;
        }
        Ok(())
    }

    fn utf_8(&self, range: Range<usize>) -> Result<&'s str, NoTemplate> {
        let text: &'s [u8] = self.named.file.text;
        std::str::from_utf8(&text[range.clone()]).map_err(|_| NoTemplate {
            range,
            message: "the template is no UTF-8".to_owned(),
            help: "convert the file to UTF-8".to_owned(),
        })
    }

    /// A character or a whole number, as `+` and `${…}` make text of it.
    fn literal(&mut self, at: usize) -> Result<(), NoTemplate> {
        let (range, raw) = (self.named.file.tokens[at].range(), self.named.file.raw(at));
        if let Some(inner) = raw.strip_prefix('\'') {
            let inner = inner.strip_suffix('\'').unwrap_or(inner);
            let char = match escape(inner) {
                Some((char, length)) if length == inner.len() => Some(char),
                _ if inner.chars().count() == 1 && inner != "\\" => inner.chars().next(),
                _ => None,
            };
            let char = char.ok_or_else(|| self.not_constant(at..at + 1))?;
            self.push(char, range.start);
            return Ok(());
        }
        let digits = raw.replace('_', "");
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit())
            && (digits == "0" || !digits.starts_with('0'));
        if !is_plain {
            return Err(self.not_constant(at..at + 1));
        }
        digits.chars().for_each(|char| self.push(char, range.start));
        Ok(())
    }

    /// A `const val`.
    fn constant(&mut self, tokens: Range<usize>, depth: usize) -> Result<(), NoTemplate> {
        let (file, scopes) = (&self.named.file, &self.named.scopes);
        let error = || {
            let is_over = self.named.effort.is_over();
            if is_over { self.too_long(tokens.clone()) } else { self.not_constant(tokens.clone()) }
        };
        let path = file.path(tokens.clone()).ok_or_else(error)?;
        let bytes = file.bytes_of(&tokens);
        if let Some(text) = self.of_another_file(&path, bytes.start, depth) {
            text.chars().for_each(|char| self.push(char, bytes.start));
            return Ok(());
        }
        let found = match &path[..] {
            [name] => scopes.variable(name, bytes.start),
            [.., owner, companion, name] if companion == "Companion" => {
                scopes.constant_of(owner, name)
            }
            [.., owner, name] => scopes.constant_of(owner, name),
            [] => None,
        };
        let declared = found.filter(|it| it.kind == DeclaredKind::Constant).ok_or_else(error)?;
        let text = self.declared(declared, depth).ok_or_else(error)?;
        if !self.named.effort.spend(text.as_str().len()) {
            return Err(self.too_long(tokens));
        }
        text.as_str().chars().for_each(|char| self.push(char, bytes.start));
        Ok(())
    }

    /// The value of the constant that `path` means, unless its first name is of this file.
    fn of_another_file(&self, path: &[String], offset: usize, depth: usize) -> Option<String> {
        let (others, scopes) = (self.named.others?, &self.named.scopes);
        let first = path.first()?;
        if scopes.variable(first, offset).is_some()
            || scopes.type_named(first, offset).is_some()
            || self.named.inherits(first, offset)
        {
            return None;
        }
        let mut names = self.named.elsewhere(path).into_iter();
        names.find_map(|name| others.constant(&name, depth, &self.named.effort))
    }

    /// The text of the constant `declared`, whose name stands at `depth`.
    fn declared(&self, declared: &DeclaredName, depth: usize) -> Option<Text> {
        let file = &self.named.file;
        // It may need its own value.
        let value = declared.value.clone().filter(|_| !self.needed.contains(&declared.offset))?;
        // All of it is read, whether it has a value or not.
        if !self.named.effort.spend(file.bytes_of(&value).len()) {
            return None;
        }
        let value = file.unparenthesized(value);
        let mut inner = self.within();
        inner.needed.push(declared.offset);
        // The depth counts on.
        inner.nesting = 0;
        let is_number = value.len() == 1
            && matches!(file.kind(value.start), Some(LexemeKind::Number | LexemeKind::Char));
        let done = if is_number { inner.literal(value.start) } else { inner.sum(value, depth + 1) };
        done.ok()?;
        let mut text = Text::default();
        for piece in inner.pieces {
            let Piece::Text(part) = piece else { return None };
            text.append(part);
        }
        Some(text)
    }

    fn not_constant(&self, tokens: Range<usize>) -> NoTemplate {
        let range = self.named.file.bytes_of(&tokens);
        let text = String::from_utf8_lossy(&self.named.file.text[range.clone()]).into_owned();
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown: String = text.chars().take(40).collect();
        NoTemplate {
            range,
            message: format!("the template is not a constant: `{shown}` is not known when the tool runs"),
            help: "write the text as a literal or a `const val` of the sources, and pass what varies as arguments, or as `$name` within the literal".to_owned(),
        }
    }

    fn too_deep(&self, tokens: Range<usize>) -> NoTemplate {
        NoTemplate {
            range: self.named.file.bytes_of(&tokens),
            message: "the template is nested too deeply to be read".to_owned(),
            help: "write the text as one literal".to_owned(),
        }
    }

    fn too_long(&self, tokens: Range<usize>) -> NoTemplate {
        NoTemplate {
            range: self.named.file.bytes_of(&tokens),
            message: "the template needs too many constants, or is too long".to_owned(),
            help: "write the text as one literal; a constant can't need its own value".to_owned(),
        }
    }

    /// The error for a call on a literal, such as `.trimIndent()`.
    fn computed(&self, tokens: Range<usize>) -> NoTemplate {
        let range = self.named.file.bytes_of(&tokens);
        let text = String::from_utf8_lossy(&self.named.file.text[range.clone()]).into_owned();
        NoTemplate {
            range,
            message: format!(
                "the template is not a constant: `{text}` is computed when the program runs"
            ),
            help: "write the text as it is to be logged".to_owned(),
        }
    }
}

/// The character that an escape at the start of `text` stands for, and its length.
fn escape(text: &str) -> Option<(char, usize)> {
    let mut chars = text.strip_prefix('\\')?.chars();
    let char = match chars.next()? {
        't' => '\t',
        'b' => '\u{8}',
        'n' => '\n',
        'r' => '\r',
        char @ ('\'' | '"' | '\\' | '$') => char,
        'u' => {
            let unit = |text: &str| {
                let digits = text.strip_prefix("\\u")?.get(..4)?;
                let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                is_hexadecimal.then(|| u16::from_str_radix(digits, 16).ok())?
            };
            let first = unit(text)?;
            let second = text.get(6..).and_then(unit);
            let units = [first, second.unwrap_or_default()];
            return match char::decode_utf16(units).next()? {
                Ok(char) => Some((char, if char.len_utf16() == 2 { 12 } else { 6 })),
                Err(_) => None,
            };
        }
        _ => return None,
    };
    Some((char, 2))
}
