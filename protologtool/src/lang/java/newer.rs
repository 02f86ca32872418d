//! Syntax of Java that tree-sitter's grammar does not read, as the blanks that make it readable.
//!
//! ```text
//! case S.P(final var x, @A int y), S.Q(_) -> …     is read as     case   P(      var x,    int y)         -> …
//! catch (IOException | @A SQLException e)                         catch (IOException |    SQLException e)
//! void f(int @A ... x)                                            void f(int    ... x)
//! <String>super(x);                                                        super(x);
//! (A & B) (C) x                                                   (A    ) (C) x
//! record: for (;;) break record;                                  ______: for (;;) break ______;
//! (x) += 1;                                                        x  += 1;
//! ```
//!
//! The names that a pattern declares stay: of several patterns in a label none declares any, so the
//! first is enough. The blanked tokens have no part in the meaning of any name.

use super::lexer::TokenKind;
use super::unit::Unit;
use std::ops::Range;

/// Bytes to put others in the place of, for the parser.
#[derive(Default)]
pub(super) struct Masked {
    /// These become spaces.
    pub(super) blanks: Vec<Range<usize>>,
    /// These become a name that the grammar has no use for.
    pub(super) names: Vec<Range<usize>>,
}

/// The parts to mask in the tokens `tokens` of a file.
pub(super) fn masked(unit: &Unit<'_>, tokens: Range<usize>) -> Masked {
    let names = tokens.clone().filter_map(|at| label(unit, at)).collect();
    Masked { blanks: blanks(unit, tokens), names }
}

/// The words that are keywords in some places, and names in all others.
const KEYWORDS_IN_PLACES: [&str; 15] = [
    "exports",
    "module",
    "open",
    "opens",
    "permits",
    "provides",
    "record",
    "requires",
    "sealed",
    "to",
    "transitive",
    "uses",
    "when",
    "with",
    "yield",
];

const ASSIGNMENTS: [&str; 12] =
    ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ">>>="];

/// The label at this token, declared or named by `break` or `continue`, if its name means something
/// in other places; or `this` as a resource.
fn label(unit: &Unit<'_>, at: usize) -> Option<Range<usize>> {
    let word = |at: usize| unit.tokens.get(at).filter(|it| it.kind == TokenKind::Word);
    let range = word(at)?.range();
    let is_after = |offset: usize, what: &[u8]| {
        let before = at.checked_sub(offset).map(|at| unit.tokens[at].range());
        before.is_some_and(|before| unit.text()[before] == *what)
    };
    if unit.str(&range) == "this" {
        return (is_after(1, b"(") && is_after(2, b"try")).then_some(range);
    }
    if !KEYWORDS_IN_PLACES.contains(&unit.str(&range)) {
        return None;
    }
    let is_label = unit.tokens.get(at + 1)?.kind == TokenKind::Punct(b':');
    (is_label || is_after(1, b"break") || is_after(1, b"continue")).then_some(range)
}

/// The bytes to blank in the tokens `tokens` of a file.
fn blanks(unit: &Unit<'_>, tokens: Range<usize>) -> Vec<Range<usize>> {
    let mut reader = PatternReader { unit, end: tokens.end, blanks: Vec::new() };
    for at in tokens {
        match unit.tokens[at].kind {
            TokenKind::Punct(b'@') => reader.before_ellipsis(at),
            TokenKind::Punct(b'(') => {
                reader.intersection(at);
                reader.assigned(at);
            }
            TokenKind::Word => match reader.word(at) {
                "case" => reader.label(at + 1),
                "instanceof" => _ = reader.whole_pattern(at + 1),
                "super" | "this" if reader.is(at + 1, b'(') => reader.before_constructor(at),
                "catch" if reader.is(at + 1, b'(') => reader.alternatives(at + 1),
                _ => {}
            },
            _ => {}
        }
    }
    reader.blanks
}

struct PatternReader<'u, 's> {
    unit: &'u Unit<'s>,
    end: usize,
    blanks: Vec<Range<usize>>,
}

impl PatternReader<'_, '_> {
    /// Blanks all but the first of the patterns of a label.
    fn label(&mut self, at: usize) {
        let Some(mut at) = self.whole_pattern(at) else { return };
        while self.is(at, b',') {
            let known = self.blanks.len();
            let Some(after) = self.whole_pattern(at + 1) else { return };
            self.blanks.truncate(known);
            self.blank(at..after);
            at = after;
        }
    }

    /// The token after the pattern at `at`; nothing is blanked if there is none.
    fn whole_pattern(&mut self, at: usize) -> Option<usize> {
        let known = self.blanks.len();
        let after = self.pattern(at);
        if after.is_none() {
            self.blanks.truncate(known);
        }
        after
    }

    fn pattern(&mut self, at: usize) -> Option<usize> {
        let first = self.after_modifiers(at);
        self.blank(at..first);
        if self.word(first) == "_" {
            return Some(first + 1);
        }
        let (name, after) = self.type_name(first)?;
        if self.is(after, b'(') {
            self.blank(first..name);
            return self.components(after);
        }
        let is_named = self.is_word(after) && !matches!(self.word(after), "when" | "instanceof");
        is_named.then_some(after + 1)
    }

