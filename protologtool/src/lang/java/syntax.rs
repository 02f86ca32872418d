//! Parsing Java with tree-sitter, and reading its trees.
//!
//! The parser sees a copy of the text in which syntax unknown to its grammar is masked by as many
//! other bytes, so that offsets stay valid and everybody else reads the original text. Masked are
//! the contents of literals with escapes or control characters, names that are not ASCII, lone
//! carriage returns (line ends in Java), numbers such as `0_7` and `1__0`, and zeros that begin
//! other numbers than octal ones (`08d`). So are, in members, `super(` and `this(`, which may come
//! after other statements, and parts of patterns ([`newer`]).
//!
//! A member is parsed alone, between the head of a class or enum and its end. Its nodes have the
//! offsets that they have in the file: the head takes the place of the bytes before it, of which
//! there are enough since a real head is longer.

use super::lexer::{self, Token, TokenKind};
use super::newer;
use super::outline::{Member, MemberKind};
use super::unit::Unit;
use crate::lang::jvm::looks;
use std::cell::RefCell;
use std::slice;
use tree_sitter::{Node, Parser, Point, Range, Tree};

/// Parses a whole file. None when the grammar does not fit the library, which a test excludes.
pub(crate) fn parse(bytes: &[u8]) -> Option<Tree> {
    let mut masked = bytes.to_vec();
    let mut mask = Mask::default();
    for token in lexer::tokens(bytes) {
        let range = token.range();
        mask.apply(&token, &mut masked[range]);
    }
    mask_line_ends(&mut masked);
    if let Some(last @ 0x1a) = masked.last_mut() {
        *last = b'\n';
    }
    parse_ranges(&masked, 0, slice::from_ref(&(0..masked.len())))
}

/// Parses one member of a type.
pub(crate) fn parse_member(unit: &Unit<'_>, member: &Member) -> Option<Tree> {
    let (masked, start) = member_text(unit, member);
    parse_ranges(&masked, start, slice::from_ref(&(start..start + masked.len())))
}

/// Parses one member of a type without the code between braces that hold none of the places
/// `wanted`, which are sorted. Declarations there are of no concern to those places.
pub(crate) fn parse_around(unit: &Unit<'_>, member: &Member, wanted: &[usize]) -> Option<Tree> {
    let (masked, start) = member_text(unit, member);
    let mut ranges = Vec::new();
    let (mut from, mut at) = (start, member.tokens.start);
    while at < member.tokens.end {
        let token = &unit.tokens[at];
        at += 1;
        if token.kind != TokenKind::Punct(b'{') {
            continue;
        }
        let close = unit.partners[at - 1] as usize;
        let inner = token.range().end..unit.tokens[close].range().start;
        let next = wanted.partition_point(|offset| *offset < inner.start);
        if wanted.get(next).is_none_or(|offset| *offset >= inner.end) {
            at = close;
            if inner.len() >= WORTH_SKIPPING {
                ranges.push(from..inner.start);
                from = inner.end;
            }
        }
    }
    ranges.push(from..start + masked.len());
    parse_ranges(&masked, start, &ranges)
}

/// Fewer bytes are parsed faster than left out.
const WORTH_SKIPPING: usize = 16;

/// The text of a member that the parser sees, and its offset in the file.
pub(crate) fn member_text(unit: &Unit<'_>, member: &Member) -> (Vec<u8>, usize) {
    let head: &[u8] = if member.kind == MemberKind::Constant { b"enum A{" } else { b"class A{" };
    // In a file without a class a method can be the first thing; the grammar allows that.
    let is_member = member.range.start >= head.len();
    let (head, tail) = if is_member { (head, &b"}"[..]) } else { (&b""[..], &b""[..]) };
    let part = &unit.text()[member.range.clone()];
    let mut masked = [head, part, tail].concat();
    let own = &mut masked[head.len()..head.len() + part.len()];
    mask_line_ends(own);
    let tokens = &unit.tokens[member.tokens.clone()];
    let mut mask = Mask::default();
    for (index, token) in tokens.iter().enumerate() {
        let start = member.range.start;
        let text = &mut own[token.range().start - start..token.range().end - start];
        mask.apply(token, text);
        let calls = tokens.get(index + 1).is_some_and(|next| next.kind == TokenKind::Punct(b'('));
        if calls && matches!(&*text, b"super" | b"this") {
            text[0] = b'x';
        }
    }
    let newer = newer::masked(unit, member.tokens.clone());
    for (ranges, by) in [(newer.blanks, b' '), (newer.names, b'_')] {
        for range in ranges {
            let start = member.range.start;
            let text = &mut own[range.start - start..range.end - start];
            replace(text, |byte| !byte.is_ascii_whitespace(), by);
        }
    }
    (masked, member.range.start - head.len())
}

