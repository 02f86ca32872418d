//! The functions of a file, by its tokens: also those within the input of macros.

use super::tokens::{
    FileTokens, Spans, content, deep_group, forget, group, is_punct, is_word, plain, word,
};
use crate::lang::functions::Function;
use proc_macro2::{Delimiter, TokenTree};

/// Returns the functions of a file; none if it has no tokens, or groups that are nested deeper than
/// anybody looks.
pub(crate) fn rust_functions(bytes: &[u8]) -> Vec<Function> {
    let mut found = Vec::new();
    if let Ok(FileTokens { trees, spans }) = FileTokens::of(bytes)
        && deep_group(&trees).is_none()
    {
        FunctionFinder { bytes, spans, found: &mut found }.look(&trees, &[]);
    }
    forget();
    found
}

struct FunctionFinder<'a> {
    bytes: &'a [u8],
    spans: Spans,
    found: &'a mut Vec<Function>,
}

impl FunctionFinder<'_> {
    /// Looks at the items of a scope with this name.
    fn look(&mut self, trees: &[TokenTree], around: &[String]) {
        let mut at = 0;
        while at < trees.len() {
            let name = word(trees.get(at + 1)).map(|name| plain(&name).to_owned());
            let is_named = ["fn", "mod", "trait"].iter().any(|it| is_word(trees.get(at), it));
            let scope = match name {
                Some(name) if is_named => Some(name),
                _ if is_word(trees.get(at), "impl") => self_type(&trees[at + 1..]),
                _ => None,
            };
            let body = scope.as_ref().and_then(|_| body_of(trees, at + 1));
            if let (Some(scope), Some(end)) = (scope, body) {
                let name = [around, &[scope]].concat();
                if is_word(trees.get(at), "fn") {
                    let range = self.spans.of(&trees[at]).start..self.spans.of(&trees[end]).end;
                    self.found.push(Function::of(name.clone(), self.bytes, range));
                }
                if let TokenTree::Group(group) = &trees[end] {
                    self.look(&content(group), &name);
                }
                at = end + 1;
                continue;
            }
            if let TokenTree::Group(group) = &trees[at] {
                self.look(&content(group), around);
            }
            at += 1;
        }
    }
}

/// Returns the index of the body of an item whose head begins there; none of an item without one.
fn body_of(trees: &[TokenTree], from: usize) -> Option<usize> {
    let mut at = from;
    while at < trees.len() && !is_punct(trees.get(at), ';') {
        // A constant argument of a type is no body: `A<{ 3 }>`.
        let is_argument = is_punct(trees.get(at + 1), '>') || is_punct(trees.get(at + 1), ',');
        if group(trees.get(at), Delimiter::Brace).is_some() && !is_argument {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Returns the name of the type that an `impl` is for, from the tokens behind that word.
fn self_type(trees: &[TokenTree]) -> Option<String> {
    let (mut depth, mut name) = (0_usize, None);
    for (at, tree) in trees.iter().enumerate() {
        let is_arrow = at > 0 && is_punct(trees.get(at - 1), '-');
        if is_punct(Some(tree), '<') {
            depth += 1;
        } else if is_punct(Some(tree), '>') && !is_arrow {
            depth = depth.saturating_sub(1);
        } else if group(Some(tree), Delimiter::Brace).is_some() || is_word(Some(tree), "where") {
            break;
        } else if depth == 0 {
            // The trait comes before `for`.
            name = match word(Some(tree)) {
                Some(found) if found == "for" => None,
                Some(found) => Some(plain(&found).to_owned()),
                None => name,
            };
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        rust_functions(text.as_bytes()).iter().map(Function::shown).collect()
    }

    #[test]
    fn functions_of_rust() {
        let text = "fn main() {\n    fn inner() {}\n    let f = || {};\n}\n\
                    mod net {\n    impl<T: Fn(u8) -> u8> Send<T> for Client<T> where T: Clone {\n\
                    \x20       async fn send(&self) -> [u8; { 3 }] {\n            loop {}\n        }\n    }\n\
                    \x20   trait Retry {\n        fn again(&self);\n        fn once(&self) {\n        }\n    }\n}\n\
                    cfg_if! { if #[cfg(unix)] {\n    pub(crate) unsafe extern \"C\" fn r#try() {}\n} }\n\
                    impl Client { fn of() -> A<{ 3 }> {\n\n} }\nfn pointer(f: fn(u8)) {\n}\n";
        let expected = [
            "main 1-4",
            "main::inner 2-2",
            "net::Client::send 7-9",
            "net::Retry::once 13-14",
            "try 18-18",
            "Client::of 20-22",
            "pointer 23-24",
        ];
        assert_eq!(shown(text), expected);
        assert_eq!(shown("fn broken( {"), [""; 0]);
    }

    #[test]
    fn groups_nested_without_end_have_no_functions() {
        let nested = |depth: usize, word: &str| {
            let (open, close) = ("(".repeat(depth), ")".repeat(depth));
            format!("fn f() {{ {open}{word}{close}; }}")
        };
        assert_eq!(shown(&nested(100, "1")), ["f 1-1"]);
        // Composed characters, and not: the latter have to be taken apart.
        for word in ["1", "u\u{308}"] {
            assert_eq!(shown(&nested(200_000, word)), [""; 0]);
        }
    }
}
