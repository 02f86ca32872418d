//! Tells whether code runs when the first function of an object, a companion or a file is called.
//!
//! A rewritten call no longer names the function that was looked through. So a statement that this
//! does not understand counts as code.

use super::lexer::LexemeKind;
use super::names::ScopedFile;
use super::scopes::{DeclaredKind, DeclaredName};
use super::template::constant_text;
use crate::lang::jvm::wrapper::Wrapper;
use std::ops::Range;
use std::sync::PoisonError;

/// Returns whether code may run before the function `declared`, which is called without an
/// instance.
pub(super) fn runs_code(named: &ScopedFile<'_>, declared: &DeclaredName) -> bool {
    let object = named.scopes.types_around(declared.offset).next().map(|object| object.offset);
    let mut known = named.initialisers.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(object).or_insert_with(|| initialiser_runs_code(named, declared))
}

fn initialiser_runs_code(named: &ScopedFile<'_>, declared: &DeclaredName) -> bool {
    let file = &named.file;
    let mut around = named.scopes.types_around(declared.offset);
    let Some(object) = around.next() else { return body_runs_code(named, 0..file.tokens.len()) };
    let body = object.body.as_ref().map(|body| named.token_at(body.start));
    // The companion is made when its class is initialised, which the superclass is before.
    let extends = |class: &DeclaredName| !class.supertypes.is_empty();
    let of_class = object.is_companion && around.next().is_some_and(extends);
    let body = body.map(|open| open + 1..file.partner(open));
    extends(object) || of_class || body.is_some_and(|body| body_runs_code(named, body))
}

/// Returns whether the code at `offset` can only run when the class, object or file of `wrapper` is
/// initialised.
pub(super) fn is_within(named: &ScopedFile<'_>, wrapper: &Wrapper, offset: usize) -> bool {
    let is_named = |class: &&DeclaredName| !class.name.is_empty() && !named.is_local(class);
    match named.scopes.types_around(offset).find(is_named) {
        Some(class) => wrapper.is_of([&*named.canonical(class).0]),
        None => named.scopes.named(&wrapper.name).any(|it| {
            wrapper.is_of_file
                && it.kind == DeclaredKind::Function
                && named.scopes.types_around(it.offset).next().is_none()
        }),
    }
}

/// Returns whether a declaration right in the tokens `body` does more than declare.
fn body_runs_code(named: &ScopedFile<'_>, body: Range<usize>) -> bool {
    let file = &named.file;
    let mut at = body.start;
    while at < body.end {
        let is_init = file.raw(at) == "init" && file.is_punct(at + 1, b'{');
        let is_variable = matches!(file.raw(at), "val" | "var");
        if is_init || is_variable && variable_runs_code(named, at + 1) {
            return true;
        }
        at = file.next(at, body.end);
    }
    false
}

/// Returns whether the variable whose name is the token `name` is made by more than a literal or a
/// constant.
fn variable_runs_code(named: &ScopedFile<'_>, name: usize) -> bool {
    let file = &named.file;
    let offset = file.bytes_of(&(name..name + 1)).start;
    let declared = named.scopes.named(&file.word(name)).find(|it| it.offset == offset);
    // An extension has no value.
    let Some(value) = declared.and_then(|it| it.value.as_ref()) else {
        return is_delegated(named, name);
    };
    let is_literal = value.len() == 1
        && (matches!(file.kind(value.start), Some(LexemeKind::Char | LexemeKind::Number))
            || matches!(file.raw(value.start), "true" | "false" | "null"));
    let is_constant = declared.is_some_and(|it| it.kind == DeclaredKind::Constant);
    !is_constant && !is_literal && constant_text(named, value).is_none()
}

/// Returns whether `by` stands behind the variable whose name is the token `name`.
fn is_delegated(named: &ScopedFile<'_>, name: usize) -> bool {
    const ENDS: [&str; 10] =
        ["=", "get", "set", "val", "var", "fun", "class", "object", "interface", "}"];
    let file = &named.file;
    let after = (name + 1..file.tokens.len()).map(|at| file.raw(at));
    after.take_while(|raw| !ENDS.contains(raw)).any(|raw| raw == "by")
}
