//! Recovers messages from recordings, the files that processes map and log into, which survive the
//! process.
//!
//! The layout is that of [`protolog_core::recorder`]. If the process was killed, the file is as it
//! was at that instant:
//!
//! ```text
//! header   -> clocks, losses          \
//! metadata -> dictionary, process      > a trace: clocks, dictionary, each thread's messages in order, losses
//! rings    -> chunks -> sequences     /
//! ```
//!
//! The recording of a session that streams has what its trace file lacks, and says how much of the
//! file is valid ([`Recording::trace`]): those bytes, followed by [`Recording::write_rest`], are a
//! complete trace. [`find()`] finds the recording of a trace file.
//!
//! It is a crate of its own since the program itself does this, too, at its next start, and needs
//! no reader for it.
//!
//! Invariants: any bytes can be recovered, without a panic and with memory bounded by their number;
//! each message that is complete in the ring is in the trace; missing messages of a thread are
//! counted where they are missing.
#![forbid(unsafe_code)]

mod chunks;
mod event;
mod find;
mod in_core;
mod packets;
mod report;
mod rest;
mod scan;
mod sequence;
mod settle;
mod system;
mod tail;
mod thread;
mod write;

pub use event::{
    EVENT_GROUP, EVENT_LEVEL, EVENT_SEQUENCE, EventKey, FatalSignal, MAX_CAUSE, NoEventKey,
    event_file, for_each_signal_template, is_fatal_signal_file,
};
pub use find::{FoundRecording, find, find_in, is_recording_name, places};
pub use in_core::{CoreRecording, FoundHeader, ProcessMemory};
pub use packets::PacketWriter;
pub use report::{Flaw, Recovered};
pub use rest::TraceFile;
pub use scan::{Inflate, TraceSurvey};
pub use system::{memory, os_str};
pub use tail::Tail;

use protolog_core::chunk::FIRST_PINNED_WRITER_ID;
use protolog_core::recorder::{
    self, Header, HeaderError, MESSAGE_COUNTS, PINNED_COUNTS, PinnedRing, VERSION,
    message_count_at, pinned_message_count_at,
};
use protolog_core::{LossCause, Unwritten};
use std::fmt;
use std::io::{self, Write};

/// A recording.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    bytes: &'a [u8],
    header: Header,
    pinned: Option<PinnedRing>,
}

/// The error for bytes from which nothing can be recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingError(HeaderError);

impl<'a> Recording<'a> {
    /// Maximum size of a recording in bytes, unless its program has gigabytes of metadata. A limit
    /// for reading files of unknown origin.
    pub const MAX_BYTES: u64 = 1 << 30;

    /// Parses a recording. `bytes` may be truncated.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, RecordingError> {
        let header = Header::parse(bytes).map_err(RecordingError)?;
        let pinned = PinnedRing::read(bytes, header.page, header.metadata_at);
        Ok(Self { bytes, header, pinned })
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
        write::write(self, None, &mut PacketWriter::new(out))
    }

    /// The trace file of a session that streams, as far as it was written; none of a session that
    /// keeps its messages, and of one that died before it began its file.
    pub fn trace(&self) -> Option<TraceFile> {
        TraceFile::read(self)
    }

    /// The fatal signal that ended the process, where the session waited for such.
    pub fn fatal_signal(&self) -> Option<FatalSignal> {
        FatalSignal::of(self)
    }

    /// True if messages were dropped or passed over before the process died, which the trace file
    /// may report already.
    pub fn has_losses(&self) -> bool {
        let keys = (0..recorder::LOSSES).map(|slot| recorder::LOSSES_AT + 16 * slot + 8);
        let reasons = LossCause::ALL.into_iter().map(Unwritten::Lost);
        let reasons = reasons.chain([Unwritten::PassedOver(None)]);
        let others = reasons.filter_map(|reason| recorder::other_losses_at(reason.number()));
        keys.chain(others).any(|at| self.counter(at) > 0)
    }

    /// Writes what belongs after the valid bytes of the [trace file](Self::trace): messages, drops
    /// that those bytes do not report (`survey`), and the end of the trace. Of a session that does
    /// not stream, everything.
    pub fn write_rest(&self, survey: &TraceSurvey, out: &mut dyn Write) -> io::Result<Recovered> {
        write::write(self, Some(survey), &mut PacketWriter::new(out))
    }

    /// True if it is of a session that streams to a trace file.
    pub fn streams(&self) -> bool {
        self.header.positions_at != 0
    }

    /// The ring and the pinned one, which may be empty, as far as the file has them.
    fn rings(&self) -> [&'a [u8]; 2] {
        let ring = |at, pages: u32| {
            let ring = self.from(at);
            ring.get(..self.header.page as usize * pages as usize).unwrap_or(ring)
        };
        let pinned = self.pinned.map_or(&[][..], |pinned| ring(pinned.at, pinned.pages));
        [ring(self.header.ring_at, self.header.pages), pinned]
    }

    /// Offset of the message counter of a writer, if it has one of its own.
    fn message_count_at(&self, writer: u16) -> Option<usize> {
        let pinned = self.pinned.and_then(|_| pinned_message_count_at(writer));
        message_count_at(writer).or(pinned)
    }

    /// The writers that have one.
    fn counted_writers(&self) -> impl Iterator<Item = u16> {
        let first = FIRST_PINNED_WRITER_ID;
        let pinned = self.pinned.map_or(0, |_| PINNED_COUNTS as u16);
        (1..=MESSAGE_COUNTS as u16).chain(first..first + pinned)
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
