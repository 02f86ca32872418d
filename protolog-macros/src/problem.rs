//! Mistakes of the program, as compile errors.

use crate::tokens::{ident, joint_colons, macro_call, path};
use proc_macro::{Literal, Span, TokenStream, TokenTree};
use std::fmt::Display;

/// An error: its message, its span, and the advice.
#[derive(Debug)]
pub(crate) struct Problem {
    span: Span,
    message: String,
}

impl Problem {
    /// `message` says what is wrong, `help` begins with a verb.
    pub(crate) fn new(span: Span, message: impl Display, help: impl Display) -> Self {
        Self { span, message: format!("{message}\nhelp: {help}") }
    }

    /// The call of `compile_error!` that reports it, as if it stood at the tokens that the mistake
    /// is about.
    pub(crate) fn into_tokens(self) -> TokenStream {
        let mut message = Literal::string(&self.message);
        message.set_span(self.span);
        let message = TokenTree::Literal(message).into();
        let core: TokenStream =
            [joint_colons(self.span), ident("core", self.span)].into_iter().collect();
        let call = macro_call(path(&core, &["compile_error"], self.span), message, self.span);
        call.into_iter()
            .map(|mut tree| {
                tree.set_span(self.span);
                tree
            })
            .collect()
    }
}
