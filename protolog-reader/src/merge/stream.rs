//! Reads the packets of a trace one at a time, whatever the size of the trace.

use super::error::MergeError;
use crate::hole;
use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use protozero::Reader;
use std::io::{self, BufRead, BufReader, Read};

/// Maximum size of a packet, in bytes; Perfetto's service writes far smaller ones.
pub(super) const MAX_PACKET: u64 = 256 << 20;

/// The end of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TraceEnd {
    /// After its last packet.
    Whole,
    /// Within a packet, or at corrupt bytes.
    Early,
    /// It is no trace at all.
    NotATrace,
    /// It is compressed with zstd, which is not supported.
    Zstd,
}

/// The reason to stop reading packets.
pub(super) enum Stop {
    /// The trace can't be read.
    Read(io::Error),
    /// The visitor of the packets failed.
    Refused(MergeError),
}

impl From<MergeError> for Stop {
    fn from(error: MergeError) -> Self {
        Self::Refused(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

impl Stop {
    /// The error for the trace with the name `input`.
    pub(super) fn into_error(self, input: &str) -> MergeError {
        match self {
            Self::Read(error) => MergeError::Read { input: input.to_owned(), error },
            Self::Refused(error) => error,
        }
    }
}

/// A part of a trace.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'a> {
    Packet(&'a [u8]),
    /// Bytes that were skipped; see [`crate::hole`].
    Hole(u64),
}

/// A visitor of a trace.
type Visitor<'a> = dyn FnMut(Piece<'_>) -> Result<(), Stop> + 'a;

/// Calls `visitor` with each packet and hole of a trace, which may be compressed with gzip.
pub(super) fn packets(
    trace: Box<dyn Read + '_>,
    visitor: &mut Visitor<'_>,
) -> Result<TraceEnd, Stop> {
    let mut trace = BufReader::with_capacity(256 << 10, trace);
    match trace.fill_buf()? {
        [0x1f, 0x8b, ..] => {
            let inflated = BufReader::with_capacity(256 << 10, MultiGzDecoder::new(trace));
            plain(inflated, true, visitor)
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Ok(TraceEnd::Zstd),
        _ => plain(trace, false, visitor),
    }
}

/// Calls `visitor` with each packet of a compressed bundle.
pub(super) fn bundle(
    bytes: &[u8],
    visitor: &mut dyn FnMut(&[u8]) -> Result<(), Stop>,
) -> Result<TraceEnd, Stop> {
    let visitor = &mut |piece: Piece<'_>| match piece {
        Piece::Packet(packet) => visitor(packet),
        Piece::Hole(_) => Ok(()),
    };
    if bytes.starts_with(&[0x1f, 0x8b]) {
        plain(BufReader::new(MultiGzDecoder::new(bytes)), true, visitor)
    } else {
        plain(BufReader::new(ZlibDecoder::new(bytes)), true, visitor)
    }
}

/// Reads packets from a stream that is already inflated. If it can't be inflated further, it ends early.
fn plain(trace: impl BufRead, inflated: bool, visitor: &mut Visitor<'_>) -> Result<TraceEnd, Stop> {
    const PACKET: u64 = 0x0a;
    let early = |error: io::Error| {
        let cut = error.kind() == io::ErrorKind::UnexpectedEof;
        if cut || inflated { Ok(TraceEnd::Early) } else { Err(error.into()) }
    };
    let mut trace = Ahead { inner: trace, bytes: Vec::new(), at: 0 };
    let (mut packet, mut first, mut budget) = (Vec::new(), true, hole::Budget::default());
    loop {
        if trace.is_at_zero() {
            match trace.skip_hole(&mut budget) {
                Ok(Some(bytes)) => visitor(Piece::Hole(bytes))?,
                Ok(None) if first => return Ok(TraceEnd::NotATrace),
                Ok(None) => return Ok(TraceEnd::Early),
                Err(error) => return early(error),
            }
        }
        let tag = match varint(&mut trace) {
            Ok(None) => return Ok(TraceEnd::Whole),
            Ok(Some(tag)) => tag,
            Err(error) => return early(error),
        };
        if first && tag != PACKET {
            return Ok(TraceEnd::NotATrace);
        }
        first = false;
        let size = match varint(&mut trace) {
            Ok(Some(size)) if tag == PACKET && size <= MAX_PACKET => size,
            // Traces have no other fields.
            Ok(_) => return Ok(TraceEnd::Early),
            Err(error) => return early(error),
        };
        packet.clear();
        let is_whole = match (&mut trace).take(size).read_to_end(&mut packet) {
            Ok(read) => read as u64 == size,
            Err(error) => return early(error),
        };
        let is_good = || Reader::new(&packet).all(|field| field.is_ok());
        match hole::first_zeros(&packet) {
            Some(zeros) if !is_whole || !is_good() => {
                trace.unread(&packet[zeros..]);
                if !is_good() {
                    // Counted where it is decoded.
                    visitor(Piece::Packet(&packet))?;
                }
            }
            // Its last bytes may be in the hole that follows; see `hole::reaches_into`.
            _ if is_whole && packet.last() == Some(&0) && trace.is_at_zero() => {
                visitor(Piece::Packet(&[0]))?;
            }
            _ if is_whole => visitor(Piece::Packet(&packet))?,
            _ => return Ok(TraceEnd::Early),
        }
    }
}

/// A reader that can look ahead, and go back.
struct Ahead<R> {
    inner: R,
    /// Read from `inner`, or put back; from `at` on they come next.
    bytes: Vec<u8>,
    at: usize,
}

impl<R: BufRead> Ahead<R> {
    /// Puts bytes back.
    fn unread(&mut self, bytes: &[u8]) {
        self.bytes = [bytes, self.bytes.get(self.at..).unwrap_or_default()].concat();
        self.at = 0;
    }

    /// Returns whether the next byte is none of a packet's beginning. An error comes up when the byte is read.
    fn is_at_zero(&mut self) -> bool {
        matches!(self.fill_buf(), Ok([0, ..]))
    }

    /// Skips the hole that comes next, and returns its size; none where there is no way back to packets.
    fn skip_hole(&mut self, budget: &mut hole::Budget) -> io::Result<Option<u64>> {
        let mut zeros = 0;
        loop {
            let bytes = self.fill_buf()?;
            let run = bytes.iter().take_while(|byte| **byte == 0).count();
            if run == 0 {
                break;
            }
            self.consume(run);
            zeros += run as u64;
        }
        // One of the zeros, which stands for all of them.
        self.unread(&[0]);
        let missing = (2 * hole::WINDOW).saturating_sub(self.bytes.len()) as u64;
        let loaded = (&mut self.inner).take(missing).read_to_end(&mut self.bytes)? as u64;
        let hole = hole::find(&self.bytes, 0, loaded < missing, budget);
        let Some(hole) = hole else { return Ok(None) };
        self.consume(hole.end);
        Ok(Some(zeros - 1 + hole.end as u64))
    }
}

impl<R: BufRead> Read for Ahead<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(to)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Ahead<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.bytes.get(self.at..) {
            Some(bytes @ [_, ..]) => Ok(bytes),
            _ => self.inner.fill_buf(),
        }
    }

    fn consume(&mut self, count: usize) {
        if self.at < self.bytes.len() {
            self.at += count;
        } else {
            self.inner.consume(count);
        }
    }
}

/// The next varint; none at the end.
fn varint(from: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut value = 0;
    for index in 0..10 {
        let Some(&byte) = from.fill_buf()?.first() else {
            return if index == 0 { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        };
        from.consume(1);
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Ok(Some(value));
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}
