//! What declarations within a file say of a simple name: which variable or type it is, whether a method hides an import.
//!
//! Looks outwards from a place, as the language has it: earlier statements of a block, parameters, the members of enclosing
//! types. Members that a type inherits are not in the file and so not seen. Pattern variables count within the statement
//! that has the pattern.

use super::syntax::{
    ancestors, children, descendants, field_text, is_type_body, is_type_declaration, text,
};
use crate::source::Source;
use tree_sitter::Node;

/// The declaration of the variable, parameter, field or enum constant that `name` means where `at` stands. For variables
/// and fields it is the `variable_declarator`.
pub(crate) fn variable<'t>(at: Node<'t>, name: &str, source: &Source) -> Option<Node<'t>> {
    ancestors(at).find_map(|(parent, child)| variable_of(parent, child, name, source))
}

/// The declaration of the type or type parameter that `name` means where `at` stands.
pub(crate) fn declared_type<'t>(at: Node<'t>, name: &str, source: &Source) -> Option<Node<'t>> {
    let named = |node: &Node<'t>| field_text(*node, "name", source) == name;
    ancestors(at).find_map(|(parent, child)| {
        if is_type_declaration(parent) && named(&parent) {
            return Some(parent);
        }
        let parameters = parent
            .child_by_field_name("type_parameters")
            .or_else(|| children(parent).find(|node| node.kind() == "type_parameters"));
        let parameter = parameters.into_iter().flat_map(children).find(|parameter| {
            children(*parameter)
                .any(|node| node.kind() == "type_identifier" && text(node, source) == name)
        });
        let scope = is_type_body(parent) || parent.kind() == "program";
        let is_visible = |node: &Node<'t>| scope || node.end_byte() <= child.start_byte();
        parameter.or_else(|| {
            members(parent)
                .filter(|node| is_type_declaration(*node) && is_visible(node))
                .find(named)
        })
    })
}

/// Whether an enclosing type declares a method called `name`, which hides a static import of that name.
pub(crate) fn hides_method(at: Node<'_>, name: &str, source: &Source) -> bool {
    ancestors(at).filter(|(parent, _)| is_type_body(*parent)).any(|(body, _)| {
        members(body).any(|member| {
            member.kind() == "method_declaration" && field_text(member, "name", source) == name
        })
    })
}

/// The field called `name` that a type declares: its `variable_declarator`.
pub(crate) fn field<'t>(declaration: Node<'t>, name: &str, source: &Source) -> Option<Node<'t>> {
    let body = declaration.child_by_field_name("body")?;
    members(body).find_map(|member| declarator(member, name, source))
}

/// The members of a type body; those of an enum that follow its constants included.
pub(crate) fn members<'t>(body: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    children(body).flat_map(|node| {
        let declarations = (node.kind() == "enum_body_declarations").then(|| children(node));
        std::iter::once(node).chain(declarations.into_iter().flatten())
    })
}

fn variable_of<'t>(
    parent: Node<'t>,
    child: Node<'t>,
    name: &str,
    source: &Source,
) -> Option<Node<'t>> {
    let named = |node: &Node<'t>| field_text(*node, "name", source) == name;
    match parent.kind() {
        "block"
        | "constructor_body"
        | "switch_block"
        | "switch_block_statement_group"
        | "program" => {
            // In a switch, variables of earlier groups are still in scope.
            children(parent)
                .take_while(|node| node.end_byte() <= child.start_byte())
                .flat_map(|node| {
                    let group =
                        (node.kind() == "switch_block_statement_group").then(|| children(node));
                    std::iter::once(node).chain(group.into_iter().flatten())
                })
                .filter_map(|statement| declarator(statement, name, source))
                .last()
        }
        "for_statement" => children(parent).find_map(|part| declarator(part, name, source)),
        "enhanced_for_statement" => Some(parent).filter(named),
        "catch_clause" => {
            children(parent).find(|node| node.kind() == "catch_formal_parameter").filter(named)
        }
        "try_with_resources_statement" => children(parent)
            .filter(|node| node.kind() == "resource_specification")
            .flat_map(children)
            .find(named),
        "lambda_expression" | "method_declaration" | "constructor_declaration" => {
            parameter(parent.child_by_field_name("parameters")?, name, source)
        }
        "record_declaration" => parameter(parent.child_by_field_name("parameters")?, name, source),
        "class_body"
        | "interface_body"
        | "enum_body"
        | "enum_body_declarations"
        | "annotation_type_body" => members(parent).find_map(|member| match member.kind() {
            "enum_constant" => Some(member).filter(named),
            _ => declarator(member, name, source),
        }),
        kind if kind.ends_with("_statement") || kind == "local_variable_declaration" => {
            pattern(parent, name, source)
        }
        _ => None,
    }
}

/// The declarator called `name` of a field or local variable declaration.
fn declarator<'t>(declaration: Node<'t>, name: &str, source: &Source) -> Option<Node<'t>> {
    let declares = matches!(
        declaration.kind(),
        "local_variable_declaration" | "field_declaration" | "constant_declaration"
    );
    let declarators = declares.then(|| children(declaration)).into_iter().flatten();
    declarators
        .filter(|node| node.kind() == "variable_declarator")
        .find(|node| field_text(*node, "name", source) == name)
}

/// The parameter called `name`: of `(int a, int... b)`, `(a, b)` or a lone `a`.
fn parameter<'t>(parameters: Node<'t>, name: &str, source: &Source) -> Option<Node<'t>> {
    std::iter::once(parameters).chain(children(parameters)).find(|node| match node.kind() {
        "identifier" => text(*node, source) == name,
        "spread_parameter" => children(*node).any(|child| {
            child.kind() == "variable_declarator" && field_text(child, "name", source) == name
        }),
        _ => field_text(*node, "name", source) == name,
    })
}

/// A pattern variable called `name` in the condition of a statement.
fn pattern<'t>(statement: Node<'t>, name: &str, source: &Source) -> Option<Node<'t>> {
    let condition = statement.child_by_field_name("condition")?;
    descendants(condition).find(|node| match node.kind() {
        "instanceof_expression" => field_text(*node, "name", source) == name,
        "type_pattern" | "record_pattern_component" => children(*node)
            .last()
            .is_some_and(|last| last.kind() == "identifier" && text(last, source) == name),
        _ => false,
    })
}
