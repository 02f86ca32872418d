//! The condition `fn NAME` of a selector: calls in a function of that name, as far as the sources
//! are at hand. Neither a program nor a trace knows the function of a call, so that none carries
//! it; the lines of a call and the sources of the build say it.
//!
//! Programs choose the names of the files, and may be of anybody.
//!
//! Invariants:
//! - A source is looked for below the current directory only, by a path that leads there without
//!   leaving it. Another way to write that path is the same file.
//! - A call whose text is not at its line in the source is in no function: the source is not that
//!   of the build. So is one whose text has no word, which would be at every line.
//! - At most [`MOST_FILES`] files are looked for, and [`MOST_BYTES`] are held of them.

use crate::lang::functions::Function;
use crate::lang::java::java_functions;
use crate::lang::rust::rust_functions;
use crate::system::System;
use memchr::memchr_iter;
use protolog_core::control::name::is_plain;
use protolog_core::{Piece, Template};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Folders that paths of a Java file, which begin with its package, may be in.
const ROOTS: [&str; 5] = ["", "src/main/java", "src/test/java", "java/src", "src"];

/// The most bytes of a source.
const MOST: u64 = 16 << 20;

/// The most files that are looked for, and the most bytes of all that are found.
const MOST_FILES: usize = 1000;
const MOST_BYTES: u64 = 64 << 20;

/// The lines from a call's first on in which its text begins.
const LINES: usize = 12;

/// A selector with a condition on the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FunctionSelector {
    /// The name of the function.
    pub(crate) name: String,
    /// The other conditions; empty for none.
    pub(crate) rest: String,
}

/// The sources below the current directory.
pub(crate) struct FunctionSources<'a> {
    system: &'a dyn System,
    files: HashMap<PathBuf, Option<FunctionFile>>,
    bytes: u64,
}

/// A source, and its functions.
struct FunctionFile {
    text: String,
    /// Where each line begins.
    lines: Vec<usize>,
    functions: Vec<Function>,
    size: u64,
}

/// The function of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FunctionOfCall {
    /// It is in functions of the name: the lines of the innermost.
    In(u32, u32),
    /// It is in none.
    NotIn,
    /// There is no such source, or none in a language whose functions are known.
    NoSource,
    /// The source has another text at that line.
    OtherText,
    /// It would be in one, but its text has no word by which it could be found.
    NoWord,
    /// There are too many sources, or too large ones.
    TooMuch,
}

impl FunctionSelector {
    /// Takes the condition out of a selector; none if that has no such condition.
    ///
    /// # Errors
    /// The condition has no name, or there are two of them.
    pub(crate) fn of(selector: &str) -> Result<Option<Self>, String> {
        let parts = conditions(selector);
        let Some(condition) = parts.iter().find(|part| is_function(part)) else { return Ok(None) };
        let name = condition.strip_prefix("fn").unwrap_or_default().trim();
        let others: Vec<_> = parts.iter().filter(|part| !is_function(part)).copied().collect();
        if !is_plain(name) || others.len() + 1 != parts.len() {
            let help = "write one name of a function, as in `fn send` or `fn Client::send`";
            return Err(format!("no name of a function in `{condition}`\nhelp: {help}"));
        }
        Ok(Some(Self { name: name.to_owned(), rest: others.join(" and ") }))
    }

    /// The other conditions as a selector.
    pub(crate) fn others(&self) -> &str {
        if self.rest.is_empty() { "*" } else { &self.rest }
    }
}

fn is_function(condition: &str) -> bool {
    condition == "fn" || condition.starts_with("fn ")
}

/// The conditions of a selector, as they are written.
fn conditions(selector: &str) -> Vec<&str> {
    let (mut parts, mut start, mut is_in_quotes, mut escaped) = (Vec::new(), 0, false, false);
    for (at, char) in selector.char_indices() {
        match char {
            '\\' if is_in_quotes && !escaped => {
                escaped = true;
                continue;
            }
            '"' if !escaped => is_in_quotes = !is_in_quotes,
            ' ' | '\t' if !is_in_quotes => {
                let rest = &selector[at + 1..];
                let word = rest.split([' ', '\t']).next().unwrap_or_default();
                if word.eq_ignore_ascii_case("and") || word == "&&" {
                    parts.push(selector[start..at].trim());
                    start = at + 1 + word.len();
                }
            }
            _ => {}
        }
        escaped = false;
    }
    parts.push(selector.get(start..).unwrap_or_default().trim());
    parts
}

