//! Recovers traces from recordings, the files that processes map and log into, which survive the process.
//!
//! The layout is that of [`protolog_core::recorder`]. If the process was killed, the file is as it was at that instant:
//!
//! ```text
//! header   -> clocks, losses          \
//! metadata -> dictionary, process      > a trace: clocks, dictionary, each thread's messages in order, losses
//! ring     -> chunks -> sequences     /
//! ```
//!
//! Invariants: any bytes can be recovered, without a panic and with memory bounded by their number; each message that is
//! complete in the ring is in the trace; missing messages of a thread are counted where they are missing.

mod chunks;
mod report;
mod sequence;
mod write;

pub use report::{Flaw, Recovered};

use crate::packets::PacketWriter;
use protolog_core::recorder::{self, Header, HeaderError, VERSION};
use std::fmt;
use std::io::{self, Write};

/// A recording.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    bytes: &'a [u8],
    header: Header,
}

/// The error for bytes from which nothing can be recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingError(HeaderError);

impl<'a> Recording<'a> {
    /// Maximum size of a recording in bytes, unless its program has gigabytes of metadata. A limit for reading files of
    /// unknown origin.
    pub const MAX_BYTES: u64 = 1 << 30;

    /// Parses a recording. `bytes` may be truncated.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, RecordingError> {
        Ok(Self { bytes, header: Header::parse(bytes).map_err(RecordingError)? })
    }

    /// True if a file that begins with these bytes may be a recording.
    pub fn matches(bytes: &[u8]) -> bool {
        bytes.starts_with(&recorder::MAGIC)
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Writes everything that can be recovered, as a trace.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<Recovered> {
        write::write(self, &mut PacketWriter::new(out))
    }

    /// The ring, as far as the file has it.
    fn ring(&self) -> &'a [u8] {
        let size = self.header.page as usize * self.header.pages as usize;
        let ring = self.from(self.header.ring_at);
        ring.get(..size).unwrap_or(ring)
    }

    /// The valid metadata, as far as the file has it.
    fn metadata(&self) -> &'a [u8] {
        let metadata = self.from(self.header.metadata_at);
        usize::try_from(self.metadata_used())
            .ok()
            .and_then(|used| metadata.get(..used))
            .unwrap_or(metadata)
    }

    fn metadata_used(&self) -> u64 {
        self.counter(recorder::METADATA_USED_AT)
    }

    /// Number of bytes that are missing at the end.
    fn missing_bytes(&self) -> u64 {
        let end = self.header.metadata_at.saturating_add(self.metadata_used());
        end.saturating_sub(self.bytes.len() as u64)
    }

    /// The version, if it is newer than this code.
    fn newer_version(&self) -> Option<u32> {
        Some(self.header.version).filter(|version| *version > VERSION)
    }

    fn counter(&self, at: usize) -> u64 {
        recorder::read_u64(self.bytes, at).unwrap_or(0)
    }

    fn from(&self, at: u64) -> &'a [u8] {
        usize::try_from(at).ok().and_then(|at| self.bytes.get(at..)).unwrap_or_default()
    }
}

impl RecordingError {
    /// The help line, which starts with a verb.
    pub fn help(&self) -> &'static str {
        match self.0 {
            HeaderError::WrongMagic => {
                "give the file of a session that records, see `Session::recording`"
            }
            HeaderError::Unfinished => {
                "give another file; this process died before it logged anything"
            }
            HeaderError::ByteOrder => {
                "run `protologtool recover` on a machine like the one that wrote it"
            }
            HeaderError::Truncated | HeaderError::Corrupt => "give a whole copy of the file",
        }
    }
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            HeaderError::WrongMagic => "not a recording",
            HeaderError::Unfinished => "the recording is incomplete",
            HeaderError::ByteOrder => "the recording has the byte order of another machine",
            HeaderError::Truncated => "the recording ends within its header",
            HeaderError::Corrupt => "the header of the recording is corrupt",
        })
    }
}

impl std::error::Error for RecordingError {}
