//! Calls that begin a span, whose value somebody is to close.

use super::file::KotlinFile;
use super::method_call::MethodCall;
use super::read::CallReader;
use crate::diagnostic::{Code, Diagnostic};
use crate::lang::jvm::is_span;

impl CallReader<'_, '_> {
    /// Refuses a span that is evidently a statement. Where nothing follows it in its braces, it may
    /// be the value of a lambda.
    pub(super) fn check_use(&self, call: &MethodCall) -> Result<(), Diagnostic> {
        let file = &self.named.file;
        let (first, close) = (call.class.start, file.partner(call.method + 1));
        if !is_span(&call.name) || !begins_statement(file, first) || !has_next(file, close + 1) {
            return Ok(());
        }
        let message = "a span that nobody closes ends with the one around it";
        let range = file.bytes_of(&(first..close + 1));
        Err(Diagnostic::error(Code::NoStatement, range, message)
            .help("write `ProtoLog.span(…).use { … }`"))
    }
}

/// Returns whether no expression that goes on can stand before the token.
fn begins_statement(file: &KotlinFile<'_>, at: usize) -> bool {
    let is_end = |before: usize| {
        let begins_line = file.begins_line(at);
        b"{;".iter().any(|it| file.is_punct(before, *it))
            || begins_line && b")}".iter().any(|it| file.is_punct(before, *it))
    };
    at.checked_sub(1).is_some_and(is_end)
}

/// Returns whether another statement follows in the same braces.
fn has_next(file: &KotlinFile<'_>, at: usize) -> bool {
    let goes_on = || matches!(file.raw(at), "else" | "as");
    file.is_punct(at, b';') || file.is_word(at) && file.begins_line(at) && !goes_on()
}
