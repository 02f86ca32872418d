//! Brackets of a file: which one closes which, and where they do not balance the most likely pairs.
//!
//! ```text
//! void f() { log("x; }        the text takes the bracket and the brace along: `(` and `{` are closed before `g`
//! void g() { }                a member like any other
//! ```
//!
//! A fault must cost its own member only, so that the rest of the file is diagnosed. Round brackets
//! end with their statement. Braces are as many as their indentation says, but only as many are
//! added or left out as it takes to balance them.
//!
//! Invariant: the brackets of [`repaired`] tokens balance.

use super::lexer::{self, Token, TokenKind};
use std::ops::Range;

/// A reason for brackets that do not balance, or a literal without an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The bracket, or the quote that opens the literal.
    pub(crate) range: Range<usize>,
    pub(crate) kind: FaultKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    Bracket,
    Literal,
    Comment,
}

/// Notes for each opening bracket the index of the one that closes it; false if they do not
/// balance.
pub(crate) fn pair(tokens: &[Token], partners: &mut Vec<u32>) -> bool {
    partners.clear();
    partners.resize(tokens.len(), 0);
    let mut open = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let TokenKind::Punct(byte) = token.kind else { continue };
        let Some(opener) = opener_of(byte) else {
            if is_opener(byte) {
                open.push((index, byte));
            }
            continue;
        };
        match open.pop() {
            Some((at, byte)) if byte == opener => partners[at] = index as u32,
            _ => return false,
        }
    }
    open.is_empty()
}

/// The tokens of a text whose brackets do not balance, with empty tokens for brackets that are
/// missing and without those that are too many; and the faults, in source order.
pub(crate) fn repaired(text: &[u8]) -> (Vec<Token>, Vec<Fault>) {
    let (tokens, mut faults) = tokens(text);
    let count = |punct| tokens.iter().filter(|it| it.kind == TokenKind::Punct(punct)).count();
    let (opened, closed) = (count(b'{'), count(b'}'));
    let mut repair = Repair {
        text,
        tokens: Vec::with_capacity(tokens.len()),
        open: Vec::new(),
        faults: Vec::new(),
        line: Line::default(),
        missing: opened.saturating_sub(closed),
        excess: closed.saturating_sub(opened),
        statement: None,
        declares_type: false,
    };
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| tokens[before]);
        repair.take(*token, before, tokens.get(at + 1).copied());
    }
    repair.close_while(text.len(), |_| true);
    faults.extend(repair.faults);
    faults.sort_by_key(|fault| fault.range.start);
    (repair.tokens, faults)
}

/// The first literal without an end among `tokens`.
pub(crate) fn unclosed_literal(text: &[u8], tokens: &[Token]) -> Option<Fault> {
    let found = tokens.iter().find(|token| is_unclosed(text, token))?;
    let start = found.range().start;
    Some(Fault { range: start..start + 1, kind: FaultKind::Literal })
}

