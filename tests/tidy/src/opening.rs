//! Every source file opens with a doc: what it is, why, its invariants.

use super::{File, Finding, extension, is_data};

/// One finding where the opening is missing.
pub(super) fn check(file: &File) -> Vec<Finding> {
    if is_data(file.path) {
        return Vec::new();
    }
    let opens = match extension(file.path) {
        "rs" => opening_line(file.text, &["#!["]).starts_with("//!"),
        "py" => opening_line(file.text, &["#"]).starts_with("\"\"\""),
        "mjs" | "js" | "c" | "cc" | "h" => opening_line(file.text, &["#!"]).starts_with('/'),
        "java" => java_type_has_doc(file.text),
        "sh" => second_line_is_comment(file.text),
        _ if file.text.starts_with("#!/bin/sh") => second_line_is_comment(file.text),
        _ => true,
    };
    if opens {
        return Vec::new();
    }
    vec![Finding {
        line: 1,
        what: "does not open with a doc; say what the file is, why, and what always holds"
            .to_owned(),
    }]
}

/// The first line that is neither blank nor starts with one of `skip`.
fn opening_line<'a>(text: &'a str, skip: &[&str]) -> &'a str {
    let lines = text.lines().map(str::trim_start);
    lines
        .into_iter()
        .find(|line| !line.is_empty() && !skip.iter().any(|prefix| line.starts_with(prefix)))
        .unwrap_or_default()
}

/// Java's docs stand before the type, after package and imports.
fn java_type_has_doc(text: &str) -> bool {
    let body = text.find('{').or_else(|| text.rfind("package ")).unwrap_or(text.len());
    text[..body].contains("/**")
}

fn second_line_is_comment(text: &str) -> bool {
    text.lines().nth(1).is_some_and(|line| line.starts_with("# "))
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::check;

    #[track_caller]
    fn accepts(path: &str, text: &str) {
        assert_eq!(found(check, path, text), [""; 0]);
    }

    #[track_caller]
    fn refuses(path: &str, text: &str) {
        assert_eq!(found(check, path, text).len(), 1, "{text}");
    }

    #[test]
    fn rust_opens_with_a_module_doc() {
        accepts("a/src/lib.rs", "#![no_std]\n\n//! The thing.\n");
        refuses("a/src/lib.rs", "// The thing.\n");
        refuses("a/src/lib.rs", "");
        accepts("a/testdata/x.rs", "fn main() {}\n");
    }

    #[test]
    fn java_documents_the_type() {
        accepts("java/A.java", "package a;\n\n/** The thing. */\nclass A {}\n");
        accepts("java/package-info.java", "/** The thing. */\npackage a;\n");
        refuses("java/A.java", "package a;\n\nclass A {\n  /** A method. */ void f() {}\n}\n");
    }

    #[test]
    fn scripts_say_what_they_are() {
        accepts("a.py", "#!/usr/bin/env python3\n\"\"\"The thing.\"\"\"\n");
        refuses("a.py", "import sys\n");
        accepts("a.mjs", "#!/usr/bin/env node\n// The thing.\n");
        refuses("a.mjs", "import fs from 'node:fs';\n");
        accepts(".ci/run", "#!/bin/sh\n# The thing.\n");
        refuses(".ci/run", "#!/bin/sh\nset -e\n");
    }
}
