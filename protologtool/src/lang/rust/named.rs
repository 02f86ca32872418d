//! Names of arguments: `bytes = n`, which is an assignment to the parser.
//!
//! The rules are those of the macros, in `protolog-macros/src/call/check.rs`.

use super::tokens::{Spans, is_punct, plain};
use crate::diagnostic::{Code, Diagnostic};
use crate::rewrite::Edit;
use crate::source::Source;
use proc_macro2::{Ident, Spacing, TokenTree};
use protolog_core::is_name;

/// The list of the arguments' names, and the edits that take them off. `written` shows tokens.
pub(super) fn names(
    arguments: &[Vec<TokenTree>],
    (source, spans): (&Source, Spans),
    written: impl Fn(&[TokenTree]) -> String,
) -> Result<(String, Vec<Edit>), Diagnostic> {
    let (mut names, mut edits): (Vec<String>, _) = (Vec::new(), Vec::new());
    for part in arguments {
        let Some(len) = target_len(part) else {
            names.push(String::new());
            continue;
        };
        let at = || spans.of_all(&part[..len], 0);
        let error = |message: String, help: String| {
            Err(Diagnostic::error(Code::ArgumentCount, at(), message).help(help))
        };
        let name = match &part[..len] {
            [TokenTree::Ident(word)] if is_argument_name(word) => word.to_string(),
            target => {
                let message = format!("`{}` can't be the name of an argument", written(target));
                let last = target.iter().rev().find_map(|tree| match tree {
                    TokenTree::Ident(word) if is_argument_name(word) => Some(word.to_string()),
                    _ => None,
                });
                let (name, value) = (last.as_deref().unwrap_or("value"), written(value(part)));
                return error(
                    message,
                    format!(
                        "write a short word that is no keyword, as in `{name} = {value}`, or the value alone"
                    ),
                );
            }
        };
        let name = plain(&name).to_owned();
        if names.contains(&name) {
            return error(
                format!("two arguments have the name `{name}`"),
                "give each argument a name of its own, or none".to_owned(),
            );
        }
        names.push(name);
        let (name, equals) = (at(), spans.of_all(&part[len..=len], 0));
        let value = spans.of_all(&part[len + 1..], 0);
        // Comments and line ends between stay.
        let between = [name.end..equals.start, equals.end..value.start];
        let kept = between.map(|gap| source.text(gap));
        let kept: String =
            kept.into_iter().filter(|gap| !gap.trim_matches(' ').is_empty()).collect();
        edits.push(Edit { range: name.start..value.start, text: kept });
    }
    Ok((if edits.is_empty() { String::new() } else { names.join(",") }, edits))
}

/// The value of an argument, without its name.
pub(super) fn value(part: &[TokenTree]) -> &[TokenTree] {
    target_len(part).map_or(part, |len| &part[len + 1..])
}

/// The number of tokens before the `=` in `name = value`, or in an assignment to a field, an
/// element or what a reference points to. Other expressions may have an `=` in them, as closures
/// and `if let` have.
pub(super) fn target_len(part: &[TokenTree]) -> Option<usize> {
    let mut is_word_before = false;
    for (index, tree) in part.iter().enumerate() {
        match tree {
            TokenTree::Ident(_) if is_word_before => return None,
            TokenTree::Punct(punct) => match punct.as_char() {
                // `=` may touch what follows: `n=-1`.
                '=' if punct.spacing() == Spacing::Alone || !is_operator(part.get(index + 1)) => {
                    return (index > 0).then_some(index);
                }
                '.' | ':' => {}
                '*' if index == 0 => {}
                _ => return None,
            },
            _ => {}
        }
        is_word_before = matches!(tree, TokenTree::Ident(_));
    }
    None
}

/// Returns whether the token after `=` makes `==` or `=>` of it.
fn is_operator(next: Option<&TokenTree>) -> bool {
    is_punct(next, '=') || is_punct(next, '>')
}

/// Returns whether a word that the parser takes for an expression can name an argument.
fn is_argument_name(word: &Ident) -> bool {
    let word = word.to_string();
    let is_keyword = matches!(&*word, "self" | "Self" | "super" | "crate" | "_" | "true" | "false");
    !is_keyword && is_name(plain(&word))
}
