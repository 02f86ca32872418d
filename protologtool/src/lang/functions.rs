//! The functions of a source: their names, and the lines that they take.
//!
//! A call is in the function around it and in those around that. A name has the types and functions
//! around, as far as they have names: `Client::send`, in Java `Client.Retry.send`.
//!
//! Invariant: any bytes have functions, maybe none.

use memchr::memchr_iter;
use std::ops::Range;

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its name and those around it, the outermost first.
    pub(crate) name: Vec<String>,
    /// The first line and the last, from 1.
    pub(crate) lines: (u32, u32),
}

impl Function {
    /// The function in these bytes of a text.
    pub(super) fn of(name: Vec<String>, text: &[u8], range: Range<usize>) -> Self {
        let line = |at: usize| {
            let before = text.get(..at).unwrap_or(text);
            1 + memchr_iter(b'\n', before).count() as u32
        };
        Self { name, lines: (line(range.start), line(range.end.saturating_sub(1))) }
    }

    /// The name and the lines, for tests.
    #[cfg(test)]
    pub(super) fn shown(&self) -> String {
        format!("{} {}-{}", self.name.join("::"), self.lines.0, self.lines.1)
    }

    /// Returns whether a name is its own, or has its last segments.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        let wanted: Vec<&str> = name.split(['.', ':']).filter(|part| !part.is_empty()).collect();
        let own: Vec<&str> = self.name.iter().map(String::as_str).collect();
        !wanted.is_empty() && own.ends_with(&wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_segments_from_the_end() {
        let function =
            Function { name: ["net", "Client", "send"].map(str::to_owned).into(), lines: (1, 2) };
        for (name, expected) in [
            ("send", true),
            ("Client::send", true),
            ("Client.send", true),
            ("net::Client::send", true),
            ("end", false),
            ("Client", false),
            ("app::net::Client::send", false),
            ("::", false),
        ] {
            assert_eq!(function.is_named(name), expected, "{name}");
        }
    }
}
