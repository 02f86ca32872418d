//! A guess at files that are given in place of a trace, so that an error can say what the file is.
//!
//! Invariant: only the first bytes decide, and only of files that were found to be no trace.

use crate::bytes::inflate;
use std::io::{self, Read};

/// The place of a mark in tar archives, and the mark.
const TAR: (usize, &[u8]) = (257, b"ustar");

/// The number of bytes that are looked at.
const HEAD: usize = 4096;

/// The kind of a file that is no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Looks {
    /// A dictionary: `.pb`, `.json` or `.json.gz`.
    Dictionary,
    /// A recording of a session.
    Recording,
    /// JSON of another kind, such as a trace in Chrome's format.
    Json,
    /// Text.
    Text,
    /// A program or library.
    Program,
    /// An archive: zip, such as a jar, or tar.
    Archive,
    /// A log that Android wrote before it had Perfetto.
    Winscope,
    /// A trace of windows, layers or the like that Android wrote for Winscope.
    WinscopeTrace,
    /// Compressed by xz or bzip2.
    Compressed,
    /// None of these.
    Unknown,
}

impl Looks {
    /// The kind of a file that is no trace, by its bytes after inflation.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let head = bytes.get(..HEAD).unwrap_or(bytes);
        if protolog_recording::Recording::matches(head) {
            return Self::Recording;
        }
        if head.get(TAR.0..).is_some_and(|rest| rest.starts_with(TAR.1)) {
            return Self::Archive;
        }
        let magic: [(&[u8], Self); 9] = [
            (b"\x7fELF", Self::Program),
            (b"PK\x03\x04", Self::Archive),
            (b"\x09PROTOLOG", Self::Winscope),
            (b"\x09WINTRACE", Self::WinscopeTrace),
            (b"\x09LYRTRACE", Self::WinscopeTrace),
            (b"\x09TRNTRACE", Self::WinscopeTrace),
            (b"\xfd7zXZ\0", Self::Compressed),
            (b"BZh", Self::Compressed),
            (b"MZ", Self::Program),
        ];
        if let Some((_, looks)) = magic.into_iter().find(|(magic, _)| head.starts_with(magic)) {
            return looks;
        }
        if is_dictionary(head) {
            return Self::Dictionary;
        }
        let Some(text) = text(head) else { return Self::Unknown };
        match text.trim_start().as_bytes().first() {
            Some(b'{') if text.contains("\"messages\"") => Self::Dictionary,
            Some(b'{' | b'[') => Self::Json,
            _ => Self::Text,
        }
    }

    /// The kind of a file, by its first bytes, which may be compressed with gzip.
    pub(crate) fn of_start(file: impl Read) -> io::Result<Self> {
        let mut head = Vec::new();
        file.take(HEAD as u64).read_to_end(&mut head)?;
        if !inflate::is_gzip(&head) {
            return Ok(Self::of(&head));
        }
        Ok(Self::of(&inflate::inflate(&head, HEAD as u64).bytes))
    }

    /// The kind in words, with its article; none for an unknown one.
    pub(crate) const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Dictionary => "a dictionary",
            Self::Recording => "a recording",
            Self::Json => "JSON",
            Self::Text => "text",
            Self::Program => "a program or library",
            Self::Archive => "an archive (zip or tar)",
            Self::Winscope => "a log of an Android version without Perfetto",
            Self::WinscopeTrace => "a trace for Android's Winscope, which has no log",
            Self::Compressed => "compressed by xz or bzip2",
            Self::Unknown => return None,
        })
    }

    /// The help line, which starts with a verb.
    pub(crate) const fn help(self) -> &'static str {
        match self {
            Self::Dictionary => "give the trace, and this file by `--viewer-config`",
            Self::Recording => "make a trace of it with `protologtool recover`",
            Self::Json => "give a trace in Perfetto's own format, which is not JSON",
            Self::Text => "give the file that a session writes; text can be read as it is",
            Self::Program => {
                "give the trace that it wrote; its dictionary comes from `generate-viewer-config --from-binary`"
            }
            Self::Archive => "unpack it, and give the trace in it",
            Self::WinscopeTrace => {
                "open it with Winscope, or give a trace with ProtoLog's data source"
            }
            Self::Compressed => "decompress it first; gzip and zstd are read as they are",
            Self::Winscope => {
                "read it with `protologtool read-log`, and its dictionary by `--viewer-config`"
            }
            Self::Unknown => {
                "give a Perfetto trace, plain or compressed with gzip or zstd; a dictionary is not a trace"
            }
        }
    }
}

/// The bytes as text, up to a character that is cut off at their end; none if they hold anything
/// else.
fn text(bytes: &[u8]) -> Option<&str> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let is_text = |char: char| !char.is_control() || char.is_ascii_whitespace() || char == '\x1b';
    text.chars().all(is_text).then_some(text)
}

/// True if the first entry is a message or a group with its id: the first field of a packet, which
/// is a message in a trace, is never such a number.
fn is_dictionary(bytes: &[u8]) -> bool {
    const MESSAGE: u8 = 0x0a;
    const MESSAGE_ID: u8 = 0x09;
    const GROUP: u8 = 0x12;
    const GROUP_ID: u8 = 0x08;
    let Some((&entry, rest)) = bytes.split_first() else { return false };
    let length = rest.iter().take(10).position(|byte| byte & 0x80 == 0);
    match length.and_then(|last| rest.get(last + 1)) {
        Some(&MESSAGE_ID) => entry == MESSAGE,
        Some(&GROUP_ID) => entry == GROUP,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_first_bytes() {
        for (bytes, expected) in [
            (&b"Dear reader,\n"[..], Looks::Text),
            (b"\xc3\xa4\xc3", Looks::Text),
            (b"{\"version\": \"2.0.0\", \"messages\": {", Looks::Dictionary),
            (b" [{\"ph\": \"X\"}]", Looks::Json),
            (b"\x0a\x90\x01\x09\x01\x02\x03\x04\x05\x06\x07\x08", Looks::Dictionary),
            (b"\x12\x05\x08\x01\x12\x01a", Looks::Dictionary),
            (b"\x0a\x02\x40\x01", Looks::Unknown),
            (b"\x7fELF\x02", Looks::Program),
            (b"PK\x03\x04", Looks::Archive),
            (b"\x09PROTOLOG\x12", Looks::Winscope),
            (b"\x09WINTRACE\x12", Looks::WinscopeTrace),
            (b"\xfd7zXZ\0\0\x04", Looks::Compressed),
            (b"BZh91AY&SY", Looks::Compressed),
            (&[&b"app.pftrace"[..], &[0; 246], b"ustar  \0"].concat(), Looks::Archive),
            (b"\x0a", Looks::Text),
            (b"\0\0", Looks::Unknown),
        ] {
            assert_eq!(Looks::of(bytes), expected, "{bytes:?}");
        }
    }
}
