//! Packages of the Java runtime use those that the table of docs/design/java.md says, no others.
//!
//! Three of them use each other and are one layer, since a call finds its group, the sessions that
//! record it, and their writers: `session`, `write` and `groups`, with the messages of groups in
//! `dictionary`. All others are below or above these.

use super::{File, Finding};

/// The packages in `internal`, from the top, each with those that it may use.
const LAYERS: [(&str, &str); 10] = [
    ("control", "session write groups dictionary files text process proto"),
    ("perfetto", "session write groups dictionary files text process proto"),
    ("session", "write groups dictionary files text process proto"),
    ("write", "session groups dictionary text process proto"),
    ("groups", "session dictionary files text process proto"),
    ("dictionary", "groups text process proto"),
    ("files", "process"),
    ("text", "process proto"),
    ("process", "proto"),
    ("proto", ""),
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
        let what = format!("`{own}` uses `{used}`, which is not below it; move what is used");
        Some(Finding { line: index + 1, what })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::check;

    #[test]
    fn a_package_uses_what_is_below_it() {
        let text = "package dev.protolog.internal.text;\n\nimport dev.protolog.internal.proto.Utf8;\n\
                    import dev.protolog.internal.ApiAccess;\nimport dev.protolog.internal.session.Sessions;\n\
                    /** As {@link dev.protolog.internal.write.Call}. */\nclass A {\n\
                    void a(dev.protolog.internal.proto.Utf8 a, dev.protolog.internal.write.Call b) {}\n}\n";
        assert_eq!(
            found(check, "java/src/dev/protolog/internal/text/A.java", text),
            [
                ":5: `text` uses `session`, which is not below it; move what is used",
                ":8: `text` uses `write`, which is not below it; move what is used"
            ]
        );
        assert_eq!(found(check, "java/test/dev/protolog/internal/text/A.java", text), [""; 0]);
        assert_eq!(found(check, "java/src/dev/protolog/internal/new/A.java", text).len(), 1);
    }
}
