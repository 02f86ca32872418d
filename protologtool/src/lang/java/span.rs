//! Calls that begin a span: unlike the others they have a value, and are no statements.

use super::Forms;
use super::context::{Context, context_of_span};
use super::invocation::{Candidate, Invocation};
use super::place::MemberCalls;
use crate::diagnostic::{Code, Diagnostic};
use crate::lang::jvm::is_span;
use tree_sitter::Node;

impl MemberCalls<'_, '_, '_> {
    /// Returns whether a call begins a span.
    pub(super) fn is_span(&self, candidate: &Candidate) -> bool {
        !candidate.may_pass_on && is_span(self.unit.str(&candidate.method))
    }

    /// The place of a call, whatever it begins.
    pub(super) fn place_of<'c>(
        &self,
        call: &Invocation<'c>,
        candidate: &Candidate,
    ) -> Result<(Context, Node<'c>), Diagnostic> {
        if !self.is_span(candidate) {
            return self.place(call);
        }
        self.no_hidden_name(call)?;
        context_of_span(call).map_err(|message| {
            Diagnostic::error(Code::NoStatement, call.node.byte_range(), message)
                .help("write `try (Span span = ProtoLog.span(…)) { … }`")
        })
    }

    /// The forms of a call's arguments; an error for a span with one that needs a statement of its
    /// own.
    pub(super) fn forms_in_place(
        &self,
        candidate: &Candidate,
        args: &[Node<'_>],
        template: Node<'_>,
    ) -> Result<Forms, Vec<Diagnostic>> {
        let forms = self.forms(candidate, args, 2);
        if !forms.needs_locals || !self.is_span(candidate) {
            return Ok(forms);
        }
        let message = "a span with a switch with a `try` in its arguments can't be rewritten";
        let error = Diagnostic::error(Code::NoStatement, template.byte_range(), message);
        Err(vec![error.help("assign the value of the switch to a variable before the span")])
    }
}
