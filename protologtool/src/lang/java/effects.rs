//! Assignments in arguments. An unprocessed call always evaluates its arguments, a rewritten one
//! only if it is enabled; so a change by an argument is a warning, and an error where the change is
//! read later.
//!
//! "Later" is after the call while the variable is in scope, and anywhere in a loop around the call
//! that does not declare it.
//!
//! One walk over a member notes all its changes and reads, so that many calls, within each other or
//! beside each other, do not take a walk each.

use super::invocation::Invocation;
use super::locals::Locals;
use super::syntax::{for_each_with_ancestors, text};
use crate::diagnostic::{Code, Diagnostic};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use tree_sitter::Node;

/// The changes and reads of variables in a member.
pub(crate) struct Changes<'t> {
    /// Assignments and increments, in source order.
    nodes: Vec<Node<'t>>,
    /// By name, the offsets at which variables are read.
    reads: HashMap<&'t str, Vec<usize>>,
    /// For each change itself, or where it was looked at a later one: those up to it were, too. Of
    /// calls within each other the inner one decides, since a read after the outer one is also
    /// after it.
    rest: RefCell<Vec<usize>>,
}

/// A call whose arguments are looked at.
pub(crate) struct Arguments<'a, 't> {
    pub(crate) source: &'t [u8],
    pub(crate) changes: &'a Changes<'t>,
    pub(crate) call: &'a Invocation<'t>,
    pub(crate) locals: &'a Locals<'t>,
}

impl<'t> Changes<'t> {
    /// Walks over the tree of a member, which is under `root`.
    pub(crate) fn of(root: Option<Node<'t>>, source: &'t [u8]) -> Self {
        let mut found = Self { nodes: Vec::new(), reads: HashMap::new(), rest: RefCell::default() };
        if let Some(root) = root {
            found.walk(root, source);
        }
        found.rest = RefCell::new((0..=found.nodes.len()).collect());
        found
    }

    fn walk(&mut self, root: Node<'t>, source: &'t [u8]) {
        for_each_with_ancestors(root, |node, around| match node.kind() {
            "assignment_expression" | "update_expression" => self.nodes.push(node),
            "identifier" if around.last().is_some_and(|parent| is_value(node, *parent)) => {
                self.reads.entry(text(node, source)).or_default().push(node.start_byte());
            }
            _ => {}
        });
    }

    /// The changes within an argument that were not taken yet.
    fn take_within(&self, argument: &Range<usize>) -> Vec<Node<'t>> {
        let before = |offset| self.nodes.partition_point(|node| node.start_byte() < offset);
        let (first, end) = (before(argument.start), before(argument.end));
        let mut rest = self.rest.borrow_mut();
        let (mut taken, mut at) = (Vec::new(), next(&mut rest, first));
        while at < end {
            taken.push(self.nodes[at]);
            rest[at] = at + 1;
            at = next(&mut rest, at);
        }
        taken
    }

    /// Returns whether a variable called `name` is assigned anywhere.
    pub(crate) fn assigns(&self, name: &str, source: &[u8]) -> bool {
        let target = |node: &Node<'t>| node.child_by_field_name("left").or(node.named_child(0));
        let mut targets = self.nodes.iter().filter_map(target);
        targets.any(|it| text(super::syntax::unparenthesized(it), source) == name)
    }

    /// The first offset in `stretch`, but for those in `except`, at which a variable called `name`
    /// is read.
    fn first_read(
        &self,
        name: &str,
        stretch: &Range<usize>,
        except: &Range<usize>,
    ) -> Option<usize> {
        let reads = self.reads.get(name)?;
        let from = |offset: usize| {
            let next = reads.partition_point(|at| *at < offset);
            reads.get(next).copied().filter(|at| *at < stretch.end)
        };
        from(stretch.start)
            .and_then(|at| if except.contains(&at) { from(except.end) } else { Some(at) })
    }
}

