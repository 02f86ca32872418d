//! A log call.

mod check;
mod generate;
mod literal;
mod parse;

use crate::problem::Problem;
use proc_macro::TokenStream;

/// The expansion of a call: the checked call, or its mistakes and its arguments for the compiler to
/// check on.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let call = match parse::parse(input) {
        Ok(call) => call,
        Err(problem) => return problem.into_tokens(),
    };
    match check::check(&call) {
        Ok(checked) => generate::checked(&call, &checked),
        Err(problem) => generate::refused(&call, Problem::into_tokens(problem)),
    }
}
