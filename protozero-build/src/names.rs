//! Names in Rust for names of a schema.
//!
//! Names follow Rust's conventions, so different ones of a schema may become the same, and some are
//! words of the language. Each scope hands out a name once; the second that would be the same gets
//! `_` behind it.

use heck::{ToShoutySnakeCase as _, ToSnakeCase as _, ToUpperCamelCase as _};
use std::collections::HashSet;

/// The names that are taken in one scope.
#[derive(Debug, Default)]
pub(crate) struct Names(HashSet<String>);

impl Names {
    /// A scope in which these names are taken.
    pub(crate) fn with(taken: &[&str]) -> Self {
        Self(taken.iter().map(ToString::to_string).collect())
    }

    /// Takes `name`, or what it is with as many `_` as it needs.
    pub(crate) fn take(&mut self, name: &str) -> String {
        self.take_all(name, &[""])
    }

    /// Takes a name that is free [with](with_suffix) each of `suffixes`.
    pub(crate) fn take_all(&mut self, name: &str, suffixes: &[&str]) -> String {
        let mut name = name.to_owned();
        while suffixes.iter().any(|suffix| self.0.contains(&with_suffix(&name, suffix))) {
            name.push('_');
        }
        self.0.extend(suffixes.iter().map(|suffix| with_suffix(&name, suffix)));
        name
    }
}

/// A name that was taken, with a suffix: what tells it from others stays at its end.
pub(crate) fn with_suffix(name: &str, suffix: &str) -> String {
    let word = name.trim_end_matches('_');
    let (_, marks) = name.split_at(word.len());
    format!("{word}{suffix}{marks}")
}

/// The name of a type, or of a variant.
pub(crate) fn camel(name: &str) -> String {
    word(name.to_upper_camel_case())
}

/// The name of a method, before anything is put before or behind it.
pub(crate) fn snake(name: &str) -> String {
    word(name.to_snake_case())
}

/// The name of a constant.
pub(crate) fn shouty(name: &str) -> String {
    word(name.to_shouty_snake_case())
}

/// As it is written where an identifier stands.
pub(crate) fn escaped(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("r#{name}") } else { name.to_owned() }
}

/// The name of a module, which shares its scope with types: none begins as those that are a number
/// do.
pub(crate) fn module(name: &str) -> String {
    let name = snake(name);
    if name.starts_with('_') { format!("m{name}") } else { name }
}

/// A name of a schema may consist of `_` and digits behind it, of which nothing is left that begins
/// a name; and a few words of Rust can't be names in any form.
fn word(name: String) -> String {
    match &*name {
        "" => "__".to_owned(),
        "self" | "super" | "crate" | "Self" => format!("{name}_"),
        _ if name.starts_with(|first: char| first.is_ascii_digit()) => format!("_{name}"),
        _ => name,
    }
}

/// The words of Rust 2024 that can't be names, and those that are reserved.
const KEYWORDS: [&str; 50] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "union", "unsafe", "unsized",
    "use", "virtual", "where", "while", "yield", "raw",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_conventions_of_rust() {
        let names = ["fooBar", "HTTPServer", "foo_bar2", "_1", "type", "self"];
        let snakes = names.map(|name| escaped(&snake(name)));
        assert_eq!(snakes, ["foo_bar", "http_server", "foo_bar2", "_1", "r#type", "self_"]);
        let camels = names.map(|name| escaped(&camel(name)));
        assert_eq!(camels, ["FooBar", "HttpServer", "FooBar2", "_1", "Type", "Self_"]);
        assert_eq!(shouty("lightBlue"), "LIGHT_BLUE");
    }

    #[test]
    fn a_scope_hands_out_a_name_once() {
        let mut names = Names::with(&["new"]);
        assert_eq!(names.take("new"), "new_");
        assert_eq!(names.take_all("a", &["", "_pieces"]), "a");
        assert_eq!(names.take("a_pieces"), "a_pieces_");
        assert_eq!(with_suffix(&names.take_all("a", &["", "_pieces"]), "_pieces"), "a_pieces__");
    }
}
