//! Doc comments begin with a noun phrase or a verb, not with a question word.

use super::{File, Finding, extension, is_data};

const STARTS: [&str; 5] = ["What", "Who", "Whose", "Whether", "How"];

/// One finding per doc comment.
pub(super) fn check(file: &File) -> Vec<Finding> {
    if extension(file.path) != "rs" || is_data(file.path) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut before = None;
    for (index, line) in file.text.lines().enumerate() {
        let doc = doc_of(line);
        if let (Some(text), None) = (doc, before)
            && let Some(start) = first_word(text).filter(|word| STARTS.contains(word))
        {
            let what = format!(
                "a doc comment begins with `{start}`; begin with a noun or with a verb in the third person"
            );
            findings.push(Finding { line: index + 1, what });
        }
        before = doc;
    }
    findings
}

/// The text of a line of documentation.
fn doc_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///")
        .filter(|rest| !rest.starts_with('/'))
        .or_else(|| line.strip_prefix("//!"))
}

fn first_word(text: &str) -> Option<&str> {
    text.trim_start().split(|c: char| !c.is_alphanumeric()).next()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::check;

    #[test]
    fn docs_begin_with_a_noun_or_a_verb() {
        let text = "//! The thing.\n\n/// Whether it is.\n/// What it does.\nfn f() {}\n    /// Returns it.\n    /// How: so.\n    // What is this?\n//// Who?\n";
        assert_eq!(
            found(check, "a/src/b.rs", text),
            [
                ":3: a doc comment begins with `Whether`; begin with a noun or with a verb in the third person"
            ]
        );
        assert_eq!(found(check, "a/src/b.rs", "/// Whatever it is.\n"), [""; 0]);
        assert_eq!(found(check, "a/src/b.rs", "//! What this is.\n").len(), 1);
    }
}
