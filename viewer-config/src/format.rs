//! The file formats, by name and by content.

use crate::gzip;
use std::{fmt, path::Path};

/// A file format of dictionaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Perfetto's `ProtoLogViewerConfig`, as it also stands in traces: `.pb`.
    Pb,
    /// AOSP's JSON form, version 2.0.0: `.json`.
    Json,
    /// The same, compressed: `.json.gz`.
    JsonGz,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Pb, Self::Json, Self::JsonGz];

    /// The end of the names of files of this format, with its dot.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Pb => ".pb",
            Self::Json => ".json",
            Self::JsonGz => ".json.gz",
        }
    }

    /// The format that a file's name stands for.
    pub fn of_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.as_encoded_bytes();
        Self::ALL.into_iter().find(|format| name.ends_with(format.suffix().as_bytes()))
    }

    /// The format of a file's content. Every content has one: bytes that are neither gzip nor an
    /// object in JSON can only be protobuf.
    pub fn of_content(bytes: &[u8]) -> Self {
        if gzip::is_gzip(bytes) {
            Self::JsonGz
        } else if is_json_object(bytes) {
            Self::Json
        } else {
            Self::Pb
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.suffix())
    }
}

/// Returns whether `{` comes first and there is no control character but white space. The first
/// alone does not tell: a message of 123 bytes begins with `"\n{"`. But then it holds control
/// characters, the tags of its texts.
fn is_json_object(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    bytes.trim_ascii_start().starts_with(b"{")
        && bytes.iter().all(|byte| *byte >= b' ' || byte.is_ascii_whitespace())
}

/// Some editors put it before a text in UTF-8; JSON does not allow it.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, format) in [
            ("out/app.pb", Some(Format::Pb)),
            ("app.protolog.json", Some(Format::Json)),
            ("/etc/protolog.conf.json.gz", Some(Format::JsonGz)),
            ("app.gz", None),
            ("app.JSON", None),
            ("app.pb/x", None),
            ("..", None),
        ] {
            assert_eq!(Format::of_path(Path::new(name)), format, "{name}");
        }
    }

    #[test]
    fn contents() {
        for (content, format) in [
            (&b""[..], Format::Pb),
            (b"{}", Format::Json),
            (b"\xef\xbb\xbf\r\n {\n\t\"version\"", Format::Json),
            (b"\n{\t\"\"\"\"\"\"\"\"\x12\x01x", Format::Pb),
            (b"\x1f\x8b\x08", Format::JsonGz),
            (b"\x12\x00", Format::Pb),
        ] {
            assert_eq!(Format::of_content(content), format, "{content:?}");
        }
    }
}
