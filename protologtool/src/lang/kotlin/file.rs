//! A Kotlin file by its tokens: brackets in pairs, package and imports.
//!
//! There is no syntax tree. A rewritten call is an expression that may stand wherever the call
//! stood, so that code around it makes no difference; and the grammar of tree-sitter reads `"$n"`
//! as text, and would add 3.4 MB to the program.

use super::lexer::{Lexeme, LexemeKind, lex};
use crate::lang::jvm::looks;
use std::borrow::Cow;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A file, or a part of one that stands alone.
#[derive(Clone, Debug)]
pub(crate) struct KotlinFile<'s> {
    pub(crate) text: &'s [u8],
    parts: Arc<FileParts>,
}

/// The parts that a text is taken apart into, which can be had again for the same text.
#[derive(Debug, Default)]
pub(crate) struct FileParts {
    /// Tokens without comments.
    pub(crate) tokens: Vec<Lexeme>,
    /// For each bracket the position of the one that it pairs with; for all else its own.
    partners: Vec<usize>,
    comments: Vec<Range<usize>>,
    pub(crate) package: String,
    pub(crate) imports: Vec<Import>,
    /// The name of the class that holds declarations outside of classes, where `@file:JvmName`
    /// gives one.
    pub(crate) jvm_name: Option<String>,
    /// The place of the first bracket without a partner.
    pub(crate) unbalanced: Option<Range<usize>>,
}

impl Deref for KotlinFile<'_> {
    type Target = FileParts;

    fn deref(&self) -> &FileParts {
        &self.parts
    }
}

/// `import path.name`, `import path.name as other`, `import path.*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    pub(crate) path: String,
    /// The name that it has here; none for all names below the path.
    pub(crate) name: Option<String>,
}

impl<'s> KotlinFile<'s> {
    pub(crate) fn of(text: &'s [u8]) -> Self {
        let all = lex(text);
        let is_comment = |token: &&Lexeme| token.kind == LexemeKind::Comment;
        let comments = all.iter().filter(is_comment).map(Lexeme::range).collect();
        let tokens: Vec<Lexeme> = all.iter().filter(|token| !is_comment(token)).copied().collect();
        let (partners, unbalanced) = pair(&tokens);
        let parts = FileParts { tokens, partners, comments, unbalanced, ..FileParts::default() };
        let mut file = Self { text, parts: Arc::new(parts) };
        let header = file.header();
        if let Some(parts) = Arc::get_mut(&mut file.parts) {
            (parts.package, parts.imports, parts.jvm_name) = header;
        }
        file
    }

    /// The file `text` with the parts that it was taken apart into.
    pub(crate) fn of_parts(text: &'s [u8], parts: Arc<FileParts>) -> Self {
        Self { text, parts }
    }

    /// Its parts.
    pub(crate) fn parts(&self) -> Arc<FileParts> {
        Arc::clone(&self.parts)
    }

    /// Reads package and imports, which come before all declarations, and the name of the class
    /// that holds the rest.
    fn header(&self) -> (String, Vec<Import>, Option<String>) {
        let (mut package, mut imports, mut jvm_name) = (String::new(), Vec::new(), None);
        let mut at = 0;
        while at < self.tokens.len() {
            match (self.kind(at), self.raw(at)) {
                (Some(LexemeKind::Punct(b'@')), _) => {
                    let end = self.after_annotation(at);
                    let name = (at..end).find(|at| self.raw(*at) == "JvmName");
                    let text =
                        name.filter(|name| self.kind(name + 3) == Some(LexemeKind::TextPart));
                    jvm_name = text.map(|at| self.raw(at + 3).to_owned()).or(jvm_name.take());
                    at = end;
                }
                (Some(LexemeKind::Punct(b';')), _) => at += 1,
                (_, "package") => (package, at) = self.dotted_after(at),
                (_, "import") => {
                    let (path, end) = self.dotted_after(at);
                    at = end;
                    let mut name = path.rsplit('.').next().map(str::to_owned);
                    if self.is_punct(at, b'.') && self.is_punct(at + 1, b'*') {
                        (name, at) = (None, at + 2);
                    } else if self.raw(at) == "as" && self.is_word(at + 1) {
                        (name, at) = (Some(self.word(at + 1).into_owned()), at + 2);
                    }
                    imports.push(Import { path, name });
                }
                _ => break,
            }
        }
        (package, imports, jvm_name)
    }

    /// The names with dots between them after the keyword at `at`, and the position behind them.
    fn dotted_after(&self, at: usize) -> (String, usize) {
        let (mut path, mut at) = (String::new(), at + 1);
        while self.is_word(at) {
            path.push_str(&self.word(at));
            at += 1;
            if self.is_punct(at, b'.') && self.is_word(at + 1) && !self.begins_line(at + 1) {
                path.push('.');
                at += 1;
            } else {
                break;
            }
        }
        (path, at)
    }