/// Parses the stretches `ranges` of a text that stands at `start` of a file. Lines and columns are
/// those of the text alone: nobody asks for them, but the parser rates errors by the lines that
/// they take.
fn parse_ranges(text: &[u8], start: usize, ranges: &[std::ops::Range<usize>]) -> Option<Tree> {
    thread_local! {
        static PARSER: RefCell<Option<Parser>> = RefCell::new(java_parser());
    }
    let (mut at, mut point) = (start, Point { row: 0, column: 0 });
    let mut point_of = |offset: usize| {
        point = moved(point, &text[at - start..offset - start]);
        at = offset;
        point
    };
    let included = ranges.iter().map(|range| {
        let (start_byte, end_byte) = (range.start, range.end);
        let start_point = point_of(start_byte);
        Range { start_byte, end_byte, start_point, end_point: point_of(end_byte) }
    });
    let included: Vec<Range> = included.collect();
    looks::count(ranges.iter().map(ExactSizeIterator::len).sum());
    PARSER.with_borrow_mut(|parser| {
        let parser = parser.as_mut()?;
        parser.set_included_ranges(&included).ok()?;
        let mut read = |offset: usize, _: Point| {
            let from = offset.saturating_sub(start).min(text.len());
            &text[from..]
        };
        let tree = parser.parse_with_options(&mut read, None, None);
        parser.reset();
        tree
    })
}

/// Where a text ends that begins at `point`.
fn moved(point: Point, text: &[u8]) -> Point {
    match memchr::memrchr(b'\n', text) {
        None => Point { row: point.row, column: point.column + text.len() },
        Some(last) => {
            let row = point.row + memchr::memchr_iter(b'\n', text).count();
            Point { row, column: text.len() - last - 1 }
        }
    }
}

fn java_parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_java::LANGUAGE.into()).ok()?;
    Some(parser)
}

/// Masks syntax unknown to the grammar in each token in turn.
#[derive(Default)]
struct Mask {
    last: NumberPart,
}

/// A token as a part of a hexadecimal number.
#[derive(Clone, Copy, Default, PartialEq)]
enum NumberPart {
    #[default]
    None,
    Digits,
    Dot,
    /// A token that ends with the letter of an exponent, whose sign follows.
    BeforeSign,
    Sign,
}

impl Mask {
    fn apply(&mut self, token: &Token, text: &mut [u8]) {
        let is_unknown = |byte: &u8| *byte == b'\\' || *byte < b' ' && !byte.is_ascii_whitespace();
        let last = self.last;
        let is_hexadecimal = matches!(text, [b'0', b'x' | b'X', ..]) || last == NumberPart::Dot;
        // The beginning of a literal that does not end may be empty.
        let begins = text.first().is_some_and(u8::is_ascii_digit);
        let is_number = begins || last == NumberPart::Dot;
        self.last = match token.kind {
            TokenKind::Word if is_hexadecimal && text.ends_with(b"p") => NumberPart::BeforeSign,
            TokenKind::Word if is_hexadecimal && text.ends_with(b"P") => NumberPart::BeforeSign,
            TokenKind::Word if is_hexadecimal => NumberPart::Digits,
            TokenKind::Punct(b'.') if last == NumberPart::Digits => NumberPart::Dot,
            TokenKind::Punct(b'+' | b'-') if last == NumberPart::BeforeSign => NumberPart::Sign,
            _ => NumberPart::None,
        };
        match token.kind {
            TokenKind::Literal if text.iter().any(is_unknown) => mask_content(text),
            TokenKind::Word if is_number => {
                mask_number(text, is_hexadecimal, last == NumberPart::Sign);
            }
            TokenKind::Word => replace(text, |byte| byte >= 0x80 || byte == b'\\', b'_'),
            _ => {}
        }
    }
}

