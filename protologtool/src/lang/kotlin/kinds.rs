//! The conversion for a value in a text: `%s`, unless its type is evident and has a shorter form in
//! a trace.
//!
//! All give the same text for the same value. If a type is not what it seems, the method that
//! converts the argument does not take it, so that the program does not compile.

use super::lexer::LexemeKind;
use super::names::ScopedFile;
use super::receivers::has_receiver;
use super::scopes::{DeclaredKind, DeclaredName};
use crate::lang::jvm::rivals::RivalKind;
use std::ops::Range;

/// The conversion for the expression of these tokens.
pub(crate) fn conversion(named: &ScopedFile<'_>, tokens: &Range<usize>) -> &'static str {
    match declared_type(named, tokens).as_deref() {
        Some("Int" | "Long" | "Short" | "Byte") => "%d",
        Some("Boolean") => "%b",
        _ => "%s",
    }
}

/// The name of the type of the expression of these tokens, if it is evident.
pub(super) fn type_of(named: &ScopedFile<'_>, tokens: &Range<usize>) -> Option<String> {
    let literal = || literal(named, named.file.unparenthesized(tokens.clone())).map(str::to_owned);
    declared_type(named, tokens).or_else(literal).or_else(|| property_type(named, tokens))
}

/// The type with which a property of the file or of a class is declared, unless a receiver around
/// may have another one of its name.
fn property_type(named: &ScopedFile<'_>, tokens: &Range<usize>) -> Option<String> {
    let file = &named.file;
    let tokens = file.unparenthesized(tokens.clone());
    if tokens.len() != 1 || !file.is_word(tokens.start) || has_receiver(named, tokens.start) {
        return None;
    }
    let offset = file.bytes_of(&tokens).start;
    let declared = named.scopes.variable(&file.word(tokens.start), offset)?;
    let of_extension = file.is_punct(named.token_at(declared.offset).wrapping_sub(1), b'.');
    let is_property = matches!(declared.kind, DeclaredKind::Property | DeclaredKind::Constant);
    let written = declared.written_type.as_ref().filter(|_| is_property && !of_extension)?;
    (!is_declared(named, written)).then(|| written.clone())
}

/// The type with which a variable is declared, or that a conversion gives.
fn declared_type(named: &ScopedFile<'_>, tokens: &Range<usize>) -> Option<String> {
    let file = &named.file;
    let tokens = file.unparenthesized(tokens.clone());
    if tokens.len() == 1 && file.is_word(tokens.start) {
        let offset = file.bytes_of(&tokens).start;
        let declared = named.scopes.variable(&file.word(tokens.start), offset);
        // A receiver around can have a property of the name of a property, but not of a variable.
        let is_local = |kind| matches!(kind, DeclaredKind::Parameter | DeclaredKind::Local);
        declared.filter(|it| is_local(it.kind)).and_then(|it| match &it.written_type {
            Some(written) => (!is_declared(named, written)).then(|| written.clone()),
            None => literal(named, it.value.clone()?).map(str::to_owned),
        })
    } else {
        converted(named, &tokens).map(str::to_owned)
    }
}

/// Returns whether the sources declare a type or type parameter of this name, or import one, which
/// may be meant instead of the language's.
pub(super) fn is_declared(named: &ScopedFile<'_>, name: &str) -> bool {
    let is_type =
        |it: &DeclaredName| matches!(it.kind, DeclaredKind::Type | DeclaredKind::TypeParameter);
    let rivals = || named.others.map_or(&[][..], |others| others.rivals(name));
    named.scopes.named(name).any(is_type)
        || named.file.imports.iter().any(|import| import.name.as_deref() == Some(name))
        || rivals().iter().any(|rival| rival.kind == RivalKind::Type)
}

/// The type of an expression that ends in a conversion: `x.toInt()`.
fn converted(named: &ScopedFile<'_>, tokens: &Range<usize>) -> Option<&'static str> {
    let file = &named.file;
    let end = tokens.end;
    if tokens.len() < 5 || !file.is_punct(end - 1, b')') || !file.is_punct(end - 2, b'(') {
        return None;
    }
    let is_call = file.is_punct(end - 4, b'.') && !file.is_punct(end - 5, b'?');
    // Of `a + b.toInt()` it is the type of a part.
    let mut at = tokens.start;
    while at < end {
        let is_part = match file.kind(at) {
            Some(LexemeKind::Punct(byte)) => matches!(byte, b'.' | b'(' | b'['),
            Some(LexemeKind::Word) => at == tokens.start || file.is_punct(at - 1, b'.'),
            Some(LexemeKind::Number) => at == tokens.start,
            _ => false,
        };
        if !is_part {
            return None;
        }
        at = file.next(at, end);
    }
    let name = file.raw(end - 3);
    let is_own = named.scopes.named(name).next().is_some()
        || named.others.is_some_and(|others| !others.rivals(name).is_empty());
    match name {
        // Each class has it, and of whichever one it is a text.
        "toString" if is_call => Some("String"),
        _ if is_own => None,
        "toInt" if is_call => Some("Int"),
        "toLong" if is_call => Some("Long"),
        "toShort" if is_call => Some("Short"),
        "toByte" if is_call => Some("Byte"),
        "toBoolean" if is_call => Some("Boolean"),
        "toDouble" if is_call => Some("Double"),
        "toFloat" if is_call => Some("Float"),
        _ => None,
    }
}

/// The type of a literal: `5`, `5L`, `-5`, `1.5`, `true`, `"text"`.
fn literal(named: &ScopedFile<'_>, tokens: Range<usize>) -> Option<&'static str> {
    let file = &named.file;
    let is_text = matches!(file.kind(tokens.start), Some(LexemeKind::TextOpen { .. }));
    if is_text && file.partner(tokens.start) + 1 == tokens.end {
        return Some("String");
    }
    let is_negative = file.is_punct(tokens.start, b'-');
    let at = if is_negative { tokens.start + 1 } else { tokens.start };
    if at + 1 != tokens.end {
        return None;
    }
    match (file.kind(at)?, file.raw(at)) {
        (LexemeKind::Word, "true" | "false") if !is_negative => Some("Boolean"),
        (LexemeKind::Char, _) if !is_negative => Some("Char"),
        (LexemeKind::Number, raw) if raw.contains('.') => {
            Some(if raw.ends_with(['f', 'F']) { "Float" } else { "Double" })
        }
        (LexemeKind::Number, raw)
            if raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') =>
        {
            Some("Int")
        }
        (LexemeKind::Number, raw) => {
            let digits = raw.strip_suffix('L')?;
            digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_').then_some("Long")
        }
        _ => None,
    }
}
