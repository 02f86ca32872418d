//! The head of a type, between its name and its body: type parameters, supertypes, and the
//! components of a record.

use super::lexer::{Token, TokenKind};
use super::outline::{TypeId, TypeKind};
use super::unit::Unit;

/// The names after `extends` and `implements` of a type, without type arguments.
pub(super) fn supertype_names(unit: &Unit<'_>, id: TypeId) -> Vec<String> {
    let (mut names, mut reads) = (Vec::<String>::new(), false);
    let head = tokens(unit, id);
    for (_, token) in head.iter().filter(|(depth, _)| *depth == 0) {
        let word = unit.str(&token.range());
        match (token.kind, word) {
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
    let ends = |token: &Token| matches!(token.kind, TokenKind::Punct(b',' | b')'));
    let head = tokens(unit, id);
    let plain: Vec<Token> =
        head.iter().filter(|(depth, _)| *depth == 0).map(|(_, token)| *token).collect();
    let close = plain.iter().position(|token| token.kind == TokenKind::Punct(b')'));
    unit.outline.types[id.0].kind == TypeKind::Record
        && close.is_some_and(|close| {
            plain[..=close]
                .windows(2)
                .any(|pair| unit.str(&pair[0].range()) == name && ends(&pair[1]))
        })
}

/// Returns whether a type has a type parameter of this name.
pub(super) fn has_type_parameter(unit: &Unit<'_>, id: TypeId, name: &str) -> bool {
    let head = tokens(unit, id);
    let parameters = head.iter().take_while(|(depth, _)| *depth > 0);
    let parameters: Vec<Token> =
        parameters.filter(|(depth, _)| *depth == 1).map(|(_, token)| *token).collect();
    parameters.windows(2).any(|pair| {
        matches!(pair[0].kind, TokenKind::Punct(b'<' | b',')) && unit.str(&pair[1].range()) == name
    })
}

/// The tokens of a head without annotations, each with the number of `<` around it, of which an
/// opening one is within itself.
fn tokens(unit: &Unit<'_>, id: TypeId) -> Vec<(usize, Token)> {
    let header = unit.outline.types[id.0].header.clone();
    let kind = |at: usize| unit.tokens.get(at).map(|token| token.kind);
    let (mut found, mut depth, mut at) = (Vec::new(), 0_usize, header.start);
    while at < header.end {
        match unit.tokens[at].kind {
            TokenKind::Punct(b'@') => {
                at = after_annotation(unit, at);
                continue;
            }
            TokenKind::Punct(b'<') => depth += 1,
            _ => {}
        }
        found.push((depth, unit.tokens[at]));
        if kind(at) == Some(TokenKind::Punct(b'>')) {
            depth = depth.saturating_sub(1);
        }
        at += 1;
    }
    found
}

/// The position behind the annotation `@a.B(…)` at `at`.
fn after_annotation(unit: &Unit<'_>, at: usize) -> usize {
    let kind = |at: usize| unit.tokens.get(at).map(|token| token.kind);
    let mut at = at + 1;
    while kind(at) == Some(TokenKind::Word) {
        at += 1;
        if kind(at) != Some(TokenKind::Punct(b'.')) {
            break;
        }
        at += 1;
    }
    if kind(at) == Some(TokenKind::Punct(b'(')) { unit.partners[at] as usize + 1 } else { at }
}
