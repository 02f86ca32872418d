//! Paths that no file may hold: those of one machine.
//!
//! They are put together here, lest this file break its own rule.

use super::{File, Finding};

/// Starts of paths that exist on one machine only, and of paths out of the project.
const PATHS: [&str; 5] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/t", "mp/"),
    concat!("../sh", "ared"),
];

/// Perfetto's own sockets stand where Perfetto puts them, and Homebrew is in one place on each
/// machine. `me` is anybody.
const EXCEPTIONS: [&str; 3] =
    [concat!("/t", "mp/perfetto-"), concat!("/ho", "me/linuxbrew"), concat!("/ho", "me/me/")];

/// One finding per line.
pub(super) fn check(file: &File) -> Vec<Finding> {
    let lines = file.text.lines().enumerate();
    let found = lines.filter_map(|(index, line)| {
        let path = PATHS.iter().find(|path| has_path(line, path))?;
        let what = format!("a path below `{path}` is of one machine; name one that everybody has");
        Some(Finding { line: index + 1, what })
    });
    found.collect()
}

/// A path starts where no longer path is under way: a folder of that name in a URL is none of this
/// machine.
fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let within = before.is_some_and(|c| c.is_alphanumeric() || "_/.-}$".contains(c));
        !within && !EXCEPTIONS.iter().any(|exception| line[at..].starts_with(exception))
    })
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::{EXCEPTIONS, PATHS, check};

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
