//! What a call becomes: a call of `__site!`, whose definition in `protolog_rt` holds the code.

use super::check::Checked;
use super::parse::{Argument, Call};
use crate::tokens::{braced, ident, literal, macro_call, parenthesised, path, punct, with_commas};
use proc_macro::{Literal, Span, TokenStream};
use protolog_core::ParamKind;

/// `$crate::__site! { level, group, "template", mask, (first, (second, ())), }`
pub(super) fn checked(call: &Call, checked: &Checked) -> TokenStream {
    let site = Span::call_site();
    let values = call.arguments.iter().zip(&checked.kinds).rfold(
        parenthesised(TokenStream::new(), site),
        |rest, (argument, kind)| {
            let value = value(&call.runtime, argument, *kind);
            parenthesised([value, punct(',', site), rest].into_iter().collect(), site)
        },
    );
    let input = with_commas([
        call.level.clone(),
        call.group.clone(),
        literal(checked.template.clone(), call.template_span),
        literal(Literal::u64_suffixed(checked.mask), site),
        values,
    ]);
    macro_call(path(&call.runtime, &["__site"], site), input, site)
}

/// `{ error $crate::__refused! { level, group, first, second, } }`
pub(super) fn refused(call: &Call, error: TokenStream) -> TokenStream {
    let site = Span::call_site();
    let arguments = call.arguments.iter().map(|argument| argument.tokens.clone());
    let parts = [call.level.clone(), call.group.clone()].into_iter().chain(arguments);
    let rest = macro_call(path(&call.runtime, &["__refused"], site), with_commas(parts), site);
    braced([error, rest].into_iter().collect(), site)
}

/// The argument, wrapped in what its conversion takes. All tokens carry the argument's place, so that an error about its
/// type is shown there.
fn value(runtime: &TokenStream, argument: &Argument, kind: ParamKind) -> TokenStream {
    let span = argument.span;
    let part = |name| path(runtime, &["__private", name], span);
    let borrowed: TokenStream =
        [punct('&', span), parenthesised(argument.tokens.clone(), span)].into_iter().collect();
    let wrapped = |function| [part(function), parenthesised(borrowed.clone(), span)];
    match kind {
        ParamKind::Int => wrapped("int").into_iter().collect(),
        ParamKind::Float => wrapped("float").into_iter().collect(),
        ParamKind::Bool => wrapped("bool").into_iter().collect(),
        ParamKind::Str => {
            // `(&&&Select(&(argument))).select().text()`
            let and = || punct('&', span);
            let selected = [and(), and(), and()].into_iter().chain(wrapped("Select")).collect();
            let method = |name| {
                [punct('.', span), ident(name, span), parenthesised(TokenStream::new(), span)]
            };
            std::iter::once(parenthesised(selected, span))
                .chain(method("select"))
                .chain(method("text"))
                .collect()
        }
    }
}
