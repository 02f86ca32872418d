//! Forms of arguments that javac can't compile in the place where rewritten code has most of them.
//!
//! A conditional or switch with a call in it has no type of its own, but that of the parameter,
//! which several overloads leave open: javac calls `l(c ? 1 : Collections.max(list))` ambiguous.
//! `lOf` and `fOf` have no overload that competes for it.
//!
//! And a switch with a `try` clears the operand stack, from which javac 17 can't take a `long`,
//! such as the id: it ends with an exception. The arguments are locals then, and the id comes
//! behind them.

use super::syntax::{children, is_type_body, unparenthesized};
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
    /// The forms of the arguments `args`; `with_blocks` are the same with the code between braces,
    /// if a switch is in it.
    pub(super) fn of(args: &[Node<'_>], with_blocks: &[Node<'_>]) -> Self {
        let inferred = args.iter().enumerate().filter(|(_, arg)| is_inferred(**arg));
        let inferred = inferred.map(|(index, _)| index).collect();
        Self { inferred, needs_locals: with_blocks.iter().copied().any(clears_stack) }
    }

    /// Returns whether javac infers the type of an argument.
    pub(super) fn is_inferred(&self, index: usize) -> bool {
        self.inferred.contains(&index)
    }
}

/// Returns whether javac infers the type of an expression from the parameter's type.
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

/// Returns whether an expression has a `try` or `synchronized` within a switch. Code of lambdas and
/// classes has a stack of its own; elsewhere in an expression, statements stand only in a switch.
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
