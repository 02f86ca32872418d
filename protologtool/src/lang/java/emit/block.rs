//! A call with its arguments in locals: a block on the first line, with any guard and any types.
//!
//! ```text
//! ProtoLog.d(NET,               { long protoLogParam0 = n; IMPL.d(NET, 12L, 1L, protoLogParam0);
//!     "sent %d", n);                                     }
//! ```
//!
//! As AOSP writes it: everything on the first line, and the line ends that the statement had before
//! its last brace. Unlike AOSP's, arguments keep their bytes, so that nested calls, comments and
//! text blocks in them need no care of their own. Where an argument has several lines itself, line
//! ends and comments stay where they were, so that what it holds keeps its lines.
//!
//! Invariant: the number of lines stays, and no comment gets lost.

use super::super::lexer::{self, TokenKind};
use super::super::{JavaShape, trivia};
use crate::call::Call;
use crate::rewrite::PlanBuilder;
use crate::source::{Source, line_ends};
use std::ops::Range;

/// The prefix of AOSP's names of locals.
const LOCAL: &str = "protoLogParam";

/// The parts of the block that stand for no bytes of the source.
pub(super) struct Block {
    /// The text up to the brace that opens it.
    pub(super) head: String,
    /// The space between statements.
    pub(super) space: &'static str,
    /// For each argument the declaration of its local up to its value, and its closing text.
    pub(super) locals: Vec<(String, &'static str)>,
    /// The call of the implementation, without semicolon.
    pub(super) invocation: String,
    /// The text after the brace that closes it.
    pub(super) tail: &'static str,
}

impl Block {
    /// Puts the block in the place of a call.
    pub(super) fn emit(self, source: &Source, call: &Call<JavaShape>, plan: &mut PlanBuilder) {
        let several_lines =
            |arg: &Range<usize>| line_ends(source.slice(arg.clone())).next().is_some();
        let mut lines =
            Lines { source, in_place: call.args.iter().any(several_lines), kept: String::new() };
        let space = self.space;
        let mut before = format!("{}{space}", self.head);
        let mut at = call.range.start;
        for (arg, (declaration, close)) in call.args.iter().zip(&self.locals) {
            let kept = lines.keep(at..arg.start);
            let declaration = if kept.is_empty() { declaration } else { declaration.trim_end() };
            plan.replace(at..arg.start, format!("{before}{declaration}{kept}"));
            before = format!("{close};{space}");
            at = arg.end;
        }
        let kept = lines.keep(at..call.range.end);
        let (invocation, end) = (self.invocation, lines.finish(space));
        let text = format!("{before}{invocation};{kept}{end}{}", self.tail);
        plan.replace(at..call.range.end, text);
    }
}

/// The names of the locals of a file's calls.
pub(super) struct LocalNames {
    prefix: String,
}

impl LocalNames {
    /// With names that are no words of the file: AOSP's, unless somebody took one.
    pub(super) fn of(source: &Source) -> Self {
        let mut prefix = LOCAL.to_owned();
        if memchr::memmem::find(source.bytes(), LOCAL.as_bytes()).is_some() {
            let is_taken = |prefix: &str| {
                lexer::tokens(source.bytes()).any(|token| {
                    let rest = source.slice(token.range()).strip_prefix(prefix.as_bytes());
                    rest.and_then(<[u8]>::first).is_some_and(u8::is_ascii_digit)
                })
            };
            while is_taken(&prefix) {
                prefix.push('_');
            }
        }
        Self { prefix }
    }

    /// The prefix of the names of a call within the arguments of `depth` others: the value of a
    /// local can't declare the local's name again.
    pub(super) fn at_depth(&self, depth: usize) -> String {
        if depth > 0 { format!("{}{depth}_", self.prefix) } else { self.prefix.clone() }
    }
}

/// Line ends and comments of the text that is replaced.
struct Lines<'s> {
    source: &'s Source,
    /// True if they stay where they were, rather than before the last brace.
    in_place: bool,
    kept: String,
}

impl Lines<'_> {
    /// Keeps those of `range`; returns the part of them that is to stand there.
    fn keep(&mut self, range: Range<usize>) -> String {
        let text = self.source.slice(range);
        if self.in_place {
            let kept = trivia::kept_trivia(text);
            let separator = if kept.ends_with("*/") { " " } else { "" };
            return kept + separator;
        }
        let mut at = 0;
        for token in lexer::tokens(text) {
            self.keep_line_ends(&text[at..token.range().start]);
            let part = &text[token.range()];
            if token.kind == TokenKind::Comment {
                self.kept.push(' ');
                self.kept.push_str(&String::from_utf8_lossy(part));
            } else {
                self.keep_line_ends(part);
            }
            at = token.range().end;
        }
        self.keep_line_ends(&text[at..]);
        String::new()
    }

    fn keep_line_ends(&mut self, text: &[u8]) {
        for end in line_ends(text) {
            trivia::keep_line_end(&text[end], &mut self.kept);
        }
    }

    /// The end of the block.
    fn finish(self, space: &str) -> String {
        let first = match self.kept.chars().next() {
            None => " ",
            // AOSP's older printer, which writes one space between statements, leaves one before
            // line ends, too.
            Some('\n' | '\r') if space == " " => " ",
            Some(_) => "",
        };
        let last = if self.kept.ends_with("*/") { " " } else { "" };
        format!("{first}{}{last}}}", self.kept)
    }
}
