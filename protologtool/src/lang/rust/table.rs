//! The declarations of a scope, by name: a module or a block, from its tokens.
//!
//! Only what can lead to a log call or its group is kept, and that something else bears a name. A
//! table holds no spans, so it may outlive the file that it was made of and be used by any thread.

use super::tokens::{MAX_DEPTH, Path, content, group, is_colons, is_punct, is_word, plain, word};
use proc_macro2::{Delimiter, Group, TokenTree};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The names of one scope.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) uses: Vec<Use>,
    pub(super) items: HashMap<String, Item>,
    /// Names of `macro_rules`.
    pub(super) macros: HashSet<String>,
    /// Crates whose macros are in scope everywhere: `#[macro_use] extern crate`.
    pub(super) macro_use: Vec<String>,
    /// Other names of crates, by `extern crate … as`; those of a crate's root hold everywhere in
    /// it.
    pub(super) renamed: Vec<(String, String)>,
}

/// The item that a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A module that stands in the same file.
    Inline(Arc<Table>),
    /// A module in a file of its own.
    File,
    /// An enum, with its variants.
    Enum(Arc<[String]>),
    /// A constant whose value is a path, or a type that is one.
    Const(Path),
    /// Something else, which hides other items of the name.
    Other,
}

/// An import.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) path: Path,
    /// None for a glob.
    pub(super) name: Option<String>,
}

impl Table {
    pub(super) fn of(trees: &[TokenTree]) -> Self {
        Self::within(trees, 0)
    }

    /// As [`of`](Self::of), within so many modules that stand in each other.
    fn within(trees: &[TokenTree], depth: usize) -> Self {
        let mut table = Self::default();
        let mut at = 0;
        while at < trees.len() {
            at = table.item(trees, at, depth).max(at + 1);
        }
        table
    }

    pub(super) fn is_empty(&self) -> bool {
        self.uses.is_empty() && self.items.is_empty() && self.macros.is_empty()
    }

    /// Takes in the item that begins at `at`, if one does; gives where to go on.
    fn item(&mut self, trees: &[TokenTree], at: usize, depth: usize) -> usize {
        let TokenTree::Ident(keyword) = &trees[at] else { return at };
        if !may_begin_item(at.checked_sub(1).map(|before| &trees[before])) {
            return at;
        }
        let name = word(trees.get(at + 1)).map(|name| plain(&name).to_owned());
        match (keyword.to_string().as_str(), name) {
            ("use", _) if !is_punct(trees.get(at + 1), '<') => {
                let end = end_of_item(trees, at);
                let tree = &trees[at + 1..end];
                if too_deep_import(tree).is_none() {
                    self.import(tree, &Path { absolute: false, names: Vec::new() });
                }
                return end;
            }
            ("mod", Some(name)) => {
                let item = match group(trees.get(at + 2), Delimiter::Brace) {
                    // The walk reports it.
                    Some(_) if depth == MAX_DEPTH => Item::Other,
                    Some(body) => Item::Inline(Arc::new(Self::within(&content(body), depth + 1))),
                    None => Item::File,
                };
                self.items.insert(name, item);
                return at + 2;
            }
            ("enum", Some(name)) => {
                let body = trees[at..].iter().find_map(|tree| group(Some(tree), Delimiter::Brace));
                let mut variants = body.map_or_else(Vec::new, variants);
                // Of alternatives on conditions, one is compiled; which, is not known.
                if let Some(Item::Enum(others)) = self.items.get(&name) {
                    variants.extend(others.iter().cloned());
                }
                self.items.insert(name, Item::Enum(variants.into()));
            }
            // A type that is another name of an enum.
            ("type", Some(name)) if is_punct(trees.get(at + 2), '=') => {
                let end = end_of_item(trees, at);
                let path = Path::of(&trees[at + 3..end]);
                self.items.insert(name, path.map_or(Item::Other, Item::Const));
                return end;
            }
            ("const", Some(name)) if is_punct(trees.get(at + 2), ':') => {
                let end = end_of_item(trees, at);
                let value = trees[at..end].iter().position(|tree| is_punct(Some(tree), '='));
                let path = value.and_then(|equals| Path::of(&trees[at + equals + 1..end]));
                self.items.insert(name, path.map_or(Item::Other, Item::Const));
                return end;
            }
            ("extern", _) if is_word(trees.get(at + 1), "crate") => {
                self.extern_crate(trees, at);
            }
            ("struct" | "trait" | "type" | "fn" | "static", Some(name)) => {
                self.items.entry(name).or_insert(Item::Other);
            }
            ("macro_rules", None) if is_punct(trees.get(at + 1), '!') => {
                self.macros.extend(word(trees.get(at + 2)));
                return at + 3;
            }
            _ => {}
        }
        at
    }

