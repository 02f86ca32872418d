//! Recordings: files that processes log into as memory, which are there when the process is dead, made into traces.
//!
//! The layout is that of [`protolog_core::recorder`]. Whoever was killed left the file as it was at that instant:
//!
//! ```text
//! header -> clocks, losses          \
//! annex  -> texts, the process       > a trace: clocks, texts, each thread's messages in order, what is missing and where
//! ring   -> chunks -> sequences     /
//! ```
//!
//! Invariants: any bytes may be recovered, without a panic and in memory that their number bounds; each message that is
//! whole in the ring is in the trace; what is missing of a thread's messages is counted where it is missing.

mod chunks;
mod report;
mod sequence;
mod write;

pub use report::{Flaw, Recovered};

use crate::packets::PacketWriter;
use protolog_core::recorder::{self, Header, HeaderError, VERSION};
use std::fmt;
use std::io::{self, Write};

/// A recording, as it was found.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    bytes: &'a [u8],
    header: Header,
}

/// Bytes are no recording of which something can be recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingError(HeaderError);

impl<'a> Recording<'a> {
    /// The most bytes that a recording takes, unless its program was loaded with texts of gigabytes. Who reads files of
    /// unknown origin need not read more.
    pub const MAX_BYTES: u64 = 1 << 30;

    /// The recording that is in `bytes`, or in the part of it that they are.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, RecordingError> {
        Ok(Self { bytes, header: Header::parse(bytes).map_err(RecordingError)? })
    }

    /// Whether a file that begins with these bytes may be one.
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(&recorder::MAGIC)
    }

    /// What it says of itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Writes all that can be recovered, as a trace.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<Recovered> {
        write::write(self, &mut PacketWriter::new(out))
    }

    /// The ring, as far as it is there.
    fn ring(&self) -> &'a [u8] {
        let size = self.header.page as usize * self.header.pages as usize;
        let ring = self.from(self.header.ring_at);
        ring.get(..size).unwrap_or(ring)
    }

    /// The part of the annex that counts, as far as it is there.
    fn annex(&self) -> &'a [u8] {
        let annex = self.from(self.header.metadata_at);
        usize::try_from(self.annex_used()).ok().and_then(|used| annex.get(..used)).unwrap_or(annex)
    }

    fn annex_used(&self) -> u64 {
        self.counter(recorder::METADATA_USED_AT)
    }

    /// Bytes at the end that are not there.
    fn missing(&self) -> u64 {
        let end = self.header.metadata_at.saturating_add(self.annex_used());
        end.saturating_sub(self.bytes.len() as u64)
    }

    /// A version that is newer than this code.
    fn newer(&self) -> Option<u32> {
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
    /// What to do about it: a sentence that starts with a verb.
    pub fn help(&self) -> &'static str {
        match self.0 {
            HeaderError::WrongMagic => {
                "give the file of a session that records; see `Session::recording`"
            }
            HeaderError::Unfinished => {
                "give another one; the process died before it logged anything"
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
            HeaderError::WrongMagic => "it is not a recording",
            HeaderError::Unfinished => "the recording was not set up yet",
            HeaderError::ByteOrder => "the recording has another byte order than this machine",
            HeaderError::Truncated => "the recording ends within its header",
            HeaderError::Corrupt => "the recording's header is damaged",
        })
    }
}

impl std::error::Error for RecordingError {}
