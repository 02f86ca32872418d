//! Files have at most 500 lines without the tests in them, Rust functions at most 70.

use super::mask::is_word;
use super::{File, Finding, extension, is_data};
use std::ops::Range;

const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 70;

/// One finding for the file, one per function.
pub(super) fn check(file: &File) -> Vec<Finding> {
    if is_data(file.path)
        || !["rs", "java", "py", "mjs", "js", "sh", "c", "cc", "h"].contains(&extension(file.path))
    {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let lines = file.text.lines().count() - test_lines(file);
    if lines > FILE_LINES {
        let what = format!("{lines} lines without tests, the ceiling is {FILE_LINES}; split it");
        findings.push(Finding { line: 0, what });
    }
    for Function { name, first, last } in functions(file.code) {
        let lines = last - first + 1;
        if lines > FUNCTION_LINES {
            let what = format!(
                "function `{name}` has {lines} lines, the ceiling is {FUNCTION_LINES}; split it"
            );
            findings.push(Finding { line: first, what });
        }
    }
    findings
}

/// Lines of the `#[cfg(test)] mod … { … }` blocks.
fn test_lines(file: &File) -> usize {
    let lines = |block: Range<usize>| file.code[block].matches('\n').count() + 1;
    test_blocks(file.code).into_iter().map(lines).sum()
}

/// The code with empty lines in place of the `#[cfg(test)] mod … { … }` blocks.
pub(super) fn without_tests(code: &str) -> String {
    let mut kept = code.to_owned();
    for block in test_blocks(code).into_iter().rev() {
        let lines = code[block.clone()].matches('\n').count();
        kept.replace_range(block, &"\n".repeat(lines));
    }
    kept
}

/// The `#[cfg(test)] mod … { … }` blocks, without the attribute.
fn test_blocks(code: &str) -> Vec<Range<usize>> {
    let (mut blocks, mut from) = (Vec::new(), 0);
    while let Some(at) = code[from..].find("#[cfg(test)]") {
        from += at + "#[cfg(test)]".len();
        let rest = &code[from..];
        if rest.trim_start().starts_with("mod ")
            && let (Some(open), semicolon) = (rest.find('{'), rest.find(';'))
            && semicolon.is_none_or(|semicolon| open < semicolon)
        {
            let close = from + open + closing_brace(&rest[open..]);
            blocks.push(from..close);
            from = close;
        }
    }
    blocks
}

struct Function<'a> {
    name: &'a str,
    /// Lines from 1, of `fn` and of the closing brace.
    first: usize,
    last: usize,
}

/// The functions with a body, nested ones too.
fn functions(code: &str) -> Vec<Function<'_>> {
    let mut functions = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if code[..at].chars().next_back().is_some_and(is_word) {
            continue;
        }
        let name = code[at + 3..].trim_start();
        let name = &name[..name.find(|c| !is_word(c)).unwrap_or(name.len())];
        // `fn(u8)` is a type; a declaration without body ends in a semicolon.
        let Some(open) = body(&code[at..]).filter(|_| !name.is_empty()) else {
            continue;
        };
        let line = |to: usize| code[..to].matches('\n').count() + 1;
        let close = at + open + closing_brace(&code[at + open..]);
        functions.push(Function { name, first: line(at), last: line(close) });
    }
    functions
}

/// Where the body of the function starts: its first brace, unless a semicolon outside brackets (`[u8; 4]`) comes before.
fn body(code: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            '{' if depth == 0 => return Some(at),
            ';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Where the brace that `code` starts with is closed; the end of an unbalanced text.
fn closing_brace(code: &str) -> usize {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    code.len()
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
