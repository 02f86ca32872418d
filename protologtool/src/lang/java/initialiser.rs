//! Tells whether a class runs code when it is initialised (JLS 12.4), which the first call of a
//! static method makes it do.
//!
//! A rewritten call no longer names the class of the method that was looked through. So a statement
//! that this does not understand counts as code.

use super::constant::{Evaluator, nothing_known};
use super::lexer::TokenKind;
use super::meaning::Site;
use super::outline::{Member, MemberKind, TypeId, TypeKind};
use super::resolve::Resolver;
use super::syntax::{children, descendants, parse_member};

/// Returns whether the initialisation of the type `of` may run code.
pub(super) fn runs_code(resolver: &Resolver<'_>, of: TypeId) -> bool {
    let (unit, declared) = (&resolver.unit, &resolver.unit.outline.types[of.0]);
    let header = &unit.tokens[declared.header.clone()];
    // A superclass is initialised first, and so are interfaces with default methods.
    let extends = header.iter().any(|it| matches!(unit.str(&it.range()), "extends" | "implements"));
    let members = || unit.outline.members_of(of).map(|(_, member)| member);
    let makes_constants = declared.kind == TypeKind::Enum
        && members().any(|it| match it.kind {
            MemberKind::Constructor => true,
            MemberKind::Initializer => !it.is_static,
            MemberKind::Constant => it.tokens.len() > 1,
            _ => false,
        });
    let are_static = matches!(declared.kind, TypeKind::Interface | TypeKind::Annotation);
    let of_member = |member: &Member| match member.kind {
        MemberKind::Initializer => member.is_static,
        MemberKind::Field => {
            (member.is_static || are_static) && field_runs_code(resolver, of, member)
        }
        _ => false,
    };
    extends || makes_constants || members().any(of_member)
}

/// Returns whether an initial value in a declaration of static fields is more than a constant, or
/// an array of literals.
fn field_runs_code(resolver: &Resolver<'_>, of: TypeId, member: &Member) -> bool {
    let unit = &resolver.unit;
    let mut tokens = unit.tokens[member.tokens.clone()].iter();
    if !tokens.any(|token| token.kind == TokenKind::Punct(b'=')) {
        return false;
    }
    let Some(tree) = parse_member(unit, member) else { return true };
    let Some(field) = descendants(tree.root_node())
        .find(|it| matches!(it.kind(), "field_declaration" | "constant_declaration"))
    else {
        return true;
    };
    let mut values =
        children(field).filter_map(|declarator| declarator.child_by_field_name("value"));
    values.any(|value| {
        let site = Site { offset: value.start_byte(), owner: Some(of), locals: None };
        let known = &nothing_known;
        let is_constant =
            Evaluator { resolver, site, known, calls: None, needed: None }.value(value);
        let is_array = value.kind() == "array_initializer";
        let is_literal = |it: tree_sitter::Node<'_>| {
            it.kind().ends_with("literal") || matches!(it.kind(), "true" | "false")
        };
        let of_literals = is_literal(value) || is_array && children(value).all(is_literal);
        is_constant.is_err() && !of_literals
    })
}
