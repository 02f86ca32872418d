//! The documents that the client has open, and the changes that it sends of them.

use super::position::{Encoding, offset};
use super::protocol::{TextDocumentContentChangeEvent, Uri};
use crate::source::Source;
use std::path::{Path, PathBuf};

/// An open document.
#[derive(Debug)]
pub(super) struct Document {
    /// As the client names it.
    pub(super) uri: Uri,
    pub(super) version: i32,
    pub(super) source: Source,
}

impl Document {
    /// Makes the changes, one after the other. A range outside the text is cut to it.
    pub(super) fn change(
        &mut self,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
    ) {
        for change in changes {
            let mut bytes = self.source.bytes().to_vec();
            match change.range {
                None => bytes = change.text.into_bytes(),
                Some(range) => {
                    let start = offset(&self.source, range.start, encoding);
                    let end = offset(&self.source, range.end, encoding).max(start);
                    drop(bytes.splice(start..end, change.text.into_bytes()));
                }
            }
            self.source = Source::new(self.source.path(), bytes);
        }
    }
}

/// The path of a document, if it is a file.
pub(super) fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.0.strip_prefix("file://")?;
    let rest = &rest[rest.find('/')?..];
    let (mut bytes, mut at) = (Vec::with_capacity(rest.len()), 0);
    while let Some(byte) = rest.as_bytes().get(at) {
        let digits = rest.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*byte));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    Some(PathBuf::from(String::from_utf8(bytes).ok()?))
}

/// The name of a file for the client.
pub(super) fn uri(path: &Path) -> Uri {
    Uri(crate::diagnostic::uri(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::lsp::protocol::{LspPosition, LspRange};

    #[test]
    fn uris_and_paths() {
        for (text, expected) in [
            ("file:///src/A.java", Some("/src/A.java")),
            ("file://host/src/a%20b/%C3%84%25.java", Some("/src/a b/Ä%.java")),
            ("file:///%ff", None),
            ("untitled:Untitled-1", None),
        ] {
            assert_eq!(path(&Uri(text.to_owned())), expected.map(PathBuf::from), "{text}");
        }
        let name = Path::new("/src/a b/Ä:%.java");
        assert_eq!(path(&uri(name)).as_deref(), Some(name));
    }

    #[test]
    fn changes_are_made_in_their_order() {
        let uri = Uri("file:///A.java".to_owned());
        let source = Source::new("/A.java", "é𝄞x\r\nb".into());
        let mut document = Document { uri, version: 1, source };
        let change = |range: Option<[u32; 4]>, text: &str| TextDocumentContentChangeEvent {
            range: range.map(|[a, b, c, d]| LspRange {
                start: LspPosition { line: a, character: b },
                end: LspPosition { line: c, character: d },
            }),
            text: text.to_owned(),
        };
        let mut text = |changes, encoding| {
            document.change(changes, encoding);
            String::from_utf8(document.source.bytes().to_vec()).unwrap()
        };
        let changes = vec![change(Some([0, 3, 0, 4]), "y"), change(Some([0, 4, 1, 0]), "\n")];
        assert_eq!(text(changes, Encoding::Utf16), "é𝄞y\nb");
        assert_eq!(text(vec![change(Some([0, 2, 0, 6]), "")], Encoding::Utf8), "éy\nb");
        let beyond = vec![change(Some([1, 1, 9, 9]), "c"), change(Some([7, 0, 0, 0]), "!")];
        assert_eq!(text(beyond, Encoding::Utf16), "éy\nbc!");
        assert_eq!(text(vec![change(None, "z")], Encoding::Utf16), "z");
    }
}
