//! Receivers around a place, whose members come before the declarations of the file.

use super::file::KotlinFile;
use super::names::ScopedFile;

/// Returns whether members of a receiver may be meant at a token: it is in a lambda, or in an
/// extension.
pub(super) fn has_receiver(named: &ScopedFile<'_>, at: usize) -> bool {
    let file = &named.file;
    let is_extension = named
        .scopes
        .functions_around(at)
        .any(|it| file.is_punct(named.token_at(it.offset).wrapping_sub(1), b'.'));
    is_extension || named.braces_around(at).any(|open| is_lambda(named, open))
}

/// Returns whether the brace at `open` begins a lambda, rather than a body or a block.
fn is_lambda(named: &ScopedFile<'_>, open: usize) -> bool {
    const BLOCKS: [&str; 7] = ["else", "try", "finally", "do", "init", "get", "set"];
    const HEADS: [&str; 7] = ["if", "while", "for", "when", "catch", "get", "set"];
    let file: &KotlinFile<'_> = &named.file;
    let Some(before) = open.checked_sub(1) else { return false };
    let offset = file.tokens[open].range().start;
    let close = file.partner(open) + 1;
    let mut types = named.scopes.types_around(offset);
    let is_class = types.any(|it| it.body.as_ref().is_some_and(|body| body.start == offset));
    let is_function = named.scopes.functions_around(open).any(|it| {
        it.value.as_ref().is_some_and(|value| {
            // The body of `fun f() = with(x) { … }` is an expression.
            value.end == close
                && !(file.partner(value.start + 1)..open).any(|at| file.is_punct(at, b'='))
        })
    });
    if is_class || is_function || BLOCKS.contains(&file.raw(before)) {
        return false;
    }
    let head = file.partner(before).checked_sub(1).filter(|_| file.is_punct(before, b')'));
    !head.is_some_and(|head| HEADS.contains(&file.raw(head)) || file.raw(head) == "constructor")
}
