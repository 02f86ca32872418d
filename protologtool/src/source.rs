//! One source file: its language, its path, its bytes, and where its lines begin.
//!
//! Bytes, not text: a file may hold bytes that are no UTF-8 (in a comment, say), and they must come
//! out as they went in. Lines end with LF, CR LF or a lone CR, as Java has it; lines and columns
//! are counted from 1, columns in characters.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The languages of sources, by their file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `.java`
    Java,
    /// `.kt`
    Kotlin,
    /// `.rs`
    Rust,
}

impl Kind {
    /// The language of the source at `path`; none if its name ends otherwise.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "java" => Some(Self::Java),
            "kt" => Some(Self::Kotlin),
            "rs" => Some(Self::Rust),
            _ => None,
        }
    }
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    bytes: Vec<u8>,
    /// Made when the first line is asked for: most files are never shown.
    line_starts: OnceLock<Vec<usize>>,
}

/// A place in a source, for people: both count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl Source {
    /// A source with this content; `path` as the user gave it.
    pub fn new(path: impl Into<PathBuf>, bytes: Vec<u8>) -> Self {
        Self { path: path.into(), bytes, line_starts: OnceLock::new() }
    }

    /// The path as the user gave it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn line_starts(&self) -> &[usize] {
        self.line_starts.get_or_init(|| {
            std::iter::once(0).chain(line_ends(&self.bytes).map(|end| end.end)).collect()
        })
    }

    /// The bytes in `range`, cut to the file.
    pub fn slice(&self, range: Range<usize>) -> &[u8] {
        let end = range.end.min(self.bytes.len());
        &self.bytes[range.start.min(end)..end]
    }

    /// The text in `range`, with invalid UTF-8 replaced.
    pub fn text(&self, range: Range<usize>) -> String {
        String::from_utf8_lossy(self.slice(range)).into_owned()
    }

    /// The number of lines.
    pub fn lines(&self) -> usize {
        self.line_starts().len()
    }

    /// The line of the byte at `offset`, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.line_starts().partition_point(|start| *start <= offset)
    }

    /// Line and column of the byte at `offset`.
    pub fn position(&self, offset: usize) -> Position {
        let line = self.line(offset);
        let start = self.line_starts()[line - 1];
        let before = self.text(start..offset);
        let before = before.strip_prefix('\u{feff}').unwrap_or(&before);
        Position { line, column: before.chars().count() + 1 }
    }

    /// The byte range of line `line` (from 1), without its line end.
    pub fn line_range(&self, line: usize) -> Range<usize> {
        let start = self.line_starts()[line - 1];
        let end = self.line_starts().get(line).copied().unwrap_or(self.bytes.len());
        let trimmed =
            self.bytes[start..end].iter().rev().take_while(|b| matches!(b, b'\n' | b'\r'));
        start..end - trimmed.count()
    }
}

impl AsRef<[u8]> for Source {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The line ends in `bytes`, in order: LF, CR LF or a lone CR.
pub fn line_ends(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    memchr::memchr2_iter(b'\n', b'\r', bytes).filter_map(|at| match bytes[at] {
        b'\r' if bytes.get(at + 1) == Some(&b'\n') => Some(at..at + 2),
        b'\n' if at > 0 && bytes[at - 1] == b'\r' => None,
        _ => Some(at..at + 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_every_kind_of_line_end() {
        let source = Source::new("A.java", "\u{feff}aé€x\r\nb\rc\n\td".as_bytes().to_vec());
        let at = |needle: &str| {
            let text = std::str::from_utf8(source.bytes()).unwrap();
            let position = source.position(text.find(needle).unwrap());
            (position.line, position.column)
        };
        assert_eq!(at("a"), (1, 1), "a byte order mark takes no column");
        assert_eq!(at("x"), (1, 4));
        assert_eq!((at("b"), at("c"), at("d")), ((2, 1), (3, 1), (4, 2)));
        assert_eq!(source.text(source.line_range(2)), "b");
        assert_eq!(source.position(source.bytes().len()), Position { line: 4, column: 3 });
    }
}
