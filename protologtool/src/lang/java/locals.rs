//! The declarations of simple names within one member: variables and parameters, local types and
//! their members.
//!
//! One walk over the member's tree notes every declaration with the stretch in which it is in
//! scope. Of those that hold an offset the innermost stretch counts, since inner declarations hide
//! outer ones.

use super::flow::scope_of_pattern;
use super::scopes::{Bodies, Scoped, ScopesOfName};
use super::syntax::{
    children, dotted, field_text, for_each_with_ancestors, has_modifier, is_type_body,
    is_type_declaration, members, text,
};
use std::collections::HashMap;
use std::ops::Range;
use tree_sitter::Node;

/// The declarations within a member.
pub(crate) struct Locals<'t> {
    source: &'t [u8],
    variables: HashMap<&'t str, ScopesOfName<Declaration<'t>>>,
    types: HashMap<&'t str, ScopesOfName<LocalType<'t>>>,
    methods: HashMap<&'t str, ScopesOfName<()>>,
    bodies: Bodies,
}

/// A variable, parameter or field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Declaration<'t> {
    /// The declaring node: of variables and fields the `variable_declarator`.
    pub(crate) node: Node<'t>,
    /// The node's parent.
    pub(crate) parent: Node<'t>,
}

/// A local type, a type within one, or a type parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LocalType<'t> {
    Declared(Node<'t>),
    Parameter,
}

impl<'t> Locals<'t> {
    /// Walks over the tree of a member, which is under `root`.
    pub(crate) fn of(root: Option<Node<'t>>, source: &'t [u8]) -> Self {
        let mut locals = Self {
            source,
            variables: HashMap::new(),
            types: HashMap::new(),
            methods: HashMap::new(),
            bodies: Bodies::default(),
        };
        if let Some(root) = root {
            locals.walk(root);
        }
        locals.variables.values_mut().for_each(ScopesOfName::sort);
        locals.types.values_mut().for_each(ScopesOfName::sort);
        locals.methods.values_mut().for_each(ScopesOfName::sort);
        locals
    }

