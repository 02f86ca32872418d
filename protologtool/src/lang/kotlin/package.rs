//! The package of a file, without looking at the rest of it: of most files nothing else is needed.

/// The package that the header names. It ends with its line or with `;`; comments and annotations
/// of the file may stand before it.
pub(crate) fn package(text: &str) -> Option<String> {
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
