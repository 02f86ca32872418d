//! What came of a recovery.

use std::fmt;

/// What was recovered, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// The process.
    pub pid: u32,
    /// Messages in the trace.
    pub messages: u64,
    /// Threads with a message in the trace.
    pub threads: u64,
    /// Messages that newer ones took the place of.
    pub overwritten: u64,
    /// Messages that were lost for other reasons, as the trace says.
    pub lost: u64,
    /// What is wrong with the recording.
    pub flaws: Vec<Flaw>,
}

/// Something that is wrong with a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// It has a later version of the layout than this code.
    Newer(u32),
    /// So many bytes are missing at its end.
    Truncated(u64),
    /// Pages of the ring make no sense.
    Pages(u64),
    /// Chunks of the ring make no sense, or stand there twice.
    Chunks(u64),
    /// Packets are no protobuf.
    Packets(u64),
    /// So many bytes of the texts make no sense.
    Texts(u64),
    /// The texts of some messages found no room when they were first logged.
    UnenteredTexts(u64),
    /// Messages in the trace have no text.
    Textless(u64),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |f: &mut fmt::Formatter<'_>, count: u64, one, many| {
            write!(f, "{count} {}", if count == 1 { one } else { many })
        };
        match *self {
            Self::Newer(version) => write!(f, "its version, {version}, is newer than this program"),
            Self::Truncated(bytes) => {
                counted(f, bytes, "byte is", "bytes are")?;
                f.write_str(" missing at its end")
            }
            Self::Pages(count) => counted(f, count, "page is damaged", "pages are damaged"),
            Self::Chunks(count) => counted(f, count, "chunk is damaged", "chunks are damaged"),
            Self::Packets(count) => counted(f, count, "packet is damaged", "packets are damaged"),
            Self::Texts(bytes) => write!(f, "{bytes} bytes of texts are damaged"),
            Self::UnenteredTexts(count) => {
                counted(f, count, "packet of texts", "packets of texts")?;
                f.write_str(" found no room on the device")
            }
            Self::Textless(count) => {
                counted(f, count, "message has no text", "messages have no text")
            }
        }
    }
}
