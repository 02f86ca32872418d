//! Where a file may call methods of one class: first by its tokens, then in the tree of the member
//! that holds them.

use super::Java;
use super::lexer::{Token, TokenKind};
use super::syntax::{dotted, is_type_body};
use super::unit::Unit;
use crate::lang::jvm::dialect::Dialect;
use crate::lang::jvm::level_of;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use tree_sitter::{Node, Tree};

/// Tokens that look like a call of a method of the class.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// The class's name as written, without white space; none for a statically imported method.
    pub(crate) class: Option<String>,
    /// The method's name, as a byte range.
    pub(crate) method: Range<usize>,
    /// True if it may be a call of a method that passes a template on, rather than of one of the
    /// class.
    pub(crate) may_pass_on: bool,
}

/// The candidates of a file, in source order.
pub(crate) fn candidates(unit: &Unit<'_>, class: &str) -> Vec<Candidate> {
    let simple = class.rsplit('.').next().unwrap_or(class).as_bytes();
    let imports = unit.names.import_members(class);
    let (tokens, text) = (&unit.tokens, unit.text());
    let words = tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Word);
    let found = words.filter_map(|(index, token)| {
        let word = &text[token.range()];
        if word == simple {
            return qualified(unit, index);
        }
        let is_imported = imports && is(tokens, index + 1, b'(') && unqualified(unit, index, class);
        is_imported.then(|| Candidate { class: None, method: token.range(), may_pass_on: false })
    });
    found.collect()
}

fn is(tokens: &[Token], index: usize, punct: u8) -> bool {
    tokens.get(index).is_some_and(|token| token.kind == TokenKind::Punct(punct))
}

/// The references to log methods of the class, such as `ProtoLog::d`: the class's name as written,
/// and the bytes of the whole.
pub(crate) fn references(unit: &Unit<'_>, java: &Java) -> Vec<(String, Range<usize>)> {
    let class = &java.protolog;
    let simple = class.rsplit('.').next().unwrap_or(class);
    let tokens = &unit.tokens;
    let found = (0..tokens.len()).filter_map(|index| {
        let is_class = tokens[index].kind == TokenKind::Word
            && unit.str(&tokens[index].range()) == simple
            && is(tokens, index + 1, b':')
            && is(tokens, index + 2, b':');
        let method = tokens.get(index + 3).filter(|_| is_class)?;
        level_of(unit.str(&method.range()), &java.dialect)?;
        let first = first_of_path(unit, index)?;
        let name = tokens[first..=index].iter().map(|token| unit.str(&token.range())).collect();
        Some((name, tokens[first].range().start..method.range().end))
    });
    found.collect()
}

/// The first token of the name whose last part is at `index`; none if it is a field or type of an
/// expression's value.
fn first_of_path(unit: &Unit<'_>, index: usize) -> Option<usize> {
    let tokens = &unit.tokens;
    let mut first = index;
    while first >= 2 && is(tokens, first - 1, b'.') && tokens[first - 2].kind == TokenKind::Word {
        first -= 2;
    }
    (first == 0 || !is(tokens, first - 1, b'.')).then_some(first)
}

/// `class.method(` and `class.<T>method(`, where the token at `index` is the last part of the
/// class's name.
fn qualified(unit: &Unit<'_>, index: usize) -> Option<Candidate> {
    let tokens = &unit.tokens;
    let mut at = index + 1;
    if !is(tokens, at, b'.') {
        return None;
    }
    at += 1;
    if is(tokens, at, b'<') {
        let mut depth = 0_usize;
        loop {
            match tokens.get(at)?.kind {
                TokenKind::Punct(b'<') => depth += 1,
                TokenKind::Punct(b'>') => depth -= 1,
                TokenKind::Punct(b';' | b'{' | b'}') => return None,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
    }
    let method = tokens.get(at).filter(|token| token.kind == TokenKind::Word)?;
    if !is(tokens, at + 1, b'(') {
        return None;
    }
    let first = first_of_path(unit, index)?;
    let name = tokens[first..=index].iter().map(|token| unit.str(&token.range())).collect();
    Some(Candidate { class: Some(name), method: method.range(), may_pass_on: false })
}

/// Returns whether the word at `index`, before a parenthesis, may be a statically imported method
/// of the class. A wildcard imports all that the class has: its log methods and `isEnabled`.
fn unqualified(unit: &Unit<'_>, index: usize, class: &str) -> bool {
    let name = unit.str(&unit.tokens[index].range());
    let is_known = || level_of(name, &Dialect::Protolog).is_some() || name == "isEnabled";
    let single = unit.names.static_single.iter();
    let mut imported = single.filter_map(|import| import.rsplit_once('.'));
    let is_imported = imported.any(|(of, member)| of == class && member == name)
        || unit.names.static_wildcard.iter().any(|of| of == class) && is_known();
    is_imported && !(index > 0 && is(&unit.tokens, index - 1, b'.'))
}

/// A method invocation in the tree of a member.
#[derive(Clone, Debug)]
pub(crate) struct Invocation<'t> {
    pub(crate) node: Node<'t>,
    way: Way<'t>,
    /// The step of the way that is `node`.
    at: usize,
}

/// The nodes that were passed on the way to places of a tree.
type Way<'t> = Rc<RefCell<Vec<Step<'t>>>>;

/// A node on the way.
#[derive(Clone, Copy, Debug)]
struct Step<'t> {
    node: Node<'t>,
    parent: Option<usize>,
    /// Number of nodes above it.
    depth: usize,
    /// True if the body of a local or anonymous class is above it.
    is_in_local_class: bool,
}

