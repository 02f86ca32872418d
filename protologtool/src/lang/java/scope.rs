//! What a file's own declarations say of a simple name: which variable or type it is, whether a method hides an import.
//!
//! One walk over the tree notes every declaration in the frame (block, parameter list, type body …) whose names it adds to,
//! and every method invocation that could be a log call. Looking a name up then goes outwards from frame to frame, so the
//! cost of a call does not depend on the size of its surroundings. Members that a type inherits are not in the file and so
//! not seen. A pattern variable counts within the statement that has the pattern.

use super::syntax::{children, field_text, has_modifier, is_type_body, is_type_declaration, text};
use crate::source::Source;
use protolog_core::Level;
use std::collections::{HashMap, HashSet};
use tree_sitter::Node;

/// A frame: an index into the frames of [`Scopes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FrameId(usize);

/// Whether an invocation may be one of the class, by the last name before the method's and the method's own.
pub(crate) type MayBeCall<'c> = dyn Fn(Option<&str>, &str) -> bool + 'c;

/// The declarations of a file, and its likely calls.
pub(crate) struct Scopes<'t, 's> {
    source: &'s Source,
    frames: Vec<Frame<'t>>,
    variables: HashMap<(FrameId, &'s str), Vec<Declaration<'t>>>,
    types: HashMap<(FrameId, &'s str), Vec<Declaration<'t>>>,
    methods: HashSet<(FrameId, &'s str)>,
    invocations: Vec<Invocation<'t>>,
}

struct Frame<'t> {
    node: Node<'t>,
    outer: Option<FrameId>,
}

/// A declaration of a variable, parameter, field, enum constant or type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declaration<'t> {
    /// What declares: of variables and fields the `variable_declarator`.
    pub(crate) node: Node<'t>,
    /// What the node is part of.
    pub(crate) parent: Node<'t>,
    /// The frame whose names it adds to.
    pub(crate) frame: FrameId,
    /// The offset from which on it counts; 0 for members.
    from: usize,
}

/// A method invocation that may be one of the class.
#[derive(Clone, Debug)]
pub(crate) struct Invocation<'t> {
    pub(crate) node: Node<'t>,
    /// The level, if the method is called like a log method.
    pub(crate) level: Option<Level>,
    /// Its ancestors, the root first.
    pub(crate) ancestors: Vec<Node<'t>>,
    pub(crate) frame: FrameId,
}

impl<'t, 's> Scopes<'t, 's> {
    /// Walks over the tree under `root`, and notes the invocations of which `may_be_call` says so.
    pub(crate) fn of(root: Node<'t>, source: &'s Source, may_be_call: &MayBeCall<'_>) -> Self {
        let mut scopes = Self {
            source,
            frames: vec![Frame { node: root, outer: None }],
            variables: HashMap::new(),
            types: HashMap::new(),
            methods: HashSet::new(),
            invocations: Vec::new(),
        };
        scopes.walk(root, may_be_call);
        scopes
    }

