//! Where a pattern's variable is in scope, which the flow of control decides (JLS 6.3).
//!
//! ```text
//! if (!(o instanceof String s)) return;     s is in scope from here to the end of the block
//! while (!(o instanceof String s)) o = f(); as after this loop, if nothing breaks out of it
//! a instanceof B b && b.c() ? b : null      right of `&&`, and where the condition is true
//! ```

use super::syntax::{ancestors, children, descendants, text, unparenthesized};
use std::ops::Range;
use tree_sitter::Node;

/// The stretches in which the variable of `pattern` (an `instanceof`, or a pattern of a `case`) is
/// in scope, the pattern itself included.
pub(super) fn scope_of_pattern(pattern: Node<'_>, source: &[u8]) -> Vec<Range<usize>> {
    let mut scope = vec![pattern.byte_range()];
    // The variable is bound if the expression that was reached has this value.
    let mut when = true;
    for (parent, child) in ancestors(pattern) {
        let field = |name| parent.child_by_field_name(name);
        let is = |name| field(name) == Some(child);
        let mut add = |node: Option<Node<'_>>| scope.extend(node.map(|node| node.byte_range()));
        match parent.kind() {
            "parenthesized_expression"
            | "record_pattern"
            | "record_pattern_body"
            | "pattern"
            | "instanceof_expression" => {}
            "unary_expression" => when = !when,
            "binary_expression" => {
                let operator = field("operator").map_or("", |operator| operator.kind());
                if operator != if when { "&&" } else { "||" } {
                    break;
                }
                if is("left") {
                    add(field("right"));
                }
            }
            "ternary_expression" => {
                if is("condition") {
                    add(field(if when { "consequence" } else { "alternative" }));
                }
                break;
            }
            "if_statement" if is("condition") => {
                let (then, other) = (field("consequence"), field("alternative"));
                add(if when { then } else { other });
                let (bound, unbound) = if when { (then, other) } else { (other, then) };
                let goes_on =
                    |node: Option<Node<'_>>| node.is_none_or(|node| can_complete(node, source));
                if !goes_on(unbound) && goes_on(bound) {
                    add_rest(parent, source, &mut scope);
                }
                break;
            }
            "while_statement" | "for_statement" | "do_statement" if is("condition") => {
                if when && parent.kind() != "do_statement" {
                    add(field("body"));
                    add(field("update"));
                } else if !when && !has_break(parent, source) {
                    add_rest(parent, source, &mut scope);
                }
                break;
            }
            "guard" => {}
            // The guard and all that the label leads to.
            "switch_label" => {
                let labelled = parent.parent().unwrap_or(parent);
                scope.extend(when.then(|| pattern.start_byte()..labelled.end_byte()));
                break;
            }
            _ => break,
        }
    }
    scope
}

/// From the end of `statement` to the end of the block or the switch group around it; labels go
/// along.
fn add_rest(statement: Node<'_>, source: &[u8], scope: &mut Vec<Range<usize>>) {
    for (parent, child) in ancestors(statement) {
        match parent.kind() {
            "labeled_statement" if !has_break(parent, source) => {}
            "block" | "constructor_body" | "switch_block_statement_group" => {
                scope.push(child.end_byte()..parent.end_byte());
                return;
            }
            _ => return,
        }
    }
}

/// Returns whether the code after a statement can be reached through it (JLS 14.22, for a statement
/// that is reached itself).
fn can_complete(statement: Node<'_>, source: &[u8]) -> bool {
    let all = |node| blocks(node).all(|block| can_complete(block, source));
    let field = |name| statement.child_by_field_name(name);
    match statement.kind() {
        "return_statement" | "throw_statement" | "break_statement" | "continue_statement"
        | "yield_statement" => false,
        "block" | "constructor_body" => children(statement).all(|node| can_complete(node, source)),
        "labeled_statement" => {
            let inner = children(statement).last();
            inner.is_none_or(|inner| can_complete(inner, source)) || has_break(statement, source)
        }
        "if_statement" => {
            let mut branches = [field("alternative"), field("consequence")].into_iter();
            branches.any(|branch| branch.is_none_or(|branch| can_complete(branch, source)))
        }
        "while_statement" | "do_statement" | "for_statement" => {
            let is_endless = match field("condition").map(unparenthesized) {
                Some(condition) => condition.kind() == "true",
                None => statement.kind() == "for_statement",
            };
            !is_endless || has_break(statement, source)
        }
        "synchronized_statement" => all(statement),
        "try_statement" | "try_with_resources_statement" => {
            let clauses = |kind| children(statement).filter(move |node| node.kind() == kind);
            clauses("finally_clause").all(all)
                && (all(statement) || clauses("catch_clause").any(all))
        }
        "switch_expression" => switch_can_complete(statement, source),
        _ => true,
    }
}

fn blocks(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    children(node).filter(|child| child.kind() == "block")
}

/// A switch completes unless it has a default, nothing breaks out of it, and its last group or all
/// its rules do not.
fn switch_can_complete(switch: Node<'_>, source: &[u8]) -> bool {
    let body = switch.child_by_field_name("body");
    let parts: Vec<_> = body.into_iter().flat_map(children).collect();
    let is_default = |part: &Node<'_>| {
        let mut labels = children(*part).filter(|node| node.kind() == "switch_label");
        labels.any(|label| text(label, source).starts_with("default"))
    };
    if has_break(switch, source) || !parts.iter().any(is_default) {
        return true;
    }
    let completes = |part: &Node<'_>| {
        let mut statements = children(*part).filter(|node| node.kind() != "switch_label");
        statements.all(|node| can_complete(node, source))
    };
    match parts.last() {
        Some(last) if last.kind() == "switch_rule" => parts.iter().any(completes),
        last => last.is_none_or(completes),
    }
}

/// Returns whether a `break` ends this loop, switch or labelled statement.
fn has_break(target: Node<'_>, source: &[u8]) -> bool {
    let breaks = descendants(target).take_while(|node| node.start_byte() < target.end_byte());
    breaks.filter(|node| node.kind() == "break_statement").any(|node| {
        let label = children(node).next().map(|label| text(label, source));
        let ended = ancestors(node).map(|(outer, _)| outer).find(|outer| match label {
            Some(label) => {
                outer.kind() == "labeled_statement"
                    && children(*outer).next().is_some_and(|name| text(name, source) == label)
            }
            None => matches!(
                outer.kind(),
                "while_statement"
                    | "do_statement"
                    | "for_statement"
                    | "enhanced_for_statement"
                    | "switch_expression"
            ),
        });
        ended.is_some_and(|ended| {
            ended == target || label.is_some() && children(ended).last() == Some(target)
        })
    })
}
