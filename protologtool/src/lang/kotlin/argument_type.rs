//! The types of arguments that Kotlin's sources make evident: of literals, conversions, and
//! variables that are declared with a type which only the language has.

use super::kinds::type_of;
use super::read::CallReader;
use crate::call::{Checked, without_fixes};
use crate::diagnostic::Diagnostic;
use crate::lang::jvm::argument_type::{ArgumentType, misfits};
use protolog_core::Template;
use std::ops::Range;

impl CallReader<'_, '_> {
    /// The errors for arguments of a call, at these bytes, whose types do not fit the template. Of
    /// those, `rest` are written behind the template; others have a conversion that was made for
    /// them.
    pub(super) fn misfits(
        &self,
        template: &Template<'_>,
        arguments: &[Range<usize>],
        rest: &[Range<usize>],
    ) -> Vec<Diagnostic> {
        let file = &self.named.file;
        let written =
            |bytes: &Range<usize>| rest.iter().find(|tokens| file.bytes_of(tokens) == *bytes);
        let typed = arguments.iter().map(|bytes| {
            let name = written(bytes).and_then(|tokens| type_of(self.named, tokens));
            let is = name.filter(|_| !self.may_be_inherited(bytes));
            (bytes.clone(), is.and_then(|name| ArgumentType::named(&name)))
        });
        misfits(file.text, template, typed)
    }

    /// Returns whether the bytes are the name of a variable from outside of the class around, which
    /// may inherit another one.
    fn may_be_inherited(&self, bytes: &Range<usize>) -> bool {
        let (scopes, at) = (&self.named.scopes, bytes.start);
        let name = String::from_utf8_lossy(&self.named.file.text[bytes.clone()]);
        let class = |offset| scopes.types_around(offset).next().map(|it| it.offset);
        scopes.variable(&name, at).is_some_and(|it| class(it.offset) != class(at))
    }

    /// The template of a call to a function that passes it on, if its arguments, of which `rest`
    /// are written behind it, fit it.
    pub(super) fn fitting<'t>(
        &self,
        checked: Checked<'t>,
        rest: &[Range<usize>],
    ) -> Result<Template<'t>, Vec<Diagnostic>> {
        let template = checked.template().map_err(without_fixes)?;
        let misfits = self.misfits(&template, checked.args, rest);
        if misfits.is_empty() { Ok(template) } else { Err(misfits) }
    }
}
