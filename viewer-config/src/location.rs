//! Where the calls of a message stand: a source path and its lines, and the text in which a
//! dictionary keeps them.
//!
//! ```text
//! locations = location { ";" location }        sorted by path
//! location  = path [ ":" line { "," line } ]   lines sorted, each once
//! ```
//!
//! AOSP writes `path:line`, which is the same thing for one call. A message has several paths only
//! where one source file was compiled under several names. Invariant: a formatted list parses back,
//! for paths without `;` that do not end like a list of lines themselves.

use std::fmt;

/// Calls of one message in one source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The source file: `com/foo/Bar.java`, or as the Rust compiler names it.
    pub path: String,
    /// Lines of the calls, from 1. Sorted and unique in a [`Dictionary`](crate::Dictionary); empty
    /// where not known.
    pub lines: Vec<u32>,
}

impl Location {
    /// One call.
    pub fn line(path: impl Into<String>, line: u32) -> Self {
        Self { path: path.into(), lines: vec![line] }
    }

    /// The locations in a text such as `a.rs:12,40;b.rs:7`. A part that does not end in lines is a
    /// path alone.
    pub fn parse_list(text: &str) -> Vec<Self> {
        text.split(';').filter(|part| !part.is_empty()).map(Self::parse).collect()
    }

    /// The text that [`parse_list`](Self::parse_list) reads.
    pub fn format_list(locations: &[Self]) -> String {
        locations.iter().map(Self::to_string).collect::<Vec<_>>().join(";")
    }

    fn parse(text: &str) -> Self {
        let lines = |list: &str| list.split(',').map(parse_line).collect::<Option<Vec<_>>>();
        text.rsplit_once(':')
            .and_then(|(path, list)| Some(Self { path: path.into(), lines: lines(list)? }))
            .unwrap_or_else(|| Self { path: text.into(), lines: Vec::new() })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        for (index, line) in self.lines.iter().enumerate() {
            write!(f, "{}{line}", if index == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

/// Digits only: `+7` is no line.
fn parse_line(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_locations() {
        for (text, expected) in [
            ("", &[] as &[(&str, &[u32])]),
            ("a/B.java", &[("a/B.java", &[])]),
            ("a/B.java:9", &[("a/B.java", &[9])]),
            ("a.rs:12,40;b.rs:7", &[("a.rs", &[12, 40]), ("b.rs", &[7])]),
            ("a.rs;b.rs:7", &[("a.rs", &[]), ("b.rs", &[7])]),
            ("C:\\x.rs:3", &[("C:\\x.rs", &[3])]),
            ("C:\\x.rs", &[("C:\\x.rs", &[])]),
            (":5", &[("", &[5])]),
            ("a:-1", &[("a:-1", &[])]),
            ("a:1,", &[("a:1,", &[])]),
            ("a:+1", &[("a:+1", &[])]),
            ("a:4294967296", &[("a:4294967296", &[])]),
        ] {
            let locations = Location::parse_list(text);
            let shown: Vec<_> = locations.iter().map(|l| (l.path.as_str(), &l.lines[..])).collect();
            assert_eq!(shown, expected, "{text}");
            assert_eq!(Location::format_list(&locations), text);
        }
    }
}
