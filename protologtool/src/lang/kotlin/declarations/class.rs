//! Declarations of classes, interfaces and objects: their parameters, bodies and supertypes.

use super::DeclarationReader;
use crate::lang::kotlin::file::KotlinFile;
use crate::lang::kotlin::lexer::LexemeKind;
use crate::lang::kotlin::scopes::DeclaredKind;
use std::ops::Range;

/// The brace of a class's body, the owner of its members, and the bytes in which a companion's are
/// known.
pub(super) type ClassBody = (usize, Option<String>, Option<Range<usize>>);

impl DeclarationReader<'_, '_> {
    /// The class, interface or object at `at`: the body that it has, with what its members are
    /// known as; and the parentheses of its header.
    pub(super) fn class(&mut self, at: usize) -> (Option<ClassBody>, Option<Range<usize>>) {
        let file = self.file;
        let is_companion = at > 0 && file.raw(at - 1) == "companion";
        let name = (file.is_word(at + 1) && !file.begins_line(at + 1)).then_some(at + 1);
        let header = at + if name.is_some() { 2 } else { 1 };
        let (constructor, body, end) = self.class_header(header);
        let scope = self.around();
        self.declare(name.unwrap_or(at), DeclaredKind::Type, scope, None, None);
        if let Some(declared) = self.found.last_mut() {
            if name.is_none() {
                declared.name = String::from(if is_companion { "Companion" } else { "" });
            }
            declared.is_companion = is_companion;
            declared.body = body.map(|body| file.bytes_of(&(body..file.partner(body) + 1)));
            declared.supertypes = supertypes(file, at + 1..end);
        }
        self.type_parameters(header);
        if let Some(body) = body.filter(|_| at > 0 && file.raw(at - 1) == "enum") {
            self.entries(body, name);
        }
        if let Some(open) = constructor {
            let end = body.map_or(file.partner(open), |body| file.partner(body));
            self.parameters(open, file.bytes_of(&(open..end + 1)));
        }
        let outer = is_companion.then(|| self.around());
        let around = self.open.last().and_then(|body| body.owner.clone());
        let owner = if is_companion { around } else { name.map(|at| file.word(at).into_owned()) };
        let header = constructor.map(|open| open..file.partner(open));
        (body.map(|body| (body, owner, outer)), header)
    }

    /// Declares the constants of an enum, which its body, with the brace at `body`, begins with.
    fn entries(&mut self, body: usize, class: Option<usize>) {
        let file = self.file;
        let (close, scope) = (file.partner(body), file.bytes_of(&(body..file.partner(body) + 1)));
        let mut at = body + 1;
        while at < close {
            while file.is_punct(at, b'@') {
                at = file.after_annotation(at);
            }
            if !file.is_word(at) {
                return;
            }
            self.declare(at, DeclaredKind::EnumEntry, scope.clone(), None, None);
            if let Some(entry) = self.found.last_mut() {
                entry.owner = class.map(|at| file.word(at).into_owned());
            }
            at += 1;
            for bracket in [b'(', b'{'] {
                if file.is_punct(at, bracket) {
                    at = file.partner(at) + 1;
                }
            }
            if !file.is_punct(at, b',') {
                return;
            }
            at += 1;
        }
    }

    /// The parameters and the body of a class whose header goes on at `at`, as the positions of
    /// their brackets; and the end of the header.
    fn class_header(&self, at: usize) -> (Option<usize>, Option<usize>, usize) {
        let file = self.file;
        let limit = self.open.last().map_or(file.tokens.len(), |body| body.close);
        let (mut constructor, mut at, mut is_typed) = (None, at, false);
        while at < limit {
            match file.kind(at) {
                Some(LexemeKind::Punct(b'{')) => return (constructor, Some(at), at),
                Some(LexemeKind::Punct(b';' | b'=')) => break,
                Some(LexemeKind::Punct(b':')) => is_typed = true,
                Some(LexemeKind::Punct(b'(')) if !is_typed && constructor.is_none() => {
                    constructor = Some(at);
                }
                Some(LexemeKind::Punct(b'<')) => {
                    at = file.after_type_arguments(at).unwrap_or(limit);
                    continue;
                }
                Some(LexemeKind::Word) => {
                    let is_keyword = matches!(
                        file.raw(at),
                        "fun"
                            | "val"
                            | "var"
                            | "class"
                            | "object"
                            | "interface"
                            | "typealias"
                            | "init"
                            | "import"
                    );
                    if is_keyword && !self.is_part_of_name(at) {
                        break;
                    }
                }
                _ => {}
            }
            at = file.partner(at).max(at) + 1;
        }
        (constructor, None, at.min(limit))
    }
}

/// The simple names of the types behind the colon of a class's header.
fn supertypes(file: &KotlinFile<'_>, header: Range<usize>) -> Vec<String> {
    let (mut names, mut at, mut is_name) = (Vec::new(), header.start, false);
    while at < header.end {
        match file.kind(at) {
            Some(LexemeKind::Punct(b':')) => is_name = true,
            Some(LexemeKind::Punct(b',')) => is_name = !names.is_empty(),
            Some(LexemeKind::Punct(b'@')) => {
                at = file.after_annotation(at);
                continue;
            }
            Some(LexemeKind::Word) if is_name => {
                // Of `Outer.Inner` the last name.
                is_name = file.is_punct(at + 1, b'.');
                if !is_name {
                    names.push(file.word(at).into_owned());
                }
            }
            Some(LexemeKind::Word) if file.raw(at) == "where" => break,
            _ => {}
        }
        at = if file.is_punct(at, b'.') { at + 1 } else { file.next(at, header.end) };
    }
    names
}
