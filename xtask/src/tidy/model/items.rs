//! The items of one file that the rules on structure read: modules, imports, inline paths, types, statics, macros.
//!
//! A reading of tokens, not a parser: it knows items by their keywords and scopes by their braces. Items under
//! `#[cfg(test)]` are marked, so that rules can leave them out.

use super::tokens::{Token, close_of, tokens};

/// All that was found in one file.
#[derive(Debug, Default)]
pub(in crate::tidy) struct Items {
    pub(in crate::tidy) modules: Vec<Module>,
    pub(in crate::tidy) paths: Vec<Path>,
    pub(in crate::tidy) types: Vec<Definition>,
    pub(in crate::tidy) statics: Vec<Definition>,
    pub(in crate::tidy) macros: Vec<Definition>,
    /// Functions and constants: names that paths may end in.
    pub(in crate::tidy) values: Vec<Definition>,
}

/// A module that is declared (`mod a;`) or written out (`mod a { … }`).
#[derive(Debug)]
pub(in crate::tidy) struct Module {
    /// The inline modules around it within the file, and its own name.
    pub(in crate::tidy) path: Vec<String>,
    pub(in crate::tidy) is_inline: bool,
    pub(in crate::tidy) is_test: bool,
    pub(in crate::tidy) cfg: Option<String>,
    /// The file that an attribute names.
    pub(in crate::tidy) file: Option<String>,
}

/// A path that names something, in a `use` or in code.
#[derive(Clone, Debug)]
pub(in crate::tidy) struct Path {
    pub(in crate::tidy) line: usize,
    /// The inline modules around it.
    pub(in crate::tidy) scope: Vec<String>,
    pub(in crate::tidy) segments: Vec<String>,
    pub(in crate::tidy) is_test: bool,
    /// For a `use`: the name that it brings into the module; `*` for all.
    pub(in crate::tidy) alias: Option<String>,
}

/// A type, static, macro, function or constant.
#[derive(Clone, Debug)]
pub(in crate::tidy) struct Definition {
    pub(in crate::tidy) line: usize,
    pub(in crate::tidy) scope: Vec<String>,
    pub(in crate::tidy) name: String,
    /// The words of its type: of the fields, for a struct or an enum.
    pub(in crate::tidy) words: Vec<String>,
    /// The condition under which it is compiled, its own and that of the modules around it in the file.
    pub(in crate::tidy) cfg: Option<String>,
    pub(in crate::tidy) is_test: bool,
    /// True for a macro that stands at the root of its crate.
    pub(in crate::tidy) is_exported: bool,
}

/// Reads the items of masked code; `text` is the source itself, for the file names in `#[path]`.
pub(in crate::tidy) fn items(code: &str, text: &str) -> Items {
    let tokens = tokens(code);
    let lines = text.lines().collect();
    let mut reader = Reader { tokens: &tokens, lines, ..Reader::default() };
    let mut at = 0;
    while at < tokens.len() {
        at = reader.step(at);
    }
    reader.found
}

#[derive(Default)]
struct Reader<'a> {
    tokens: &'a [Token<'a>],
    lines: Vec<&'a str>,
    found: Items,
    scopes: Vec<Scope>,
    attributes: Attributes,
    /// The item whose body the next brace opens.
    head: Head,
}

/// The attributes before an item.
#[derive(Clone, Debug, Default)]
struct Attributes {
    is_test: bool,
    cfg: Option<String>,
    file: Option<String>,
    is_exported: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Head {
    #[default]
    Other,
    Module(String),
    /// The body of an `impl` or a `trait`: what is in there has no path of its own.
    Members,
    Function,
    /// The input of a macro, with the macro's name, or the body of `macro_rules`.
    Macro(String),
}

#[derive(Debug)]
struct Scope {
    head: Head,
    is_test: bool,
    cfg: Option<String>,
}

/// Keywords that define a type.
const TYPES: [&str; 5] = ["struct", "enum", "union", "trait", "type"];

impl<'a> Reader<'a> {
    /// Reads what starts at `at`; returns where to go on.
    fn step(&mut self, at: usize) -> usize {
        let text = self.text(at);
        let before = at.checked_sub(1).map_or("", |before| self.text(before));
        match text {
            "#" => return self.attribute(at),
            "{" => self.open(),
            "}" => self.close(),
            ";" => self.end_item(),
            // An import of `$crate` in a macro is one where the macro is used, as other paths are.
            "use" if !["<", "$"].contains(&self.text(at + 1)) => return self.import(at),
            "mod" => return self.module(at),
            "impl" | "trait" if self.head == Head::Other => {
                self.head = Head::Members;
                if text == "trait" {
                    self.define(at, "trait");
                }
            }
            "macro_rules" => return self.macro_rules(at),
            "static" if before != "'" => return self.typed(at, "static"),
            "const" if self.is_name(at + 1) && self.text(at + 2) == ":" => {
                return self.typed(at, "const");
            }
            "fn" if self.is_name(at + 1) => {
                self.head = Head::Function;
                self.define(at, "fn");
            }
            _ => {
                if let Some(keyword) = TYPES.iter().find(|keyword| **keyword == text) {
                    self.define(at, keyword);
                } else if self.is_name(at) {
                    return self.word(at, before);
                }
            }
        }
        at + 1
    }

