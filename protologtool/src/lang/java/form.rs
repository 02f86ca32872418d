//! Forms of arguments that javac can't compile in the place where rewritten code has most of them.
//!
//! A conditional or switch with a call in it has no type of its own, but that of the parameter, which several overloads leave open:
//! javac calls `l(c ? 1 : Collections.max(list))` ambiguous. `lOf` and `fOf` have no overload that competes for it.
//!
//! And a switch with a `try` clears the operand stack, from which javac 17 can't take a `long`, such as the id: it ends with
//! an exception. The arguments are locals then, and the id comes behind them.

use super::invocation::{Candidate, Invocation};
use super::place::MemberCalls;
use super::syntax::{children, is_type_body, unparenthesized};
use memchr::memmem;
use tree_sitter::Node;

/// The arguments of a call that have such forms; usually none.
#[derive(Clone, Debug, Default)]
pub struct Forms {
    /// Indices of those whose type javac infers.
    inferred: Vec<usize>,
    /// True if one holds a switch with a `try`.
    pub needs_locals: bool,
}

impl Forms {
    /// Returns whether javac infers the type of an argument.
    pub(super) fn is_inferred(&self, index: usize) -> bool {
        self.inferred.contains(&index)
    }
}

impl MemberCalls<'_, '_, '_> {
    /// The forms of a call's arguments `args`, which stand behind `fixed` others.
    pub(super) fn forms(&self, candidate: &Candidate, args: &[Node<'_>], fixed: usize) -> Forms {
        let inferred = args.iter().enumerate().filter(|(_, arg)| is_inferred(**arg));
        let inferred = inferred.map(|(index, _)| index).collect();
        let text = |arg: &Node<'_>| &self.unit.text()[arg.byte_range()];
        let may_clear = args.iter().any(|arg| memmem::find(text(arg), b"switch").is_some());
        let needs_locals = may_clear && self.clears_stack(candidate, fixed);
        Forms { inferred, needs_locals }
    }

    /// Returns whether an argument behind the first `fixed` ones clears the operand stack. Only the whole member has the blocks
    /// of a switch.
    fn clears_stack(&self, candidate: &Candidate, fixed: usize) -> bool {
        let call = self.whole().and_then(|it| Invocation::at(it, candidate, self.unit.text()));
        let list = call.and_then(|call| call.node.child_by_field_name("arguments"));
        list.is_some_and(|list| children(list).skip(fixed).any(clears_stack))
    }
}

/// Returns whether javac infers the type of an expression from what the parameter allows.
fn is_inferred(expression: Node<'_>) -> bool {
    let mut results = vec![expression];
    while let Some(node) = results.pop().map(unparenthesized) {
        let is_result = node != unparenthesized(expression);
        match node.kind() {
            "switch_expression" => return true,
            "method_invocation" if is_result => return true,
            "ternary_expression" => {
                let fields = ["consequence", "alternative"].into_iter();
                results.extend(fields.filter_map(|field| node.child_by_field_name(field)));
            }
            _ => {}
        }
    }
    false
}

/// Returns whether an expression has a `try` or `synchronized` within a switch. Code of lambdas and classes has a stack of its
/// own; elsewhere in an expression, statements stand only in a switch.
fn clears_stack(expression: Node<'_>) -> bool {
    let mut nodes = vec![expression];
    while let Some(node) = nodes.pop() {
        match node.kind() {
            "try_statement" | "try_with_resources_statement" | "synchronized_statement" => {
                return true;
            }
            "lambda_expression" => {}
            _ if is_type_body(node) => {}
            _ => nodes.extend(children(node)),
        }
    }
    false
}