/// The first change from `at` on that was not taken.
fn next(rest: &mut [usize], mut at: usize) -> usize {
    while rest[at] != at {
        // Halves the way for later look-ups.
        rest[at] = rest[rest[at]];
        at = rest[at];
    }
    at
}

impl<'t> Arguments<'_, 't> {
    /// The warnings about assignments in one argument, but for those in the arguments of calls that
    /// were checked before.
    pub(crate) fn check(&self, argument: Node<'t>) -> Vec<Diagnostic> {
        let changes = self.changes.take_within(&argument.byte_range());
        changes.into_iter().filter_map(|node| self.change(node, argument)).collect()
    }

    fn change(&self, node: Node<'t>, argument: Node<'t>) -> Option<Diagnostic> {
        let target = match node.kind() {
            "assignment_expression" => node.child_by_field_name("left")?,
            _ => node.named_child(0)?,
        };
        let target = super::syntax::unparenthesized(target);
        let name = (target.kind() == "identifier").then(|| text(target, self.source));
        let variable = name.and_then(|name| self.locals.variable(name, target.start_byte()));
        // A variable of a lambda or a class within the argument.
        if let Some(variable) = variable
            && argument.start_byte() <= variable.scope.start
            && variable.scope.end <= argument.end_byte()
        {
            return None;
        }
        let read = name.zip(variable).and_then(|(name, variable)| {
            let is_field = variable.what.parent.kind() == "field_declaration";
            if is_field { None } else { Some((name, self.read_later(name, &variable.scope)?)) }
        });
        let (range, shown) =
            (node.byte_range(), super::lexer::compact(&self.source[node.byte_range()]));
        let help = "change it in a statement of its own before the call";
        let message = format!("`{shown}` happens only if the call is enabled");
        Some(match read {
            None => Diagnostic::warning(Code::SideEffect, range, message).help(help),
            Some((name, when)) => {
                let message = format!("{message}, but `{name}` is read {when}");
                Diagnostic::error(Code::SideEffect, range, message).help(help)
            }
        })
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
        let at = self.changes.first_read(name, &stretch, &self.call.node.byte_range())?;
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

/// Returns whether an identifier is read, as opposed to declared, assigned, or the name of
/// something else.
fn is_value(node: Node<'_>, parent: Node<'_>) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::java::syntax::{descendants, parse};

    /// Of calls within each other, inner ones first, each change is taken once, by the innermost.
    #[test]
    fn each_change_is_looked_at_once() {
        let (open, close) = ("p(x = 1, () -> { ".repeat(100), "y++; });".repeat(100));
        let source = format!("class A {{ void f() {{ {open}{close} }} }}").into_bytes();
        let tree = parse(&source).unwrap();
        let changes = Changes::of(Some(tree.root_node()), &source);
        let lists = descendants(tree.root_node()).filter(|node| node.kind() == "argument_list");
        let lists: Vec<Node<'_>> = lists.collect();
        let taken = lists.iter().rev().map(|list| changes.take_within(&list.byte_range()).len());
        assert_eq!(taken.collect::<Vec<_>>(), [2; 100]);
        assert_eq!(changes.take_within(&(0..source.len())).len(), 0);
    }

    #[test]
    fn the_first_read_in_a_stretch() {
        let source = b"class A { int x = x0; void f() { x = 1; use(x, x); x.y = x; } }".as_slice();
        let tree = parse(source).unwrap();
        let changes = Changes::of(Some(tree.root_node()), source);
        let at = |text: &str| std::str::from_utf8(source).unwrap().find(text).unwrap();
        let first = |from, except| changes.first_read("x", &(from..source.len()), &except);
        assert_eq!(first(0, 0..0), Some(at("x, x")), "declared and assigned before");
        assert_eq!(first(0, at("use")..at("; x.y")), Some(at("x.y")));
        assert_eq!(first(at("x.y") + 1, 0..0), Some(at("x; } }")));
        assert_eq!(changes.first_read("y", &(0..source.len()), &(0..0)), None, "a field's name");
    }
}