    /// Takes in the rest of a `use`, below `base`.
    fn import(&mut self, trees: &[TokenTree], base: &Path) {
        let mut path = base.clone();
        let mut at = 0;
        if is_colons(trees, at) {
            path.absolute |= path.names.is_empty();
            at += 2;
        }
        while let Some(name) = word(trees.get(at)) {
            path.names.push(plain(&name).to_owned());
            at += 1;
            if !is_colons(trees, at) {
                break;
            }
            at += 2;
        }
        match trees.get(at) {
            Some(TokenTree::Group(group)) => {
                for part in content(group).split(|tree| is_punct(Some(tree), ',')) {
                    if !part.is_empty() {
                        self.import(part, &path);
                    }
                }
            }
            Some(TokenTree::Punct(star)) if star.as_char() == '*' => {
                self.uses.push(Use { path, name: None });
            }
            rest => {
                let renamed = is_word(rest, "as").then(|| word(trees.get(at + 1))).flatten();
                if path.names.len() > 1 && path.names.last().is_some_and(|name| name == "self") {
                    path.names.pop();
                }
                let name = renamed.or_else(|| path.names.last().cloned());
                let name = name.map(|name| plain(&name).to_owned());
                if name.is_some() {
                    self.uses.push(Use { path, name });
                }
            }
        }
    }

    fn extern_crate(&mut self, trees: &[TokenTree], at: usize) {
        let Some(krate) = word(trees.get(at + 2)) else { return };
        let renamed = is_word(trees.get(at + 3), "as").then(|| word(trees.get(at + 4))).flatten();
        let is_macro_use = attributes_before(trees, at)
            .iter()
            .any(|attribute| is_word(attribute.stream().into_iter().next().as_ref(), "macro_use"));
        if is_macro_use {
            self.macro_use.push(krate.clone());
        }
        let path = Path { absolute: krate != "self", names: vec![krate.clone()] };
        if let Some(name) = &renamed {
            self.renamed.push((plain(name).to_owned(), krate.clone()));
        }
        let name = Some(renamed.unwrap_or(krate)).filter(|name| name != "_");
        self.uses.extend(name.map(|name| Use { path, name: Some(name) }));
    }
}

/// The average number of names in the paths of an import. Each name that it imports has a path of
/// its own in the table, but their common beginnings stand in the source once.
const MAX_NAMES: usize = 16;

/// The names that a small import may have in all its paths.
const FEW_NAMES: usize = 1024;

/// The group of an import that is nested deeper than anybody looks, or in which its paths become
/// too long.
pub(super) fn too_deep_import(tree: &[TokenTree]) -> Option<Group> {
    let (mut written, mut all) = (0, 0);
    let mut open: Vec<(Vec<TokenTree>, usize, usize)> = vec![(tree.to_vec(), 0, 0)];
    while let Some((trees, depth, before)) = open.pop() {
        let mut names = before;
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            match tree {
                TokenTree::Ident(_) => (names, written) = (names + 1, written + 1),
                TokenTree::Group(group) if depth == MAX_DEPTH => return Some(group.clone()),
                TokenTree::Group(group) => {
                    all += names;
                    if all > FEW_NAMES + MAX_NAMES * written {
                        return Some(group.clone());
                    }
                    open.push((content(group), depth + 1, names));
                }
                TokenTree::Punct(comma) if comma.as_char() == ',' => {
                    all += names;
                    names = before;
                }
                _ => {}
            }
            at += 1;
        }
        all += names;
        if all > FEW_NAMES + MAX_NAMES * written {
            return tree.iter().find_map(|tree| match tree {
                TokenTree::Group(group) => Some(group.clone()),
                _ => None,
            });
        }
    }
    None
}

