//! The head of a type, between its name and its body: supertypes, and the components of a record.

use super::lexer::TokenKind;
use super::outline::{TypeId, TypeKind};
use super::unit::Unit;

/// The names after `extends` and `implements` of a type, without type arguments.
pub(super) fn supertype_names(unit: &Unit<'_>, id: TypeId) -> Vec<String> {
    let header = &unit.tokens[unit.outline.types[id.0].header.clone()];
    let (mut names, mut depth, mut reads) = (Vec::<String>::new(), 0_usize, false);
    for token in header {
        let word = unit.str(&token.range());
        match (token.kind, word) {
            (TokenKind::Punct(b'<' | b'('), _) => depth += 1,
            (TokenKind::Punct(b'>' | b')'), _) => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            (TokenKind::Word, "extends" | "implements") => {
                reads = true;
                names.push(String::new());
            }
            (TokenKind::Word, "permits") => reads = false,
            (TokenKind::Punct(b','), _) => names.push(String::new()),
            (TokenKind::Word | TokenKind::Punct(b'.'), _) if reads => {
                if let Some(name) = names.last_mut() {
                    name.push_str(word);
                }
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Returns whether a record has a component of this name.
pub(super) fn has_component(unit: &Unit<'_>, id: TypeId, name: &str) -> bool {
    let declared = &unit.outline.types[id.0];
    let header = &unit.tokens[declared.header.clone()];
    declared.kind == TypeKind::Record
        && header.windows(2).any(|pair| {
            pair[0].kind == TokenKind::Word
                && unit.str(&pair[0].range()) == name
                && matches!(pair[1].kind, TokenKind::Punct(b',' | b')'))
        })
}
