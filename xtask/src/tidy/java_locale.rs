//! Java sources format numbers and change case by a locale that they name.
//!
//! Without one it is that of the JVM: in some the digits are others, so that the names of files are not those that the next run looks for.

use super::{File, Finding, extension};

/// Calls that take a locale first.
const FORMAT: [&str; 3] = ["String.format(", ".printf(", "new Formatter("];
/// Calls that have a form without locale only, or take one alone.
const FORBIDDEN: [&str; 3] = [".formatted(", ".toUpperCase()", ".toLowerCase()"];
const LOCALE: &str = "Locale.";

/// One finding per line.
pub(super) fn check(file: &File) -> Vec<Finding> {
    if !is_runtime(file.path) {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate().filter(|(_, line)| !is_comment(line));
    let found = lines.filter_map(|(index, line)| {
        let formats =
            |word: &&&str| line.split(**word).skip(1).any(|rest| !rest.starts_with(LOCALE));
        let word = FORMAT.iter().find(formats);
        let word = word.or_else(|| FORBIDDEN.iter().find(|word| line.contains(**word)))?;
        let what = format!("`{word}` uses the locale of the JVM; name Locale.ROOT");
        Some(Finding { line: index + 1, what })
    });
    found.collect()
}

/// True for what programs run, and not for tests.
fn is_runtime(path: &str) -> bool {
    let of_bridge = || path.starts_with("java/bridges/") && path.contains("/src/");
    extension(path) == "java" && (path.starts_with("java/src/") || of_bridge())
}

fn is_comment(line: &str) -> bool {
    ["*", "/*", "//"].iter().any(|mark| line.trim_start().starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::check;

    #[test]
    fn a_call_names_its_locale() {
        let text = "name = String.format(\"%04d\", n);\nname = String.format(Locale.ROOT, \"%04d\", n);\n\
                    // String.format(\"%d\", n)\nword = word.toLowerCase();\n";
        let expected = [
            ":1: `String.format(` uses the locale of the JVM; name Locale.ROOT",
            ":4: `.toLowerCase()` uses the locale of the JVM; name Locale.ROOT",
        ];
        for path in ["java/src/dev/protolog/A.java", "java/bridges/jul/src/A.java"] {
            assert_eq!(found(check, path, text), expected);
        }
        for path in ["java/test/A.java", "a.md"] {
            assert_eq!(found(check, path, text), [""; 0], "{path}");
        }
    }
}
