//! Declarations of the inputs that have a name which log calls rely on, in whatever place: those
//! that may be meant instead.
//!
//! ```text
//! open class Base { fun d(group: Any?, text: String) { … } }      of a superclass in another file
//! with(logger) { d(NET, "…") }                                    of a receiver
//! ```
//!
//! Which of them a compiler chooses depends on types that are not known here. So where one could be
//! reached, a call is listed, rather than rewritten. The inputs are searched once, when the first
//! call could reach one; declarations of libraries are not known.

use crate::source::Kind;
use crate::system::{Reader, System};
use memchr::memmem::Finder;
use std::collections::HashMap;
use std::path::PathBuf;

/// The types of the language that calls rely on: no instance of one can be called.
pub(crate) const TYPES_OF_KOTLIN: [&str; 11] = [
    "Boolean",
    "Byte",
    "Char",
    "CharSequence",
    "Double",
    "Float",
    "Int",
    "Long",
    "Short",
    "String",
    "Throwable",
];

/// A declaration with a name that log calls rely on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rival {
    pub(crate) path: PathBuf,
    pub(crate) language: Kind,
    pub(crate) package: String,
    pub(crate) kind: RivalKind,
}

/// The kinds of such declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RivalKind {
    /// A function or method that takes so many arguments; any number if it is not known.
    Function(Option<usize>),
    /// A variable, field, property or constant.
    Variable,
    /// A class or another type.
    Type,
}

/// The declarations by their names.
pub(crate) type Rivals = HashMap<String, Vec<Rival>>;

/// All declarations of `names` in the inputs, whose packages `package_of` tells.
pub(crate) fn search(
    system: &dyn System,
    inputs: &[PathBuf],
    names: &[String],
    package_of: fn(Kind, &[u8]) -> String,
) -> Rivals {
    let finders: Vec<(&String, Finder<'_>)> =
        names.iter().map(|name| (name, Finder::new(name.as_str()))).collect();
    let (mut found, mut reader) = (Rivals::new(), Reader::default());
    for path in inputs {
        let language = Kind::of_path(path).unwrap_or(Kind::Java);
        if language == Kind::Rust || system.read_into(path, &mut reader).is_err() {
            continue;
        }
        for (name, finder) in &finders {
            for kind in kinds(reader.bytes(), finder, language) {
                let package = package_of(language, reader.bytes());
                let rival = Rival { path: path.clone(), language, package, kind };
                let list = found.entry((*name).clone()).or_default();
                if !list.contains(&rival) {
                    list.push(rival);
                }
            }
        }
    }
    found
}

/// The kinds of the declarations of a name in a text.
fn kinds(text: &[u8], finder: &Finder<'_>, language: Kind) -> Vec<RivalKind> {
    let length = finder.needle().len();
    let is_word =
        |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(|byte| word(*byte));
    let places = finder
        .find_iter(text)
        .filter(|at| !is_word(at.checked_sub(1)) && !is_word(Some(at + length)));
    let is_of_types = TYPES_OF_KOTLIN.iter().any(|name| name.as_bytes() == finder.needle());
    let found = places.filter_map(|at| match language {
        // Uses of these are many.
        _ if is_of_types && !follows_keyword(text, at) => None,
        Kind::Kotlin => of_kotlin(text, at, at + length),
        _ => of_java(text, at, at + length),
    });
    found.collect()
}

fn follows_keyword(text: &[u8], at: usize) -> bool {
    const KEYWORDS: [&[u8]; 6] =
        [b"class", b"object", b"interface", b"typealias", b"enum", b"record"];
    KEYWORDS.iter().any(|keyword| text[..at].trim_ascii_end().ends_with(keyword))
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// The text of a statement before `at`, as far as a declaration's keyword may be.
fn before(text: &[u8], at: usize) -> String {
    let start =
        text[..at].iter().rposition(|byte| b"\n;{}(,=".contains(byte)).map_or(0, |it| it + 1);
    String::from_utf8_lossy(&text[start..at]).into_owned()
}

fn of_kotlin(text: &[u8], start: usize, end: usize) -> Option<RivalKind> {
    let before = before(text, start);
    let mut words = before.split(|char: char| !char.is_alphanumeric() && char != '_').rev();
    // `fun <T> Type.name(…)`: the keyword may stand before type parameters and a receiver.
    let is_receiver = before.trim_end().trim_end_matches('`').ends_with(['.', '>']);
    let keyword = words.find(|word| !word.is_empty() && (!is_receiver || is_keyword(word)))?;
    match keyword {
        "fun" => Some(RivalKind::Function(parameters(&text[end..]))),
        "val" | "var" => Some(RivalKind::Variable),
        "class" | "object" | "interface" | "typealias" => Some(RivalKind::Type),
        _ => None,
    }
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "fun" | "val" | "var" | "class" | "object" | "interface" | "typealias")
}

fn of_java(text: &[u8], start: usize, end: usize) -> Option<RivalKind> {
    const NO_TYPES: [&str; 10] =
        ["return", "new", "else", "throw", "case", "yield", "assert", "do", "package", "import"];
    let before = before(text, start);
    let written = before.trim_end();
    let last = written.rsplit(|char: char| !char.is_alphanumeric() && char != '_').next();
    if matches!(last, Some("class" | "interface" | "enum" | "record")) {
        return Some(RivalKind::Type);
    }
    let is_type = written.ends_with(['>', ']'])
        || last.is_some_and(|last| !last.is_empty() && !NO_TYPES.contains(&last));
    let next = text[end..].iter().find(|byte| !byte.is_ascii_whitespace())?;
    match next {
        b'(' if is_type => Some(RivalKind::Function(parameters(&text[end..]))),
        b'=' | b';' | b',' if is_type => Some(RivalKind::Variable),
        _ => None,
    }
}

/// The number of the parameters in parentheses; none if calls may pass others.
fn parameters(text: &[u8]) -> Option<usize> {
    let open = text.iter().position(|byte| *byte == b'(')?;
    let (mut depth, mut count, mut is_empty) = (0_usize, 1, true);
    for (at, byte) in text.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'<' | b'[' | b'{' => depth += 1,
            b'>' if text[at - 1] == b'-' => {}
            b')' | b'>' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => count += 1,
            // A default value, or any number of arguments.
            b'=' => return None,
            b'.' if text[at..].starts_with(b"...") => return None,
            b'v' if text[at..].starts_with(b"vararg ") => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(if is_empty { 0 } else { count });
        }
        is_empty &= at == open || byte.is_ascii_whitespace();
    }
    None
}

