//! String literals: their value, and where in the file each part of it stands.

use crate::call::Text;
use protolog_core::StrLiteral;

/// The value of the string literal `source`, which stands at `at`. None for other literals, and for
/// those with a suffix.
pub(crate) fn text(source: &str, at: usize) -> Option<Text> {
    let mut text = Text::default();
    for (offset, char) in StrLiteral::parse(source)?.chars() {
        text.push(char, at + offset);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn values_are_what_the_compiler_makes_of_literals() {
        macro_rules! check {
            ($($literal:literal)*) => { $( assert_eq!(text(stringify!($literal), 0).unwrap().as_str(), $literal); )* };
        }
        check!("" "plain %d" "größe" "a\tb\nc\r\0\\\'\"" "\x41\u{1F600}\u{00_e9}" r"a\n" r#"a "quoted" %d"# "hash #");
        check!("one \
                two" "one
two");
        assert_eq!(text("\"a\r\nb \\\r\n  c\"", 0).unwrap().as_str(), "a\nb c");
        assert_eq!(text("r#\"a\"#b\"#", 0).unwrap().as_str(), "a\"#b");
    }

    #[test]
    fn origins_are_those_of_the_file() {
        for (source, needle, expected) in [
            ("\"ab %q\"", "%q", 4..6),
            ("\"\\n\\u{e9} %q\"", "%q", 10..12),
            ("r##\"a\\n%q\"##", "%q", 7..9),
            ("\"größe %q\"", "%q", 9..11),
        ] {
            let text = text(source, 0).unwrap();
            let at = text.as_str().find(needle).unwrap();
            assert_eq!(text.origin(at..at + needle.len()), expected, "{source}");
        }
    }

    #[test]
    fn other_literals_are_none() {
        for source in
            ["1", "b\"x\"", "c\"x\"", "'x'", "\"x\"suffix", "\"\\q\"", "\"\\u{zz}\"", "\"", "r#\""]
        {
            assert!(text(source, 0).is_none(), "{source}");
        }
    }
}