impl<'a> FunctionSources<'a> {
    pub(crate) fn new(system: &'a dyn System) -> Self {
        Self { system, files: HashMap::new(), bytes: 0 }
    }

    /// Returns whether the call in this line of a file, with this template, is in a function.
    pub(crate) fn find(
        &mut self,
        name: &str,
        file: &str,
        line: u32,
        template: &str,
    ) -> FunctionOfCall {
        let Some(path) = below(file) else { return FunctionOfCall::NoSource };
        if !self.files.contains_key(&path) {
            let left = MOST_BYTES - self.bytes;
            if self.files.len() == MOST_FILES || left == 0 {
                return FunctionOfCall::TooMuch;
            }
            let source = match read(&path, left.min(MOST), self.system) {
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge && left < MOST => {
                    return FunctionOfCall::TooMuch;
                }
                read => read.ok(),
            };
            self.bytes += source.as_ref().map_or(0, |source| source.size);
            self.files.insert(path.clone(), source);
        }
        let Some(Some(source)) = self.files.get(&path) else { return FunctionOfCall::NoSource };
        let word = longest_word(template);
        if word.as_ref().is_some_and(|word| !source.has_word(line, word)) {
            return FunctionOfCall::OtherText;
        }
        let around = source.functions.iter().filter(|function| {
            function.is_named(name) && (function.lines.0..=function.lines.1).contains(&line)
        });
        let innermost = around.min_by_key(|function| function.lines.1 - function.lines.0);
        match innermost {
            None => FunctionOfCall::NotIn,
            Some(_) if word.is_none() => FunctionOfCall::NoWord,
            Some(function) => FunctionOfCall::In(function.lines.0, function.lines.1),
        }
    }
}

impl FunctionFile {
    fn new(bytes: &[u8], functions: Vec<Function>) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let ends = memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        Self { text, lines, functions, size: bytes.len() as u64 }
    }

    /// Returns whether a word is in the lines of a call that begins in this one.
    fn has_word(&self, line: u32, word: &str) -> bool {
        let first = (line as usize).saturating_sub(1);
        let Some(start) = self.lines.get(first) else { return false };
        let end = self.lines.get(first + LINES).copied().unwrap_or(self.text.len());
        self.text.get(*start..end).is_some_and(|text| text.contains(word))
    }
}

/// The path of a file below the current directory, without segments that lead nowhere; none if it
/// leads elsewhere.
fn below(file: &str) -> Option<PathBuf> {
    let segments = Path::new(file).components().filter(|it| *it != Component::CurDir);
    segments.map(|it| matches!(it, Component::Normal(_)).then_some(it)).collect()
}

/// Reads a source that a program names.
fn read(path: &Path, most: u64, system: &dyn System) -> io::Result<FunctionFile> {
    let functions = match path.extension().and_then(OsStr::to_str) {
        Some("rs") => rust_functions,
        Some("java") => java_functions,
        _ => return Err(io::ErrorKind::NotFound.into()),
    };
    let read = |root: &&str| system.read_below(Path::new("."), &Path::new(root).join(path), most);
    let is_there = |it: &io::Result<Vec<u8>>| {
        !it.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::FileTooLarge)
    };
    let bytes = ROOTS.iter().map(read).find(is_there).ok_or(io::ErrorKind::NotFound)??;
    Ok(FunctionFile::new(&bytes, functions(&bytes)))
}