    /// The invocations that were noted, in source order. They can be taken once.
    pub(crate) fn take_invocations(&mut self) -> Vec<Invocation<'t>> {
        std::mem::take(&mut self.invocations)
    }

    /// The variable, parameter, field or enum constant that `name` means at `offset` in `frame`.
    pub(crate) fn variable(
        &self,
        frame: FrameId,
        offset: usize,
        name: &str,
    ) -> Option<Declaration<'t>> {
        self.outwards(frame).find_map(|frame| visible(self.variables.get(&(frame, name)), offset))
    }

    /// The type or type parameter that `name` means at `offset` in `frame`.
    pub(crate) fn declared_type(
        &self,
        frame: FrameId,
        offset: usize,
        name: &str,
    ) -> Option<Declaration<'t>> {
        self.outwards(frame).find_map(|frame| visible(self.types.get(&(frame, name)), offset))
    }

    /// Whether an enclosing type declares a method called `name`, which hides a static import of that name.
    pub(crate) fn hides_method(&self, frame: FrameId, name: &str) -> bool {
        self.outwards(frame).any(|frame| self.methods.contains(&(frame, name)))
    }

    /// The type declarations around `frame`, innermost first.
    pub(crate) fn enclosing_types(&self, frame: FrameId) -> impl Iterator<Item = Node<'t>> {
        self.outwards(frame)
            .map(|frame| self.frames[frame.0].node)
            .filter(|node| is_type_declaration(*node))
    }

    /// Whether `frame` belongs to no type member, such as a method: a type declared there has a canonical name.
    pub(crate) fn is_between_members(&self, frame: FrameId) -> bool {
        self.outwards(frame).map(|frame| self.frames[frame.0].node).all(|node| {
            is_type_declaration(node)
                || is_type_body(node) && !is_anonymous(node)
                || node.kind() == "program"
        })
    }

    /// The frame that `node` opens.
    pub(crate) fn frame_of(&self, node: Node<'t>) -> Option<FrameId> {
        self.frames.iter().position(|frame| frame.node == node).map(FrameId)
    }

    /// The field called `name` of a type that the file declares.
    pub(crate) fn field(&self, declaration: Node<'t>, name: &str) -> Option<Declaration<'t>> {
        let body = self.frame_of(declaration.child_by_field_name("body")?)?;
        visible(self.variables.get(&(body, name)), usize::MAX)
    }

    /// The member type called `name` of a type that the file declares.
    pub(crate) fn member_type(&self, declaration: Node<'t>, name: &str) -> Option<Declaration<'t>> {
        let body = self.frame_of(declaration.child_by_field_name("body")?)?;
        visible(self.types.get(&(body, name)), usize::MAX)
    }

    fn outwards(&self, frame: FrameId) -> impl Iterator<Item = FrameId> {
        std::iter::successors(Some(frame), |frame| self.frames[frame.0].outer)
    }

    fn walk(&mut self, root: Node<'t>, may_be_call: &MayBeCall<'_>) {
        let mut cursor = root.walk();
        // The ancestors of the cursor's node, and the frame that is in effect for the children of each.
        let (mut ancestors, mut frames) = (Vec::new(), Vec::new());
        loop {
            let node = cursor.node();
            let outer = frames.last().copied().unwrap_or(FrameId(0));
            if node.kind() == "method_invocation" {
                self.note_invocation(node, &ancestors, outer, may_be_call);
            }
            let inner = self.enter(node, outer, &ancestors);
            if cursor.goto_first_child() {
                ancestors.push(node);
                frames.push(inner);
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                ancestors.pop();
                frames.pop();
            }
        }
    }

    /// Notes what `node` declares in `outer`; the frame for its children.
    fn enter(&mut self, node: Node<'t>, outer: FrameId, ancestors: &[Node<'t>]) -> FrameId {
        if !node.is_named() {
            return outer;
        }
        let Some(parent) = ancestors.last().copied() else { return outer };
        let kind = node.kind();
        let mut inner = outer;
        if opens_frame(kind) {
            inner = FrameId(self.frames.len());
            self.frames.push(Frame { node, outer: Some(outer) });
        }
        match kind {
            "method_declaration" => {
                self.methods.insert((outer, field_text(node, "name", self.source)));
            }
            "variable_declarator" => {
                let is_member =
                    matches!(parent.kind(), "field_declaration" | "constant_declaration");
                self.declare(node, parent, outer, if is_member { 0 } else { node.start_byte() });
            }
            "formal_parameter" | "catch_formal_parameter" | "resource" | "enum_constant" => {
                self.declare(node, parent, outer, 0);
            }
            "enhanced_for_statement" => self.declare(node, parent, inner, 0),
            "instanceof_expression" => self.declare(node, parent, outer, node.start_byte()),
            "lambda_expression" => {
                let parameter =
                    node.child_by_field_name("parameters").filter(|it| it.kind() == "identifier");
                if let Some(name) = parameter {
                    self.declare_named(name, name, node, inner, 0);
                }
            }
            "inferred_parameters" => {
                for name in children(node) {
                    self.declare_named(name, name, parent, outer, 0);
                }
            }
            "type_pattern" | "record_pattern_component" => {
                let name = children(node).last().filter(|last| last.kind() == "identifier");
                if let Some(name) = name {
                    self.declare_named(name, node, parent, outer, node.start_byte());
                }
            }
            "type_parameter" => {
                let name = children(node).find(|child| child.kind() == "type_identifier");
                if let Some(name) = name {
                    self.declare_type(name, node, parent, outer, 0);
                }
            }
            _ if is_type_declaration(node) => {
                let is_member = is_type_body(parent) || parent.kind() == "program";
                let from = if is_member { 0 } else { node.start_byte() };
                let name = node.child_by_field_name("name");
                if let Some(name) = name {
                    self.declare_type(name, node, parent, outer, from);
                }
            }
            _ => {}
        }
        inner
    }

    fn note_invocation(
        &mut self,
        node: Node<'t>,
        ancestors: &[Node<'t>],
        frame: FrameId,
        may_be_call: &MayBeCall<'_>,
    ) {
        let method = field_text(node, "name", self.source);
        let before = node.child_by_field_name("object").map(|object| {
            let last = object.child_by_field_name("field").unwrap_or(object);
            text(last, self.source)
        });
        if may_be_call(before, method) {
            let (level, ancestors) = (Level::from_method(method), ancestors.to_vec());
            self.invocations.push(Invocation { node, level, ancestors, frame });
        }
    }

    fn declare(&mut self, node: Node<'t>, parent: Node<'t>, frame: FrameId, from: usize) {
        let name = node.child_by_field_name("name");
        if let Some(name) = name {
            self.declare_named(name, node, parent, frame, from);
        }
    }

    fn declare_named(
        &mut self,
        name: Node<'t>,
        node: Node<'t>,
        parent: Node<'t>,
        frame: FrameId,
        from: usize,
    ) {
        let declaration = Declaration { node, parent, frame, from };
        self.variables.entry((frame, text(name, self.source))).or_default().push(declaration);
    }

    fn declare_type(
        &mut self,
        name: Node<'t>,
        node: Node<'t>,
        parent: Node<'t>,
        frame: FrameId,
        from: usize,
    ) {
        let declaration = Declaration { node, parent, frame, from };
        self.types.entry((frame, text(name, self.source))).or_default().push(declaration);
    }
}

impl<'t> Declaration<'t> {
    /// The initial value, if this is a constant: a `static final` field, a field of an interface, or a final local
    /// variable.
    pub(crate) fn constant_value(&self) -> Option<Node<'t>> {
        let is_constant = match self.parent.kind() {
            "constant_declaration" => true,
            "field_declaration" => {
                has_modifier(self.parent, "static") && has_modifier(self.parent, "final")
            }
            "local_variable_declaration" => has_modifier(self.parent, "final"),
            _ => false,
        };
        self.node.child_by_field_name("value").filter(|_| is_constant)
    }
}

/// The last of these that counts at `offset`: two blocks of a switch, say, may declare the same name one after the other.
fn visible<'t>(
    declarations: Option<&Vec<Declaration<'t>>>,
    offset: usize,
) -> Option<Declaration<'t>> {
    declarations?.iter().rev().find(|declaration| declaration.from <= offset).copied()
}

fn is_anonymous(body: Node<'_>) -> bool {
    body.parent().is_some_and(|parent| !is_type_declaration(parent) && !is_type_body(parent))
}

/// Whether names declared within a node of this kind end with it.
fn opens_frame(kind: &str) -> bool {
    matches!(
        kind,
        "block"
            | "constructor_body"
            | "switch_block"
            | "switch_rule"
            | "for_statement"
            | "enhanced_for_statement"
            | "while_statement"
            | "if_statement"
            | "do_statement"
            | "catch_clause"
            | "try_with_resources_statement"
            | "lambda_expression"
            | "method_declaration"
            | "constructor_declaration"
            | "compact_constructor_declaration"
            | "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "annotation_type_declaration"
            | "class_body"
            | "interface_body"
            | "enum_body"
            | "annotation_type_body"
    )
}
