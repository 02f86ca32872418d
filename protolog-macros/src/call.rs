//! A log call.

mod check;
mod generate;
mod literal;
mod parse;

use crate::problem::Problem;
use proc_macro::TokenStream;

/// What a call is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    Span,
}

/// The expansion of a call: the checked call, or its mistakes and its arguments for the compiler to
/// check on.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    expand_kind(input, Kind::Message)
}

/// The same of a span.
pub(crate) fn expand_span(input: TokenStream) -> TokenStream {
    expand_kind(input, Kind::Span)
}

fn expand_kind(input: TokenStream, kind: Kind) -> TokenStream {
    let call = match parse::parse(input) {
        Ok(call) => call,
        Err(problem) => return problem.into_tokens(),
    };
    match check::check(&call) {
        Ok(checked) => generate::checked(&call, &checked, kind),
        Err(problem) => generate::refused(&call, Problem::into_tokens(problem), kind),
    }
}
