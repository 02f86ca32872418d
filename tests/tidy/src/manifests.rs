//! Rules on `Cargo.toml`: an exception in a lint table has a reason, and each package takes part in
//! the table.

use super::{File, Finding};

/// One finding per exception without reason, one for a package outside the table.
pub(super) fn check(file: &File) -> Vec<Finding> {
    if file.path != "Cargo.toml" && !file.path.ends_with("/Cargo.toml") {
        return Vec::new();
    }
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let mut findings = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if is_exception(line) && !line.contains('#') && !comment_above(&lines[..index]) {
            let what = "a lint is allowed without a reason; add a comment above".to_owned();
            findings.push(Finding { line: index + 1, what });
        }
    }
    let inherits = lines.windows(2).any(|pair| pair == ["[lints]", "workspace = true"]);
    if lines.contains(&"[package]") && !inherits && !lines.contains(&"[workspace]") {
        let what =
            "the package has lints of its own; add `[lints]` with `workspace = true`".to_owned();
        findings.push(Finding { line: 0, what });
    }
    findings
}

fn is_exception(line: &str) -> bool {
    line.contains("= \"allow\"")
}

/// One comment may stand for the exceptions that follow it.
fn comment_above(lines: &[&str]) -> bool {
    lines.iter().rev().find(|line| !is_exception(line)).is_some_and(|line| line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::check;

    #[test]
    fn exceptions_have_reasons() {
        let good = "[workspace.lints.clippy]\n# Casts are checked by hand.\na = \"allow\"\nb = \"allow\"\n";
        assert_eq!(found(check, "Cargo.toml", good), [""; 0]);
        let bad = "[workspace.lints.clippy]\nc = \"warn\"\na = \"allow\"\n";
        assert_eq!(
            found(check, "Cargo.toml", bad),
            [":3: a lint is allowed without a reason; add a comment above"]
        );
    }

    #[test]
    fn packages_inherit_the_table() {
        assert_eq!(found(check, "a/Cargo.toml", "[package]\n[lints]\nworkspace = true\n"), [""; 0]);
        assert_eq!(found(check, "a/Cargo.toml", "[package]\n").len(), 1);
        // A package that is a workspace of its own can't inherit.
        assert_eq!(found(check, "fuzz/Cargo.toml", "[package]\n[workspace]\n"), [""; 0]);
    }
}
