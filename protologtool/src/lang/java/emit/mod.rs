//! The edits of one call, in each dialect.

mod android;
mod protolog;
mod quote;

pub(crate) use quote::quoted;

use super::{Dialect, Java, Shape, lexer};
use crate::call::Call;
use crate::lang::{Message, Other};
use crate::rewrite::PlanBuilder;
use crate::source::Source;

pub(super) use android::LocalNames;
pub(crate) use android::cache_index;

/// Rewrites a log call.
pub(super) fn emit(
    java: &Java,
    source: &Source,
    call: &Call<Shape>,
    message: &Message<'_>,
    plan: &mut PlanBuilder,
) {
    match &java.dialect {
        Dialect::Protolog => protolog::emit(java, source, call, message, plan),
        Dialect::Android(form) => android::emit(java, form, source, call, message, plan),
    }
}

/// Rewrites a call of another method of the class, such as `isEnabled`. In dialect protolog it stays as it is: both
/// classes answer alike.
pub(super) fn redirect(java: &Java, source: &Source, other: &Other, plan: &mut PlanBuilder) {
    if let Dialect::Android(form) = &java.dialect
        && form.redirects(&source.text(other.method.clone()), other.arguments)
    {
        replace_class(java, source, other.class.clone(), plan);
    }
}

/// Puts the class that rewritten code calls in the place of `class`, which is empty before the method of a static import.
fn replace_class(
    java: &Java,
    source: &Source,
    class: std::ops::Range<usize>,
    plan: &mut PlanBuilder,
) {
    let dot = if class.is_empty() { "." } else { "" };
    let kept = lexer::kept_trivia(source.slice(class.clone()));
    plan.replace(class, format!("{}{kept}{dot}", java.implementation));
}
