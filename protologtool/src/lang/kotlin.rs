//! Kotlin: sources are copied as they are, since calls in them are interned when the program runs.
//!
//! A source that names the class of the calls gets a note. Its package says where it belongs, if its path does not.

use super::java::Java;
use super::{Found, Inputs, Language, Message};
use crate::call::Call;
use crate::diagnostic::{Code, Diagnostic};
use crate::groups::Groups;
use crate::rewrite::PlanBuilder;
use crate::source::Source;
use std::convert::Infallible;
use std::path::Path;

/// Kotlin, with the class that calls in Java name.
#[derive(Clone, Copy, Debug)]
pub struct Kotlin<'a> {
    /// Knows the class's name.
    pub java: &'a Java,
}

impl Language for Kotlin<'_> {
    type Shape = Infallible;

    fn may_call(&self, bytes: &[u8]) -> bool {
        self.java.mention(bytes).is_some()
    }

    fn place(&self, path: &Path, bytes: &[u8]) -> String {
        place(path, bytes)
    }

    fn find(&self, source: &Source, _: &Groups, _: Option<&Inputs<'_>>) -> Found<Infallible> {
        let message = "Kotlin is copied unchanged: its messages are interned when the program runs";
        let mention = self.java.mention(source.bytes());
        let note = mention.map(|range| Diagnostic::note(Code::NotRewritten, range, message));
        Found { diagnostics: note.into_iter().collect(), ..Found::default() }
    }

    fn emit(&self, _: &Source, call: &Call<Infallible>, _: &Message<'_>, _: &mut PlanBuilder) {
        match call.shape {}
    }

    fn max_arguments(&self) -> usize {
        0
    }
}

/// Package path and file name: `com/foo/Bar.kt`.
fn place(path: &Path, bytes: &[u8]) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match package(&String::from_utf8_lossy(bytes)) {
        Some(package) => format!("{}/{name}", package.replace('.', "/")),
        None => name,
    }
}

/// The package that the header names. It ends with its line or with `;`; comments and annotations of the file may stand
/// before it.
fn package(text: &str) -> Option<String> {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = &comment[end_of_comment(comment)..];
        } else if rest.starts_with("//") || rest.starts_with('@') || rest.starts_with("#!") {
            rest = rest.split_once(['\n', '\r'])?.1;
        } else {
            break;
        }
    }
    let header = rest.strip_prefix("package")?.strip_prefix([' ', '\t'])?;
    let line = header.split(['\n', '\r', ';']).next()?;
    let line = line.split("//").next()?.split("/*").next()?;
    let parts: Vec<&str> = line.split('.').map(|part| part.trim().trim_matches('`')).collect();
    let is_name = |part: &&str| {
        !part.is_empty() && part.chars().all(|char| char.is_alphanumeric() || char == '_')
    };
    parts.iter().all(is_name).then(|| parts.join("."))
}

/// The offset after the comment whose start was taken off; comments nest.
fn end_of_comment(text: &str) -> usize {
    let (mut depth, mut at) = (1, 0);
    while depth > 0 {
        let Some(next) = text[at..].find(['*', '/']) else { return text.len() };
        at += next;
        let step = match text.get(at..at + 2) {
            Some("*/") => -1,
            Some("/*") => 1,
            _ => 0,
        };
        depth += step;
        at += if step == 0 { 1 } else { 2 };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages() {
        for (text, expected) in [
            ("package com.foo\nclass A", Some("com.foo")),
            ("package com.foo; class A", Some("com.foo")),
            ("\u{feff}package com . `in`.x // y\r\n", Some("com.in.x")),
            ("/* a /* b */ package no */ // c\n@file:JvmName(\"X\")\n\npackage a\n", Some("a")),
            ("class A", None),
            ("packages.x", None),
            ("package", None),
            ("/* never closed /é", None),
            ("package a..b", None),
            ("package ../x", None),
        ] {
            assert_eq!(package(text).as_deref(), expected, "{text}");
        }
    }
}
