//! Templates that name their arguments.

use super::invocation::Invocation;
use super::place::MemberCalls;
use crate::call::Text;
use crate::diagnostic::Diagnostic;
use crate::lang::jvm::argument_names::take_names;
use tree_sitter::Node;

impl MemberCalls<'_, '_, '_> {
    /// A call's template without the names that it gives its arguments, and their list.
    pub(super) fn named_template(
        &self,
        argument: Node<'_>,
        call: &Invocation<'_>,
    ) -> Result<(Text, String), Diagnostic> {
        self.without_names(self.template(argument, call)?)
    }

    /// The same of a text.
    pub(super) fn without_names(&self, mut text: Text) -> Result<(Text, String), Diagnostic> {
        let names = take_names(&mut text, &self.java.dialect)?;
        Ok((text, names))
    }
}
