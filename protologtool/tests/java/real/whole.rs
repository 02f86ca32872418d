//! The log calls of a file as a parse of the whole file finds them: what finding them declaration
//! by declaration must agree with.

use super::insert::parse;
use protolog_core::Level;
use protologtool::lang::java::Context;
use std::ops::Range;
use tree_sitter::Node;

/// The range that each call's rewritten form replaces, and its context, in source order.
pub(super) fn calls(text: &[u8]) -> Vec<(Range<usize>, Context)> {
    let tree = parse(text).unwrap();
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.kind() == "method_invocation" && is_log_call(node, text) {
            found.push(what_is_replaced(node, text));
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

fn is_log_call(node: Node<'_>, text: &[u8]) -> bool {
    let part = |name| {
        let part = node.child_by_field_name(name);
        part.map(|node: Node<'_>| String::from_utf8_lossy(&text[node.byte_range()]).into_owned())
    };
    let method = part("name").unwrap_or_default();
    match part("object").as_deref() {
        Some("ProtoLog" | "dev.protolog.ProtoLog") => Level::from_method(&method).is_some(),
        Some(_) => false,
        None => method == "wtf",
    }
}

fn what_is_replaced(call: Node<'_>, text: &[u8]) -> (Range<usize>, Context) {
    let parent = call.parent().unwrap();
    if parent.kind() == "lambda_expression" {
        return (call.byte_range(), Context::Lambda);
    }
    assert_eq!(parent.kind(), "expression_statement");
    let is_rule = parent.parent().is_some_and(|outer| outer.kind() == "switch_rule");
    let before_else = text[parent.end_byte()..].trim_ascii_start().starts_with(b"else");
    let context = if is_rule || before_else { Context::Braced } else { Context::Statement };
    (parent.byte_range(), context)
}
