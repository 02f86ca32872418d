//! Words that no file may hold: marks of unfinished work, paths of one machine.
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

/// Perfetto's own sockets stand where Perfetto puts them.
const EXCEPTION: &str = concat!("/t", "mp/perfetto-");

/// One finding per line and word.
pub(super) fn check(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let mut add = |what: String| findings.push(Finding { line: index + 1, what });
        if let Some(mark) = MARKS.iter().find(|mark| has_mark(line, mark)) {
            add(format!("`{mark}` marks unfinished work; finish it or leave it out"));
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
        let after = line[at + mark.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// A path starts where no longer path is under way: a folder of that name in a URL is none of this machine.
fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let within = before.is_some_and(|c| is_word(c) || "/.-}$".contains(c));
        !within && !line[at..].starts_with(EXCEPTION)
    })
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::{EXCEPTION, MARKS, PATHS, check};

    #[test]
    fn refuses_marks() {
        for mark in MARKS {
            let expected =
                [format!(":2: `{mark}` marks unfinished work; finish it or leave it out")];
            assert_eq!(found(check, "a.md", &format!("x\n// {mark}: y\n")), expected);
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
        assert_eq!(found(check, "a.md", &format!("the socket {EXCEPTION}producer\n")), [""; 0]);
    }
}