    /// The position behind the annotation whose `@` is at `at`.
    pub(crate) fn after_annotation(&self, at: usize) -> usize {
        let mut at = at + 1;
        if self.is_word(at) && self.is_punct(at + 1, b':') {
            at += 2; // The target: `@file:`.
        }
        if self.is_punct(at, b'[') {
            return self.partner(at) + 1;
        }
        while self.is_word(at) {
            at += 1;
            if self.is_punct(at, b'.') {
                at += 1;
            } else {
                break;
            }
        }
        if self.is_punct(at, b'<') {
            at = self.after_type_arguments(at).unwrap_or(at);
        }
        let is_call = self.is_punct(at, b'(') && self.touches(at);
        if is_call { self.partner(at) + 1 } else { at }
    }

    /// The position behind `<A, B<C>>` at `at`, if these can be type arguments.
    pub(crate) fn after_type_arguments(&self, at: usize) -> Option<usize> {
        let (mut depth, mut at) = (0_usize, at);
        loop {
            match self.kind(at)? {
                LexemeKind::Punct(b'<') => depth += 1,
                LexemeKind::Punct(b'-') if self.is_punct(at + 1, b'>') => at += 1,
                LexemeKind::Punct(b'>') => depth -= 1,
                LexemeKind::Punct(b'(' | b'[') => at = self.partner(at),
                LexemeKind::Word
                | LexemeKind::Punct(b'.' | b',' | b'?' | b'*' | b':' | b'&' | b'@') => {}
                _ => return None,
            }
            at += 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }

    pub(crate) fn kind(&self, at: usize) -> Option<LexemeKind> {
        looks::count(1);
        self.tokens.get(at).map(|token| token.kind)
    }

    pub(crate) fn is_punct(&self, at: usize, byte: u8) -> bool {
        self.kind(at) == Some(LexemeKind::Punct(byte))
    }

    pub(crate) fn is_word(&self, at: usize) -> bool {
        self.kind(at) == Some(LexemeKind::Word)
    }

    /// The position of the bracket that pairs with the one at `at`.
    pub(crate) fn partner(&self, at: usize) -> usize {
        self.partners.get(at).copied().unwrap_or(at)
    }

    /// The bytes of a token; empty where there is none.
    pub(crate) fn raw(&self, at: usize) -> &'s str {
        looks::count(1);
        let bytes = self.tokens.get(at).map_or(&b""[..], |token| &self.text[token.range()]);
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// The name at `at`, without backticks.
    pub(crate) fn word(&self, at: usize) -> Cow<'s, str> {
        let bytes = self.tokens.get(at).map_or(&b""[..], |token| &self.text[token.range()]);
        let bytes = bytes.strip_prefix(b"`").and_then(|it| it.strip_suffix(b"`")).unwrap_or(bytes);
        String::from_utf8_lossy(bytes)
    }

    /// Returns whether a line ends between the token at `at` and the one before it.
    pub(crate) fn begins_line(&self, at: usize) -> bool {
        at == 0 || self.gap(at).iter().any(|byte| matches!(byte, b'\n' | b'\r'))
    }

    /// Returns whether the token at `at` follows the one before it immediately.
    pub(crate) fn touches(&self, at: usize) -> bool {
        at > 0 && self.gap(at).is_empty()
    }

