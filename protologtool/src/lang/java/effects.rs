//! Assignments in arguments. An unprocessed call always evaluates its arguments, a rewritten one only if it is enabled; so
//! what an argument changes is a warning, and an error where the change is read later.
//!
//! "Later" is after the call while the variable is in scope, and anywhere in a loop around the call that does not declare it.

use super::invocation::Invocation;
use super::locals::Locals;
use super::syntax::{descendants, text};
use crate::diagnostic::{Code, Diagnostic};
use std::ops::Range;
use tree_sitter::Node;

/// A call whose arguments are looked at.
pub(crate) struct Arguments<'a, 't> {
    pub(crate) source: &'t [u8],
    pub(crate) root: Node<'t>,
    pub(crate) call: &'a Invocation<'t>,
    pub(crate) locals: &'a Locals<'t>,
}

impl<'t> Arguments<'_, 't> {
    /// The warnings about assignments in one argument.
    pub(crate) fn check(&self, argument: Node<'t>) -> Vec<Diagnostic> {
        let end = argument.end_byte();
        let nodes = descendants(argument).take_while(|node| node.start_byte() < end);
        nodes.filter_map(|node| self.change(node, argument)).collect()
    }

    fn change(&self, node: Node<'t>, argument: Node<'t>) -> Option<Diagnostic> {
        let target = match node.kind() {
            "assignment_expression" => node.child_by_field_name("left")?,
            "update_expression" => node.named_child(0)?,
            _ => return None,
        };
        let target = super::syntax::unparenthesized(target);
        let (range, shown) =
            (node.byte_range(), super::lexer::compact(&self.source[node.byte_range()]));
        let warning = || {
            let message = format!("`{shown}` happens only if the call is enabled");
            let help = "change it in a statement of its own before the call";
            Diagnostic::warning(Code::SideEffect, range.clone(), message).help(help)
        };
        if target.kind() != "identifier" {
            return Some(warning());
        }
        let name = text(target, self.source);
        let Some(variable) = self.locals.variable(name, target.start_byte()) else {
            return Some(warning());
        };
        // A variable of a lambda or a class within the argument.
        if argument.start_byte() <= variable.scope.start
            && variable.scope.end <= argument.end_byte()
        {
            return None;
        }
        let is_field = variable.what.parent.kind() == "field_declaration";
        match self.read_later(name, &variable.scope).filter(|_| !is_field) {
            None => Some(warning()),
            Some(when) => {
                let message = format!(
                    "`{shown}` happens only if the call is enabled, but `{name}` is read {when}"
                );
                let help = "change it in a statement of its own before the call";
                Some(Diagnostic::error(Code::SideEffect, range, message).help(help))
            }
        }
    }

    /// In words, when after the call a variable that is in scope in `scope` is read.
    fn read_later(&self, name: &str, scope: &Range<usize>) -> Option<String> {
        let after = self.call.node.end_byte()..scope.end;
        let inside =
            |node: &Node<'t>| scope.start <= node.start_byte() && node.end_byte() <= scope.end;
        let around = self.call.ancestors().take_while(inside).filter(|node| is_loop(*node));
        let repeated = around.last().map(|outermost| outermost.byte_range());
        let stretch =
            repeated.map_or(after.clone(), |whole| whole.start.min(after.start)..after.end);
        let is_read = |node: &Node<'t>| {
            let at = node.start_byte();
            node.kind() == "identifier"
                && stretch.contains(&at)
                && !self.call.node.byte_range().contains(&at)
                && text(*node, self.source) == name
                && is_value(*node)
        };
        let read = descendants(self.root).find(is_read)?;
        let at = read.start_byte();
        if at < after.start {
            return Some("in the next round of the loop".to_owned());
        }
        let lines = crate::source::line_ends(&self.source[after.start..at]).count();
        Some(match lines {
            0 => "later on the same line".to_owned(),
            1 => "one line later".to_owned(),
            lines => format!("{lines} lines later"),
        })
    }
}

fn is_loop(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "while_statement" | "do_statement" | "for_statement" | "enhanced_for_statement"
    )
}

/// Returns whether an identifier is read, as opposed to declared, assigned, or the name of something else.
fn is_value(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    let is = |field| parent.child_by_field_name(field) == Some(node);
    match parent.kind() {
        "assignment_expression" => {
            !is("left") || parent.child_by_field_name("operator").is_some_and(|it| it.kind() != "=")
        }
        "field_access" => !is("field"),
        "method_invocation" | "variable_declarator" | "formal_parameter" => !is("name"),
        "labeled_statement" | "break_statement" | "continue_statement" | "inferred_parameters" => {
            false
        }
        "lambda_expression" => !is("parameters"),
        _ => true,
    }
}
