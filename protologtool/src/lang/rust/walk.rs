//! The walk over a file's tokens: through modules, blocks and the input of other macros, with the
//! scopes around each place.
//!
//! Tokens rather than syntax trees, since a log call in the input of `select!` or `cfg_if!` is
//! found just like any other, and what else is in a file need not even parse. What is told apart is
//! what gives names a meaning: modules, blocks, imports, `macro_rules` in the order of the text;
//! and what is no code: attributes, the bodies of macros, quoted tokens.

use super::crates::Module;
use super::resolve::Scope;
use super::table::{Table, attributes_before, end_of_item, too_deep_import};
use super::tokens::{
    MAX_DEPTH, Path, Spans, content, deep_group, group, is_colons, is_punct, is_word, word,
};
use proc_macro2::{Delimiter, Group, TokenTree};
use std::ops::Range;
use std::sync::Arc;

/// Callbacks for the contents of a file.
pub(super) trait Visitor {
    /// A macro is called. Says how its input is to be taken.
    fn call(&mut self, call: &MacroCall<'_>, place: &Surroundings<'_>) -> InputUse;

    /// An enum with attributes: its tokens from the keyword on, up to its body.
    fn group_enum(&mut self, found: &EnumFound<'_>, place: &Surroundings<'_>);

    /// The body of a macro by example, or quoted code.
    fn not_code(&mut self, body: &Group, place: &Surroundings<'_>);

    /// Groups are nested deeper than anybody looks.
    fn too_deep(&mut self, range: Range<usize>);
}

/// A call of some macro.
pub(super) struct MacroCall<'t> {
    pub(super) path: Path,
    /// From the first token of the path to the end of the input.
    pub(super) range: Range<usize>,
    /// Bytes of the path.
    pub(super) path_range: Range<usize>,
    pub(super) input: &'t Group,
}

/// An enum that has attributes.
pub(crate) struct EnumFound<'t> {
    pub(crate) name: &'t TokenTree,
    /// Those before it, first first, each with its `#`.
    pub(crate) attributes: Vec<&'t [TokenTree]>,
    /// The tokens between name and body.
    pub(crate) generics: &'t [TokenTree],
    pub(crate) body: &'t Group,
}

/// The treatment of a macro's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputUse {
    /// As code of the scope around.
    Code,
    /// As tokens that are no code here.
    NoCode,
}

/// The surroundings of a place.
pub(super) struct Surroundings<'a> {
    pub(super) scopes: &'a [Scope],
    /// The modules around, down from the crate's root.
    pub(super) module: &'a [String],
    /// Names that macros by example have there.
    pub(super) macros: &'a [String],
    pub(super) spans: Spans,
}

/// Walks a file that is `module`, with `visitor`.
pub(super) fn walk(trees: &[TokenTree], spans: Spans, module: Module, visitor: &mut dyn Visitor) {
    let scope = Scope { table: module.table.clone(), is_block: false, module: module.clone() };
    let mut walker = Walker {
        spans,
        scopes: vec![scope],
        module: module.path,
        macros: Vec::new(),
        depth: 0,
        visitor,
    };
    walker.trees(trees);
}

struct Walker<'v> {
    spans: Spans,
    scopes: Vec<Scope>,
    module: Vec<String>,
    macros: Vec<String>,
    depth: usize,
    visitor: &'v mut dyn Visitor,
}

