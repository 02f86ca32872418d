//! The derive for group enums.

mod generate;
mod parse;

use proc_macro::TokenStream;

/// The implementation for an enum, or the mistakes in it.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    match parse::parse(input) {
        Ok(group_enum) => generate::implementation(&group_enum),
        Err(problem) => problem.into_tokens(),
    }
}
