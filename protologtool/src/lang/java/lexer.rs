//! Java tokens, comments included, without a tree.
//!
//! Enough to find the package, brackets and comments. Total: every byte sequence has tokens; an
//! unfinished token ends where its line or the text ends.

use std::ops::Range;

/// A token. Small, since files have very many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    start: u32,
    end: u32,
}

impl Token {
    /// Makes a token of these bytes.
    pub(crate) fn new(kind: TokenKind, range: Range<usize>) -> Self {
        Self { kind, start: range.start as u32, end: range.end as u32 }
    }

    /// Its bytes.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Identifier, keyword or number.
    Word,
    /// String, text block or character.
    Literal,
    /// Either kind.
    Comment,
    /// A single byte of punctuation.
    Punct(u8),
}

/// The tokens of `text`, in order; of a text beyond the parser's limit of 4 GiB those before it.
pub(crate) fn tokens(text: &[u8]) -> Tokens<'_> {
    tokens_from(text, 0)
}

/// Those that begin at `at` or later, where no token may be underway.
pub(crate) fn tokens_from(text: &[u8], at: usize) -> Tokens<'_> {
    let text = &text[..text.len().min(u32::MAX as usize)];
    let at = if at == 0 && text.starts_with(b"\xef\xbb\xbf") { 3 } else { at };
    Tokens { text, at }
}

/// Iterator over [`Token`]s.
#[derive(Clone, Debug)]
pub(crate) struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.at += length_of(Class::Space, &self.text[self.at..]);
        let start = self.at;
        let rest = &self.text[start..];
        let (kind, length) = match rest.first()? {
            b'/' if rest.starts_with(b"//") => (TokenKind::Comment, line_length(rest)),
            b'/' if rest.starts_with(b"/*") => (TokenKind::Comment, block_comment_length(rest)),
            b'"' if rest.starts_with(b"\"\"\"") => (TokenKind::Literal, text_block_length(rest)),
            quote @ (b'"' | b'\'') => (TokenKind::Literal, quoted_length(rest, *quote)),
            byte if is_word(*byte) => (TokenKind::Word, length_of(Class::Word, rest)),
            byte => (TokenKind::Punct(*byte), 1),
        };
        self.at += length;
        Some(Token { kind, start: start as u32, end: self.at as u32 })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Word,
    Other,
}

/// The class of each byte; a table, since every byte of every file with calls is looked up.
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | 0x1a => Class::Space,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | b'\\' | 0x80.. => Class::Word,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

fn length_of(class: Class, rest: &[u8]) -> usize {
    rest.iter().position(|byte| CLASSES[*byte as usize] != class).unwrap_or(rest.len())
}

/// Returns whether `byte` can be part of an identifier; a backslash can, as `\u0061`.
pub(crate) fn is_word(byte: u8) -> bool {
    CLASSES[byte as usize] == Class::Word
}

fn line_length(rest: &[u8]) -> usize {
    memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())
}

fn block_comment_length(rest: &[u8]) -> usize {
    // Not a search for both bytes: most comments are too short to pay for setting one up.
    let end = memchr::memchr_iter(b'/', rest).find(|at| *at > 2 && rest[at - 1] == b'*');
    end.map_or(rest.len(), |at| at + 1)
}

fn quoted_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\n' | b'\r' => return at,
            // An escaped character can't be a line end: the literal is unfinished then.
            b'\\' if !matches!(rest.get(at + 1), Some(b'\n' | b'\r')) => at += 2,
            byte if *byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn text_block_length(rest: &[u8]) -> usize {
    let mut at = 3;
    while let Some(found) = rest.get(at..).and_then(|rest| memchr::memchr2(b'\\', b'"', rest)) {
        at += found;
        match rest[at] {
            b'\\' => at += 2,
            _ if rest[at..].starts_with(b"\"\"\"") => return at + 3,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The text without comments and white space.
pub(crate) fn compact(text: &[u8]) -> String {
    tokens(text)
        .filter(|token| token.kind != TokenKind::Comment)
        .map(|token| String::from_utf8_lossy(&text[token.range()]).into_owned())
        .collect()
}

/// The package that a compilation unit declares; empty for none.
pub(crate) fn package(text: &[u8]) -> String {
    let mut tokens = tokens(text).filter(|token| token.kind != TokenKind::Comment).peekable();
    // Annotations may come before, with arguments; nothing else may, so the first word that is no
    // annotation decides.
    while let Some(token) = tokens.next() {
        match (token.kind, &text[token.range()]) {
            (TokenKind::Punct(b'@'), _) => skip_annotation(&mut tokens, text),
            (TokenKind::Punct(b';'), _) => {}
            (TokenKind::Word, b"package") => {
                let path = tokens.take_while(|token| token.kind != TokenKind::Punct(b';'));
                return path.fold(String::new(), |mut name, token| {
                    name.push_str(&String::from_utf8_lossy(&text[token.range()]));
                    name
                });
            }
            _ => break,
        }
    }
    String::new()
}

fn skip_annotation(tokens: &mut std::iter::Peekable<impl Iterator<Item = Token>>, text: &[u8]) {
    let mut name_may_follow = true;
    while let Some(token) = tokens.peek() {
        match token.kind {
            TokenKind::Word if name_may_follow && &text[token.range()] != b"package" => {
                name_may_follow = false;
            }
            TokenKind::Punct(b'.') => name_may_follow = true,
            TokenKind::Punct(b'(') => break,
            _ => return,
        }
        tokens.next();
    }
    let mut depth = 0_usize;
    for token in tokens {
        match token.kind {
            TokenKind::Punct(b'(') => depth += 1,
            TokenKind::Punct(b')') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_comments_are_single_tokens() {
        let text = br#"a("x\"y", '"', """
            " \""" "z" """, /* ) */ 'c' // end
            )"#;
        let kinds: Vec<_> = tokens(text).map(|token| token.kind).collect();
        use TokenKind::{Comment, Literal, Punct, Word};
        let comma = Punct(b',');
        let expected = [
            Word,
            Punct(b'('),
            Literal,
            comma,
            Literal,
            comma,
            Literal,
            comma,
            Comment,
            Literal,
            Comment,
            Punct(b')'),
        ];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn packages_are_read_without_a_tree() {
        for (text, expected) in [
            ("package com.foo;\nclass A {}", "com.foo"),
            (
                "/* package no; */ // package no\n@Deprecated(since = \"a;b\") @a.B package com . foo ;",
                "com.foo",
            ),
            ("\u{feff}package x;", "x"),
            ("import a.b; class A { String s = \"package x;\"; }", ""),
            ("", ""),
        ] {
            assert_eq!(package(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn comments_and_spaces_are_left_out() {
        assert_eq!(compact(b"A /* x */ .\n B"), "A.B");
    }
}
