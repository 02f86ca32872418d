//! Android's dialects: the whole statement becomes a block, with a local variable for each argument.
//!
//! ```text
//! ProtoLog.d(GROUP,                                      if (I.Cache.GROUP_enabled[1]) {  long protoLogParam0 = n;  I.d(GROUP, 12L, 1L, protoLogParam0);
//!     "sent %d", n);                                     }
//! ```
//!
//! As AOSP writes it: everything on the first line, and the line ends that the statement had before its last brace.
//! Unlike AOSP's, arguments keep their bytes, so that nested calls, comments and text blocks in them need no care of
//! their own. Where an argument has several lines itself, line ends and comments stay where they were, so that
//! what it holds keeps its lines.
//!
//! Invariant: the number of lines stays, and no comment gets lost.

use super::super::dialect::{Android, Guard};
use super::super::lexer::{self, TokenKind};
use super::super::trivia;
use super::super::{Context, Java, JavaShape};
use super::{group, quoted};
use crate::call::Call;
use crate::lang::Message;
use crate::rewrite::PlanBuilder;
use crate::source::{Source, line_ends};
use protolog_core::{Level, ParamKind};
use std::ops::Range;

/// The prefix of AOSP's names of locals.
const LOCAL: &str = "protoLogParam";

pub(super) fn emit(
    java: &Java,
    form: &Android,
    source: &Source,
    call: &Call<JavaShape>,
    message: &Message<'_>,
    plan: &mut PlanBuilder,
) {
    let several_lines = |arg: &Range<usize>| line_ends(source.slice(arg.clone())).next().is_some();
    let mut lines =
        Lines { source, in_place: call.args.iter().any(several_lines), kept: String::new() };
    // Newer releases print two spaces between statements.
    let space = if form.guard == Guard::Cache { "  " } else { " " };
    let names: Vec<String> =
        (0..call.args.len()).map(|index| format!("{}{index}", call.shape.local)).collect();

    let mut before = format!("{}{space}", head(java, form, source, call, message));
    let mut at = call.range.start;
    let kinds = message.template.conversions().map(|conversion| conversion.verb.kind());
    for ((arg, kind), name) in call.args.iter().zip(kinds).zip(&names) {
        let (declaration, close) =
            local(kind, name, source.slice(arg.clone()), call.shape.platform);
        let kept = lines.keep(at..arg.start);
        let declaration = if kept.is_empty() { &declaration } else { declaration.trim_end() };
        plan.replace(at..arg.start, format!("{before}{declaration}{kept}"));
        before = format!("{close};{space}");
        at = arg.end;
    }
    let kept = lines.keep(at..call.range.end);
    let text = format!(
        "{before}{};{kept}{}",
        invocation(java, form, source, call, message, &names),
        lines.finish(form)
    );
    plan.replace(at..call.range.end, text + tail(form, call));
}

/// The text before the first local: the guard and an opening brace, and one more where an `if` must not stand alone.
fn head(
    java: &Java,
    form: &Android,
    source: &Source,
    call: &Call<JavaShape>,
    message: &Message<'_>,
) -> String {
    let (class, open) = (&java.implementation, if needs_block(form, call) { "{ " } else { "" });
    match form.guard {
        Guard::None => "{".to_owned(),
        Guard::Cache => {
            let (group, index) = (&message.group.name, cache_index(call.level));
            format!("{open}if ({class}.Cache.{group}_enabled[{index}]) {{")
        }
        Guard::IsEnabled => {
            format!("{open}if ({class}.isEnabled({})) {{", group(source, call))
        }
    }
}

/// The text after the block.
fn tail(form: &Android, call: &Call<JavaShape>) -> &'static str {
    if needs_block(form, call) { " }" } else { "" }
}

/// Returns whether the guarded block needs a block around it: the guard would take the `else` of an outer `if`, or is no body of a
/// lambda or of a switch rule.
fn needs_block(form: &Android, call: &Call<JavaShape>) -> bool {
    form.guard != Guard::None && call.shape.context != Context::Statement
}

/// A level's index in the fields of `Cache`.
pub(crate) const fn cache_index(level: Level) -> u8 {
    level.severity()
}

/// The declaration of a local up to its value, and what closes the value.
fn local(
    kind: ParamKind,
    name: &str,
    value: &[u8],
    platform: &'static str,
) -> (String, &'static str) {
    let string = format!("{platform}String");
    let kind = match kind {
        ParamKind::Int => "long",
        ParamKind::Float => "double",
        ParamKind::Bool => "boolean",
        // `valueOf(null)` would be the overload for a `char[]`, which throws.
        ParamKind::Str if is_null(value) => {
            return (format!("{string} {name} = {string}.valueOf(({platform}Object) "), ")");
        }
        ParamKind::Str => return (format!("{string} {name} = {string}.valueOf("), ")"),
    };
    (format!("{kind} {name} = "), "")
}

/// Returns whether an expression is a literal null, in any number of parentheses.
fn is_null(expression: &[u8]) -> bool {
    lexer::tokens(expression)
        .filter(|token| token.kind != TokenKind::Comment)
        .all(|token| matches!(&expression[token.range()], b"(" | b")" | b"null"))
}

fn invocation(
    java: &Java,
    form: &Android,
    source: &Source,
    call: &Call<JavaShape>,
    message: &Message<'_>,
    names: &[String],
) -> String {
    let mask = form.mask.literal(message.template.mask().bits());
    let mut args = vec![group(source, call), format!("{}L", message.id as i64), mask];
    if form.passes_text {
        let text = message.group.log_to_text.then(|| quoted(&message.template.bare().to_string()));
        args.push(text.unwrap_or("null".to_owned()));
    }
    match names {
        // An explicit null needs no array at run time.
        [] => args.push(format!("({}Object[]) null", call.shape.platform)),
        names => args.extend_from_slice(names),
    }
    format!("{}.{}({})", java.implementation, call.level.method(), args.join(", "))
}

/// Line ends and comments of the text that is replaced.
struct Lines<'s> {
    source: &'s Source,
    /// True if they stay where they were, rather than before the last brace.
    in_place: bool,
    kept: String,
}

impl Lines<'_> {
    /// Keeps those of `range`; what of them is to stand there.
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
    fn finish(self, form: &Android) -> String {
        let first = match self.kept.chars().next() {
            None => " ",
            // AOSP's older printer leaves a space before the line ends, too.
            Some('\n' | '\r') if form.guard != Guard::Cache => " ",
            Some(_) => "",
        };
        let last = if self.kept.ends_with("*/") { " " } else { "" };
        format!("{first}{}{last}}}", self.kept)
    }
}

/// The names of the locals of a file's calls.
pub(in crate::lang::java) struct LocalNames {
    prefix: String,
}

impl LocalNames {
    /// With names that are no words of the file: AOSP's, unless somebody took one.
    pub(in crate::lang::java) fn of(source: &Source) -> Self {
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

    /// The prefix of the names of a call within the arguments of `depth` others: the value of a local can't declare the
    /// local's name again.
    pub(in crate::lang::java) fn at_depth(&self, depth: usize) -> String {
        if depth > 0 { format!("{}{depth}_", self.prefix) } else { self.prefix.clone() }
    }
}
