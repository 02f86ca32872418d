//! Rules on Rust code: where `unsafe` may be, that an `allow` has its reason, that no test is
//! ignored.

use super::parsed::is_word;
use super::{File, Finding, is_data};

/// The files (or folders) whose work can't be done without unsafe code. A file that is not here
/// gets none.
const UNSAFE: [&str; 15] = [
    "protolog-rt/src/sys/",
    "protolog-shmem/",
    // Functions that C calls.
    "protolog-c/src/",
    "protolog-rt/src/writer.rs",
    "protolog-rt/src/writer/",
    "protolog-rt/src/site.rs",
    "protolog-rt/src/note.rs",
    "protolog-rt/src/clock/counter.rs",
    "protolog-rt/src/level/page.rs",
    // Calls on directories by descriptor, and on sockets.
    "protolog-files/src/sys/",
    // The same switches, at the operator's end.
    "protolog-control/src/pages.rs",
    // A peer in another language.
    "bench/protozero/src/writers/cpp.rs",
    // The counter, and a prefetch.
    "bench/experiments/src/machine.rs",
    // A logger of defmt is an unsafe trait.
    "bench/defmt/src/output.rs",
    // An allocator that counts, signals, libraries that are loaded late.
    "protolog-rt/tests/",
];

/// One finding per place.
pub(super) fn check(file: &File) -> Vec<Finding> {
    if is_data(file.path) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    if let Some(problem) = &file.code.problem {
        findings.push(Finding { line: 0, what: format!("can't be parsed: {problem}") });
    }
    let source: Vec<&str> = file.text.lines().collect();
    for (index, code) in file.code.lines.iter().enumerate() {
        let mut add =
            |what: &str| findings.push(Finding { line: index + 1, what: what.to_owned() });
        if has_word(code, "unsafe") && !UNSAFE.iter().any(|place| file.path.starts_with(place)) {
            add("`unsafe` where none may be; move it to a file that ARCHITECTURE.md lists");
        }
        if ["#[allow(", "#![allow(", "#[expect(", "#![expect("]
            .iter()
            .any(|attribute| code.contains(attribute))
            && !has_reason(&source, index)
        {
            add("a lint is allowed without a reason; add `reason = \"…\"` or a comment above");
        }
        if code.contains("#[ignore") {
            add("a test is ignored; make it pass or delete it");
        }
    }
    findings
}

/// A reason stands in the attribute, beside it, or as a comment above it.
fn has_reason(source: &[&str], index: usize) -> bool {
    let attribute = source[index..]
        .iter()
        .take_while(|line| !line.contains(")]"))
        .chain(source[index..].iter().find(|line| line.contains(")]")));
    if attribute.clone().any(|line| line.contains("reason = ") || line.contains("// ")) {
        return true;
    }
    // Other attributes may stand between the comment and this one.
    let above = source[..index]
        .iter()
        .rev()
        .map(|line| line.trim_start())
        .find(|line| !line.starts_with("#["));
    above.is_some_and(|line| line.starts_with("// "))
}

/// Returns true if `code` has this word, and not only as a part of another.
pub(super) fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::check;

    #[test]
    fn unsafe_has_its_places() {
        let text = "//! x\n#![deny(unsafe_code)]\n// unsafe\nunsafe fn f() { g(\"unsafe\") }\n";
        assert_eq!(
            found(check, "protolog-rt/src/log.rs", text),
            [":4: `unsafe` where none may be; move it to a file that ARCHITECTURE.md lists"]
        );
        assert_eq!(found(check, "protolog-shmem/src/reader.rs", text), [""; 0]);
    }

    #[test]
    fn an_allow_has_its_reason() {
        let refused =
            [":1: a lint is allowed without a reason; add `reason = \"…\"` or a comment above"];
        assert_eq!(found(check, "a.rs", "#[allow(dead_code)]\nfn f() {}\n"), refused);
        assert_eq!(found(check, "a.rs", "#![expect(\n    dead_code,\n)]\n"), refused);
        for good in [
            "#[allow(dead_code, reason = \"the fork needs it\")]\n",
            "#[expect(\n    dead_code,\n    reason = \"the fork needs it\"\n)]\n",
            "#[allow(dead_code)] // the fork needs it\n",
            "// The fork needs it.\n#[inline]\n#[allow(dead_code)]\n",
        ] {
            assert_eq!(found(check, "a.rs", &format!("{good}fn f() {{}}\n")), [""; 0], "{good}");
        }
    }

    #[test]
    fn no_test_is_ignored() {
        let refused = [":2: a test is ignored; make it pass or delete it"];
        assert_eq!(found(check, "a.rs", "#[test]\n#[ignore = \"slow\"]\nfn f() {}\n"), refused);
        assert_eq!(found(check, "a.rs", "//! `#[ignore]` is refused.\n"), [""; 0]);
    }
}
