//! The imports of a library's macros in a file, and what becomes of them.
//!
//! An import by name or by `*` of which all calls move becomes one of `protolog_rt::levels`, so
//! that these calls keep their macro's name. Where a call stays, so does the import, and the calls
//! that move name their macro by its path.

use super::super::table::{attributes_before, end_of_item};
use super::super::tokens::{
    FileTokens, MAX_DEPTH, Spans, content, is_colons, is_punct, is_word, plain, split_at_commas,
    word,
};
use crate::lang::migration::SourceLibrary;
use crate::rewrite::Edit;
use crate::source::Source;
use proc_macro2::{Delimiter, TokenTree};
use std::collections::HashMap;
use std::ops::Range;

/// The imports of a file.
#[derive(Debug, Default)]
pub(super) struct Imports {
    pub(super) uses: Vec<LibraryImport>,
    /// The places of each word outside imports.
    pub(super) words: HashMap<String, Vec<usize>>,
    /// The end of the declarations that a file begins with, or the start of its first item.
    pub(super) head_end: usize,
    /// `#[macro_use] extern crate log;`, with its line end.
    pub(super) macro_use: Option<Range<usize>>,
}

/// A `use` of the library alone.
#[derive(Debug)]
pub(super) struct LibraryImport {
    /// From the keyword to the semicolon.
    pub(super) range: Range<usize>,
    /// The block or module in which it holds.
    pub(super) scope: Range<usize>,
    /// True if it is more than an import: public, or with attributes.
    pub(super) is_fixed: bool,
    pub(super) leaves: Vec<Leaf>,
}

/// A name of an import.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// The name in the library; `*` for all, `self` for itself.
    pub(super) item: String,
    /// The name here.
    pub(super) name: String,
    /// As it is written.
    pub(super) written: String,
}

impl Leaf {
    /// Returns whether it is one of the macros that log.
    pub(super) fn is_level(&self) -> bool {
        matches!(&*self.item, "error" | "warn" | "info" | "debug" | "trace")
    }
}

impl Imports {
    pub(super) fn of(tokens: &FileTokens, source: &Source, library: SourceLibrary) -> Self {
        let mut imports = Self { head_end: head_end(tokens), ..Self::default() };
        let mut search =
            ImportSearch { spans: tokens.spans, source, library, imports: &mut imports };
        search.trees(&tokens.trees, 0..source.bytes().len(), 0);
        imports
    }

    /// Returns whether the library's item is imported by its name.
    pub(super) fn has(&self, name: &str) -> bool {
        let mut leaves = self.uses.iter().flat_map(|import| &import.leaves);
        leaves.any(|leaf| leaf.item == name || leaf.item == "*")
    }

    /// The innermost import that gives the macro `name` its meaning at `at`: its position and that
    /// of the name.
    pub(super) fn origin(&self, name: &str, at: usize) -> Option<(usize, usize)> {
        let around = self.uses.iter().enumerate().filter(|(_, import)| import.scope.contains(&at));
        let named = around.filter_map(|(index, import)| {
            let is_it = |leaf: &Leaf| leaf.name == name;
            let is_all = |leaf: &Leaf| leaf.item == "*";
            let by_name = import.leaves.iter().position(is_it);
            let leaf = by_name.or_else(|| import.leaves.iter().position(is_all))?;
            Some((import.scope.len(), by_name.is_none(), index, leaf))
        });
        named.min().map(|(_, _, index, leaf)| (index, leaf))
    }

    /// Returns whether a word stands in a range, outside imports and `gone` ranges.
    pub(super) fn mentions(
        &self,
        word: &str,
        within: &Range<usize>,
        gone: &[Range<usize>],
    ) -> bool {
        self.words.get(word).is_some_and(|places| {
            let stays = |at: &&usize| !gone.iter().any(|range| range.contains(*at));
            places.iter().filter(|at| within.contains(at)).any(|at| stays(&at))
        })
    }
}

struct ImportSearch<'s> {
    spans: Spans,
    source: &'s Source,
    library: SourceLibrary,
    imports: &'s mut Imports,
}

