//! Words that no file may hold: marks of unfinished work without an issue's number, paths of one machine.
//!
//! The words are put together here, lest this file break its own rule.

use super::mask::is_word;
use super::{File, Finding};

const MARKS: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];

/// Starts of paths that exist on one machine only, and of paths out of the project.
const PATHS: [&str; 5] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/t", "mp/"),
    concat!("../sh", "ared"),
];

/// Perfetto's own sockets stand where Perfetto puts them, and Homebrew is in one place on each machine. `me` is anybody.
const EXCEPTIONS: [&str; 3] =
    [concat!("/t", "mp/perfetto-"), concat!("/ho", "me/linuxbrew/"), concat!("/ho", "me/me/")];

/// One finding per line and word.
pub(super) fn check(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let mut add = |what: String| findings.push(Finding { line: index + 1, what });
        if let Some(mark) = MARKS.iter().find(|mark| has_mark(line, mark)) {
            add(format!(
                "`{mark}` marks unfinished work; finish it, or name its issue: `{mark}(#12)`"
            ));
        }
        if let Some(path) = PATHS.iter().find(|path| has_path(line, path)) {
            add(format!(
                "a path below `{path}` is of one machine; name a place that everybody has"
            ));
        }
    }
    findings
}

fn has_mark(line: &str, mark: &str) -> bool {
    line.match_indices(mark).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = &line[at + mark.len()..];
        let is_part = before.is_some_and(is_word) || after.starts_with(is_word);
        !is_part && !has_number(after)
    })
}

/// Returns true if this begins with `(#12)`, whatever the number is.
fn has_number(text: &str) -> bool {
    let number = text.strip_prefix("(#").and_then(|rest| rest.split_once(')'));
    number.is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

/// A path starts where no longer path is under way: a folder of that name in a URL is none of this machine.
fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let within = before.is_some_and(|c| is_word(c) || "/.-}$".contains(c));
        !within && !EXCEPTIONS.iter().any(|exception| line[at..].starts_with(exception))
    })
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::{EXCEPTIONS, MARKS, PATHS, check};

    #[test]
    fn refuses_marks() {
        for mark in MARKS {
            let expected = [format!(
                ":2: `{mark}` marks unfinished work; finish it, or name its issue: `{mark}(#12)`"
            )];
            assert_eq!(found(check, "a.md", &format!("x\n// {mark}: y\n")), expected);
            assert_eq!(found(check, "a.rs", &format!("// {mark}(#12): y\n")), [""; 0]);
            assert_eq!(found(check, "a.rs", &format!("// {mark}(me): y\n")).len(), 1);
            assert_eq!(
                found(check, "a.md", &format!("A{mark}B and {}\n", mark.to_lowercase())),
                [""; 0]
            );
        }
    }

    #[test]
    fn refuses_paths_of_one_machine() {
        for path in PATHS {
            assert_eq!(found(check, "a.md", &format!("see {path}x\n")).len(), 1, "{path}");
        }
        assert_eq!(found(check, "a.md", &format!("https://example.com{}x\n", PATHS[0])), [""; 0]);
        for exception in EXCEPTIONS {
            assert_eq!(found(check, "a.md", &format!("see {exception}x\n")), [""; 0]);
        }
    }
}
