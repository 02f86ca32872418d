//! The condition `fn NAME` of a selector: calls in a function of that name, as far as the sources
//! are at hand. Neither a program nor a trace knows the function of a call, so that none carries
//! it; the lines of a call and the sources of the build say it.
//!
//! Invariants: a source is looked for below the current directory only, by a path that leads there
//! without leaving it. A call whose text is not at its line in the source is in no function: the
//! source is not that of the build.

use crate::lang::functions::Function;
use crate::lang::java::java_functions;
use crate::lang::rust::rust_functions;
use crate::system::System;
use protolog_core::control::name::is_plain;
use protolog_core::{Piece, Template};
use std::collections::HashMap;
use std::path::Path;

/// Folders that paths of a Java file, which begin with its package, may be in.
const ROOTS: [&str; 5] = ["", "src/main/java", "src/test/java", "java/src", "src"];

/// The most bytes of a source.
const MOST: u64 = 16 << 20;

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
    files: HashMap<String, Option<FunctionFile>>,
}

/// A source, and its functions.
struct FunctionFile {
    text: String,
    functions: Vec<Function>,
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
        Self { system, files: HashMap::new() }
    }

    /// Returns whether the call in this line of a file, with this template, is in a function.
    pub(crate) fn find(
        &mut self,
        name: &str,
        file: &str,
        line: u32,
        template: &str,
    ) -> FunctionOfCall {
        let system = self.system;
        let source = self.files.entry(file.to_owned()).or_insert_with(|| read(file, system));
        let Some(source) = source else { return FunctionOfCall::NoSource };
        if !has_text(&source.text, line, template) {
            return FunctionOfCall::OtherText;
        }
        let around = source.functions.iter().filter(|function| {
            function.is_named(name) && (function.lines.0..=function.lines.1).contains(&line)
        });
        let innermost = around.min_by_key(|function| function.lines.1 - function.lines.0);
        innermost.map_or(FunctionOfCall::NotIn, |function| {
            FunctionOfCall::In(function.lines.0, function.lines.1)
        })
    }
}

/// Reads a source that a program names.
fn read(file: &str, system: &dyn System) -> Option<FunctionFile> {
    let path = Path::new(file);
    let functions = match path.extension()?.to_str()? {
        "rs" => rust_functions,
        "java" => java_functions,
        _ => return None,
    };
    let found = ROOTS
        .iter()
        .map(|root| Path::new(root).join(path))
        .find(|path| system.has_file_below(Path::new("."), path));
    let bytes = system.read_found(&found?, MOST).ok()?;
    let functions = functions(&bytes);
    Some(FunctionFile { text: String::from_utf8_lossy(&bytes).into_owned(), functions })
}

/// Returns whether the longest word of a template is in the lines of its call; true for a template
/// without words.
fn has_text(text: &str, line: u32, template: &str) -> bool {
    let pieces = Template::parse(template).map(|template| {
        let texts = template.pieces().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text),
            _ => None,
        });
        texts.collect::<Vec<_>>()
    });
    let pieces = pieces.unwrap_or_else(|_| vec![template]);
    let words = pieces.iter().flat_map(|text| text.split(|char: char| !char.is_alphanumeric()));
    let longest = words.max_by_key(|word| word.len()).unwrap_or_default();
    let first = (line as usize).saturating_sub(1);
    text.lines().skip(first).take(LINES).any(|line| line.contains(longest))
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
}
