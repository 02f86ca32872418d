//! The report of a recovery.

use std::fmt;

/// The report of a recovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// The process id.
    pub pid: u32,
    /// Messages in the trace.
    pub messages: u64,
    /// Threads with a message in the trace.
    pub threads: u64,
    /// Messages that newer ones overwrote.
    pub overwritten: u64,
    /// Messages that were lost for other reasons, which the trace has.
    pub lost: u64,
    /// The fatal signal that ended the process, where its session waited for such.
    pub signal: Option<&'static str>,
    /// The flaws of the recording.
    pub flaws: Vec<Flaw>,
}

/// A flaw of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// Its layout has a newer version than this code.
    Newer(u32),
    /// Number of bytes that are missing at its end.
    Truncated(u64),
    /// Number of bytes of a session's memory that a core file lacks.
    NotInCore(u64),
    /// Number of bytes that are missing at the end of the trace file that it completes.
    TraceTruncated(u64),
    /// Number of corrupt pages.
    Pages(u64),
    /// Number of corrupt or duplicate chunks.
    Chunks(u64),
    /// Number of packets that are not valid protobuf.
    Packets(u64),
    /// Number of corrupt bytes of metadata.
    Metadata(u64),
    /// Number of metadata packets that did not fit the device.
    LostMetadata(u64),
    /// Number of messages in the trace without a dictionary entry.
    UnknownMessages(u64),
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
            Self::NotInCore(bytes) => {
                counted(f, bytes, "byte of its buffers is", "bytes of its buffers are")?;
                f.write_str(" not in the core file")
            }
            Self::TraceTruncated(bytes) => {
                counted(f, bytes, "byte is", "bytes are")?;
                f.write_str(" missing at the end of its trace file")
            }
            Self::Pages(count) => counted(f, count, "page is corrupt", "pages are corrupt"),
            Self::Chunks(count) => counted(f, count, "chunk is corrupt", "chunks are corrupt"),
            Self::Packets(count) => counted(f, count, "packet is corrupt", "packets are corrupt"),
            Self::Metadata(bytes) => write!(f, "{bytes} bytes of metadata are corrupt"),
            Self::LostMetadata(count) => {
                counted(f, count, "metadata packet", "metadata packets")?;
                f.write_str(" did not fit the device")
            }
            Self::UnknownMessages(count) => {
                counted(f, count, "message is in no dictionary", "messages are in no dictionary")
            }
        }
    }
}
