//! A file as trees of tokens, and where in the file each token stands.
//!
//! Offsets that the lexer gives count from the end of a byte order mark and a `#!` line, which it
//! does not know; here that is put right. Line ends and comments are between tokens, so that taking
//! tokens away leaves them.

use crate::source::{Source, line_ends};
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use std::ops::Range;
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

/// Deeper groups are not looked into: reading them would need a larger stack.
pub(crate) const MAX_DEPTH: usize = 200;

/// Why a file has no tokens.
#[derive(Debug)]
pub(crate) struct LexError {
    /// Where, in the file.
    pub(crate) range: Range<usize>,
    pub(crate) message: String,
}

/// The tokens of one file, and the way from spans to bytes.
#[derive(Debug)]
pub(crate) struct FileTokens {
    pub(crate) trees: Vec<TokenTree>,
    pub(crate) spans: Spans,
}

/// From spans to bytes of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spans {
    /// Bytes before the text that the lexer was given.
    before: usize,
}

impl FileTokens {
    /// The tokens of a file. Their spans are good until [`forget`].
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, LexError> {
        let text = std::str::from_utf8(bytes).map_err(|error| LexError {
            range: error.valid_up_to()..error.valid_up_to() + 1,
            message: "this byte is not UTF-8".to_owned(),
        })?;
        let before = header(text);
        let spans = Spans { before };
        match text[before..].parse::<TokenStream>() {
            Ok(stream) if is_nfc(text) => Ok(Self { trees: stream.into_iter().collect(), spans }),
            Ok(stream) => {
                let trees: Vec<TokenTree> = stream.clone().into_iter().collect();
                // Nobody looks into what is deeper, and names there stay as they are.
                let is_deep = deep_group(&trees).is_some();
                Ok(Self {
                    trees: if is_deep { trees } else { normalised(stream).collect() },
                    spans,
                })
            }
            Err(error) => {
                let start = spans.range(error.span()).start;
                let message = match bytes.get(start) {
                    Some(b'(' | b'[' | b'{') => "this bracket is not closed",
                    Some(b')' | b']' | b'}') => {
                        "this bracket closes none, or not the innermost open one"
                    }
                    Some(b'"' | b'\'' | b'r' | b'b' | b'c') => {
                        "the literal that begins here is malformed or does not end"
                    }
                    Some(b'/') => "the comment that begins here does not end",
                    _ => "this is not a Rust token",
                };
                let message = message.to_owned();
                Err(LexError { range: start..(start + 1).min(bytes.len()).max(start), message })
            }
        }
    }
}

/// The same tokens with identifiers as the compiler has them, which compares composed characters:
/// `ü` may be written as one or as two.
fn normalised(stream: TokenStream) -> Box<dyn Iterator<Item = TokenTree>> {
    Box::new(stream.into_iter().map(|tree| match tree {
        TokenTree::Ident(ident) => {
            let name = ident.to_string();
            if is_nfc(&name) {
                return ident.into();
            }
            let name: String = name.nfc().collect();
            match name.strip_prefix("r#") {
                Some(name) => Ident::new_raw(name, ident.span()).into(),
                None => Ident::new(&name, ident.span()).into(),
            }
        }
        TokenTree::Group(group) => {
            let mut new = Group::new(group.delimiter(), normalised(group.stream()).collect());
            new.set_span(group.span());
            new.into()
        }
        other => other,
    }))
}

/// Gives back the memory that spans of this thread take.
pub(crate) fn forget() {
    proc_macro2::extra::invalidate_current_thread_spans();
}

/// Number of bytes before the first token that are none of the language's: a byte order mark, a
/// `#!` line that is no attribute, and the text between lines of `---` for Cargo.
fn header(text: &str) -> usize {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let line_end = |from: usize| text[from..].find('\n').map_or(text.len(), |at| from + at);
    let is_shebang =
        text[mark..].strip_prefix("#!").is_some_and(|rest| !after_trivia(rest).starts_with('['));
    let before = if is_shebang { line_end(mark) } else { mark };
    let rest = text[before..].trim_start();
    let fence = rest.len() - rest.trim_start_matches('-').len();
    if fence < 3 {
        return before;
    }
    let start = line_end(text.len() - rest.len());
    let close = format!("\n{}", &rest[..fence]);
    let end = text[start..].match_indices(&close).map(|(at, _)| start + at + close.len());
    // The line has nothing else.
    end.into_iter().find(|end| text[*end..line_end(*end)].trim().is_empty()).unwrap_or(before)
}

/// The text after white space and comments.
fn after_trivia(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        if text.starts_with("//") {
            text = text.find('\n').map_or("", |end| &text[end..]);
        } else if let Some(comment) = text.strip_prefix("/*") {
            text = comment.find("*/").map_or("", |end| &comment[end + 2..]);
        } else {
            return text;
        }
    }
}