    /// The variable that `name` means at `offset`.
    pub(crate) fn variable(&self, name: &str, offset: usize) -> Option<&Scoped<Declaration<'t>>> {
        self.variables.get(name)?.innermost(offset)
    }

    /// The type that `name` means at `offset`.
    pub(crate) fn declared_type(
        &self,
        name: &str,
        offset: usize,
    ) -> Option<&Scoped<LocalType<'t>>> {
        self.types.get(name)?.innermost(offset)
    }

    /// Returns whether a local or anonymous class around `offset` has a method called `name`.
    pub(crate) fn has_method(&self, name: &str, offset: usize) -> bool {
        self.methods.get(name).and_then(|all| all.innermost(offset)).is_some()
    }

    /// The bodies of local and anonymous classes.
    pub(crate) fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    fn walk(&mut self, root: Node<'t>) {
        for_each_with_ancestors(root, |node, around| {
            if node.is_named() {
                self.enter(node, around);
            }
        });
    }

    /// Notes the declarations of `node`.
    fn enter(&mut self, node: Node<'t>, around: &[Node<'t>]) {
        let Some(parent) = around.last().copied() else { return };
        // The head that a member is parsed in is not of the source.
        if around.len() < 3 && (is_type_declaration(node) || is_type_body(node)) {
            return;
        }
        let after = node.start_byte();
        match node.kind() {
            "variable_declarator" if is_field(parent) => {
                // The member that was parsed is a field itself, if its class is the made-up head.
                let body = around.iter().rev().find(|outer| is_type_body(**outer));
                if let Some(body) = body.filter(|_| around.len() > 4) {
                    self.declare(node, parent, body.byte_range());
                }
            }
            "variable_declarator" => {
                let scope = after..end_of_block(around);
                self.declare(node, parent, scope);
            }
            "formal_parameter" | "spread_parameter" | "catch_formal_parameter" => {
                let owner = around.iter().rev().find(|outer| {
                    !matches!(outer.kind(), "formal_parameters" | "inferred_parameters")
                });
                self.declare(node, parent, owner.copied().unwrap_or(parent).byte_range());
            }
            "resource" => {
                let scope = after..body_end(around, "try_with_resources_statement");
                self.declare(node, parent, scope);
            }
            "enhanced_for_statement" => {
                let body = node.child_by_field_name("body").unwrap_or(node).byte_range();
                self.declare(node, parent, body);
            }
            "instanceof_expression" => {
                for scope in scope_of_pattern(node, self.source) {
                    self.declare(node, parent, scope);
                }
            }
            "type_pattern" | "record_pattern_component" => {
                let Some(name) = children(node).last().filter(|last| last.kind() == "identifier")
                else {
                    return;
                };
                for scope in scope_of_pattern(outermost_pattern(node, around), self.source) {
                    self.add_variable(name, Declaration { node, parent }, scope);
                }
            }
            "lambda_expression" => {
                let parameter = node.child_by_field_name("parameters");
                if let Some(name) = parameter.filter(|node| node.kind() == "identifier") {
                    self.add_variable(
                        name,
                        Declaration { node: name, parent: node },
                        node.byte_range(),
                    );
                }
            }
            "inferred_parameters" => {
                for name in children(node) {
                    self.add_variable(
                        name,
                        Declaration { node: name, parent },
                        parent.byte_range(),
                    );
                }
            }
            _ => self.enter_type(node, parent, around),
        }
    }

    fn enter_type(&mut self, node: Node<'t>, parent: Node<'t>, around: &[Node<'t>]) {
        match node.kind() {
            "enum_constant" if around.len() > 3 => self.declare(node, parent, parent.byte_range()),
            "type_parameter" => {
                let name = children(node).find(|child| child.kind() == "type_identifier");
                let owner = around.iter().rev().nth(1).copied().unwrap_or(parent);
                if let Some(name) = name.filter(|_| around.len() > 3) {
                    self.add_type(name, LocalType::Parameter, owner.byte_range());
                }
            }
            "method_declaration" if around.len() > 3 => {
                let name = field_text(node, "name", self.source);
                self.methods.entry(name).or_default().add(parent.byte_range(), ());
            }
            "object_creation_expression" => {
                let body = children(node).find(|child| is_type_body(*child));
                if let Some(body) = body {
                    let extended = node.child_by_field_name("type").into_iter();
                    self.add_body(
                        body,
                        extended.filter_map(|of| dotted(of, self.source)).collect(),
                    );
                }
            }
            _ if is_type_declaration(node) => {
                let is_member = is_type_body(parent);
                let scope = if is_member {
                    parent.byte_range()
                } else {
                    node.start_byte()..end_of_block(around)
                };
                if let Some(name) = node.child_by_field_name("name") {
                    self.add_type(name, LocalType::Declared(node), scope);
                }
                if let Some(body) = node.child_by_field_name("body") {
                    self.add_body(body, supertypes(node, self.source));
                    for parameter in record_components(node) {
                        self.declare(parameter, node, body.byte_range());
                    }
                }
            }
            _ => {}
        }
    }

    fn add_body(&mut self, body: Node<'t>, extended: Vec<String>) {
        self.bodies.add(body.byte_range(), extended);
    }

    fn declare(&mut self, node: Node<'t>, parent: Node<'t>, scope: Range<usize>) {
        let declarator = children(node).find(|child| child.kind() == "variable_declarator");
        let named =
            if node.kind() == "spread_parameter" { declarator.unwrap_or(node) } else { node };
        if let Some(name) = named.child_by_field_name("name") {
            self.add_variable(name, Declaration { node, parent }, scope);
        }
    }

    fn add_variable(&mut self, name: Node<'t>, what: Declaration<'t>, scope: Range<usize>) {
        self.variables.entry(text(name, self.source)).or_default().add(scope, what);
    }

    fn add_type(&mut self, name: Node<'t>, what: LocalType<'t>, scope: Range<usize>) {
        self.types.entry(text(name, self.source)).or_default().add(scope, what);
    }
}

