//! Parsing Java with tree-sitter, and reading its trees.
//!
//! The parser sees a copy of the text in which what its grammar does not know is masked by as many other bytes, so that
//! offsets stay valid and everybody else reads the original text. Masked are the contents of literals (`\uuu0041` is
//! unknown), lone carriage returns (line ends in Java), `\u` escapes in names, octal numbers such as `0_7`, and a Ctrl-Z
//! at the end of the file.

use super::lexer::{self, Kind};
use crate::source::Source;
use std::borrow::Cow;
use tree_sitter::{Node, Parser, Tree};

/// Parses `bytes`. None when the grammar does not fit the library, which a test excludes.
pub(crate) fn parse(bytes: &[u8]) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_java::LANGUAGE.into()).ok()?;
    parser.parse(masked(bytes), None)
}

fn masked(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut masked = Cow::Borrowed(bytes);
    for at in memchr::memchr_iter(b'\r', bytes) {
        if bytes.get(at + 1) != Some(&b'\n') {
            masked.to_mut()[at] = b'\n';
        }
    }
    if bytes.last() == Some(&0x1a) {
        masked.to_mut()[bytes.len() - 1] = b'\n';
    }
    if memchr::memchr(b'\\', bytes).is_none() && memchr::memmem::find(bytes, b"0_").is_none() {
        return masked;
    }
    for token in lexer::tokens(bytes) {
        let text = &bytes[token.range.clone()];
        match token.kind {
            Kind::Literal if memchr::memchr(b'\\', text).is_some() => {
                mask_content(&mut masked.to_mut()[token.range]);
            }
            Kind::Word if text.starts_with(b"0_") => masked.to_mut()[token.range.start + 1] = b'0',
            Kind::Word => {
                for at in memchr::memchr_iter(b'\\', text) {
                    masked.to_mut()[token.range.start + at] = b'_';
                }
            }
            _ => {}
        }
    }
    masked
}

/// Puts letters in the place of what stands between the quotes of a literal; white space stays, since a text block needs
/// its line ends. An unfinished literal stays as it is.
fn mask_content(literal: &mut [u8]) {
    let quotes = if literal.starts_with(b"\"\"\"") { 3 } else { 1 };
    let length = literal.len();
    if length < 2 * quotes || literal[..quotes] != literal[length - quotes..] {
        return;
    }
    for byte in &mut literal[quotes..length - quotes] {
        if !byte.is_ascii_whitespace() && byte.is_ascii() {
            *byte = b'x';
        }
    }
}

/// The named children, without comments.
pub(crate) fn children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = node.walk();
    let mut more = cursor.goto_first_child();
    std::iter::from_fn(move || {
        while more {
            let child = cursor.node();
            more = cursor.goto_next_sibling();
            if child.is_named() && !child.is_extra() {
                return Some(child);
            }
        }
        None
    })
}

/// The node and all its descendants, parents first, in source order.
pub(crate) fn descendants(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = node.walk();
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let current = cursor.node();
        if !cursor.goto_first_child() {
            while !done && !cursor.goto_next_sibling() {
                done = !cursor.goto_parent();
            }
        }
        Some(current)
    })
}

/// The ancestors, nearest first; each with the child that leads back.
pub(crate) fn ancestors(node: Node<'_>) -> impl Iterator<Item = (Node<'_>, Node<'_>)> {
    let mut child = node;
    std::iter::from_fn(move || {
        let parent = child.parent()?;
        let step = (parent, child);
        child = parent;
        Some(step)
    })
}

/// The text of a node, where it is UTF-8.
pub(crate) fn text<'s>(node: Node<'_>, source: &'s Source) -> &'s str {
    std::str::from_utf8(source.slice(node.byte_range())).unwrap_or_default()
}

/// The text of the field `field` of a node; empty without one.
pub(crate) fn field_text<'s>(node: Node<'_>, field: &str, source: &'s Source) -> &'s str {
    node.child_by_field_name(field).map_or("", |child| text(child, source))
}

/// `a.b.C` for an expression or name that is nothing but names and dots.
pub(crate) fn dotted(node: Node<'_>, source: &Source) -> Option<String> {
    match node.kind() {
        "identifier" | "type_identifier" => Some(text(node, source).to_owned()),
        "field_access" => {
            let object = dotted(node.child_by_field_name("object")?, source)?;
            let field =
                node.child_by_field_name("field").filter(|field| field.kind() == "identifier")?;
            Some(format!("{object}.{}", text(field, source)))
        }
        "scoped_identifier" => {
            let scope = dotted(node.child_by_field_name("scope")?, source)?;
            Some(format!("{scope}.{}", field_text(node, "name", source)))
        }
        _ => None,
    }
}

/// The expression inside any parentheses.
pub(crate) fn unparenthesized(mut node: Node<'_>) -> Node<'_> {
    while node.kind() == "parenthesized_expression" {
        match children(node).next() {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

/// Whether a declaration has this modifier.
pub(crate) fn has_modifier(declaration: Node<'_>, modifier: &str) -> bool {
    let modifiers = children(declaration).find(|child| child.kind() == "modifiers");
    modifiers.is_some_and(|modifiers| {
        let mut cursor = modifiers.walk();
        modifiers.children(&mut cursor).any(|child| child.kind() == modifier)
    })
}

/// Whether the node declares a type.
pub(crate) fn is_type_declaration(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "annotation_type_declaration"
    )
}

/// Whether the node holds the members of a type.
pub(crate) fn is_type_body(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "class_body"
            | "interface_body"
            | "enum_body"
            | "enum_body_declarations"
            | "annotation_type_body"
    )
}

/// The members of a type body; those of an enum that follow its constants included.
pub(crate) fn members(body: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    children(body).flat_map(|node| {
        let declarations = (node.kind() == "enum_body_declarations").then(|| children(node));
        std::iter::once(node).chain(declarations.into_iter().flatten())
    })
}
