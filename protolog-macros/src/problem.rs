//! Mistakes of the program, as compile errors.

use crate::tokens::{braced, ident, joint_colons, literal, punct};
use proc_macro::{Literal, Span, TokenStream};
use std::fmt::Display;

/// What is wrong, where, and what to do about it.
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

    /// The call of `compile_error!` that reports it.
    pub(crate) fn into_tokens(self) -> TokenStream {
        let message = literal(Literal::string(&self.message), self.span);
        [
            joint_colons(self.span),
            ident("core", self.span),
            joint_colons(self.span),
            ident("compile_error", self.span),
            punct('!', self.span),
            braced(message, self.span),
        ]
        .into_iter()
        .collect()
    }
}
