//! The exception behind the arguments of a call, as far as the source says what is one: see
//! [`exception`].

use super::invocation::Invocation;
use super::meaning::Variable;
use super::place::MemberCalls;
use super::syntax::{field_text, text, unparenthesized};
use crate::lang::jvm::dialect::Dialect;
use crate::lang::jvm::exception;
use tree_sitter::Node;

impl MemberCalls<'_, '_, '_> {
    /// Returns whether the last of the arguments is evidently an exception. Android's dialects have
    /// no place for it.
    pub(super) fn is_exception(&self, args: &[Node<'_>], call: &Invocation<'_>) -> bool {
        let Some(node) = args.last().map(|node| unparenthesized(*node)) else { return false };
        if !matches!(self.java.dialect, Dialect::Protolog) {
            return false;
        }
        if node.kind() != "identifier" {
            return is_evident(node, self.unit.text());
        }
        let (name, source) = (text(node, self.unit.text()), self.unit.text());
        let Some(Variable::Local(declared)) = self.variable(call, name) else {
            return exception::is_name(name);
        };
        let value = declared.node.child_by_field_name("value").map(unparenthesized);
        match declared.written_type(source) {
            Some(written) => exception::is_type(written),
            None if declared.is_caught() || exception::is_name(name) => true,
            None => value.is_some_and(|value| is_evident(value, source)),
        }
    }
}

/// Returns whether an expression that is no variable is evidently an exception.
fn is_evident(node: Node<'_>, source: &[u8]) -> bool {
    let field = |name| field_text(node, name, source);
    match node.kind() {
        "object_creation_expression" | "cast_expression" => exception::is_type(field("type")),
        "method_invocation" => exception::is_giver(field("name")),
        "field_access" => exception::is_name(field("field")),
        _ => false,
    }
}