impl Walker<'_> {
    fn trees(&mut self, trees: &[TokenTree]) {
        let mut at = 0;
        while at < trees.len() {
            at = self.step(trees, at).max(at + 1);
        }
    }

    /// Takes the construct at `at`; gives the index to go on from.
    fn step(&mut self, trees: &[TokenTree], at: usize) -> usize {
        match &trees[at] {
            TokenTree::Punct(punct) if punct.as_char() == '#' => after_attribute(trees, at),
            TokenTree::Punct(_) if is_colons(trees, at) => self.path(trees, at).unwrap_or(at + 2),
            TokenTree::Group(body) => {
                self.group(body, trees, at);
                at + 1
            }
            TokenTree::Ident(keyword) => match keyword.to_string().as_str() {
                "use" if !is_punct(trees.get(at + 1), '<') => {
                    let end = end_of_item(trees, at);
                    if let Some(group) = too_deep_import(&trees[at + 1..end]) {
                        self.visitor.too_deep(self.spans.of_group(&group));
                    }
                    end
                }
                "mod" => self.inline_module(trees, at),
                "macro_rules" if is_punct(trees.get(at + 1), '!') => self.macro_rules(trees, at),
                "macro" => self.declarative_macro(trees, at),
                "enum" => self.enumeration(trees, at),
                _ => self.path(trees, at).unwrap_or(at + 1),
            },
            _ => at + 1,
        }
    }

    /// A path, and the input of the macro if it calls one.
    fn path(&mut self, trees: &[TokenTree], at: usize) -> Option<usize> {
        let (path, end) = Path::at(trees, at)?;
        let input = match trees.get(end + 1) {
            Some(TokenTree::Group(input)) if is_punct(trees.get(end), '!') => input,
            _ => return Some(end),
        };
        // `$crate::d!` and `$name!` belong to a macro's body, `a::<T>::d!` is nothing.
        let before = at.checked_sub(1).and_then(|at| trees.get(at));
        if is_punct(before, '$') {
            return Some(end);
        }
        let path_range = self.spans.of_all(&trees[at..end], 0);
        let range = path_range.start..self.spans.of_group(input).end;
        let call = MacroCall { path, range, path_range, input };
        let place = Surroundings {
            scopes: &self.scopes,
            module: &self.module,
            macros: &self.macros,
            spans: self.spans,
        };
        match self.visitor.call(&call, &place) {
            InputUse::Code => self.group(input, trees, end + 1),
            InputUse::NoCode => self.visitor.not_code(input, &place),
        }
        Some(end + 2)
    }

    /// The content of a group: a block's in a scope of its own.
    fn group(&mut self, body: &Group, around: &[TokenTree], at: usize) {
        if self.depth == MAX_DEPTH {
            return self.visitor.too_deep(self.spans.of_group(body));
        }
        self.depth += 1;
        let trees = content(body);
        let macros = self.macros.len();
        let is_block = body.delimiter() == Delimiter::Brace && !is_associated(around, at);
        let table = if is_block { Table::of(&trees) } else { Table::default() };
        let is_scope = !table.is_empty();
        if is_scope && let Some(scope) = self.scopes.last() {
            let module = scope.module.clone();
            self.scopes.push(Scope { module, table: Arc::new(table), is_block: true });
        }
        self.trees(&trees);
        if is_scope {
            self.scopes.pop();
        }
        if body.delimiter() == Delimiter::Brace {
            self.macros.truncate(macros);
        }
        self.depth -= 1;
    }

    fn inline_module(&mut self, trees: &[TokenTree], at: usize) -> usize {
        let Some(name) = word(trees.get(at + 1)) else { return at + 1 };
        let Some(body) = group(trees.get(at + 2), Delimiter::Brace) else { return at + 2 };
        if self.depth == MAX_DEPTH {
            self.visitor.too_deep(self.spans.of_group(body));
            return at + 3;
        }
        let Some(krate) = self.scopes.last().map(|scope| scope.module.krate) else { return at + 3 };
        self.depth += 1;
        let trees_inside = content(body);
        let table = Arc::new(Table::of(&trees_inside));
        self.module.push(name);
        let module = Module { krate, path: self.module.clone(), table: table.clone() };
        self.scopes.push(Scope { module, table, is_block: false });
        let macros = self.macros.len();
        self.trees(&trees_inside);
        self.scopes.pop();
        self.module.pop();
        let passes_on = attributes_before(trees, at)
            .iter()
            .any(|attribute| is_word(content(attribute).first(), "macro_use"));
        if !passes_on {
            self.macros.truncate(macros);
        }
        self.depth -= 1;
        at + 3
    }

    /// `macro_rules! name { … }`: the name means this from here to the end of the scope.
    fn macro_rules(&mut self, trees: &[TokenTree], at: usize) -> usize {
        self.macros.extend(word(trees.get(at + 2)));
        if let Some(TokenTree::Group(body)) = trees.get(at + 3) {
            self.not_code(body);
        }
        at + 4
    }

    /// `macro name($x) { … }`, which is not stable.
    fn declarative_macro(&mut self, trees: &[TokenTree], at: usize) -> usize {
        let Some(name) = word(trees.get(at + 1)) else { return at + 1 };
        self.macros.push(name);
        let length = trees[at + 2..].iter().position(
            |tree| matches!(tree, TokenTree::Group(body) if body.delimiter() == Delimiter::Brace),
        );
        let Some(length) = length else { return at + 2 };
        if let TokenTree::Group(body) = &trees[at + 2 + length] {
            self.not_code(body);
        }
        at + 3 + length
    }

    fn not_code(&mut self, body: &Group) {
        let place = Surroundings {
            scopes: &self.scopes,
            module: &self.module,
            macros: &self.macros,
            spans: self.spans,
        };
        self.visitor.not_code(body, &place);
    }

    fn enumeration(&mut self, trees: &[TokenTree], at: usize) -> usize {
        let Some(name @ TokenTree::Ident(_)) = trees.get(at + 1) else { return at + 1 };
        let length = trees[at + 2..].iter().position(
            |tree| matches!(tree, TokenTree::Group(body) if body.delimiter() == Delimiter::Brace),
        );
        let Some(body_at) = length.map(|length| at + 2 + length) else { return at + 2 };
        let TokenTree::Group(body) = &trees[body_at] else { return at + 2 };
        let attributes = attributes_with_marks(trees, at);
        let all = attributes.iter().copied().flatten().chain(&trees[at + 2..=body_at]);
        if let Some(group) = deep_group(all).filter(|_| !attributes.is_empty()) {
            self.visitor.too_deep(self.spans.of_group(&group));
            return body_at + 1;
        }
        if !attributes.is_empty() {
            let generics = &trees[at + 2..body_at];
            let found = EnumFound { name, attributes, generics, body };
            let place = Surroundings {
                scopes: &self.scopes,
                module: &self.module,
                macros: &self.macros,
                spans: self.spans,
            };
            self.visitor.group_enum(&found, &place);
        }
        // Discriminants are code, too.
        self.group(body, trees, body_at);
        body_at + 1
    }
}