    /// The token after the components of a record whose parentheses open at `open`.
    fn components(&mut self, open: usize) -> Option<usize> {
        let mut at = open + 1;
        while !self.is(at, b')') {
            at = self.pattern(at)?;
            if self.is(at, b',') {
                at += 1;
            } else if !self.is(at, b')') {
                return None;
            }
        }
        Some(at + 1)
    }

    /// Blanks annotations before alternatives of a `catch` but the first.
    fn alternatives(&mut self, open: usize) {
        let close = self.unit.partners[open] as usize;
        for at in open..close.min(self.end) {
            if self.is(at, b'|') {
                let after = self.after_modifiers(at + 1);
                self.blank(at + 1..after);
            }
        }
    }

    /// Blanks all but the first type of the cast whose parentheses open at `open`, if another
    /// parenthesis follows, which no expression has behind its own.
    fn intersection(&mut self, open: usize) {
        let close = self.unit.partners[open] as usize;
        if close >= self.end || !self.is(close + 1, b'(') {
            return;
        }
        let after = self.type_name(self.after_modifiers(open + 1)).map(|(_, after)| after);
        if let Some(after) = after.filter(|after| self.is(*after, b'&')) {
            self.blank(after..close);
        }
    }

    /// Blanks the parentheses that open at `open` if the expression in them is assigned to.
    fn assigned(&mut self, mut open: usize) {
        let mut close = self.unit.partners[open] as usize;
        let after = close + 1;
        let follows = |operator: &&str| {
            operator.bytes().enumerate().all(|(at, byte)| self.is(after + at, byte))
        };
        let is_compared = self.is(after, b'=') && self.is(after + 1, b'=');
        if is_compared || !ASSIGNMENTS.iter().any(follows) {
            return;
        }
        loop {
            self.blank(open..open + 1);
            self.blank(close..close + 1);
            (open, close) = (open + 1, close - 1);
            if !self.is(open, b'(') || self.unit.partners[open] as usize != close {
                return;
            }
        }
    }

    /// Blanks the annotations at `at` if they stand before the dots of a parameter.
    fn before_ellipsis(&mut self, at: usize) {
        let after = self.after_modifiers(at);
        if (after..after + 3).all(|dot| self.is(dot, b'.')) {
            self.blank(at..after);
        }
    }

    /// Blanks the type arguments of the constructor call whose `super` or `this` is at `at`.
    fn before_constructor(&mut self, at: usize) {
        let mut open = at;
        while open > 0
            && !matches!(self.unit.tokens[open - 1].kind, TokenKind::Punct(b';' | b'{' | b'}'))
        {
            open -= 1;
        }
        if self.is(open, b'<') && self.after_type_arguments(open) == Some(at) {
            self.blank(open..at);
        }
    }

    /// The last simple name of the type at `at`, and the token after the type.
    fn type_name(&self, at: usize) -> Option<(usize, usize)> {
        let mut name = at;
        let mut after = self.after_type_arguments(self.is_word(name).then_some(name + 1)?)?;
        while self.is(after, b'.') {
            name = self.after_modifiers(after + 1);
            after = self.after_type_arguments(self.is_word(name).then_some(name + 1)?)?;
        }
        loop {
            let dimension = self.after_modifiers(after);
            if !self.is(dimension, b'[') || !self.is(dimension + 1, b']') {
                return Some((name, after));
            }
            after = dimension + 2;
        }
    }

    fn after_type_arguments(&self, at: usize) -> Option<usize> {
        if !self.is(at, b'<') {
            return Some(at);
        }
        let (mut at, mut depth) = (at, 0_usize);
        while at < self.end {
            match self.unit.tokens[at].kind {
                TokenKind::Punct(b'<') => depth += 1,
                TokenKind::Punct(b'>') => depth -= 1,
                TokenKind::Punct(b'@') => at = self.after_modifiers(at) - 1,
                TokenKind::Punct(b'.' | b',' | b'?' | b'&' | b'[' | b']') | TokenKind::Word => {}
                _ => return None,
            }
            at += 1;
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }

    /// The first token from `at` on that is neither `final` nor of an annotation.
    fn after_modifiers(&self, mut at: usize) -> usize {
        loop {
            if self.word(at) == "final" {
                at += 1;
            } else if self.is(at, b'@') && self.is_word(at + 1) {
                at += 2;
                while self.is(at, b'.') && self.is_word(at + 1) {
                    at += 2;
                }
                if self.is(at, b'(') {
                    at = self.unit.partners[at] as usize + 1;
                }
            } else {
                return at;
            }
        }
    }

    /// Blanks these tokens, and the bytes between them.
    fn blank(&mut self, tokens: Range<usize>) {
        if tokens.start < tokens.end {
            let all = &self.unit.tokens[tokens];
            self.blanks.push(all[0].range().start..all[all.len() - 1].range().end);
        }
    }

    fn is(&self, at: usize, punct: u8) -> bool {
        at < self.end && self.unit.tokens[at].kind == TokenKind::Punct(punct)
    }

    fn is_word(&self, at: usize) -> bool {
        at < self.end && self.unit.tokens[at].kind == TokenKind::Word
    }

    /// The text of a word; empty for every other token and beyond the end.
    fn word(&self, at: usize) -> &str {
        if self.is_word(at) { self.unit.str(&self.unit.tokens[at].range()) } else { "" }
    }
}
