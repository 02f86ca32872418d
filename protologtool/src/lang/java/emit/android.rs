//! Android's dialects: the whole statement becomes a block, with a local variable for each
//! argument.
//!
//! ```text
//! ProtoLog.d(GROUP,                                      if (I.Cache.GROUP_enabled[1]) {  long protoLogParam0 = n;  I.d(GROUP, 12L, 1L, protoLogParam0);
//!     "sent %d", n);                                     }
//! ```
//!
//! Invariant: the number of lines stays, and no comment gets lost; [`Block`] sees to it.

use super::super::lexer::{self, TokenKind};
use super::super::{Context, Java, JavaShape};
use super::block::Block;
use super::{group, quoted};
use crate::call::Call;
use crate::lang::Message;
use crate::lang::jvm::dialect::{Android, Guard, cache_index};
use crate::rewrite::PlanBuilder;
use crate::source::Source;
use protolog_core::ParamKind;

pub(super) fn emit(
    java: &Java,
    form: &Android,
    source: &Source,
    call: &Call<JavaShape>,
    message: &Message<'_>,
    plan: &mut PlanBuilder,
) {
    let names = call.shape.locals(call.args.len());
    let kinds = message.template.conversions().map(|conversion| conversion.verb.kind());
    let values = kinds.zip(&names).zip(&call.args).map(|((kind, name), arg)| {
        local(kind, name, source.slice(arg.clone()), call.shape.platform)
    });
    let block = Block {
        head: head(java, form, source, call, message),
        // Newer releases print two spaces between statements.
        space: if form.guard == Guard::Cache { "  " } else { " " },
        locals: values.collect(),
        invocation: invocation(java, form, source, call, message, &names),
        tail: tail(form, call),
    };
    block.emit(source, call, plan);
}

/// The text before the first local: the guard and an opening brace, and one more where an `if` must
/// not stand alone.
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

/// Returns whether the guarded block needs a block around it: the guard would take the `else` of an
/// outer `if`, or is no body of a lambda or of a switch rule.
fn needs_block(form: &Android, call: &Call<JavaShape>) -> bool {
    form.guard != Guard::None && call.shape.context != Context::Statement
}

/// The declaration of a local up to its value, and the text that closes the value.
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
