//! Every error message of the macros is in one of the expected outputs in `ui/`.
//!
//! The test extracts the messages from the sources, so a new one without a case fails here.

use std::fs;
use std::path::Path;

/// The sources of messages, and the words that precede one: without words every literal of the file
/// is one.
const SOURCES: [(&str, &[&str]); 8] = [
    ("protolog-macros/src", &[]),
    ("protolog-core/src/template_error.rs", &["-> &'static str"]),
    ("protolog-rt/src/value.rs", &["on_unimplemented("]),
    ("protolog-rt/src/level/group.rs", &["on_unimplemented("]),
    ("protolog-rt/src/macros.rs", &["compile_error!"]),
    ("protolog-rt/src/rewritten.rs", &["compile_error!"]),
    ("protolog-rt/src/note.rs", &["assert!(", "panic!("]),
    ("protolog-rt/src/names.rs", &["panic!("]),
];

/// Messages that no case in `ui/` can show, and the test that does.
const ELSEWHERE: [(&str, &str); 2] = [
    ("this log call was not rewritten, and ", "tests/user_crates.rs"),
    ("a text of a log call is longer than 65,535 bytes", "src/note/tests.rs"),
];

/// Messages that no program can cause, since the macros pass correct values.
const UNREACHABLE: [&str; 2] = ["N must be the note's size", "a group's name is UTF-8"];

#[test]
fn every_error_message_has_a_case() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut shown = String::new();
    for entry in fs::read_dir(package.join("tests/ui")).expect("list the cases") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "stderr") {
            shown.push_str(&fs::read_to_string(path).expect("read a case"));
        }
    }
    let mut count = 0;
    let mut missing = Vec::new();
    for (source, marks) in SOURCES {
        let before = count;
        for text in messages(&package.join("..").join(source), marks) {
            count += 1;
            let other = ELSEWHERE.iter().find(|(start, _)| text.starts_with(start));
            if let Some((start, test)) = other {
                let test = fs::read_to_string(package.join(test)).expect("read the test");
                assert!(test.contains(start.trim_end()), "`{start}` is in no test");
            } else if !UNREACHABLE.contains(&text.as_str()) && !is_shown(&text, &shown) {
                missing.push(text);
            }
        }
        assert!(count > before, "no message is found in `{source}`");
    }
    assert!(missing.is_empty(), "no case in `tests/ui` shows: {missing:#?}");
    assert!(count > 70, "only {count} messages are found");
}

#[test]
fn an_error_message_without_a_case_is_found() {
    let shown = "error: no argument for `%d` at column 1 of the template\n       help: add it: the call has 2\n";
    assert!(is_shown("no argument for `{}` at {}\nhelp: add it: the call has {count}", shown));
    assert!(!is_shown("no conversion for the argument `{extra}`", shown));
    assert!(!is_shown("at {} for `{}`", shown), "in another order");
    let source = "// \"in a comment\"\nassert!(x, \"in {} \\\"quotes\\\"\"); let a = ['\"', 'r']; f(\"an other\");\n#[cfg(test)]\n\"in tests\"";
    assert_eq!(literals(source), ["in {} \"quotes\"", "an other"]);
}

/// The messages in a file or in all files below a directory.
fn messages(path: &Path, marks: &[&str]) -> Vec<String> {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("list the sources");
        return entries
            .flat_map(|entry| messages(&entry.expect("an entry").path(), marks))
            .collect();
    }
    let source = fs::read_to_string(path).expect("read a source");
    let parts: Vec<&str> = if marks.is_empty() {
        vec![&source]
    } else {
        let starts = marks.iter().flat_map(|mark| source.match_indices(mark));
        starts.map(|(at, _)| bracketed(&source[at..])).collect()
    };
    // A message has several words.
    parts.into_iter().flat_map(literals).filter(|text| text.trim().contains(' ')).collect()
}

/// The part of `source` up to the end of its first brackets.
fn bracketed(source: &str) -> &str {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (at, char) in source.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' | '{' if !quoted => depth += 1,
            ')' | '}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return &source[..at];
                }
            }
            _ => {}
        }
    }
    source
}

/// The string literals in code, without those in tests.
fn literals(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut literals = Vec::new();
    for line in code.lines() {
        let mut rest = line;
        while let Some(at) = rest.find(['"', '/']) {
            let (before, from) = rest.split_at(at);
            if from.starts_with("//") {
                break;
            }
            rest = &from[1..];
            if from.starts_with('/') || before.ends_with('\'') {
                continue;
            }
            let (mut text, mut chars) = (String::new(), rest.char_indices());
            while let Some((at, char)) = chars.next() {
                match char {
                    '"' => {
                        rest = &rest[at + 1..];
                        break;
                    }
                    '\\' => match chars.next() {
                        Some((_, 'n')) => text.push('\n'),
                        Some((_, other)) => text.push(other),
                        None => {}
                    },
                    other => text.push(other),
                }
            }
            literals.push(text);
        }
    }
    literals
}

/// True if each line of `text` is part of a line of `shown`, with anything in place of `{…}`.
fn is_shown(text: &str, shown: &str) -> bool {
    text.lines().all(|wanted| {
        let fixed = fixed_parts(wanted);
        shown.lines().any(|line| {
            let mut rest = line;
            fixed.iter().all(|bracketed| match rest.find(bracketed.as_str()) {
                Some(at) => {
                    rest = &rest[at + bracketed.len()..];
                    true
                }
                None => false,
            })
        })
    })
}

/// The parts of a format string around its `{…}`; double braces are unescaped.
fn fixed_parts(text: &str) -> Vec<String> {
    let (mut parts, mut chars) = (vec![String::new()], text.chars().peekable());
    while let Some(char) = chars.next() {
        let doubled = matches!(char, '{' | '}') && chars.next_if_eq(&char).is_some();
        if char == '{' && !doubled {
            chars.by_ref().find(|char| *char == '}');
            parts.push(String::new());
        } else if let Some(bracketed) = parts.last_mut() {
            bracketed.push(char);
        }
    }
    parts
}