    fn text(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    fn is_name(&self, at: usize) -> bool {
        self.text(at).starts_with(|c: char| c.is_alphabetic() || c == '_')
    }

    fn is_test(&self) -> bool {
        self.attributes.is_test || self.scopes.iter().any(|scope| scope.is_test)
    }

    fn cfg(&self) -> Option<String> {
        let around = self.scopes.iter().filter_map(|scope| scope.cfg.as_deref());
        let all: Vec<&str> = around.chain(self.attributes.cfg.as_deref()).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// The inline modules around this place.
    fn scope(&self) -> Vec<String> {
        let names = self.scopes.iter().filter_map(|scope| match &scope.head {
            Head::Module(name) => Some(name.clone()),
            _ => None,
        });
        names.collect()
    }

    fn in_scope(&self, wanted: impl Fn(&Head) -> bool) -> bool {
        self.scopes.iter().any(|scope| wanted(&scope.head))
    }

    fn open(&mut self) {
        let head = std::mem::take(&mut self.head);
        let Attributes { is_test, cfg, .. } = std::mem::take(&mut self.attributes);
        self.scopes.push(Scope { head, is_test, cfg });
    }

    fn close(&mut self) {
        self.scopes.pop();
        self.end_item();
    }

    fn end_item(&mut self) {
        self.head = Head::Other;
        self.attributes = Attributes::default();
    }

    /// `#[…]` before an item. Attributes of fields, variants and arguments end with what they stand on.
    fn attribute(&mut self, at: usize) -> usize {
        let inner = self.text(at + 1) == "!";
        let open = at + 1 + usize::from(inner);
        if self.text(open) != "[" {
            return at + 1;
        }
        let close = close_of(self.tokens, open);
        let words: Vec<&str> = (open + 1..close).map(|index| self.text(index)).collect();
        let after = close + 1;
        let is_item = ITEM_STARTS.contains(&self.text(after)) || self.text(after) == "#";
        if inner || !is_item {
            return after;
        }
        let starts = |with: &[&str]| words[1..].starts_with(with);
        match words.first() {
            Some(&"cfg") if starts(&["(", "test"]) || starts(&["(", "all", "(", "test"]) => {
                self.attributes.is_test = true;
            }
            Some(&"cfg") if words.contains(&"test") && !words.contains(&"not") => {
                self.attributes.is_test = !words.contains(&"any");
            }
            Some(&"cfg") => self.attributes.cfg = Some(self.source_of(open, close)),
            Some(&"test") => self.attributes.is_test = true,
            Some(&"macro_export") => self.attributes.is_exported = true,
            Some(&"path") => {
                let source = self.source_of(open, close);
                self.attributes.file = source.split('"').nth(1).map(str::to_owned);
            }
            _ => {}
        }
        after
    }

    /// The source lines from one token to another, with the literals that the tokens lack.
    fn source_of(&self, from: usize, to: usize) -> String {
        let (from, to) = (self.tokens[from].line, self.tokens[to].line);
        self.lines[from - 1..to].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }

    fn module(&mut self, at: usize) -> usize {
        let after = self.text(at + 2);
        if !self.is_name(at + 1) || !(after == ";" || after == "{") {
            return at + 1;
        }
        let name = self.text(at + 1).to_owned();
        let path = [self.scope(), vec![name.clone()]].concat();
        let (is_test, cfg) = (self.is_test(), self.cfg());
        let file = self.attributes.file.take();
        self.found.modules.push(Module { path, is_inline: after == "{", is_test, cfg, file });
        self.head = Head::Module(name);
        at + 2
    }

    fn macro_rules(&mut self, at: usize) -> usize {
        if self.text(at + 1) != "!" || !self.is_name(at + 2) {
            return at + 1;
        }
        self.add(at + 2, "macro_rules", Vec::new());
        self.head = Head::Macro(self.text(at + 2).to_owned());
        at + 3
    }

    /// A type or function at this place, unless it is a member of another or a part of a macro's template.
    fn define(&mut self, at: usize, keyword: &'static str) {
        let is_member = self.scopes.last().is_some_and(|scope| scope.head == Head::Members);
        if !self.is_name(at + 1) || is_member {
            return;
        }
        // `union` is a keyword only where a definition follows.
        if keyword == "union" && !["{", "<"].contains(&self.text(at + 2)) {
            return;
        }
        let words = match keyword {
            "struct" | "enum" | "union" | "type" => self.words_of_definition(at + 2),
            _ => Vec::new(),
        };
        self.add(at + 1, keyword, words);
    }

    /// The words up to the end of a definition: its closing brace, or a semicolon.
    fn words_of_definition(&self, from: usize) -> Vec<String> {
        let mut end = from;
        while end < self.tokens.len() && ![";", "{"].contains(&self.text(end)) {
            end = if self.text(end) == "(" { close_of(self.tokens, end) } else { end + 1 };
        }
        if self.text(end) == "{" {
            end = close_of(self.tokens, end);
        }
        (from..end).filter(|at| self.is_name(*at)).map(|at| self.text(at).to_owned()).collect()
    }

    /// `static NAME: TYPE = …` or `const NAME: TYPE = …`; goes on behind the type's colon.
    fn typed(&mut self, at: usize, keyword: &'static str) -> usize {
        let name = if self.text(at + 1) == "mut" { at + 2 } else { at + 1 };
        if !self.is_name(name) || self.text(name + 1) != ":" {
            return at + 1;
        }
        let mut end = name + 2;
        while end < self.tokens.len() && !["=", ";"].contains(&self.text(end)) {
            end = match self.text(end) {
                "(" | "[" => close_of(self.tokens, end) + 1,
                _ => end + 1,
            };
        }
        let words = (name + 2..end).filter(|at| self.is_name(*at));
        let words = words.map(|at| self.text(at).to_owned()).collect();
        self.add(name, keyword, words);
        name + 2
    }

    fn add(&mut self, name: usize, keyword: &'static str, words: Vec<String>) {
        let is_thread_local =
            self.in_scope(|head| matches!(head, Head::Macro(name) if name == "thread_local"));
        // Names in a macro's template are defined where the macro is used.
        let is_template =
            self.in_scope(|head| matches!(head, Head::Macro(name) if name != "thread_local"));
        if is_template || (is_thread_local && keyword == "static") {
            return;
        }
        let definition = Definition {
            line: self.tokens[name].line,
            scope: self.scope(),
            name: self.text(name).to_owned(),
            words,
            cfg: self.cfg(),
            is_test: self.is_test(),
            is_exported: self.attributes.is_exported,
        };
        match keyword {
            "static" => self.found.statics.push(definition),
            "macro_rules" => self.found.macros.push(definition),
            "fn" | "const" => self.found.values.push(definition),
            _ => self.found.types.push(definition),
        }
    }

    /// `use …;`, each leaf of its tree a path.
    fn import(&mut self, at: usize) -> usize {
        let end = (at..self.tokens.len()).find(|at| self.text(*at) == ";");
        let end = end.unwrap_or(self.tokens.len());
        self.import_tree(at + 1, end, &[]);
        // The semicolon ends the item.
        end
    }

    /// One tree from `at` on; returns the index behind it.
    fn import_tree(&mut self, mut at: usize, end: usize, prefix: &[String]) -> usize {
        let mut segments = prefix.to_vec();
        let mut line = self.tokens.get(at).map_or(0, |token| token.line);
        while at < end {
            match self.text(at) {
                "::" | "$" => {}
                "{" => {
                    let close = close_of(self.tokens, at);
                    at += 1;
                    while at < close {
                        at = self.import_tree(at, close, &segments) + 1;
                    }
                    return close + 1;
                }
                "}" | "," => break,
                "as" => {
                    let alias = self.text(at + 1).to_owned();
                    self.add_path(line, segments, Some(alias));
                    return at + 2;
                }
                "*" => {
                    self.add_path(line, segments, Some("*".to_owned()));
                    return at + 1;
                }
                name => {
                    line = self.tokens[at].line;
                    segments.push(name.to_owned());
                }
            }
            at += 1;
        }
        if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
            segments.pop();
        }
        if segments.len() > prefix.len() || (!prefix.is_empty() && segments == prefix) {
            let alias = segments.last().cloned();
            self.add_path(line, segments, alias);
        }
        at
    }

    /// A word that starts no item: the start of a path, or a macro's name.
    fn word(&mut self, at: usize, before: &str) -> usize {
        if self.text(at + 1) == "!" && ["{", "("].contains(&self.text(at + 2)) {
            if self.text(at + 2) == "{" {
                self.head = Head::Macro(self.text(at).to_owned());
            }
            return at + 2;
        }
        // A path that begins with `$crate` is followed where the macro is used, from the root that users see.
        if ["::", ".", "$"].contains(&before) {
            return at + 1;
        }
        let mut segments = vec![self.text(at).to_owned()];
        let mut end = at + 1;
        while self.text(end) == "::" && self.is_name(end + 1) {
            segments.push(self.text(end + 1).to_owned());
            end += 2;
        }
        if segments.len() > 1 {
            self.add_path(self.tokens[at].line, segments, None);
        }
        end
    }

    fn add_path(&mut self, line: usize, segments: Vec<String>, alias: Option<String>) {
        let (scope, is_test) = (self.scope(), self.is_test());
        self.found.paths.push(Path { line, scope, segments, is_test, alias });
    }
}

/// Words that an item can start with.
const ITEM_STARTS: [&str; 19] = [
    "pub",
    "fn",
    "impl",
    "struct",
    "enum",
    "union",
    "trait",
    "type",
    "mod",
    "use",
    "static",
    "const",
    "unsafe",
    "async",
    "extern",
    "macro_rules",
    "thread_local",
    "let",
    "{",
];

#[cfg(test)]
mod tests;
