//! Arrays in the place of all arguments: one argument to the tool, but several to an unprocessed
//! call, whose last parameter is `Object...`.
//!
//! An expression is one if its own form says so, or if it is a name whose declaration does. Types
//! of other expressions are not known here.

use super::fields::declarator;
use super::invocation::Invocation;
use super::lexer::{self, TokenKind};
use super::locals::Declaration;
use super::meaning::{Declared, Variable};
use super::place::MemberCalls;
use super::syntax::{children, parse_member, text, unparenthesized};
use crate::diagnostic::{Code, Diagnostic};
use tree_sitter::Node;

impl MemberCalls<'_, '_, '_> {
    /// Refuses an array in the place of the arguments.
    pub(super) fn no_array(
        &self,
        args: &[Node<'_>],
        call: &Invocation<'_>,
    ) -> Result<(), Diagnostic> {
        let [arg] = args else { return Ok(()) };
        let node = unparenthesized(*arg);
        let source = self.unit.text();
        let is_array = match node.kind() {
            "cast_expression" => node
                .child_by_field_name("type")
                .is_some_and(|to| is_array_of_objects(text(to, source), "")),
            "array_creation_expression" => node.child_by_field_name("type").is_some_and(|of| {
                !matches!(of.kind(), "integral_type" | "floating_point_type" | "boolean_type")
            }),
            "identifier" => {
                let name = text(node, source);
                self.unit.may_be_array(name) && self.is_declared_array(name, call)
            }
            _ => false,
        };
        if !is_array {
            return Ok(());
        }
        let message = "an array in place of the arguments".to_owned();
        let error = Diagnostic::error(Code::ArrayArguments, arg.byte_range(), message)
            .help("pass the elements one by one, or cast the array to `Object` to log it as one");
        Err(match self.elements(node) {
            Some(elements) => error.fix(arg.byte_range(), elements),
            None => error,
        })
    }

    /// The text between the braces of an array that is made on the spot, if it has one dimension
    /// and elements. By its tokens: the tree leaves out code between braces that holds no call.
    fn elements(&self, node: Node<'_>) -> Option<String> {
        let written = self.unit.str(&node.byte_range());
        let of_kind = |byte| {
            let tokens = lexer::tokens(written.as_bytes());
            tokens
                .filter(move |token| token.kind == TokenKind::Punct(byte))
                .map(|token| token.range())
        };
        let (mut opening, mut closing) = (of_kind(b'{'), of_kind(b'}'));
        let (open, close) = (opening.next()?, closing.next()?);
        let is_flat = opening.next().is_none() && close.end == written.len();
        let elements = written[open.end..close.start].trim();
        let last = lexer::tokens(elements.as_bytes()).last()?;
        let is_list = last.kind != TokenKind::Punct(b',') && last.kind != TokenKind::Comment;
        (is_flat && is_list).then(|| elements.to_owned())
    }

    fn is_declared_array(&self, name: &str, call: &Invocation<'_>) -> bool {
        match self.variable(call, name) {
            Some(Variable::Local(declaration)) => is_array(declaration, name, self.unit.text()),
            Some(Variable::Member(of, Declared::Member(member))) => {
                let unit = &*of.unit;
                let tree = parse_member(unit, &unit.outline.members[member.0]);
                tree.as_ref()
                    .and_then(|tree| declarator(tree.root_node(), name, unit.text()))
                    .is_some_and(|declaration| is_array(declaration, name, unit.text()))
            }
            _ => false,
        }
    }
}

/// Returns whether a variable's declared type is an array of objects.
fn is_array(declaration: Declaration<'_>, name: &str, source: &[u8]) -> bool {
    let Declaration { node, parent } = declaration;
    let of = [node, parent].into_iter().find_map(|node| node.child_by_field_name("type"));
    let spread = [node, parent].into_iter().find(|node| node.kind() == "spread_parameter");
    let dimensions = node.child_by_field_name("dimensions");
    let dimensions = dimensions.map_or("", |dimensions| text(dimensions, source));
    match (of, spread) {
        (Some(of), None) => is_array_of_objects(text(of, source), dimensions),
        (_, Some(spread)) => {
            let of = children(spread).find(|child| {
                !matches!(child.kind(), "modifiers" | "variable_declarator")
                    && text(*child, source) != name
            });
            of.is_some_and(|of| is_array_of_objects(text(of, source), "[]"))
        }
        (None, None) => false,
    }
}

/// Returns whether a type with these dimensions behind the variable is an array whose elements are
/// objects, arrays among them.
fn is_array_of_objects(of: &str, more: &str) -> bool {
    let dimensions = of.matches('[').count() + more.matches('[').count();
    let element: String = of.chars().take_while(|char| *char != '[').collect();
    let is_primitive = matches!(
        element.trim(),
        "byte" | "short" | "char" | "int" | "long" | "float" | "double" | "boolean"
    );
    // Brackets of type arguments say nothing: `List<int[]>`.
    let is_generic = element.contains('<') && !of.trim_end().ends_with(']') && more.is_empty();
    dimensions > usize::from(is_primitive) && !is_generic
}
