//! A package of the Java runtime uses those of layers below its own, no others, so that no packages
//! use each other in a circle.
//!
//! Imports and names in code count, in comments they don't. The table of docs/design/java.md is
//! this one.

use super::{File, Finding};

/// The packages in `internal`, from the bottom to the top, each with those that it may use; they
/// stand above it here.
///
/// Exempt are `dev.protolog`, the API, which uses all of them, and whose values, such as
/// `LogLevel`, all of them use; and `internal.ApiAccess`, by which they reach members of the API
/// that programs don't see.
const LAYERS: [(&str, &str); 11] = [
    ("proto", ""),
    ("process", "proto"),
    ("text", "process proto"),
    ("files", "process"),
    ("groups", "files text process proto"),
    ("dictionary", "groups text process proto"),
    ("rules", "dictionary groups text process proto"),
    // Calls and their writers, which know a session as a class of their own, `WriterOwner`.
    ("write", "rules dictionary groups text process proto"),
    ("session", "write rules dictionary groups files text process proto"),
    ("perfetto", "session write groups files text process proto"),
    ("control", "session write rules dictionary groups files text process proto"),
];

const FOLDER: &str = "java/src/dev/protolog/internal/";
const PACKAGE: &str = "dev.protolog.internal.";

/// One finding for each line that names a package that this one may not use.
pub(super) fn check(file: &File) -> Vec<Finding> {
    let own = file.path.strip_prefix(FOLDER).and_then(|path| path.split_once('/'));
    let Some((own, _)) = own else { return Vec::new() };
    let Some((_, allowed)) = LAYERS.iter().find(|(package, _)| *package == own) else {
        let what = format!("the package `{own}` has no layer; give it one in {}", file!());
        return vec![Finding { line: 0, what }];
    };
    let lines = file.text.lines().enumerate();
    let code = lines.filter(|(_, line)| !line.trim_start().starts_with(['*', '/']));
    let found = code.filter_map(|(index, line)| {
        let mut used = line.split(PACKAGE).skip(1).filter_map(|it| it.split(['.', ';']).next());
        let used = used.find(|used| {
            let is_package = used.starts_with(|c: char| c.is_ascii_lowercase());
            is_package && *used != own && allowed.split(' ').all(|it| it != *used)
        })?;
        let what = format!(
            "`{own}` uses `{used}`, which is not below it; move the class down, or hand it in from above"
        );
        Some(Finding { line: index + 1, what })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::{FOLDER, LAYERS, PACKAGE, check};
    use std::fs::DirEntry;
    use xtask::workspace;

    #[track_caller]
    fn refused(own: &str, used: &str, line: usize) -> String {
        format!(
            ":{line}: `{own}` uses `{used}`, which is not below it; move the class down, or hand it in from above"
        )
    }

    #[test]
    fn a_package_uses_what_is_below_it() {
        let text = "package dev.protolog.internal.text;\n\nimport dev.protolog.internal.proto.Utf8;\n\
                    import dev.protolog.internal.ApiAccess;\nimport dev.protolog.internal.session.Sessions;\n\
                    /** As {@link dev.protolog.internal.write.Call}. */\nclass A {\n\
                    void a(dev.protolog.internal.proto.Utf8 a, dev.protolog.internal.write.Call b) {}\n}\n";
        assert_eq!(
            found(check, "java/src/dev/protolog/internal/text/A.java", text),
            [refused("text", "session", 5), refused("text", "write", 8)]
        );
        assert_eq!(found(check, "java/test/dev/protolog/internal/text/A.java", text), [""; 0]);
        assert_eq!(found(check, "java/src/dev/protolog/internal/new/A.java", text).len(), 1);
    }

    #[test]
    fn calls_groups_and_sessions_use_each_other_one_way() {
        let circles = [
            ("write", "session"),
            ("groups", "session"),
            ("groups", "write"),
            ("groups", "dictionary"),
            ("dictionary", "write"),
        ];
        for (low, high) in circles {
            let found = |own: &str, used: &str| {
                let path = format!("java/src/dev/protolog/internal/{own}/A.java");
                found(check, &path, &format!("import static dev.protolog.internal.{used}.B.b;\n"))
            };
            assert_eq!(found(low, high), [refused(low, high, 1)]);
            assert_eq!(found(high, low), [""; 0]);
        }
    }

    #[test]
    fn the_table_lists_what_is_used() {
        for (package, used) in LAYERS {
            let folder = workspace::root().join(FOLDER).join(package);
            let files = std::fs::read_dir(folder).expect("a package");
            let text = |file: DirEntry| std::fs::read_to_string(file.path()).expect("a source");
            let code: String = files.map(|file| text(file.expect("a file"))).collect();
            for used in used.split_terminator(' ') {
                let is_used = code.contains(&format!("{PACKAGE}{used}."));
                assert!(is_used, "`{package}` does not use `{used}`; take it from the table");
            }
        }
    }

    #[test]
    fn the_table_has_no_circle() {
        for (index, (package, used)) in LAYERS.iter().enumerate() {
            for used in used.split_terminator(' ') {
                let is_below = LAYERS[..index].iter().any(|(lower, _)| *lower == used);
                assert!(is_below, "`{package}` may use `{used}`, which is not below it");
            }
        }
    }

    #[test]
    fn the_documents_have_the_table() {
        let document = workspace::root().join("docs/design/java.md");
        let document = std::fs::read_to_string(document).expect("the page");
        let rows = document.lines().filter_map(|line| line.strip_prefix("| `internal."));
        let rows: Vec<(String, Vec<&str>)> = rows
            .map(|row| {
                let cells: Vec<&str> = row.split('|').collect();
                let package = cells[0].trim().trim_end_matches('`').to_owned();
                (package, cells[2].split('`').skip(1).step_by(2).collect())
            })
            .collect();
        let table = LAYERS.iter().rev();
        let table: Vec<(String, Vec<&str>)> = table
            .map(|(package, used)| ((*package).to_owned(), used.split_terminator(' ').collect()))
            .collect();
        assert_eq!(rows, table);
    }
}
