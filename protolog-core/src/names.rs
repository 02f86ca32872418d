//! Names of arguments, as in `d!(AppLog::Net, "sent %d bytes", bytes = n)`.
//!
//! The names of a message are one text, their list, with commas between: `host,,bytes` for three
//! arguments of which the second has no name. A message without any name has the empty list.
//! Messages never carry names: they stand in the dictionary, and in the id (see
//! [`crate::named_message_id`]).
//!
//! Invariant: a name has no comma, no space, and no character that controls the output, so readers
//! can print it as it is.

use crate::MAX_PARAMS;
use crate::escape::controls_output;

/// The greatest length of a name in bytes: readers print it with each message.
const MAX_LENGTH: usize = 128;

/// The names of a message's arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArgumentNames<'a>(&'a str);

impl<'a> ArgumentNames<'a> {
    /// No argument has a name.
    pub const NONE: Self = Self("");

    /// The names in a list, which may come from anywhere: none of them if one is malformed or
    /// stands there twice, or there are more than a message has arguments.
    pub fn parse(list: &'a str) -> Self {
        let names = || list.split(',').filter(|name| !name.is_empty());
        let is_many = list.split(',').nth(MAX_PARAMS).is_some();
        let is_new =
            |(index, name): (usize, &str)| names().take(index).all(|earlier| earlier != name);
        if is_many || !names().all(is_name) || !names().enumerate().all(is_new) {
            return Self::NONE;
        }
        Self(list)
    }

    /// The list.
    pub const fn list(self) -> &'a str {
        self.0
    }

    /// True if no argument has a name.
    pub fn is_empty(self) -> bool {
        self.iter().all(|name| name.is_none())
    }

    /// The name of each argument, in their order. Arguments after the last one have no names.
    pub fn iter(self) -> impl Iterator<Item = Option<&'a str>> {
        self.0.split(',').map(|name| (!name.is_empty()).then_some(name))
    }

    /// The name of the argument with this index.
    pub fn get(self, index: usize) -> Option<&'a str> {
        self.iter().nth(index).flatten()
    }

    /// The index of the argument with this name.
    pub fn index_of(self, name: &str) -> Option<usize> {
        self.iter().position(|known| known == Some(name))
    }
}

/// Returns whether a text is the name of an argument to readers: letters, digits and `_`, after the
/// first character also `.` and `-`, as in names of headers, and characters beyond ASCII that are
/// printed; 128 bytes at most. `testdata/argument_names.tsv` has names, for Java's runtime too.
pub fn is_name(text: &str) -> bool {
    let is_letter = |char: char| {
        let is_other = !char.is_ascii() && !char.is_whitespace() && !controls_output(char);
        char.is_ascii_alphabetic() || char == '_' || is_other
    };
    text.len() <= MAX_LENGTH
        && text.chars().next().is_some_and(is_letter)
        && text
            .chars()
            .all(|char| is_letter(char) || char.is_ascii_digit() || matches!(char, '.' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{borrow::ToOwned, vec::Vec};

    #[test]
    fn a_list_has_a_place_for_each_argument() {
        let names = ArgumentNames::parse("host,,größe");
        assert_eq!(names.iter().collect::<Vec<_>>(), [Some("host"), None, Some("größe")]);
        assert_eq!((names.get(0), names.get(1), names.get(3)), (Some("host"), None, None));
        assert_eq!((names.index_of("größe"), names.index_of("")), (Some(2), None));
        assert!(!names.is_empty());
        for list in ["", ",", ",,"] {
            assert!(ArgumentNames::parse(list).is_empty(), "{list}");
        }
    }

    #[test]
    fn names_are_those_of_the_vectors() {
        let mut lines = include_str!("../testdata/argument_names.tsv").lines();
        assert_eq!(lines.next(), Some("name\tis_name"));
        for line in lines {
            let (name, expected) = line.split_once('\t').expect("two cells");
            let mut pieces = name.split("\\u");
            let mut name = pieces.next().unwrap_or_default().replace("\\t", "\t");
            for piece in pieces {
                let code = u32::from_str_radix(&piece[..4], 16).expect("four digits");
                name.push(char::from_u32(code).expect("a character"));
                name.push_str(&piece[4..]);
            }
            assert_eq!(is_name(&name), expected == "yes", "{line}");
        }
    }

    #[test]
    fn a_malformed_name_takes_the_others_with_it() {
        let long = "x".repeat(MAX_LENGTH + 1);
        for name in [
            &*long,
            "host",
            "a b",
            "1a",
            "a=",
            "a\"",
            "a\n",
            "a\u{202e}",
            ".a",
            "-a",
            "a\u{a0}b",
            "a\0",
        ] {
            assert!(name == "host" || !is_name(name), "{name:?}");
            let list = std::format!("host,{name}");
            assert_eq!(ArgumentNames::parse(&list), ArgumentNames::NONE, "{name:?}");
        }
        for name in ["a", "_", "a1", "http.status", "größe", "漢字", &long[1..]] {
            assert!(is_name(name), "{name}");
        }
        let most = "a".to_owned() + &",".repeat(MAX_PARAMS - 1);
        assert_eq!(ArgumentNames::parse(&most).list(), most);
        assert_eq!(ArgumentNames::parse(&(most + ",")), ArgumentNames::NONE);
    }
}