/// Finds the invocations of a tree. Each is looked for from the one before it, since calls stand in
/// the arguments of others, as deep as anybody likes.
#[derive(Clone, Debug)]
pub(crate) struct Walk<'t> {
    way: Way<'t>,
    last: Cell<usize>,
}

impl<'t> Walk<'t> {
    /// Begins at the root.
    pub(crate) fn new(tree: &'t Tree) -> Self {
        let node = tree.root_node();
        let root = Step { node, parent: None, depth: 0, is_in_local_class: false };
        Self { way: Rc::new(RefCell::new(vec![root])), last: Cell::new(0) }
    }

    /// The invocation whose method's name is at `candidate`; none if it is something else, such as
    /// a declaration.
    pub(crate) fn invocation(&self, candidate: &Candidate, text: &[u8]) -> Option<Invocation<'t>> {
        let leaf = self.descend(candidate.method.start);
        let (name, parent) = {
            let way = self.way.borrow();
            (way[leaf].node, way[leaf].parent?)
        };
        let node = self.way.borrow()[parent].node;
        let is_name = is_invocation_of(node, name) && name.byte_range() == candidate.method;
        let object = node.child_by_field_name("object");
        let written = object.map(|object| dotted(object, text));
        let is_same = match (&candidate.class, written) {
            (Some(class), Some(Some(written))) => *class == written,
            (None, None) => true,
            _ => false,
        };
        let found = || Invocation { node, way: Rc::clone(&self.way), at: parent };
        (is_name && is_same).then(found)
    }

    /// Goes on to the leaf at `offset`; its step.
    fn descend(&self, offset: usize) -> usize {
        let mut way = self.way.borrow_mut();
        let mut at = self.last.get();
        while !way[at].node.byte_range().contains(&offset)
            && let Some(parent) = way[at].parent
        {
            at = parent;
        }
        let mut cursor = way[at].node.walk();
        while cursor.goto_first_child_for_byte(offset).is_some() {
            let Step { node: above, depth, is_in_local_class, .. } = way[at];
            // The bodies of the member's own class come first.
            let is_body = depth > 2 && is_type_body(above);
            way.push(Step {
                node: cursor.node(),
                parent: Some(at),
                depth: depth + 1,
                is_in_local_class: is_in_local_class || is_body,
            });
            at = way.len() - 1;
        }
        self.last.set(at);
        at
    }
}

impl<'t> Invocation<'t> {
    /// Its ancestors, nearest first.
    pub(crate) fn ancestors(&self) -> impl Iterator<Item = Node<'t>> {
        let mut at = self.at;
        std::iter::from_fn(move || {
            let way = self.way.borrow();
            at = way[at].parent?;
            Some(way[at].node)
        })
    }

    /// The class's name before the method's; empty, right before the method's name, for a static
    /// import.
    pub(crate) fn class_range(&self) -> Range<usize> {
        let name = self.node.child_by_field_name("name").unwrap_or(self.node).start_byte();
        self.node.child_by_field_name("object").map_or(name..name, |object| object.byte_range())
    }

    /// Returns whether the body of a local or anonymous class is around it.
    pub(crate) fn is_in_local_class(&self) -> bool {
        self.way.borrow()[self.at].is_in_local_class
    }
}

fn is_invocation_of(node: Node<'_>, name: Node<'_>) -> bool {
    node.kind() == "method_invocation" && node.child_by_field_name("name") == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::java::syntax::parse;

    /// The steps to all calls of a text with so many calls in the arguments of each other; all are
    /// found.
    fn steps(depth: usize) -> usize {
        let open = "P.d(G, \"\", get(() -> { ".repeat(depth);
        let close = "return 1; }));".repeat(depth);
        let text = format!("import a.P; class A {{ void f() {{ {open}{close} }} }}");
        let unit = Unit::of(text.as_bytes());
        let tree = parse(text.as_bytes()).unwrap();
        let walk = Walk::new(&tree);
        let all = candidates(&unit, "a.P");
        let found = all.iter().filter_map(|it| walk.invocation(it, text.as_bytes()));
        assert_eq!(found.count(), depth);
        walk.way.borrow().len()
    }

    #[test]
    fn calls_in_arguments_cost_their_own_depth_only() {
        let (few, many) = (steps(10), steps(100));
        assert!(many < 11 * few, "{few} steps for 10 calls, {many} for 100");
    }
}
