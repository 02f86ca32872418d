//! The expansion of a call: a call of `__site!`, whose definition in `protolog_rt` holds the code.
//!
//! Tokens are gathered in vectors: each stream that is made is a call of the compiler.

use super::Kind;
use super::check::Checked;
use super::parse::{Argument, Call};
use crate::tokens::{braced, colons, macro_call, path, with_commas};
use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use protolog_core::ParamKind;

/// `$crate::__site! { level, group, group.__protolog_def(), new_note, "template", length, mask,
/// (first, (second, ())), }`; of a span `$crate::__span_site! { …, lengths, }`
pub(super) fn checked(call: &Call, checked: &Checked, kind: Kind) -> TokenStream {
    let site = Span::call_site();
    let values = call.arguments.iter().zip(&checked.kinds).rfold(
        group(Delimiter::Parenthesis, Vec::new(), site),
        |rest, (argument, kind)| {
            let mut pair = value(&call.runtime, argument, *kind);
            pair.extend([punct(',', site), rest]);
            group(Delimiter::Parenthesis, pair, site)
        },
    );
    let mut template = checked.template.clone();
    template.set_span(call.template_span);
    let mut input = call.level.clone();
    input.push(punct(',', site));
    input.extend_from_slice(&call.group);
    input.push(punct(',', site));
    input.extend(facts(call));
    for part in [
        ident(if checked.has_names { "new_named_note" } else { "new_note" }, site),
        TokenTree::Literal(template),
        TokenTree::Literal(Literal::usize_unsuffixed(checked.length)),
        TokenTree::Literal(Literal::u64_suffixed(checked.mask)),
        values,
    ] {
        input.extend([punct(',', site), part]);
    }
    if kind == Kind::Span {
        let lengths = checked.name_length | checked.template_length << 16;
        let lengths = Literal::u32_suffixed(lengths as u32);
        input.extend([punct(',', site), TokenTree::Literal(lengths)]);
    }
    let name = if kind == Kind::Span { "__span_site" } else { "__site" };
    let mut site_call = call.runtime.clone();
    site_call.extend(colons(site));
    site_call.extend([ident(name, site), punct('!', site)]);
    site_call.push(group(Delimiter::Brace, input, site));
    site_call.into_iter().collect()
}

/// `{ error $crate::__refused! { level, group, first, second, } }`
pub(super) fn refused(call: &Call, error: TokenStream, kind: Kind) -> TokenStream {
    let site = Span::call_site();
    let arguments = call.arguments.iter().map(|argument| &argument.tokens);
    let parts = [&call.level, &call.group].into_iter().chain(arguments);
    let parts = parts.map(|part| part.iter().cloned().collect());
    let runtime = call.runtime.iter().cloned().collect();
    let name = if kind == Kind::Span { "__refused_span" } else { "__refused" };
    let rest = macro_call(path(&runtime, &[name], site), with_commas(parts), site);
    braced([error, rest].into_iter().collect(), site)
}

/// `group.__protolog_def()`, shown at the group.
fn facts(call: &Call) -> impl Iterator<Item = TokenTree> {
    let span = call.group_span;
    let method = [
        punct('.', span),
        ident("__protolog_def", span),
        group(Delimiter::Parenthesis, Vec::new(), span),
    ];
    call.group.clone().into_iter().chain(method)
}

/// The argument, wrapped in what its conversion takes. What is made here begins and ends where the
/// argument does, so that an error about its type is shown there.
fn value(runtime: &[TokenTree], argument: &Argument, kind: ParamKind) -> Vec<TokenTree> {
    let Argument { tokens, first, last, .. } = argument;
    let (first, last) = (*first, *last);
    let function = match kind {
        ParamKind::Int => "int",
        ParamKind::Float => "float",
        ParamKind::Bool => "bool",
        ParamKind::Str => "string",
    };
    // Shown at the argument, with the meaning that they have.
    let runtime = runtime.iter().cloned().map(|mut tree| {
        tree.set_span(tree.span().located_at(first));
        tree
    });
    let mut value: Vec<TokenTree> = runtime.collect();
    value.extend(colons(first));
    value.push(ident("__private", first));
    value.extend(colons(first));
    let inner = group(Delimiter::Parenthesis, tokens.clone(), last);
    let borrowed = group(Delimiter::Parenthesis, vec![punct('&', first), inner], last);
    value.extend([ident(function, first), borrowed]);
    if kind == ParamKind::Str {
        // `$crate::__private::string(&(argument)).string()`
        let none = group(Delimiter::Parenthesis, Vec::new(), last);
        value.extend([punct('.', first), ident("string", first), none]);
    }
    value
}

fn ident(name: &str, span: Span) -> TokenTree {
    TokenTree::Ident(Ident::new(name, span))
}

fn punct(char: char, span: Span) -> TokenTree {
    let mut punct = Punct::new(char, Spacing::Alone);
    punct.set_span(span);
    TokenTree::Punct(punct)
}

fn group(delimiter: Delimiter, content: Vec<TokenTree>, span: Span) -> TokenTree {
    let mut group = Group::new(delimiter, content.into_iter().collect());
    group.set_span(span);
    TokenTree::Group(group)
}
