//! Comments begin with a noun phrase or a verb, not with a question word: each paragraph of them.

use super::{File, Finding, extension, is_data};

const STARTS: [&str; 5] = ["What", "Who", "Whose", "Whether", "How"];

/// One finding per paragraph.
pub(super) fn check(file: &File) -> Vec<Finding> {
    let markers = markers(extension(file.path));
    if markers.is_empty() || is_data(file.path) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut before = None;
    for (index, line) in file.text.lines().enumerate() {
        let comment = comment_of(line, markers);
        let goes_on = before.zip(comment).is_some_and(|(before, comment): (Comment<'_>, _)| {
            before.marker == comment.marker && !before.text.trim().is_empty()
        });
        if let (Some(comment), false) = (comment, goes_on)
            && let Some(start) = first_word(comment.text).filter(|word| STARTS.contains(word))
        {
            let what = format!(
                "a comment begins with `{start}`; begin with a noun or with a verb in the third person"
            );
            findings.push(Finding { line: index + 1, what });
        }
        before = comment;
    }
    findings
}

/// A line of comment.
#[derive(Clone, Copy)]
struct Comment<'a> {
    marker: &'static str,
    text: &'a str,
}

/// The beginnings of lines of comment; the longer ones first.
fn markers(extension: &str) -> &'static [&'static str] {
    match extension {
        "rs" => &["///", "//!", "//"],
        "java" | "js" | "mjs" | "css" => &["/**", "*/", "*", "//"],
        "py" | "toml" | "sh" => &["#"],
        _ => &[],
    }
}

fn comment_of<'a>(line: &'a str, markers: &[&'static str]) -> Option<Comment<'a>> {
    let line = line.trim_start();
    markers.iter().find_map(|marker| {
        let text = line.strip_prefix(marker).filter(|text| !text.starts_with('/'))?;
        Some(Comment { marker, text })
    })
}

/// The first word, without the tag of a paragraph before it.
fn first_word(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let text = text.strip_prefix("<p>").unwrap_or(text);
    text.split(|c: char| !c.is_alphanumeric()).next()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::check;

    fn lines(path: &str, text: &str) -> Vec<String> {
        let line = |finding: &String| finding.split(':').nth(1).unwrap().to_owned();
        found(check, path, text).iter().map(line).collect()
    }

    #[test]
    fn paragraphs_begin_with_a_noun_or_a_verb() {
        let text = "//! The thing.\n\n/// Whether it is.\n/// What it does.\nfn f() {}\n    /// Returns it.\n    /// How: so.\n    // What is this?\n//// Who?\n";
        assert_eq!(
            found(check, "a/src/b.rs", text),
            [3, 8].map(|line| {
                let word = if line == 3 { "Whether" } else { "What" };
                format!(":{line}: a comment begins with `{word}`; begin with a noun or with a verb in the third person")
            })
        );
        assert_eq!(lines("a/src/b.rs", "/// Whatever it is.\n"), [""; 0]);
        assert_eq!(lines("a/src/b.rs", "//! The thing.\n//!\n//! What it does.\n"), ["3"]);
    }

    #[test]
    fn other_languages_have_comments_too() {
        let java = "/**\n * What it is.\n *\n * <p>How it is.\n */\n/** Who. */\nint a; // What\n";
        assert_eq!(lines("a/B.java", java), ["2", "4", "6"]);
        assert_eq!(lines("a/b.toml", "# Whether\n# What\na = 1\n"), ["1"]);
        assert_eq!(lines("a/b.txt", "# Whether\n"), [""; 0]);
    }
}
