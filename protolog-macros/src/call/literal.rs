//! String literals: their value, and where in the source each part of it stands.

use proc_macro::{Literal, TokenTree};
use protolog_core::{Braces, StrLiteral, braces};

/// A string literal.
#[derive(Debug, PartialEq)]
pub(super) struct Text {
    /// The value.
    pub(super) value: String,
    /// The literal between its quotes, as it is written.
    body: String,
    /// For each character of the value, where it begins in the value and where it is written in the
    /// body, in bytes.
    offsets: Vec<(usize, usize)>,
}

impl Text {
    /// The literal that `tokens` are; none if they are anything but one string literal.
    pub(super) fn of_tokens(tokens: &[TokenTree]) -> Option<(Self, Literal)> {
        match tokens {
            [TokenTree::Literal(literal)] => {
                Some((Self::of_source(&literal.to_string())?, literal.clone()))
            }
            _ => None,
        }
    }

    /// The position of the byte `at` of the value, for a message. Lines and columns count from 1,
    /// columns in characters as they are written.
    pub(super) fn position(&self, at: usize) -> String {
        let after = self.offsets.partition_point(|(start, _)| *start <= at);
        let written = after.checked_sub(1).map_or(0, |index| self.offsets[index].1);
        let before = &self.body[..written];
        let line = before.rsplit('\n').next().unwrap_or(before);
        let column = line.chars().count() + 1;
        if self.body.contains('\n') {
            let line = before.matches('\n').count() + 1;
            format!("line {line}, column {column} of the template")
        } else {
            format!("column {column} of the template")
        }
    }

    /// Takes doubled braces as one. Returns whether there were any.
    pub(super) fn merge_doubled_braces(&mut self) -> bool {
        let mut removed = Vec::new();
        braces(&self.value, |found| {
            if let Braces::Doubled { open, close } = found {
                removed.extend([open, close]);
            }
        });
        removed.sort_unstable();
        // From the last to the first, since each moves what comes after it.
        for at in removed.iter().rev() {
            self.value.remove(*at);
            let index = self.offsets.partition_point(|(start, _)| start < at);
            self.offsets.remove(index);
            self.offsets[index..].iter_mut().for_each(|(start, _)| *start -= 1);
        }
        !removed.is_empty()
    }

    fn of_source(source: &str) -> Option<Self> {
        let literal = StrLiteral::parse(source)?;
        let body = literal.body().to_owned();
        let mut text = Self { value: String::new(), body, offsets: Vec::new() };
        for (offset, char) in literal.chars() {
            text.offsets.push((text.value.len(), offset - literal.start()));
            text.value.push(char);
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(source: &str) -> String {
        Text::of_source(source).expect(source).value
    }

    #[test]
    fn values_are_what_the_compiler_makes_of_literals() {
        macro_rules! check {
            ($($literal:literal)*) => { $( assert_eq!(value(stringify!($literal)), $literal); )* };
        }
        check!("" "plain %d" "größe" "a\tb\nc\r\0\\\'\"" "\x41\u{1F600}\u{00_e9}" r"a\n" r#"a "quoted" %d"# "hash #");
        check!("one \
                two" "one
two");
    }

    #[test]
    fn positions_are_those_of_the_source() {
        let position = |source: &str, part: &str| {
            let text = Text::of_source(source).unwrap();
            text.position(text.value.find(part).unwrap())
        };
        assert_eq!(position(r#""ab %q""#, "%"), "column 4 of the template");
        assert_eq!(position(r#""\n\u{e9} %q""#, "%"), "column 10 of the template");
        assert_eq!(position("r#\"a\\n%q\"#", "%"), "column 4 of the template");
        assert_eq!(position("\"größe %q\"", "%"), "column 7 of the template");
        assert_eq!(position("\"a \\\n   b %q\"", "%"), "line 2, column 6 of the template");
    }

    #[test]
    fn doubled_braces_are_one() {
        let mut text = Text::of_source(r#""{{n}} \u{e9} {{}} {\"a\":{}} %q""#).unwrap();
        assert!(text.merge_doubled_braces());
        assert_eq!(text.value, "{n} é {} {\"a\":{}} %q");
        let at = text.value.find('%').unwrap();
        assert_eq!(text.position(at), "column 30 of the template");
        assert!(!Text::of_source("\"{ x }\"").unwrap().merge_doubled_braces());
    }

    #[test]
    fn other_literals_are_none() {
        for source in ["1", "b\"x\"", "c\"x\"", "'x'", "\"x\"suffix", "\"\\q\"", "\"\\u{zz}\""] {
            assert_eq!(Text::of_source(source), None, "{source}");
        }
    }
}