impl Rival {
    /// Returns whether it may be called with so many arguments.
    pub(crate) fn takes(&self, arguments: usize) -> bool {
        match self.kind {
            RivalKind::Function(count) => count.is_none_or(|count| count == arguments),
            // Of a type that may have `invoke`.
            RivalKind::Variable => true,
            RivalKind::Type => false,
        }
    }

    /// Returns whether the file declares a class of this canonical name, by its own name.
    pub(crate) fn is_file_of(&self, class: &str) -> bool {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let canonical = if self.package.is_empty() {
            stem.into_owned()
        } else {
            format!("{}.{stem}", self.package)
        };
        class == canonical || class.starts_with(&format!("{canonical}."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_and_uses() {
        use RivalKind::{Function, Type, Variable};
        let of = |text: &str, language| kinds(text.as_bytes(), &Finder::new("d"), language);
        for (text, expected) in [
            ("fun d(a: Any?, b: String) {}", vec![Function(Some(2))]),
            ("private fun <T> List<T>.d(vararg a: T) = 1", vec![Function(None)]),
            ("fun Logger.d() = 1", vec![Function(Some(0))]),
            ("fun f() { d(1); x.d(2); val e = d }", vec![]),
            ("class P(val d: Double)", vec![Variable]),
            ("object d", vec![Type]),
            ("fun d(a: (Int, Int) -> Int)", vec![Function(Some(1))]),
        ] {
            assert_eq!(of(text, Kind::Kotlin), expected, "{text}");
        }
        for (text, expected) in [
            (
                "class A { static void d(Object g, String s, Object... a) { } }",
                vec![Function(None)],
            ),
            ("class A { <T> List<T> d(Map<T, T> m) { return d(m); } }", vec![Function(Some(1))]),
            ("class A { void f() { d(1); a.d(2); new d(3); int x = d; } }", vec![]),
            ("class A { int d = 1; } class d { }", vec![Variable, Type]),
        ] {
            assert_eq!(of(text, Kind::Java), expected, "{text}");
        }
    }
}