/// The tokens without comments. The text after the first line of a text block or comment without an
/// end is code.
fn tokens(text: &[u8]) -> (Vec<Token>, Vec<Fault>) {
    let (mut tokens, mut faults, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(token) = lexer::tokens_from(text, at).next() {
        let Range { start, end } = token.range();
        at = end;
        let kind = match token.kind {
            TokenKind::Comment if is_unclosed_comment(&text[start..end]) => FaultKind::Comment,
            TokenKind::Literal if is_unclosed(text, &token) => FaultKind::Literal,
            TokenKind::Comment => continue,
            _ => {
                tokens.push(token);
                continue;
            }
        };
        faults.push(Fault { range: start..start + 1, kind });
        let line =
            memchr::memchr2(b'\n', b'\r', &text[start..]).map_or(text.len(), |at| start + at);
        at = line.min(end);
        if kind == FaultKind::Literal {
            tokens.push(Token::new(token.kind, start..at));
        }
    }
    (tokens, faults)
}

fn is_unclosed_comment(comment: &[u8]) -> bool {
    comment.starts_with(b"/*") && !(comment.len() >= 4 && comment.ends_with(b"*/"))
}

fn is_unclosed(text: &[u8], token: &Token) -> bool {
    if token.kind != TokenKind::Literal {
        return false;
    }
    let literal = &text[token.range()];
    let quotes = if literal.starts_with(b"\"\"\"") { 3 } else { 1 };
    let length = literal.len();
    if length < 2 * quotes || literal[length - quotes..] != literal[..quotes] {
        return true;
    }
    // The last quote is text if a backslash stands before it that is none itself.
    let content = &literal[quotes..length - quotes];
    content.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

const fn opener_of(closer: u8) -> Option<u8> {
    match closer {
        b')' => Some(b'('),
        b']' => Some(b'['),
        b'}' => Some(b'{'),
        _ => None,
    }
}

const fn closer_of(opener: u8) -> u8 {
    match opener {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

const fn is_opener(byte: u8) -> bool {
    matches!(byte, b'(' | b'[' | b'{')
}

/// A bracket that nothing has closed yet.
struct Open {
    byte: u8,
    range: Range<usize>,
    /// True for the head of a `for` or `try`, where semicolons are.
    has_semicolons: bool,
    /// True for the body of a type, whose members may be indented as little as it.
    is_type: bool,
    /// Indentation of its line and of the line on which its statement begins, in this order of
    /// size.
    indentation: (usize, usize),
}

struct Repair<'s> {
    text: &'s [u8],
    tokens: Vec<Token>,
    open: Vec<Open>,
    faults: Vec<Fault>,
    line: Line,
    /// Number of closing braces that are yet to be added.
    missing: usize,
    /// Number of closing braces that are yet to be left out.
    excess: usize,
    /// Indentation of the statement or member that began last; none right after the end of one.
    statement: Option<usize>,
    /// True if it declares a type.
    declares_type: bool,
}

impl Repair<'_> {
    fn take(&mut self, token: Token, before: Option<Token>, after: Option<Token>) {
        let start = token.range().start;
        self.line.advance(self.text, start);
        if self.statement.is_none() && token.kind != TokenKind::Punct(b'}') {
            let labels = after.is_some_and(|after| after.kind == TokenKind::Punct(b':'))
                || matches!(&self.text[token.range()], b"case" | b"default");
            if self.line.begins_at(start) && !labels {
                self.end_braces_before(start);
            }
            self.statement = Some(self.line.indentation);
            self.declares_type = false;
        }
        if matches!(&self.text[token.range()], b"class" | b"interface" | b"enum" | b"record") {
            let is_member = before.is_some_and(|before| before.kind == TokenKind::Punct(b'.'));
            let is_named = after.is_some_and(|after| after.kind == TokenKind::Word);
            self.declares_type |= is_named && !is_member;
        }
        match token.kind {
            TokenKind::Punct(byte) if is_opener(byte) => self.opened(byte, token, before),
            TokenKind::Punct(byte @ (b')' | b']')) => {
                let opener = opener_of(byte);
                let inner = self.open.iter().rev().take_while(|open| open.byte != b'{');
                let inside: Vec<bool> = inner.map(|open| Some(open.byte) == opener).collect();
                match inside.iter().position(|is| *is) {
                    Some(unclosed) => {
                        let kept = self.open.len() - unclosed;
                        self.close_to(kept, start);
                        self.open.pop();
                        self.tokens.push(token);
                    }
                    None => self.fault(token.range()),
                }
            }
            TokenKind::Punct(b'}') => self.closed(token),
            TokenKind::Punct(b';') => {
                self.close_while(start, |open| open.byte != b'{' && !open.has_semicolons);
                self.tokens.push(token);
                self.statement = None;
            }
            _ => {
                self.tokens.push(token);
                if is_unclosed(self.text, &token) {
                    // It has taken the rest of its line along, in which most statements end.
                    self.close_while(start, |open| open.byte != b'{');
                    self.statement = None;
                }
            }
        }
    }

    fn opened(&mut self, byte: u8, token: Token, before: Option<Token>) {
        let range = token.range();
        let word = before.map_or(&b""[..], |before| &self.text[before.range()]);
        let line = self.line.indentation;
        let statement = self.statement.unwrap_or(line);
        let indentation = (line.min(statement), line.max(statement));
        let has_semicolons = byte == b'(' && matches!(word, b"for" | b"try");
        let is_type = byte == b'{' && self.declares_type;
        self.open.push(Open { byte, range, has_semicolons, is_type, indentation });
        self.tokens.push(token);
        if byte == b'{' {
            self.statement = None;
        }
    }

    /// Takes a closing brace, which ends the round brackets within its block, and blocks that are
    /// indented deeper.
    fn closed(&mut self, token: Token) {
        let start = token.range().start;
        self.close_while(start, |open| open.byte != b'{');
        let indentation = self.line.begins_at(start).then_some(self.line.indentation);
        if let (Some(indentation), Some(open)) = (indentation, self.open.last())
            && self.excess > 0
            && indentation > open.indentation.1
        {
            self.excess -= 1;
            return self.fault(token.range());
        }
        while let (Some(indentation), Some(open)) = (indentation, self.open.last())
            && self.missing > 0
            && self.open.len() > 1
            && indentation < open.indentation.0
        {
            self.missing -= 1;
            self.close_to(self.open.len() - 1, start);
            self.close_while(start, |open| open.byte != b'{');
        }
        if self.open.pop().is_none() {
            return self.fault(token.range());
        }
        self.tokens.push(token);
        self.statement = None;
    }

    /// Ends blocks that the code at `start` can't stand in: it is indented no deeper than they are.
    fn end_braces_before(&mut self, start: usize) {
        let indentation = self.line.indentation;
        while self.missing > 0
            && let Some(brace) = self.open.iter().rposition(|open| open.byte == b'{')
            && !self.open[brace].is_type
            && indentation <= self.open[brace].indentation.0
        {
            self.missing -= 1;
            self.close_to(brace, start);
        }
    }

    /// Closes the innermost brackets as long as they are such that `ends`.
    fn close_while(&mut self, at: usize, ends: impl Fn(&Open) -> bool) {
        let kept = self.open.iter().rposition(|open| !ends(open)).map_or(0, |last| last + 1);
        self.close_to(kept, at);
    }

    /// Closes all but the outermost `kept` brackets behind the token before `at`.
    fn close_to(&mut self, kept: usize, at: usize) {
        let end = self.tokens.last().map_or(at, |token| token.range().end);
        while self.open.len() > kept
            && let Some(open) = self.open.pop()
        {
            self.tokens.push(Token::new(TokenKind::Punct(closer_of(open.byte)), end..end));
            self.fault(open.range);
        }
    }

    fn fault(&mut self, range: Range<usize>) {
        self.faults.push(Fault { range, kind: FaultKind::Bracket });
    }
}

/// The line that has been reached; lines may be very long, so each is looked at once.
#[derive(Default)]
struct Line {
    /// The offset up to which the text has been looked at.
    seen: usize,
    start: usize,
    /// Width in bytes of the white space that begins it.
    indentation: usize,
}

impl Line {
    /// Goes on to the line of the byte at `offset`, which is no earlier than the last one.
    fn advance(&mut self, text: &[u8], offset: usize) {
        let passed = &text[self.seen.min(offset)..offset];
        if let Some(end) = memchr::memrchr2(b'\n', b'\r', passed) {
            self.start = self.seen + end + 1;
        } else if self.seen > 0 {
            self.seen = offset;
            return;
        }
        self.seen = offset;
        let line = &text[self.start..offset];
        self.indentation = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    }

    /// Returns whether nothing but white space stands before `offset`, which is the one that was
    /// advanced to.
    fn begins_at(&self, offset: usize) -> bool {
        self.start + self.indentation == offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens in a row, and the reported errors.
    fn shown(text: &str) -> String {
        let (tokens, faults) = repaired(text.as_bytes());
        assert!(pair(&tokens, &mut Vec::new()), "{text}: the brackets do not balance");
        let token = |token: &Token| match token.kind {
            TokenKind::Punct(byte) if token.range().is_empty() => format!("<{}>", byte as char),
            _ => text[token.range()].to_owned(),
        };
        let tokens: Vec<String> = tokens.iter().map(token).collect();
        let faults: Vec<String> = faults
            .iter()
            .map(|it| format!("{}{}", it.range.start, &text[it.range.clone()]))
            .collect();
        format!("{} | {}", tokens.join(" "), faults.join(" "))
    }

    #[test]
    fn a_fault_ends_with_its_statement_or_member() {
        for (text, expected) in [
            ("class A { void f( { } }", "class A { void f ( { } <)> } | 16("),
            ("class A { ", "class A { <}> | 8{"),
            ("} // {", " | 0}"),
            ("{ f(\"x); g(a[1); }", "{ f ( \"x); g(a[1); } <)> <}> | 0{ 3( 4\""),
            ("{\n f(a[1); g(); }", "{ f ( a [ 1 <]> ) ; g ( ) ; } | 6["),
            ("{\n f(1; g(2; }", "{ f ( 1 <)> ; g ( 2 <)> ; } | 4( 9("),
            (
                "{\n for (;; { try (a; b { } }",
                "{ for ( ; ; { try ( a ; b { } <)> } <)> <}> | 0{ 7( 17(",
            ),
            ("{\n {\n  {\n }\n g()\n}\n", "{ { { <}> } g ( ) } | 7{"),
            ("{\n f() {\n  if {\n }\n g() { }\n}\n", "{ f ( ) { if { <}> } g ( ) { } } | 14{"),
            ("{\n f() {\n  x;\n g() { }\n}\n", "{ f ( ) { x ; <}> g ( ) { } } | 7{"),
            ("{\n f() {\n  }\n }\n g() { }\n}\n", "{ f ( ) { } g ( ) { } } | 11}"),
            ("{ /* x\n f(); }", "{ f ( ) ; } | 2/"),
            ("{ f(\"\"\"\n x); }", "{ f ( \"\"\" <)> x ; } | 3( 4\" 10)"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn literals_end_with_a_quote_that_is_no_text() {
        for (literal, expected) in [
            ("\"\"", false),
            ("\"a\\\"", true),
            ("\"a\\\\\"", false),
            ("\"", true),
            ("'", true),
            ("'\\''", false),
            ("\"\"\"\n\"\"\"", false),
            ("\"\"\"\n\\\"\"\"", true),
            ("x", false),
        ] {
            let tokens: Vec<Token> = lexer::tokens(literal.as_bytes()).collect();
            assert_eq!(
                unclosed_literal(literal.as_bytes(), &tokens).is_some(),
                expected,
                "{literal}"
            );
        }
    }
}