/// Returns whether an item may begin after this token: not after the mark of `'static`, and not
/// after the tokens before the parameter `const N: usize` or in `*const T`.
fn may_begin_item(before: Option<&TokenTree>) -> bool {
    match before {
        Some(TokenTree::Punct(punct)) => punct.as_char() == ';',
        _ => true,
    }
}

/// The index of the semicolon that ends the item at `at`.
pub(super) fn end_of_item(trees: &[TokenTree], at: usize) -> usize {
    let end = trees[at..].iter().position(|tree| is_punct(Some(tree), ';'));
    end.map_or(trees.len(), |length| at + length)
}

/// The attributes before the keyword at `at`, between which visibility and other keywords may
/// stand; last first.
pub(super) fn attributes_before(trees: &[TokenTree], at: usize) -> Vec<&Group> {
    let mut found = Vec::new();
    let mut at = at;
    while let Some(before) = at.checked_sub(1) {
        match &trees[before] {
            TokenTree::Group(scope) if scope.delimiter() == Delimiter::Parenthesis => {
                if !is_word(before.checked_sub(1).and_then(|at| trees.get(at)), "pub") {
                    break;
                }
                at = before;
            }
            TokenTree::Group(attribute) if attribute.delimiter() == Delimiter::Bracket => {
                if !is_punct(before.checked_sub(1).and_then(|at| trees.get(at)), '#') {
                    break;
                }
                found.push(attribute);
                at = before - 1;
            }
            TokenTree::Ident(keyword) if keyword == "pub" || keyword == "unsafe" => at = before,
            _ => break,
        }
    }
    found
}

/// The names of an enum's variants.
fn variants(body: &Group) -> Vec<String> {
    let trees = content(body);
    let parts = trees.split(|tree| is_punct(Some(tree), ','));
    let names = parts.filter_map(|part| {
        let mut at = 0;
        while is_punct(part.get(at), '#') {
            at += 2;
        }
        word(part.get(at)).map(|name| plain(&name).to_owned())
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        let stream: proc_macro2::TokenStream = text.parse().unwrap();
        Table::of(&stream.into_iter().collect::<Vec<_>>())
    }

    #[test]
    fn items_have_names() {
        let table = table(
            "pub(crate) mod a { mod b; } mod c; #[x] pub enum D { #[y] E, r#F = 1, G } const H: D = D::E; const I: u8 = 1;
             pub struct J; trait K {} type L = u8; type Alias = super::D; const fn m() {} static N: u8 = 0; macro_rules! o { () => {} }
             fn p<const Q: usize>(r: u8) -> &'static S { let t = 1; } fn u<'a, const V: u8>() where *const W: X {}
             enum Last { One }",
        );
        let mut names: Vec<&str> = table.items.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["Alias", "D", "H", "I", "J", "K", "L", "Last", "N", "a", "c", "m", "p", "u"]
        );
        assert!(
            matches!(&table.items["D"], Item::Enum(variants) if variants[..] == ["E", "F", "G"])
        );
        assert!(matches!(&table.items["H"], Item::Const(path) if path.names == ["D", "E"]));
        assert!(matches!(&table.items["Alias"], Item::Const(path) if path.names == ["super", "D"]));
        assert!(matches!(table.items["I"], Item::Other));
        assert!(matches!(&table.items["a"], Item::Inline(inner) if inner.items.contains_key("b")));
        assert!(table.macros.contains("o"));
    }

    #[test]
    fn imports() {
        let table = table(
            "use a::b; use ::c::{self, d as e, f::{g, h::*}, }; pub use i as _; use r#j::*; extern crate k as l;
             #[macro_use] extern crate m; fn n() -> impl Sized + use<'_> {} use crate::o;",
        );
        let shown: Vec<String> = table
            .uses
            .iter()
            .map(|import| {
                let colons = if import.path.absolute { "::" } else { "" };
                let name = import.name.as_deref().unwrap_or("*");
                format!("{colons}{} {name}", import.path.names.join("::"))
            })
            .collect();
        assert_eq!(
            shown,
            [
                "a::b b",
                "::c c",
                "::c::d e",
                "::c::f::g g",
                "::c::f::h *",
                "i _",
                "j *",
                "::k l",
                "::m m",
                "crate::o o",
            ]
        );
        assert_eq!(table.macro_use, ["m"]);
    }
}
