//! A trace before it is read: its bytes, further dictionaries, limits.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::bytes::inflate::{self, Inflated, StreamEnd};
use crate::bytes::looks::Looks;
use crate::damage::limits::Limits;
use crate::decode::decoder::Decoder;
use crate::log::Log;
use crate::log::completed_stats;
use crate::losses::stats::{EndReason, EndedEarly};
use crate::traces::read_error::{ReadError, ReadErrorKind};

/// The bytes of a trace, with options for reading them.
#[derive(Debug)]
pub struct Trace {
    bytes: Vec<u8>,
    dictionaries: Vec<viewer_config::Dictionary>,
    /// None for those of the trace's size.
    limits: Option<Limits>,
    has_slices: bool,
}

impl Trace {
    /// A trace from bytes: a file that Perfetto can read, plain or compressed with gzip or zstd.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), dictionaries: Vec::new(), limits: None, has_slices: false }
    }

    /// Reads the bytes of the file at `path` into memory.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::from_reader(File::open(path)?)
    }

    /// Reads all bytes of `reader` into memory.
    pub fn from_reader(mut reader: impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        Ok(Self::from_bytes(bytes))
    }

    /// Adds a dictionary for ids that are neither in the trace's own dictionary nor in one that was
    /// added before.
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: viewer_config::Dictionary) -> Self {
        self.dictionaries.push(dictionary);
        self
    }

    /// Sets the limits, in place of [`Limits::of_size`].
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Reads spans, too: [`Log::items`](crate::Log::items) has their begins and ends then. They
    /// take memory by their number.
    #[must_use]
    pub fn with_slices(mut self) -> Self {
        self.has_slices = true;
        self
    }

    /// Reads the log. If only a part can be read, the log consists of that part, and its statistics
    /// say so.
    pub fn read(self) -> Result<Log, ReadError> {
        self.read_with(|_| None)
    }

    /// As [`read`](Self::read). `find` supplies dictionaries that the trace names by their hash and
    /// that were not added.
    pub fn read_with(
        self,
        find: impl FnMut(u64) -> Option<viewer_config::Dictionary>,
    ) -> Result<Log, ReadError> {
        let Self { bytes, dictionaries, limits, has_slices } = self;
        let limits = limits.unwrap_or_else(|| Limits::of_size(bytes.len() as u64));
        let is_compressed = inflate::is_compressed(&bytes);
        let (bytes, end) = if is_compressed {
            let Inflated { bytes, end } = inflate::inflate(&bytes, limits.inflated_bytes);
            (bytes, end)
        } else {
            (bytes, StreamEnd::Whole)
        };
        let is_empty = bytes.is_empty() && end == StreamEnd::Whole;
        let (begins, is_hole) = (bytes.starts_with(&[PACKET]), bytes.starts_with(&[0]));
        let is_lost = bytes.is_empty() && end != StreamEnd::Whole;
        let looks = if is_lost { Looks::Unknown } else { Looks::of(&bytes) };
        if looks == Looks::Dictionary {
            // Its messages would pass for packets of unknown fields.
            return Err(ReadErrorKind::NotATrace(looks).into());
        }
        let mut decoder = Decoder::new(limits, is_compressed);
        if is_compressed {
            decoder.take_inflated(bytes.len() as u64);
        }
        decoder.collected_mut().slices.are_wanted = has_slices;
        let mut collected = decoder.read(bytes);
        let looks_like_one = is_empty || begins || is_hole && collected.has_framed_packets();
        collected.stats.unended = collected.sessions.unended();
        let stats = &mut collected.stats;
        let reason = match end {
            StreamEnd::Whole => None,
            StreamEnd::Broken => Some(EndReason::BrokenStream),
            StreamEnd::TooLarge => Some(EndReason::Expansion),
            StreamEnd::NoRoom => Some(EndReason::Memory),
        };
        let has_room = stats.ended_early.is_none_or(|ended| ended.reason != EndReason::Memory);
        if reason == Some(EndReason::Memory) || !has_room {
            return Err(ReadErrorKind::OutOfMemory.into());
        }
        if let Some(reason) = reason {
            let offset = stats.ended_early.map_or(stats.bytes, |ended| ended.offset);
            let is_before = |it: &EndedEarly| it.reason == EndReason::Expansion;
            stats.ended_early =
                stats.ended_early.filter(is_before).or(Some(EndedEarly { reason, offset }));
        }
        let nothing_read = !collected.has_framed_packets() && collected.stats.packets > 0;
        if !looks_like_one || nothing_read {
            return Err(ReadErrorKind::NotATrace(looks).into());
        }
        let mut log = Log::new(collected, &dictionaries, find);
        completed_stats::complete_stats(&mut log);
        Ok(log)
    }
}

/// The first byte of every trace: the tag of `Trace.packet`.
const PACKET: u8 = 0x0a;
