//! The edits of one call, in each dialect.

mod android;
mod block;
mod protolog;
mod quote;

pub(crate) use quote::quoted;

use super::place::OtherCall;
use super::{Java, JavaShape, lexer, trivia};
use crate::call::Call;
use crate::lang::Message;
use crate::lang::jvm::dialect::Dialect;
use crate::rewrite::{Edit, PlanBuilder};
use crate::source::Source;
use std::ops::Range;

use block::LocalNames;

/// Rewrites a log call.
pub(super) fn emit(
    java: &Java,
    source: &Source,
    call: &Call<JavaShape>,
    message: &Message<'_>,
    plan: &mut PlanBuilder,
) {
    match &java.dialect {
        Dialect::Protolog => protolog::emit(java, source, call, message, plan),
        Dialect::Android(form) => android::emit(java, form, source, call, message, plan),
    }
}

/// The edit that a call of another method of the class, such as `isEnabled`, needs. In dialect
/// protolog it stays as it is: both classes answer alike.
pub(super) fn redirect(java: &Java, source: &Source, other: &OtherCall) -> Option<Edit> {
    let Dialect::Android(form) = &java.dialect else { return None };
    form.redirects(&source.text(other.method.clone()), other.arguments)
        .then(|| replace_class(java, source, other.class.clone()))
}

/// Replaces `class`, which is empty before the method of a static import, by the class that
/// rewritten code calls.
fn replace_class(java: &Java, source: &Source, class: Range<usize>) -> Edit {
    let dot = if class.is_empty() { "." } else { "" };
    let kept = trivia::kept_trivia(source.slice(class.clone()));
    Edit { range: class, text: format!("{}{kept}{dot}", java.implementation) }
}

/// The group as code.
fn group(source: &Source, call: &Call<JavaShape>) -> String {
    match &call.shape.passed_on {
        Some(passed_on) => passed_on.group.clone(),
        None => lexer::compact(source.slice(call.shape.group.clone())),
    }
}

/// Chooses the names of locals: those of a call within an argument of another must differ from the
/// other's.
pub(super) fn name_locals(source: &Source, calls: &mut [Call<JavaShape>]) {
    let Some(name) = (!calls.is_empty()).then(|| LocalNames::of(source)) else { return };
    let mut around: Vec<usize> = Vec::new();
    for call in calls {
        while around.last().is_some_and(|end| *end <= call.range.start) {
            around.pop();
        }
        call.shape.local = name.at_depth(around.len());
        around.push(call.range.end);
    }
}