/// The attributes before the keyword at `at`, each with its `#`, first first.
fn attributes_with_marks(trees: &[TokenTree], at: usize) -> Vec<&[TokenTree]> {
    let mut found = Vec::new();
    let mut at = at;
    while let Some(before) = at.checked_sub(1) {
        let earlier = before.checked_sub(1);
        match &trees[before] {
            TokenTree::Group(scope)
                if scope.delimiter() == Delimiter::Parenthesis
                    && is_word(earlier.and_then(|at| trees.get(at)), "pub") =>
            {
                at = before;
            }
            TokenTree::Group(attribute)
                if attribute.delimiter() == Delimiter::Bracket
                    && is_punct(earlier.and_then(|at| trees.get(at)), '#') =>
            {
                found.push(&trees[before - 1..=before]);
                at = before - 1;
            }
            TokenTree::Ident(keyword) if keyword == "pub" => at = before,
            _ => break,
        }
    }
    found.reverse();
    found
}

/// The index after the attribute whose `#` stands at `at`.
fn after_attribute(trees: &[TokenTree], at: usize) -> usize {
    let at = if is_punct(trees.get(at + 1), '!') { at + 2 } else { at + 1 };
    if group(trees.get(at), Delimiter::Bracket).is_some() { at + 1 } else { at }
}

/// Returns whether the braces at `at` hold the items of an `impl` or a trait, whose names are not
/// in scope, or fields.
fn is_associated(trees: &[TokenTree], at: usize) -> bool {
    // Back to where the item begins.
    let ends = |tree: &TokenTree| match tree {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    };
    let start = trees[..at].iter().rposition(ends).map_or(0, |end| end + 1);
    let mut words = trees[start..at].iter();
    let mut before: Option<&TokenTree> = None;
    words.any(|tree| {
        let begins = match before {
            None => true,
            Some(TokenTree::Group(_)) => true,
            Some(TokenTree::Ident(word)) => word == "unsafe" || word == "pub" || word == "default",
            _ => false,
        };
        before = Some(tree);
        begins && (is_word(Some(tree), "impl") || is_word(Some(tree), "trait"))
    })
}