impl Spans {
    /// The bytes of a span.
    pub(crate) fn range(self, span: proc_macro2::Span) -> Range<usize> {
        let range = span.byte_range();
        range.start + self.before..range.end + self.before
    }

    /// The bytes of a tree.
    pub(crate) fn of(self, tree: &TokenTree) -> Range<usize> {
        match tree {
            TokenTree::Group(group) => self.of_group(group),
            other => self.range(other.span()),
        }
    }

    /// The bytes of a group, its delimiters included.
    pub(crate) fn of_group(self, group: &Group) -> Range<usize> {
        self.range(group.span_open()).start..self.range(group.span_close()).end
    }

    /// The bytes from the first tree to the last; an empty range at `otherwise` where there are
    /// none.
    pub(crate) fn of_all(self, trees: &[TokenTree], otherwise: usize) -> Range<usize> {
        match trees {
            [first, .., last] => self.of(first).start..self.of(last).end,
            [only] => self.of(only),
            [] => otherwise..otherwise,
        }
    }

    /// Takes trees out of the file, token by token, so that comments and line ends stay.
    pub(crate) fn erase(self, trees: &[TokenTree], source: &Source, plan: &mut Vec<Erasure>) {
        for tree in trees {
            if let TokenTree::Group(group) = tree {
                plan.push(Erasure::of(self.range(group.span_open()), source));
                let content: Vec<TokenTree> = group.stream().into_iter().collect();
                self.erase(&content, source, plan);
                plan.push(Erasure::of(self.range(group.span_close()), source));
            } else {
                plan.push(Erasure::of(self.of(tree), source));
            }
        }
    }
}

/// A stretch that goes, and the line ends in it, which stay.
#[derive(Clone, Debug)]
pub(crate) struct Erasure {
    pub(crate) range: Range<usize>,
    pub(crate) kept: String,
}

impl Erasure {
    fn of(range: Range<usize>, source: &Source) -> Self {
        let kept = kept_line_ends(source.slice(range.clone()));
        Self { range, kept }
    }
}

/// The line ends in `bytes`, one after the other.
pub(crate) fn kept_line_ends(bytes: &[u8]) -> String {
    let ends = line_ends(bytes).map(|end| String::from_utf8_lossy(&bytes[end]).into_owned());
    ends.collect()
}

/// The word, without the mark of raw identifiers.
pub(crate) fn plain(word: &str) -> &str {
    word.strip_prefix("r#").unwrap_or(word)
}

/// The text of an identifier.
pub(crate) fn word(tree: Option<&TokenTree>) -> Option<String> {
    match tree? {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    }
}

pub(crate) fn is_word(tree: Option<&TokenTree>, word: &str) -> bool {
    matches!(tree, Some(TokenTree::Ident(ident)) if ident == word)
}

pub(crate) fn is_punct(tree: Option<&TokenTree>, char: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == char)
}