/// The longest word of a template; none of one without words.
fn longest_word(template: &str) -> Option<String> {
    let pieces = Template::parse(template).map(|template| {
        let texts = template.pieces().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.to_owned()),
            _ => None,
        });
        texts.collect::<Vec<_>>()
    });
    let pieces = pieces.unwrap_or_else(|_| vec![template.to_owned()]);
    let words = pieces.iter().flat_map(|text| text.split(|char: char| !char.is_alphanumeric()));
    words.max_by_key(|word| word.len()).filter(|word| !word.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Memory;

    #[test]
    fn a_function_is_taken_out_of_a_selector() {
        let of = |text| FunctionSelector::of(text).map(|it| it.map(|it| (it.name, it.rest)));
        let function = |name: &str, rest: &str| Ok(Some((name.to_owned(), rest.to_owned())));
        assert_eq!(of("fn send"), function("send", ""));
        assert_eq!(of(" fn  Client::send  and debug"), function("Client::send", "debug"));
        assert_eq!(
            of("net && fn send and \"a and fn b\""),
            function("send", "net and \"a and fn b\"")
        );
        assert_eq!(of("\"fn send \\\" and fn x\" and net"), Ok(None));
        for wrong in ["fn", "fn and net", "fn a b", "fn \"x\"", "fn a and fn b", "net and fn"] {
            assert!(of(wrong).is_err_and(|error| error.contains("\nhelp: write ")), "{wrong}");
        }
    }

    #[test]
    fn a_call_is_in_the_function_around_its_line() {
        let rust = "fn send() {\n    d!(\n        Net,\n        \"sent %d bytes\", 1);\n}\n\nfn other() {\n}\n";
        let java = "class A {\n    void send() {\n        ProtoLog.d(NET, \"sent\");\n    }\n}\n";
        let files = [("src/net.rs", rust), ("src/main/java/com/foo/A.java", java)];
        let system = Memory::with_files(files);
        let mut sources = FunctionSources::new(&system);
        let mut find = |file, line, template| sources.find("send", file, line, template);
        assert_eq!(find("src/net.rs", 2, "sent %d bytes"), FunctionOfCall::In(1, 5));
        assert_eq!(find("src/net.rs", 7, "other"), FunctionOfCall::NotIn);
        assert_eq!(find("src/net.rs", 2, "received %d bytes"), FunctionOfCall::OtherText);
        assert_eq!(find("com/foo/A.java", 3, "sent"), FunctionOfCall::In(2, 4));
        assert_eq!(find("src/no.rs", 2, "sent"), FunctionOfCall::NoSource);
        assert_eq!(find("src/A.kt", 2, "sent"), FunctionOfCall::NoSource);
    }
    #[test]
    fn a_text_without_a_word_is_nowhere_and_a_path_has_one_spelling() {
        let rust = "fn send() {\n    d!(Net, \"%d\", 1);\n    d!(Net, \"sent\");\n}\n";
        let system = Memory::with_files([("src/net.rs", rust), ("etc/net.rs", rust)]);
        let mut sources = FunctionSources::new(&system);
        for template in ["%d", "", "%d: %s", "(%d)"] {
            let found = sources.find("send", "src/net.rs", 2, template);
            assert_eq!(found, FunctionOfCall::NoWord, "{template}");
            let outside = sources.find("other", "src/net.rs", 2, template);
            assert_eq!(outside, FunctionOfCall::NotIn, "{template}");
        }
        assert_eq!(sources.find("send", "src/net.rs", u32::MAX, "sent"), FunctionOfCall::OtherText);
        for file in ["src/net.rs", "./src/./net.rs", "src//net.rs", "src/net.rs/"] {
            assert_eq!(sources.find("send", file, 3, "sent"), FunctionOfCall::In(1, 4), "{file}");
        }
        assert_eq!(sources.files.len(), 1);
        for file in ["src/../etc/net.rs", "../net.rs", "/etc/net.rs", "etc/.."] {
            assert_eq!(sources.find("send", file, 3, "sent"), FunctionOfCall::NoSource, "{file}");
        }
    }

    #[test]
    fn files_are_few_and_below_the_directory() {
        let system =
            Memory::with_files([("src/net.rs", "fn send() {\n    d!(Net, \"sent\");\n}\n")]);
        let mut sources = FunctionSources::new(&system);
        let mut find = |file: &str| sources.find("send", file, 2, "sent");
        assert_eq!(find("src/net.rs"), FunctionOfCall::In(1, 3));
        for number in 1..MOST_FILES {
            assert_eq!(find(&format!("src/{number}.rs")), FunctionOfCall::NoSource);
        }
        assert_eq!(find("src/one_more.rs"), FunctionOfCall::TooMuch);
        assert_eq!(find("src/net.rs"), FunctionOfCall::In(1, 3));
        let large = "fn send() {\n    d!(Net, \"sent\");\n}\n".to_owned() + &" ".repeat(15 << 20);
        let files = ["a.rs", "b.rs", "c.rs", "d.rs", "e.rs", "f.rs"];
        let system = Memory::with_files(files.map(|file| (file, large.as_str())));
        let mut sources = FunctionSources::new(&system);
        let found = files.map(|file| sources.find("send", file, 2, "sent"));
        let read = found.iter().filter(|it| **it == FunctionOfCall::In(1, 3)).count();
        assert_eq!((read, &found[4]), (4, &FunctionOfCall::TooMuch), "{found:?}");
    }
}
