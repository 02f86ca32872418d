//! Dialect protolog: insertions, and the class's name and the template replaced.
//!
//! ```text
//! ProtoLog    .  d(  NET,   "sent %d"   ,        n    )     ;
//! if (GUARD) IMPL.d( NET,   123L, 1L    , IMPL.l(n)   )     ;
//! ```
//!
//! Replaced code keeps its comments and line ends. Nothing but the template's text goes away, so
//! nothing else of the source can get lost.

use super::super::{Context, Java, JavaShape, trivia};
use super::block::Block;
use super::{group, replace_class};
use crate::call::Call;
use crate::lang::Message;
use crate::lang::jvm::NO_SPAN;
use crate::rewrite::PlanBuilder;
use crate::source::Source;
use protolog_core::{ParamKind, Verb};

pub(super) fn emit(
    java: &Java,
    source: &Source,
    call: &Call<JavaShape>,
    message: &Message<'_>,
    plan: &mut PlanBuilder,
) {
    if call.shape.forms.needs_locals {
        return block(java, source, call, message).emit(source, call, plan);
    }
    let (open, close) = match call.shape.context {
        Context::Statement => ("", ""),
        Context::Braced => ("{ ", " }"),
        Context::Lambda => ("{ ", "; }"),
        Context::Expression => ("", ""),
    };
    if call.shape.context == Context::Expression {
        let (condition, class) = (condition(java, source, call, message), &java.implementation);
        let close = format!(" : {class}.{NO_SPAN}())");
        plan.wrap(call.range.clone(), format!("({condition} ? "), close);
    } else {
        let guard = guard(java, source, call, message);
        plan.wrap(call.range.clone(), format!("{open}{guard} "), close);
    }
    let mut class = replace_class(java, source, call.shape.class.clone());
    let mut added = String::new();
    if call.shape.passed_on.is_some() {
        class.text.push('.');
        class.text.push_str(call.level.method());
        added = group(source, call) + ", ";
    }
    plan.replace(class.range, class.text);

    let kept = trivia::kept_trivia(source.slice(call.template_range.clone()));
    let (id, mask) = (message.id as i64, message.template.mask().bits() as i64);
    plan.replace(call.template_range.clone(), format!("{added}{id}L, {mask}L{kept}"));

    for (index, arg) in call.args.iter().enumerate() {
        let method = match verbs(message).nth(index) {
            Some(verb) => method(verb, call.shape.forms.is_inferred(index)),
            None => EXCEPTION,
        };
        plan.wrap(arg.clone(), format!("{}.{method}(", java.implementation), ")");
    }
}

/// The form for a call that javac 17 can't compile with its arguments behind the id.
///
/// ```text
/// if (GUARD) { long protoLogParam0 = IMPL.l(n); IMPL.d(NET, 123L, 1L, protoLogParam0); }
/// ```
fn block(java: &Java, source: &Source, call: &Call<JavaShape>, message: &Message<'_>) -> Block {
    let names = call.shape.locals(call.args.len());
    let (class, forms) = (&java.implementation, &call.shape.forms);
    let locals = names.iter().enumerate().map(|(index, name)| {
        let Some(verb) = verbs(message).nth(index) else {
            return (format!("{}Object {name} = {class}.{EXCEPTION}(", call.shape.platform), ")");
        };
        let of = match verb.kind() {
            ParamKind::Str => format!("{}String", call.shape.platform),
            ParamKind::Int => "long".to_owned(),
            ParamKind::Float => "double".to_owned(),
            ParamKind::Bool => "boolean".to_owned(),
        };
        (format!("{of} {name} = {class}.{}(", method(verb, forms.is_inferred(index))), ")")
    });
    let (open, tail) =
        if call.shape.context == Context::Statement { ("", "") } else { ("{ ", " }") };
    let (id, mask) = (message.id as i64, message.template.mask().bits() as i64);
    let (group, names) = (group(source, call), names.join(", "));
    Block {
        head: format!("{open}{} {{", guard(java, source, call, message)),
        space: " ",
        locals: locals.collect(),
        invocation: format!("{class}.{}({group}, {id}L, {mask}L, {names})", call.level.method()),
        tail,
    }
}

fn verbs<'m>(message: &'m Message<'_>) -> impl Iterator<Item = Verb> + 'm {
    message.template.conversions().map(|conversion| conversion.verb)
}

/// The head of the `if` statement.
fn guard(java: &Java, source: &Source, call: &Call<JavaShape>, message: &Message<'_>) -> String {
    format!("if ({})", condition(java, source, call, message))
}

/// The condition of a call. That of a group that is compiled out is a constant: javac drops its
/// call but still checks it.
fn condition(
    java: &Java,
    source: &Source,
    call: &Call<JavaShape>,
    message: &Message<'_>,
) -> String {
    if !message.group.enabled {
        return "false".to_owned();
    }
    let group = group(source, call);
    format!("{}.isEnabled({group}, {}.{})", java.implementation, java.level, call.level)
}

/// The method that an exception behind the arguments goes through.
const EXCEPTION: &str = "t";

/// The method that the argument of a conversion goes through, so that javac checks and converts it.
/// Where javac would have to infer the type of the argument from several overloads of it, the one
/// with fewer.
const fn method(verb: Verb, is_inferred: bool) -> &'static str {
    match (verb, is_inferred) {
        (Verb::Str, _) => "s",
        (Verb::Decimal, false) => "l",
        (Verb::Decimal, true) => "lOf",
        // An `int` has the digits of 32 bits.
        (Verb::Hex | Verb::Octal, false) => "x",
        (Verb::Hex | Verb::Octal, true) => "xOf",
        (Verb::Fixed | Verb::Exponent | Verb::General, false) => "f",
        (Verb::Fixed | Verb::Exponent | Verb::General, true) => "fOf",
        (Verb::Bool, _) => "b",
    }
}
