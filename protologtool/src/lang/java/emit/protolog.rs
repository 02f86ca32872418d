//! Dialect protolog: insertions, and the class's name and the template replaced.
//!
//! ```text
//! ProtoLog    .  d(  NET,   "sent %d"   ,        n    )     ;
//! if (GUARD) IMPL.d( NET,   123L, 1L    , IMPL.l(n)   )     ;
//! ```
//!
//! Replaced code keeps its comments and line ends. Nothing but the template's text goes away, so nothing else of the
//! source can get lost.

use super::super::{Context, Java, JavaShape, trivia};
use super::{group, replace_class};
use crate::call::Call;
use crate::lang::Message;
use crate::rewrite::PlanBuilder;
use crate::source::Source;
use protolog_core::ParamKind;

pub(super) fn emit(
    java: &Java,
    source: &Source,
    call: &Call<JavaShape>,
    message: &Message<'_>,
    plan: &mut PlanBuilder,
) {
    let (open, close) = match call.shape.context {
        Context::Statement => ("", ""),
        Context::Braced => ("{ ", " }"),
        Context::Lambda => ("{ ", "; }"),
    };
    plan.wrap(call.range.clone(), format!("{open}{} ", guard(java, source, call, message)), close);
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

    for (arg, conversion) in call.args.iter().zip(message.template.conversions()) {
        let method = method(conversion.verb.kind());
        plan.wrap(arg.clone(), format!("{}.{method}(", java.implementation), ")");
    }
}

/// The head of the `if` statement. That of a group that is compiled out is a constant: javac drops its body but still
/// checks it.
fn guard(java: &Java, source: &Source, call: &Call<JavaShape>, message: &Message<'_>) -> String {
    if !message.group.enabled {
        return "if (false)".to_owned();
    }
    let group = group(source, call);
    format!("if ({}.isEnabled({group}, {}.{}))", java.implementation, java.level, call.level)
}

/// The method that an argument of this kind goes through, so that javac checks and converts it.
const fn method(kind: ParamKind) -> char {
    match kind {
        ParamKind::Str => 's',
        ParamKind::Int => 'l',
        ParamKind::Float => 'f',
        ParamKind::Bool => 'b',
    }
}