impl ImportSearch<'_> {
    fn trees(&mut self, trees: &[TokenTree], scope: Range<usize>, depth: usize) {
        let mut at = 0;
        while at < trees.len() {
            match &trees[at] {
                TokenTree::Ident(word) if word == "use" && !is_punct(trees.get(at + 1), '<') => {
                    let end = end_of_item(trees, at);
                    self.import(trees, at..end, &scope);
                    at = end;
                }
                TokenTree::Ident(word)
                    if word == "extern" && is_word(trees.get(at + 1), "crate") =>
                {
                    self.extern_crate(trees, at);
                    at = end_of_item(trees, at);
                }
                TokenTree::Ident(word) => {
                    let start = self.spans.range(word.span()).start;
                    self.imports.words.entry(word.to_string()).or_default().push(start);
                }
                TokenTree::Group(body) if depth < MAX_DEPTH => {
                    let is_block = body.delimiter() == Delimiter::Brace;
                    let inner = self.spans.of_group(body);
                    let scope = if is_block { inner } else { scope.clone() };
                    self.trees(&content(body), scope, depth + 1);
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// `use log::{info, warn as w};`
    fn import(&mut self, trees: &[TokenTree], at: Range<usize>, scope: &Range<usize>) {
        let Some(semicolon) = trees.get(at.end) else { return };
        let mut tree = &trees[at.start + 1..at.end];
        if is_colons(tree, 0) {
            tree = &tree[2..];
        }
        if word(tree.first()).is_none_or(|first| plain(&first) != self.library.name()) {
            return;
        }
        let parts: Vec<&[TokenTree]> = match &tree[1..] {
            [] => vec![tree],
            rest if is_word(rest.first(), "as") => vec![tree],
            [_, _, TokenTree::Group(group)] if group.delimiter() == Delimiter::Brace => {
                return self.leaves(&content(group), (trees, at, semicolon), scope);
            }
            [_, _, rest @ ..] => vec![rest],
            _ => return,
        };
        let list: Vec<TokenTree> = parts.concat();
        self.leaves(&list, (trees, at, semicolon), scope);
    }

    fn leaves(
        &mut self,
        list: &[TokenTree],
        (trees, at, semicolon): (&[TokenTree], Range<usize>, &TokenTree),
        scope: &Range<usize>,
    ) {
        let mut is_fixed = is_visible_or_marked(trees, at.start);
        let mut leaves = Vec::new();
        for part in split_at_commas(list) {
            let range = self.spans.of_all(part, 0);
            let written = self.source.text(range);
            let Some(leaf) = leaf(part, written, self.library) else {
                is_fixed = true;
                continue;
            };
            leaves.push(leaf);
        }
        let range = self.spans.of(&trees[at.start]).start..self.spans.of(semicolon).end;
        let text = self.source.text(range.clone());
        is_fixed |= text.contains("//") || text.contains("/*");
        let scope = scope.clone();
        self.imports.uses.push(LibraryImport { range, scope, is_fixed, leaves });
    }

    fn extern_crate(&mut self, trees: &[TokenTree], at: usize) {
        let is_it = word(trees.get(at + 2)).is_some_and(|name| plain(&name) == self.library.name());
        if !is_it || !is_punct(trees.get(at + 3), ';') || attributes_before(trees, at).len() != 1 {
            return;
        }
        let Some(before) = at.checked_sub(2) else { return };
        let is_attribute = attributes_before(trees, at)
            .iter()
            .any(|attribute| is_word(content(attribute).first(), "macro_use"));
        if is_attribute && is_punct(trees.get(before), '#') {
            let end = self.spans.of(&trees[at + 3]).end;
            let line = self.source.line_range(self.source.line(end)).end;
            let rest = self.source.text(end..line);
            let end = if rest.trim().is_empty() { line } else { end };
            let feed = self.source.slice(end..end + 2);
            let feed = if feed == b"\r\n" { 2 } else { usize::from(feed.first() == Some(&b'\n')) };
            let start = self.spans.of(&trees[before]).start;
            self.imports.macro_use = Some(start..end + if end == line { feed } else { 0 });
        }
    }
}

fn is_visible_or_marked(trees: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| trees.get(at));
    match before {
        None => false,
        Some(TokenTree::Punct(punct)) => punct.as_char() != ';',
        Some(TokenTree::Group(group)) => {
            let is_inner =
                at >= 3 && is_punct(trees.get(at - 2), '!') && is_punct(trees.get(at - 3), '#');
            group.delimiter() != Delimiter::Brace && !is_inner
        }
        Some(_) => true,
    }
}

/// A name, with the name that it has here.
fn leaf(part: &[TokenTree], written: String, library: SourceLibrary) -> Option<Leaf> {
    let (item, renamed) = match part {
        [star] if is_punct(Some(star), '*') => ("*".to_owned(), None),
        [item] => (word(Some(item))?, None),
        [item, keyword, name] if is_word(Some(keyword), "as") => {
            (word(Some(item))?, Some(word(Some(name))?))
        }
        _ => return None,
    };
    let item = plain(&item).to_owned();
    let item = if item == library.name() { "self".to_owned() } else { item };
    let own = if item == "self" { library.name().to_owned() } else { item.clone() };
    let name = renamed.map_or(own, |name| plain(&name).to_owned());
    Some(Leaf { item, name, written })
}

/// The end of the imports and modules that a file begins with; the start of its first item where it
/// begins with none.
fn head_end(tokens: &FileTokens) -> usize {
    let (trees, spans) = (&tokens.trees, tokens.spans);
    let (mut at, mut end) = (0, None);
    loop {
        let start = at;
        while is_punct(trees.get(at), '#') {
            let is_inner = is_punct(trees.get(at + 1), '!');
            let after = at + if is_inner { 3 } else { 2 };
            if is_inner {
                end = trees.get(after - 1).map(|tree| spans.of(tree).end);
            }
            at = after;
        }
        if is_word(trees.get(at), "pub") {
            at += 1;
            at += usize::from(matches!(trees.get(at), Some(TokenTree::Group(_))));
        }
        let semicolon = end_of_item(trees, at);
        let keyword = word(trees.get(at)).unwrap_or_default();
        let is_head = matches!(keyword.as_str(), "use" | "mod" | "extern");
        let is_block = trees.get(at..semicolon).is_some_and(|item| {
            keyword != "use"
                && item.iter().any(|tree| matches!(tree, TokenTree::Group(body) if body.delimiter() == Delimiter::Brace))
        });
        let Some(last) = trees.get(semicolon).filter(|_| is_head && !is_block) else {
            let first = trees.get(start).map_or(0, |tree| spans.of(tree).start);
            return end.unwrap_or(first);
        };
        end = Some(spans.of(last).end);
        at = semicolon + 1;
    }
}

/// The decisions about an import: which of its names go, and which become the runtime's.
#[derive(Clone, Debug, Default)]
pub(super) struct Fate {
    pub(super) swapped: Vec<usize>,
    pub(super) removed: Vec<usize>,
    /// A further import that follows.
    pub(super) group: Option<String>,
}

/// The edit of an import.
pub(super) fn edit(
    import: &LibraryImport,
    fate: &Fate,
    source: &Source,
    library: SourceLibrary,
) -> Option<Edit> {
    if fate.swapped.is_empty() && fate.removed.is_empty() && fate.group.is_none() {
        return None;
    }
    let list = |leaves: Vec<&Leaf>| -> Option<String> {
        let names: Vec<&str> = leaves.iter().map(|leaf| leaf.written.as_str()).collect();
        match &names[..] {
            [] => None,
            [one] => Some((*one).to_owned()),
            more => Some(format!("{{{}}}", more.join(", "))),
        }
    };
    let of = |indices: &[usize]| indices.iter().map(|index| &import.leaves[*index]).collect();
    let stays = |index: &usize| !fate.swapped.contains(index) && !fate.removed.contains(index);
    let kept: Vec<usize> = (0..import.leaves.len()).filter(stays).collect();
    let mut lines = Vec::new();
    if let Some(levels) = list(of(&fate.swapped)) {
        lines.push(format!("use protolog_rt::levels::{levels};"));
    }
    if let Some(kept) = list(of(&kept)) {
        let name = library.name();
        let kept = match kept.as_str() {
            "self" => format!("use {name};"),
            kept if kept == name || kept.starts_with(&format!("{name} as")) => {
                format!("use {kept};")
            }
            kept if kept.starts_with("self as ") => format!("use {name}::{{{kept}}};"),
            kept => format!("use {name}::{kept};"),
        };
        lines.push(kept);
    }
    lines.extend(fate.group.as_ref().map(|path| format!("use {path};")));
    let indent = indent(source, import.range.start);
    let mut range = import.range.clone();
    if lines.is_empty() {
        // With its line, if nothing else is on it.
        let line = source.line_range(source.line(range.start));
        let is_alone = source.text(line.start..range.start).trim().is_empty()
            && line.end >= range.end
            && source.text(range.end..line.end).trim().is_empty();
        if is_alone {
            let next = source.line(range.start) + 1;
            let end = if next <= source.lines() { source.line_range(next).start } else { line.end };
            range = line.start..end;
        }
    }
    Some(Edit { range, text: lines.join(&format!("{}{indent}", line_end(source))) })
}

/// The kind of line end that a file has.
pub(super) fn line_end(source: &Source) -> &'static str {
    if memchr::memmem::find(source.bytes(), b"\r\n").is_some() { "\r\n" } else { "\n" }
}

/// The white space that the line of an offset begins with.
pub(super) fn indent(source: &Source, at: usize) -> String {
    let line = source.line_range(source.line(at));
    let text = source.text(line.start..at);
    text.chars().take_while(|char| char.is_whitespace()).collect()
}
