//! Where a call stands, which decides what must be put around its rewritten form: an `if`
//! statement, where before there was an expression.

use super::invocation::Invocation;
use tree_sitter::Node;

/// The surroundings of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// A statement among others: an `if` can stand there as it is.
    Statement,
    /// A statement whose `if` would take the `else` of an outer one, or one that must be a block
    /// (`case 1 ->`): braces.
    Braced,
    /// The body of a lambda: braces, and the semicolon that an expression does not have.
    Lambda,
    /// A span, whose value is used: an expression can stand there.
    Expression,
}

/// The context of a call, and the node that is to be wrapped; an error says in words where it
/// stands instead.
pub(crate) fn context<'t>(call: &Invocation<'t>) -> Result<(Context, Node<'t>), &'static str> {
    let mut ancestors = call.ancestors();
    let Some(parent) = ancestors.next() else { return Err("outside of any statement") };
    match parent.kind() {
        "expression_statement" => {
            let mut outer = ancestors.peekable();
            let in_rule = outer.peek().is_some_and(|outer| outer.kind() == "switch_rule");
            let braces = in_rule || takes_an_else(parent, outer);
            Ok((if braces { Context::Braced } else { Context::Statement }, parent))
        }
        "lambda_expression" if parent.child_by_field_name("body") == Some(call.node) => {
            Ok((Context::Lambda, call.node))
        }
        "for_statement" => Err("in the head of a `for` loop"),
        "parenthesized_expression" => Err("in parentheses"),
        "argument_list" => Err("as an argument"),
        "variable_declarator" => Err("as an initial value"),
        "ternary_expression" => Err("in a conditional expression"),
        _ => Err("within an expression"),
    }
}

/// As [`context`], of a span, which is an expression before and after; an error if nobody has its
/// value.
pub(crate) fn context_of_span<'t>(
    call: &Invocation<'t>,
) -> Result<(Context, Node<'t>), &'static str> {
    match call.ancestors().next().map(|parent| parent.kind()) {
        Some("expression_statement") => {
            Err("a span that nobody closes ends with the one around it")
        }
        _ => Ok((Context::Expression, call.node)),
    }
}

/// Returns whether an `if` without `else` in the place of `statement` would be given the `else` of
/// an outer `if`: it ends the branch of an outer `if` that has one, with nothing but the heads of
/// statements in between.
fn takes_an_else<'t>(statement: Node<'t>, ancestors: impl Iterator<Item = Node<'t>>) -> bool {
    let mut child = statement;
    for parent in ancestors {
        match parent.kind() {
            "if_statement" => {
                let alternative = parent.child_by_field_name("alternative");
                if alternative.is_some() && alternative != Some(child) {
                    return true;
                }
            }
            "while_statement"
            | "for_statement"
            | "enhanced_for_statement"
            | "labeled_statement" => {}
            _ => return false,
        }
        child = parent;
    }
    false
}
