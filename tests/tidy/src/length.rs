//! Files have at most 500 lines without the tests in them, Rust functions at most 70; comments are
//! as wide as code.

use super::parsed::Function;
use super::{File, Finding, extension, is_data};

const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 70;
const COMMENT_COLUMNS: usize = 100;

/// One finding for the file, one per function.
pub(super) fn check(file: &File) -> Vec<Finding> {
    if is_data(file.path)
        || !["rs", "java", "py", "mjs", "js", "sh", "c", "cc", "h"].contains(&extension(file.path))
    {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let tests: usize = file.code.tests.iter().map(|lines| lines.clone().count()).sum();
    let lines = file.text.lines().count() - tests;
    if lines > FILE_LINES {
        let what = format!("{lines} lines without tests, the ceiling is {FILE_LINES}; split it");
        findings.push(Finding { line: 0, what });
    }
    for Function { name, lines } in &file.code.functions {
        let count = lines.clone().count();
        if count > FUNCTION_LINES {
            let what = format!(
                "function `{name}` has {count} lines, the ceiling is {FUNCTION_LINES}; split it"
            );
            findings.push(Finding { line: *lines.start(), what });
        }
    }
    findings.extend(wide_comments(file));
    findings
}

/// One finding for each line of prose that is too wide. Tables and lines in a fence are none.
fn wide_comments(file: &File) -> Vec<Finding> {
    let (mut found, mut is_fenced, mut is_in_block) = (Vec::new(), false, false);
    for (index, line) in file.text.lines().enumerate() {
        let text = line.trim_start();
        let begins_block = text.starts_with("/*");
        if !text.starts_with("//") && !begins_block && !is_in_block {
            is_fenced = false;
            continue;
        }
        is_in_block = (is_in_block || begins_block) && !text.contains("*/");
        let comment = text.trim_start_matches(['/', '!', '*']).trim_start();
        is_fenced ^= comment.starts_with("```");
        let columns = line.chars().count();
        if columns > COMMENT_COLUMNS && !is_fenced && !comment.starts_with('|') {
            let what = format!(
                "a comment of {columns} columns, the ceiling is {COMMENT_COLUMNS}; wrap it"
            );
            found.push(Finding { line: index + 1, what });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::check;

    #[test]
    fn counts_lines_of_files_without_their_tests() {
        let long = "//! x\n".repeat(501);
        assert_eq!(
            found(check, "a/src/b.rs", &long),
            [": 501 lines without tests, the ceiling is 500; split it"]
        );
        assert_eq!(found(check, "a/tests/b.rs", &long).len(), 1, "a file of tests has parts, too");
        let tested = format!(
            "{}#[cfg(test)]\nmod tests {{\n{}}}\n",
            "//! x\n".repeat(500),
            "// y\n".repeat(50)
        );
        assert_eq!(found(check, "a/src/b.rs", &tested), [""; 0]);
        let outside = "//! x\n".repeat(500) + "#[cfg(test)]\nmod tests;\n";
        assert_eq!(
            found(check, "a/src/b.rs", &outside),
            [": 502 lines without tests, the ceiling is 500; split it"]
        );
    }

    #[test]
    fn comments_are_as_wide_as_code() {
        let wide = "x ".repeat(50);
        let text = format!(
            "//! x\n//! ```\n//! {wide}\n//! ```\n//! | {wide}\nfn f() {{}} // {wide}\n/// {wide}\n"
        );
        let expected = [":7: a comment of 104 columns, the ceiling is 100; wrap it"];
        assert_eq!(found(check, "xtask/src/b.rs", &text), expected);
        let text =
            format!("/** {wide} */\nint x = y\n    * z; /* {wide} */\n/**\n * {wide}\n */\n");
        assert_eq!(found(check, "java/B.java", &text).len(), 2);
    }

    #[test]
    fn counts_lines_of_functions() {
        let function = |lines: usize| {
            format!(
                "trait T {{ fn g(&self, x: [u8; 4]); }}\nfn f(x: [u8; 4]) {{\n{}}}\n",
                "    x(\"{\");\n".repeat(lines - 2)
            )
        };
        assert_eq!(found(check, "a/src/b.rs", &function(70)), [""; 0]);
        assert_eq!(
            found(check, "a/src/b.rs", &function(71)),
            [":2: function `f` has 71 lines, the ceiling is 70; split it"]
        );
    }
}
