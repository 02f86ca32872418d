//! What a call becomes: a call of `__site!`, whose definition in `protolog_rt` holds the code.

use super::check::Checked;
use super::parse::{Argument, Call};
use crate::tokens::{
    braced, ident, literal, macro_call, moved_to, parenthesised, path, punct, with_commas,
};
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
        literal(Literal::usize_unsuffixed(checked.length), site),
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

/// The argument, wrapped in what its conversion takes. What is made here begins and ends where the argument does, so that
/// an error about its type is shown there.
fn value(runtime: &TokenStream, argument: &Argument, kind: ParamKind) -> TokenStream {
    let Argument { tokens, first, last } = argument;
    let and = || punct('&', *first);
    let borrowed: TokenStream = [and(), parenthesised(tokens.clone(), *last)].into_iter().collect();
    let given_to = |function| {
        let function = path(&moved_to(runtime, *first), &["__private", function], *first);
        [function, parenthesised(borrowed.clone(), *last)].into_iter()
    };
    match kind {
        ParamKind::Int => given_to("int").collect(),
        ParamKind::Float => given_to("float").collect(),
        ParamKind::Bool => given_to("bool").collect(),
        ParamKind::Str => {
            // `$crate::__private::text(&(argument)).text()`
            let method = [
                punct('.', *first),
                ident("text", *first),
                parenthesised(TokenStream::new(), *last),
            ];
            given_to("text").chain(method).collect()
        }
    }
}