    fn gap(&self, at: usize) -> &'s [u8] {
        match (at.checked_sub(1).and_then(|at| self.tokens.get(at)), self.tokens.get(at)) {
            (Some(before), Some(token)) => &self.text[before.range().end..token.range().start],
            _ => b"",
        }
    }

    /// The bytes of the tokens `range`, from the first to the last.
    pub(crate) fn bytes_of(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.tokens.get(range.start).map_or(self.text.len(), |it| it.range().start);
        let last = range.end.checked_sub(1).and_then(|last| self.tokens.get(last));
        start..last.map_or(start, |last| last.range().end.max(start))
    }

    /// The names of tokens that are nothing but names with dots between them; parentheses around
    /// them don't count.
    pub(crate) fn path(&self, tokens: Range<usize>) -> Option<Vec<String>> {
        let tokens = self.unparenthesized(tokens);
        let is_path = tokens.len() % 2 == 1
            && tokens.clone().enumerate().all(|(number, at)| {
                if number % 2 == 0 { self.is_word(at) } else { self.is_punct(at, b'.') }
            });
        is_path.then(|| tokens.step_by(2).map(|at| self.word(at).into_owned()).collect())
    }

    /// The tokens within any parentheses around all of them.
    pub(crate) fn unparenthesized(&self, mut tokens: Range<usize>) -> Range<usize> {
        while tokens.len() > 2
            && self.is_punct(tokens.start, b'(')
            && self.partner(tokens.start) == tokens.end - 1
        {
            tokens = tokens.start + 1..tokens.end - 1;
        }
        tokens
    }

    /// The elements between the brackets at `open` and its partner, as ranges of tokens. A comma at
    /// the end adds none.
    pub(crate) fn elements(&self, open: usize) -> Vec<Range<usize>> {
        let close = self.partner(open);
        let (mut found, mut from, mut at) = (Vec::new(), open + 1, open + 1);
        while at < close {
            if self.is_punct(at, b',') {
                found.push(from..at);
                from = at + 1;
            }
            at = self.next(at, close);
        }
        if from < close {
            found.push(from..close);
        }
        found
    }

    /// The position behind the token at `at`, or behind the brackets or type arguments that it
    /// opens.
    pub(crate) fn next(&self, at: usize, end: usize) -> usize {
        if self.is_punct(at, b'<')
            && at > 0
            && self.is_word(at - 1)
            && let Some(after) = self.after_type_arguments(at)
            && after <= end
            && matches!(self.kind(after), Some(LexemeKind::Punct(byte)) if b"()[]{}:;,.?=!&|".contains(&byte))
        {
            return after;
        }
        self.partner(at).max(at) + 1
    }

    /// Comments and line ends of bytes that are replaced: they stay, so that no line moves.
    pub(crate) fn kept(&self, range: Range<usize>) -> String {
        let mut kept = String::new();
        let mut at = range.start;
        let first = self.comments.partition_point(|comment| comment.start < range.start);
        let within = self.comments[first..].iter().take_while(|comment| comment.end <= range.end);
        for comment in within {
            keep_line_ends(&self.text[at..comment.start], &mut kept);
            kept.push(' ');
            kept.push_str(&String::from_utf8_lossy(&self.text[comment.clone()]));
            at = comment.end;
        }
        keep_line_ends(&self.text[at..range.end.max(at)], &mut kept);
        kept
    }
}

fn keep_line_ends(text: &[u8], kept: &mut String) {
    for end in crate::source::line_ends(text) {
        // A line end that was cut off from a carriage return before it must not become one with it.
        if kept.ends_with('\r') && &text[end.clone()] == b"\n" {
            kept.push(' ');
        }
        kept.push_str(&String::from_utf8_lossy(&text[end]));
    }
}

/// The partners of all brackets, and the first that has none.
fn pair(tokens: &[Lexeme]) -> (Vec<usize>, Option<Range<usize>>) {
    let mut partners: Vec<usize> = (0..tokens.len()).collect();
    let (mut open, mut unbalanced) = (Vec::new(), None);
    for (at, token) in tokens.iter().enumerate() {
        let opener = match token.kind {
            LexemeKind::Punct(b'(' | b'[' | b'{')
            | LexemeKind::TextOpen { .. }
            | LexemeKind::ExpressionOpen => {
                open.push(at);
                continue;
            }
            LexemeKind::Punct(b')') => LexemeKind::Punct(b'('),
            LexemeKind::Punct(b']') => LexemeKind::Punct(b'['),
            LexemeKind::Punct(b'}') => LexemeKind::Punct(b'{'),
            LexemeKind::ExpressionClose => LexemeKind::ExpressionOpen,
            LexemeKind::TextClose => LexemeKind::TextOpen { is_raw: true },
            _ => continue,
        };
        // Of a text that its line does not close, no bracket is a partner.
        if !matches!(token.kind, LexemeKind::TextClose) {
            while let Some(text) = open.pop_if(|at| is_text_open(tokens, *at)) {
                unbalanced.get_or_insert(tokens[text].range());
            }
        }
        let is_partner = |at: &usize| {
            let is_closed = token.kind == LexemeKind::TextClose && is_text_open(tokens, *at);
            tokens[*at].kind == opener || is_closed
        };
        match open.pop_if(|at| is_partner(at)) {
            Some(first) => (partners[first], partners[at]) = (at, first),
            None => {
                unbalanced.get_or_insert(token.range());
            }
        }
    }
    let text = open.iter().find(|at| is_text_open(tokens, **at));
    let never_closed = text.or(open.first()).map(|at| tokens[*at].range());
    (partners, unbalanced.or(never_closed))
}

fn is_text_open(tokens: &[Lexeme], at: usize) -> bool {
    matches!(tokens[at].kind, LexemeKind::TextOpen { .. })
}
