//! The names that fields declare, and the types that are written there. A field that declares many
//! is parsed once, however many of them are asked for.

use super::locals::Declaration;
use super::outline::MemberId;
use super::syntax::{children, descendants, field_text, parse_member};
use super::unit::{FieldTypes, Unit};
use tree_sitter::Node;

/// Returns whether the field `member` declares `name`.
pub(super) fn declares(unit: &Unit<'_>, member: MemberId, name: &str) -> bool {
    unit.field_types(member, read).contains_key(name)
}

/// The type that the field `member` declares `name` with, if it is no array and written.
pub(super) fn written_type(unit: &Unit<'_>, member: MemberId, name: &str) -> Option<String> {
    unit.field_types(member, read).get(name).cloned()?
}

/// The declarator of the field called `name` in the tree of a member.
pub(crate) fn declarator<'t>(root: Node<'t>, name: &str, text: &[u8]) -> Option<Declaration<'t>> {
    declarators(root).find(|declared| field_text(declared.node, "name", text) == name)
}

fn declarators<'t>(root: Node<'t>) -> impl Iterator<Item = Declaration<'t>> {
    // The first field of the tree is the member itself; others are of local classes.
    let is_field =
        |node: &Node<'t>| matches!(node.kind(), "field_declaration" | "constant_declaration");
    let parent = descendants(root).find(is_field);
    parent.into_iter().flat_map(|parent| {
        let nodes = children(parent).filter(|node| node.kind() == "variable_declarator");
        nodes.map(move |node| Declaration { node, parent })
    })
}

fn read(unit: &Unit<'_>, member: MemberId) -> FieldTypes {
    let Some(tree) = parse_member(unit, &unit.outline.members[member.0]) else {
        return FieldTypes::default();
    };
    let text = unit.text();
    let named = declarators(tree.root_node()).map(|declared| {
        let is_plain = declared.node.child_by_field_name("dimensions").is_none();
        let written = declared.written_type(text).filter(|_| is_plain);
        (field_text(declared.node, "name", text).to_owned(), written.map(str::to_owned))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_types_of_one_declaration() {
        let unit = Unit::of(b"class A { int a = 1, b[], c; @X final String d = \"a\"; }");
        let types =
            |name| (declares(&unit, MemberId(0), name), written_type(&unit, MemberId(0), name));
        assert_eq!(types("a"), (true, Some("int".to_owned())));
        assert_eq!(types("b"), (true, None));
        assert_eq!(types("d"), (false, None));
        assert_eq!(written_type(&unit, MemberId(1), "d"), Some("String".to_owned()));
    }
}
