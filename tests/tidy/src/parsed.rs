//! A Rust file as the rules on code see it: its lines without comments and literals, its functions,
//! its tests.

use std::ops::RangeInclusive;
use std::sync::Arc;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::model::{Items, is_test, items};

/// A file that was parsed; of other languages, or where it can't be parsed, nothing is known.
#[derive(Default)]
pub(super) struct Parsed {
    /// The code of each line, with blanks only where two words meet.
    pub(super) lines: Vec<String>,
    pub(super) functions: Vec<Function>,
    pub(super) items: Arc<Items>,
    /// The reason why it can't be parsed.
    pub(super) problem: Option<String>,
    /// The lines of modules of tests that are written out in it, with the attributes that say so.
    pub(super) tests: Vec<RangeInclusive<usize>>,
}

/// A function with a body.
pub(super) struct Function {
    pub(super) name: String,
    /// From `fn` to the closing brace.
    pub(super) lines: RangeInclusive<usize>,
}

impl Parsed {
    /// Parses a file.
    pub(super) fn of(text: &str) -> Self {
        let mut parsed = Self { lines: empty_lines(text), ..Self::default() };
        let file = text.parse::<TokenStream>().map_err(|problem| problem.to_string());
        let file = file.and_then(|tokens| {
            write(tokens.clone(), &mut parsed.lines);
            syn::parse2::<syn::File>(tokens).map_err(|problem| problem.to_string())
        });
        match file {
            Ok(file) => {
                parsed.items = Arc::new(items(&file));
                parsed.visit_file(&file);
            }
            Err(problem) => parsed.problem = Some(problem),
        }
        parsed
    }

    /// The code of each line that is not in a module of tests, with its number.
    pub(super) fn without_tests(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.lines.iter().enumerate().map(|(index, line)| (index + 1, line.as_str()));
        lines.filter(|(line, _)| !self.tests.iter().any(|test| test.contains(line)))
    }

    fn add(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let first = signature.fn_token.span.start().line;
        let lines = first..=body.brace_token.span.close().end().line;
        self.functions.push(Function { name: signature.ident.to_string(), lines });
    }
}

impl<'a> Visit<'a> for Parsed {
    fn visit_item_fn(&mut self, node: &'a syn::ItemFn) {
        self.add(&node.sig, &node.block);
        visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'a syn::ImplItemFn) {
        self.add(&node.sig, &node.block);
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_trait_item_fn(&mut self, node: &'a syn::TraitItemFn) {
        node.default.iter().for_each(|body| self.add(&node.sig, body));
        visit::visit_trait_item_fn(self, node);
    }

    fn visit_item_mod(&mut self, node: &'a syn::ItemMod) {
        if let (Some((brace, _)), true) = (&node.content, is_test(&node.attrs)) {
            let first = node.attrs[0].pound_token.span.start().line;
            self.tests.push(first..=brace.span.close().end().line);
        }
        visit::visit_item_mod(self, node);
    }
}

/// The tokens of each line without literals; nothing for text that is no Rust.
pub(super) fn code_lines(text: &str) -> Vec<String> {
    let mut lines = empty_lines(text);
    if let Ok(tokens) = text.parse::<TokenStream>() {
        write(tokens, &mut lines);
    }
    lines
}

fn empty_lines(text: &str) -> Vec<String> {
    vec![String::new(); text.lines().count() + 1]
}

fn write(tokens: TokenStream, lines: &mut [String]) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => put(lines, name.span(), &name.to_string()),
            TokenTree::Punct(it) => put(lines, it.span(), &it.as_char().to_string()),
            TokenTree::Literal(it) => put(lines, it.span(), " "),
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                put(lines, group.span_open(), open);
                write(group.stream(), lines);
                put(lines, group.span_close(), close);
            }
        }
    }
}

fn put(lines: &mut [String], span: Span, text: &str) {
    let Some(line) = lines.get_mut(span.start().line - 1) else { return };
    if line.ends_with(is_word) && text.starts_with(is_word) {
        line.push(' ');
    }
    line.push_str(text);
}

/// Returns true if the character can be part of an identifier.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_code_without_comments_and_literals() {
        let text = "// unsafe\nfn  f<'a>(r: &'a str) {\n    g(r#\"fs::read(\"#, 'x') /* y\n */; std :: fs::r#try()\n}\n";
        let expected = ["", "fn f<'a>(r:&'a str){", "g( , )", ";std::fs::r#try()", "}"];
        assert_eq!(code_lines(text)[..5], expected);
        assert!(Parsed::of("fn f( {").problem.is_some());
    }
}
