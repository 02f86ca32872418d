//! The exception behind the arguments of a call, as far as the source says what is one: see
//! [`exception`].

use super::file::KotlinFile;
use super::read::CallReader;
use crate::lang::jvm::dialect::Dialect;
use crate::lang::jvm::exception;
use std::ops::Range;

impl CallReader<'_, '_> {
    /// Returns whether the last of the arguments is evidently an exception. Android's dialects have
    /// no place for it.
    pub(super) fn is_exception(&self, rest: &[Range<usize>]) -> bool {
        let file = &self.named.file;
        let has_place = matches!(self.kotlin.java.dialect(), Dialect::Protolog);
        let Some(last) = rest.last().filter(|_| has_place) else { return false };
        let tokens = file.unparenthesized(last.clone());
        if tokens.len() != 1 || !file.is_word(tokens.start) {
            return is_evident(file, tokens);
        }
        let name = file.word(tokens.start);
        let declared = self.named.scopes.variable(&name, file.bytes_of(&tokens).start);
        let Some(declared) = declared else { return exception::is_name(&name) };
        match (&declared.written_type, &declared.value) {
            (Some(written), _) => exception::is_type(written),
            (None, _) if exception::is_name(&name) => true,
            (None, value) => value.clone().is_some_and(|value| is_evident(file, value)),
        }
    }
}

/// Returns whether an expression that is no variable is evidently an exception: `Type(…)`,
/// `x as Type`, `x.cause`, `x.exceptionOrNull()`.
fn is_evident(file: &KotlinFile<'_>, tokens: Range<usize>) -> bool {
    let (first, end) = (tokens.start, tokens.end);
    let open = tokens.clone().find(|at| file.is_punct(*at, b'('));
    let is_call = open.is_some_and(|open| file.partner(open) + 1 == end);
    let Some(name) = (if is_call { open } else { Some(end) }).and_then(|end| end.checked_sub(1))
    else {
        return false;
    };
    if name < first || !file.is_word(name) {
        return false;
    }
    let word = file.word(name);
    let is_path = file.path(first..name + 1).is_some();
    let is_member = name > first && matches!(file.raw(name - 1), "." | "?.");
    let is_cast = !is_call && tokens.clone().any(|at| file.raw(at) == "as");
    (is_call && is_path || is_cast) && exception::is_type(&word)
        || is_member && exception::is_giver(&word)
        || is_member && !is_call && exception::is_name(&word)
}
