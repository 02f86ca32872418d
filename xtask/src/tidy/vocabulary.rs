//! Words that the project has given up for the field's own: in names, and in prose where a list can tell.
//!
//! Names are checked part by part (`bury_all`, `BuryAll`); a word that is also everyday English is refused in names only.

use super::mask::is_word;
use super::{File, Finding, extension, is_data};

/// A word, and what to say.
type Word = (&'static str, &'static str);

/// Refused in names and in prose.
const EVERYWHERE: [Word; 12] = [
    ("wish", "a setting, and its source"),
    ("wishes", "settings, and their sources"),
    ("fulfil", "apply"),
    ("fulfils", "apply"),
    ("fulfilled", "apply"),
    ("farewell", "finish, or trailer"),
    ("patience", "timeout, poll interval, or deadline"),
    ("bury", "finish, or reclaim"),
    ("buried", "finish, or reclaim"),
    ("buries", "finish, or reclaim"),
    ("stray", "unattributed"),
    ("strays", "unattributed"),
];

/// Refused as parts of names.
const NAMES: [Word; 5] = [
    ("aside", "a reentrancy guard"),
    ("told", "reported, or dropped"),
    ("gone", "dropped, or failed"),
    ("tells", "reports"),
    ("company", "target processes"),
];

/// Refused as whole names of types and modules.
const TYPES: [Word; 8] = [
    ("Keeps", "FillPolicy"),
    ("Patience", "a timeout"),
    ("Aside", "ReentrancyGuard"),
    ("Stray", "unattributed"),
    ("Strays", "unattributed"),
    ("Then", "Visitor"),
    ("Company", "TargetProcess"),
    ("Wish", "Setting"),
];

/// Files that must name the words: this one, and the list of what was renamed.
const EXEMPT: [&str; 2] = ["xtask/src/tidy/vocabulary.rs", "CHANGELOG.md"];

/// One finding per line and word.
pub(super) fn check(file: &File) -> Vec<Finding> {
    let is_rust = extension(file.path) == "rs";
    if is_data(file.path)
        || EXEMPT.contains(&file.path)
        || !(is_rust || extension(file.path) == "md")
    {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut add = |line: usize, word: &str, better: &str| {
        let what = format!("`{word}` is a word of nobody else's; say {better}");
        findings.push(Finding { line, what });
    };
    let code: Vec<&str> = file.code.lines().collect();
    for (index, line) in file.text.lines().enumerate() {
        for (word, better) in EVERYWHERE.iter().filter(|(word, _)| has_part(line, word)) {
            add(index + 1, word, better);
        }
        let code = code.get(index).copied().unwrap_or_default();
        for (word, better) in NAMES.iter().filter(|(word, _)| has_part(code, word)) {
            add(index + 1, word, better);
        }
        for (word, better) in TYPES.iter().filter(|(word, _)| words(code).any(|it| it == *word)) {
            add(index + 1, word, better);
        }
    }
    findings.dedup();
    findings
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

/// True where a word of the text has `wanted` (in lower case) as a part, in either way of joining parts.
fn has_part(text: &str, wanted: &str) -> bool {
    // Most lines end here, at a small part of the price.
    let may_hold = text.len() >= wanted.len()
        && text
            .as_bytes()
            .windows(wanted.len())
            .any(|part| part.eq_ignore_ascii_case(wanted.as_bytes()));
    may_hold && words(text).any(|word| parts(word).iter().any(|part| part == wanted))
}

/// The parts of a name, in lower case.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && before.is_lowercase()) {
            parts.push(String::new());
        }
        if c != '_' {
            parts.last_mut().expect("there is one from the start").extend(c.to_lowercase());
        }
        before = c;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::check;

    #[test]
    fn names_are_read_part_by_part() {
        let refused = |text: &str| found(check, "a/src/b.rs", text).len();
        assert_eq!(refused("fn bury_all() {}\nstruct BuriedOnes;\nconst STRAYS: u8 = 1;\n"), 3);
        assert_eq!(refused("let ashtray = wished; let begone = aside_effect();\n"), 1);
        assert_eq!(refused("struct Then;\nlet x = Some(1).then_some(2);\n"), 1);
        assert_eq!(
            found(check, "a/src/b.rs", "fn fulfil() {}\n"),
            [":1: `fulfil` is a word of nobody else's; say apply"]
        );
    }

    #[test]
    fn prose_may_use_everyday_words() {
        assert_eq!(found(check, "a.md", "A file that is gone was told of.\n"), [""; 0]);
        assert_eq!(found(check, "a.md", "Its patience is over.\n").len(), 1);
        assert_eq!(found(check, "a/src/b.rs", "// It is told apart; a wish.\n").len(), 1);
        assert_eq!(found(check, "a/testdata/b.rs", "// A wish.\n"), [""; 0]);
    }
}
