//! Splits a line into words with single spaces between them. The last word may hold spaces.

use core::fmt;
use core::str::FromStr;

/// The rest of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a>(Option<&'a str>);

impl<'a> Words<'a> {
    /// The words of this line.
    pub(super) fn new(line: &'a str) -> Self {
        Self(Some(line))
    }

    /// The next word; none at the end, or if it is empty.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        let rest = self.0.take()?;
        let word = match rest.split_once(' ') {
            Some((word, rest)) => {
                self.0 = Some(rest);
                word
            }
            None => rest,
        };
        (!word.is_empty()).then_some(word)
    }

    /// The next word, parsed as a value; a number has no sign.
    pub(super) fn value<T: FromStr>(&mut self) -> Option<T> {
        self.word().filter(|word| !word.starts_with('+'))?.parse().ok()
    }

    /// The rest of the line, with its spaces.
    pub(super) fn rest(&mut self) -> Option<&'a str> {
        self.0.take()
    }

    /// `value`, if the line ends here.
    pub(super) fn end<T>(self, value: T) -> Option<T> {
        self.0.is_none().then_some(value)
    }
}

/// Displays a text with each control character, line ends included, as a question mark.
pub(super) struct OneLine<'a>(pub(super) &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.0.split(char::is_control);
        f.write_str(parts.next().unwrap_or_default())?;
        parts.try_for_each(|part| write!(f, "?{part}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn lines_are_split() {
        let mut words = Words::new("a 12 the rest  of it");
        assert_eq!((words.word(), words.value::<u8>()), (Some("a"), Some(12)));
        assert_eq!(words.rest(), Some("the rest  of it"));
        assert_eq!((words.word(), words.rest(), words.end(1)), (None, None, Some(1)));
        let mut words = Words::new("a  b");
        assert_eq!((words.word(), words.word()), (Some("a"), None), "no empty words");
        assert_eq!(Words::new("").end(1), None);
        assert_eq!(OneLine("a\nb\u{7f}").to_string(), "a?b?");
    }
}