impl<'t> Declaration<'t> {
    /// The type as it is written; none for a variable of a `catch`, and where it is inferred.
    pub(crate) fn written_type<'s>(&self, source: &'s [u8]) -> Option<&'s str> {
        let of = |node: Node<'_>| {
            let written = node.child_by_field_name("type").map(|of| of.byte_range());
            written.and_then(|range| std::str::from_utf8(&source[range]).ok())
        };
        of(self.node).or_else(|| of(self.parent)).filter(|written| *written != "var")
    }

    /// Returns whether a `catch` declares it.
    pub(crate) fn is_caught(&self) -> bool {
        self.node.kind() == "catch_formal_parameter"
    }

    /// The initial value, if this is a constant: a `static final` field, any field of an interface,
    /// or a final local variable. `of_interface`: its parent does not say so, but it is a field of
    /// an interface.
    pub(crate) fn constant_value(&self, of_interface: bool) -> Option<Node<'t>> {
        let has = |modifier| has_modifier(self.parent, modifier);
        let is_constant = match self.parent.kind() {
            "constant_declaration" => true,
            "field_declaration" => of_interface || has("static") && has("final"),
            "local_variable_declaration" => has("final"),
            _ => false,
        };
        self.node.child_by_field_name("value").filter(|_| is_constant)
    }
}

/// The field called `name` of a type whose tree is at hand.
pub(crate) fn field_of<'t>(
    declaration: Node<'t>,
    name: &str,
    source: &[u8],
) -> Option<Declaration<'t>> {
    let body = declaration.child_by_field_name("body")?;
    members(body).filter(|member| is_field(*member)).find_map(|parent| {
        let mut declarators = children(parent).filter(|node| node.kind() == "variable_declarator");
        let node = declarators.find(|node| field_text(*node, "name", source) == name)?;
        Some(Declaration { node, parent })
    })
}

fn is_field(node: Node<'_>) -> bool {
    matches!(node.kind(), "field_declaration" | "constant_declaration")
}

/// Where a variable that is declared among `around` goes out of scope.
fn end_of_block(around: &[Node<'_>]) -> usize {
    let is_block = |node: &&Node<'_>| {
        matches!(
            node.kind(),
            "block"
                | "constructor_body"
                | "switch_block"
                | "for_statement"
                | "program"
                | "lambda_expression"
        )
    };
    around.iter().rev().find(is_block).map_or(usize::MAX, Node::end_byte)
}

/// The end of the body of the nearest `kind` among `around`.
fn body_end(around: &[Node<'_>], kind: &str) -> usize {
    let statement = around.iter().rev().find(|node| node.kind() == kind);
    let body = statement.and_then(|statement| statement.child_by_field_name("body"));
    body.map_or(usize::MAX, |body| body.end_byte())
}

/// The pattern of a `case`, or the `instanceof`, that the pattern `node` is part of.
fn outermost_pattern<'t>(node: Node<'t>, around: &[Node<'t>]) -> Node<'t> {
    let is_part = |node: &&Node<'t>| {
        matches!(
            node.kind(),
            "pattern" | "record_pattern" | "record_pattern_body" | "instanceof_expression"
        )
    };
    around.iter().rev().take_while(is_part).last().copied().unwrap_or(node)
}

fn record_components(declaration: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let list = declaration.child_by_field_name("parameters");
    list.into_iter().flat_map(children).filter(|node| node.kind() == "formal_parameter")
}

/// The names of the types that a type extends and implements.
fn supertypes(declaration: Node<'_>, source: &[u8]) -> Vec<String> {
    let clauses = children(declaration).filter(|node| {
        matches!(node.kind(), "superclass" | "super_interfaces" | "extends_interfaces")
    });
    clauses
        .flat_map(children)
        .flat_map(|node| match node.kind() {
            "type_list" => children(node).collect(),
            _ => vec![node],
        })
        .filter_map(|node| dotted(node, source))
        .collect()
}