/// The group, if it has these delimiters.
pub(crate) fn group(tree: Option<&TokenTree>, delimiter: Delimiter) -> Option<&Group> {
    match tree? {
        TokenTree::Group(group) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// The trees in a group.
pub(crate) fn content(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

/// Returns whether `::` stands at `at`.
pub(crate) fn is_colons(trees: &[TokenTree], at: usize) -> bool {
    is_punct(trees.get(at), ':') && is_punct(trees.get(at + 1), ':')
}

/// A path: names, and whether `::` stands before them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Path {
    pub(crate) absolute: bool,
    pub(crate) names: Vec<String>,
}

impl Path {
    /// The path that begins at `at`, and the index after it. A path without names is none.
    pub(crate) fn at(trees: &[TokenTree], at: usize) -> Option<(Self, usize)> {
        let absolute = is_colons(trees, at);
        let mut next = if absolute { at + 2 } else { at };
        let mut names = vec![word(trees.get(next))?];
        next += 1;
        while is_colons(trees, next)
            && let Some(name) = word(trees.get(next + 2))
        {
            names.push(name);
            next += 3;
        }
        Some((Self { absolute, names }, next))
    }

    /// The path that these trees are, none if they are anything else.
    pub(crate) fn of(trees: &[TokenTree]) -> Option<Self> {
        Self::at(trees, 0).filter(|(_, end)| *end == trees.len()).map(|(path, _)| path)
    }
}

/// The parts between the commas of the outermost level. A last comma ends the last part.
pub(crate) fn split_at_commas(trees: &[TokenTree]) -> Vec<&[TokenTree]> {
    let mut parts: Vec<_> = trees.split(|tree| is_punct(Some(tree), ',')).collect();
    if parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    parts
}

/// A group that is nested deeper than anybody looks.
pub(crate) fn deep_group<'t>(trees: impl IntoIterator<Item = &'t TokenTree>) -> Option<Group> {
    let groups = trees.into_iter().filter_map(|tree| match tree {
        TokenTree::Group(group) => Some((group.clone(), 1)),
        _ => None,
    });
    let mut open: Vec<(Group, usize)> = groups.collect();
    while let Some((group, depth)) = open.pop() {
        if depth > MAX_DEPTH {
            return Some(group);
        }
        open.extend(group.stream().into_iter().filter_map(|tree| match tree {
            TokenTree::Group(inner) => Some((inner, depth + 1)),
            _ => None,
        }));
    }
    None
}

/// Tokens as text on one line; tokens nested too deeply are left out.
pub(crate) fn shown(trees: &[TokenTree]) -> String {
    shown_within(trees, 0)
}

fn shown_within(trees: &[TokenTree], depth: usize) -> String {
    let mut out = String::new();
    for tree in trees {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                let inner = if depth == MAX_DEPTH {
                    "…".to_owned()
                } else {
                    shown_within(&content(group), depth + 1)
                };
                out = out + open + &inner + close;
            }
            other => {
                let word = TokenStream::from(other.clone()).to_string();
                let touches = |char: Option<char>| {
                    char.is_some_and(|char| char.is_alphanumeric() || char == '_')
                };
                if touches(out.chars().next_back()) && touches(word.chars().next()) {
                    out.push(' ');
                }
                out.push_str(&word);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_composed_and_stay_where_they_are() {
        let text = "mod u\u{308} { fn r#a\u{308}o() { é!(e\u{301}) } }";
        let tokens = FileTokens::of(text.as_bytes()).unwrap();
        let mut found = Vec::new();
        fn visit(trees: &[TokenTree], spans: Spans, found: &mut Vec<(String, Range<usize>)>) {
            for tree in trees {
                match tree {
                    TokenTree::Group(group) => {
                        let trees: Vec<_> = group.stream().into_iter().collect();
                        found.push((String::new(), spans.of(tree)));
                        visit(&trees, spans, found);
                    }
                    TokenTree::Ident(ident) => found.push((ident.to_string(), spans.of(tree))),
                    _ => {}
                }
            }
        }
        visit(&tokens.trees, tokens.spans, &mut found);
        let shown: Vec<_> = found.iter().map(|(name, at)| (&**name, &text[at.clone()])).collect();
        let body = &text[text.find('{').unwrap()..];
        assert_eq!(
            shown,
            [
                ("mod", "mod"),
                ("\u{fc}", "u\u{308}"),
                ("", body),
                ("fn", "fn"),
                ("r#\u{e4}o", "r#a\u{308}o"),
                ("", "()"),
                ("", "{ é!(e\u{301}) }"),
                ("é", "é"),
                ("", "(e\u{301})"),
                ("é", "e\u{301}"),
            ]
        );
    }

    #[test]
    fn offsets_are_those_of_the_file() {
        for (text, word) in [
            ("fn a() {}", "a"),
            ("\u{feff}fn a() {}", "a"),
            ("#!/usr/bin/env x\r\nfn größe() {}", "größe"),
            ("\u{feff}#!/bin/x\nstruct A;", "A"),
            ("#![allow(x)] struct A;", "A"),
            ("#! /* c */ [allow(x)] struct A;", "A"),
            ("\u{feff}// ünï\nconst É: u8 = 0;", "É"),
            ("---\n[dependencies] # don't\n---\nstruct A;", "A"),
            ("\u{feff}#!/bin/x\r\n\r\n----cargo\r\n---\r\n'\r\n---- \r\nstruct É;", "É"),
            ("---\nA", "A"),
        ] {
            let tokens = FileTokens::of(text.as_bytes()).unwrap();
            let found = tokens.trees.iter().any(|tree| {
                matches!(tree, TokenTree::Ident(_)) && &text[tokens.spans.of(tree)] == word
            });
            assert!(found, "{text}");
        }
    }

    #[test]
    fn what_is_no_rust_is_said() {
        for (text, at, message) in [
            ("fn a() {", 7, "this bracket is not closed"),
            ("a) {}", 1, "this bracket closes none, or not the innermost open one"),
            ("a (b] c", 4, "this bracket closes none, or not the innermost open one"),
            ("a \"b", 2, "the literal that begins here is malformed or does not end"),
            ("a r#\"b\"", 2, "the literal that begins here is malformed or does not end"),
            ("a 'bc' d", 2, "the literal that begins here is malformed or does not end"),
            ("a /* b", 2, "the comment that begins here does not end"),
            ("a \u{1} b", 2, "this is not a Rust token"),
        ] {
            let error = FileTokens::of(text.as_bytes()).unwrap_err();
            assert_eq!((error.range.start, error.message.as_str()), (at, message), "{text}");
        }
        assert_eq!(FileTokens::of(b"abc \xff").unwrap_err().range, 4..5);
    }
}