/// Puts digits in the place of underscores, of which the grammar knows some, and ones in that of
/// zeros that begin a decimal number or the exponent of a hexadecimal one.
fn mask_number(text: &mut [u8], is_hexadecimal: bool, is_exponent: bool) {
    replace(text, |byte| byte == b'_', b'0');
    let exponent = if is_hexadecimal {
        text.iter().position(|byte| matches!(byte, b'p' | b'P')).map(|at| at + 1)
    } else {
        is_exponent.then_some(0)
    };
    let has_letter = text.iter().any(|byte| matches!(byte | 0x20, b'd' | b'e' | b'f'));
    let first = exponent.unwrap_or(0);
    let is_zero_first = matches!(text[first..], [b'0', b'0'..=b'9', ..]);
    if is_zero_first && (exponent.is_some() || has_letter) {
        text[first] = b'1';
    }
}

fn replace(text: &mut [u8], what: impl Fn(u8) -> bool, by: u8) {
    text.iter_mut().filter(|byte| what(**byte)).for_each(|byte| *byte = by);
}

/// Lone carriage returns become line ends, and zeros, which the parser takes for the end, become
/// spaces.
fn mask_line_ends(text: &mut [u8]) {
    if memchr::memchr(0, text).is_some() {
        replace(text, |byte| byte == 0, b' ');
    }
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'\r', &text[from..]) {
        let at = from + found;
        if text.get(at + 1) != Some(&b'\n') {
            text[at] = b'\n';
        }
        from = at + 1;
    }
}

/// Puts letters in the place of the text between the quotes of a literal; white space stays, since
/// a text block needs its line ends. An unfinished literal stays as it is.
fn mask_content(literal: &mut [u8]) {
    let quotes = if literal.starts_with(b"\"\"\"") { 3 } else { 1 };
    let length = literal.len();
    if length < 2 * quotes || literal[..quotes] != literal[length - quotes..] {
        return;
    }
    replace(
        &mut literal[quotes..length - quotes],
        |byte| byte.is_ascii() && !byte.is_ascii_whitespace(),
        b'x',
    );
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

/// Calls `visit` with `root` and each of its descendants, parents first, in source order; and with
/// the ancestors of each from `root` on, outermost first, since [`ancestors`] walks down from the
/// root of the tree for each.
pub(crate) fn for_each_with_ancestors<'t>(
    root: Node<'t>,
    mut visit: impl FnMut(Node<'t>, &[Node<'t>]),
) {
    let mut cursor = root.walk();
    let mut around = Vec::new();
    loop {
        let node = cursor.node();
        visit(node, &around);
        if cursor.goto_first_child() {
            around.push(node);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            around.pop();
        }
    }
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
pub(crate) fn text<'s>(node: Node<'_>, source: &'s (impl AsRef<[u8]> + ?Sized)) -> &'s str {
    let bytes = source.as_ref().get(node.byte_range()).unwrap_or_default();
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// The text of the field `field` of a node; empty without one.
pub(crate) fn field_text<'s>(
    node: Node<'_>,
    field: &str,
    source: &'s (impl AsRef<[u8]> + ?Sized),
) -> &'s str {
    node.child_by_field_name(field).map_or("", |child| text(child, source))
}

/// `a.b.C` for an expression or name that is nothing but names and dots.
pub(crate) fn dotted(node: Node<'_>, source: &(impl AsRef<[u8]> + ?Sized)) -> Option<String> {
    match node.kind() {
        "identifier" | "type_identifier" => Some(text(node, source).to_owned()),
        "field_access" => {
            let object = dotted(node.child_by_field_name("object")?, source)?;
            let field =
                node.child_by_field_name("field").filter(|field| field.kind() == "identifier")?;
            Some(format!("{object}.{}", text(field, source)))
        }
        "scoped_type_identifier" => {
            let mut parts = children(node).filter(|child| !child.kind().ends_with("annotation"));
            let (outer, inner) = (parts.next()?, parts.next()?);
            Some(format!("{}.{}", dotted(outer, source)?, text(inner, source)))
        }
        "generic_type" => dotted(children(node).next()?, source),
        "annotated_type" => dotted(children(node).last()?, source),
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

/// Returns whether a declaration has this modifier.
pub(crate) fn has_modifier(declaration: Node<'_>, modifier: &str) -> bool {
    let modifiers = children(declaration).find(|child| child.kind() == "modifiers");
    modifiers.is_some_and(|modifiers| {
        let mut cursor = modifiers.walk();
        modifiers.children(&mut cursor).any(|child| child.kind() == modifier)
    })
}

/// Returns whether the node declares a type.
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

/// Returns whether the node holds the members of a type.
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
