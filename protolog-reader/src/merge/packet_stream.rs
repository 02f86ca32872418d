//! Reads the packets of a trace of any size one at a time.

use super::error::MergeError;
use super::input_expansion::InputExpansion;
use crate::bytes::inflate;
use crate::damage::hole;
use crate::damage::resync;
use protolog_core::schema::trace;
use protozero::Reader;
use std::io::{self, BufRead, BufReader, Read};

/// Maximum size of a packet, in bytes; Perfetto's service writes far smaller ones.
pub(super) const MAX_PACKET: u64 = 256 << 20;

/// The size of the parts in which a trace is read, in bytes.
const BLOCK: usize = 256 << 10;

/// The tag of a packet.
const PACKET: u64 = 0x0a;

/// Maximum size of the tag and the size before a packet, in bytes.
const MAX_HEAD: usize = 20;

/// The end of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TraceEnd {
    /// After its last packet.
    Whole,
    /// Within a packet, or at corrupt bytes.
    Early,
    /// It is no trace at all.
    NotATrace,
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
    /// Bytes that were skipped; see [`crate::damage::hole`].
    Hole(u64),
    /// Bytes that were skipped; see [`crate::damage::resync`].
    Damage(u64),
    /// A field that is no packet, as Perfetto may have more of them one day. Readers pass over it.
    Other,
}

/// A visitor of a trace.
type Visitor<'a> = dyn FnMut(Piece<'_>) -> Result<(), Stop> + 'a;

/// Calls `visitor` with each piece of a trace, which may be compressed with gzip or zstd.
pub(super) fn packets(
    trace: Box<dyn Read + '_>,
    inflated: &InputExpansion,
    visitor: &mut Visitor<'_>,
) -> Result<TraceEnd, Stop> {
    let mut trace = BufReader::with_capacity(BLOCK, inflated.source(trace));
    if inflate::is_compressed(trace.fill_buf()?) {
        let content = inflated.limit(inflate::content(trace)?);
        let content = BufReader::with_capacity(BLOCK, content);
        return plain(content, PacketForm::Compressed, inflated, visitor);
    }
    plain(trace, PacketForm::Plain, inflated, visitor)
}

/// Calls `visitor` with each piece of a compressed bundle.
pub(super) fn bundle(
    bytes: &[u8],
    inflated: &InputExpansion,
    visitor: &mut Visitor<'_>,
) -> Result<TraceEnd, Stop> {
    if inflated.is_cut() {
        return Ok(TraceEnd::Early);
    }
    let content = BufReader::new(inflated.limit(inflate::content(bytes)?));
    plain(content, PacketForm::Bundle, inflated, visitor)
}

/// The form in which packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacketForm {
    Plain,
    /// Compressed as a whole.
    Compressed,
    /// A part of a trace, which is none by itself.
    Bundle,
}

/// Reads packets from a stream that is already inflated. If it can't be inflated further, it ends
/// early.
fn plain(
    trace: impl BufRead,
    form: PacketForm,
    inflated: &InputExpansion,
    visitor: &mut Visitor<'_>,
) -> Result<TraceEnd, Stop> {
    let inner = UntilError { inner: trace, error: None };
    let mut trace = Ahead { inner, bytes: Vec::new(), at: 0 };
    let end = all_packets(&mut trace, form, inflated, visitor)?;
    match trace.inner.error {
        None => Ok(end),
        Some(error)
            if form != PacketForm::Plain || error.kind() == io::ErrorKind::UnexpectedEof =>
        {
            Ok(TraceEnd::Early)
        }
        Some(error) => Err(error.into()),
    }
}

fn all_packets(
    trace: &mut Ahead<impl BufRead>,
    form: PacketForm,
    inflated: &InputExpansion,
    visitor: &mut Visitor<'_>,
) -> Result<TraceEnd, Stop> {
    let (mut packet, mut budget) = (Vec::new(), hole::Budget::default());
    let mut first = form != PacketForm::Bundle;
    loop {
        let is_first = std::mem::take(&mut first);
        let next = trace.next_packet(&mut packet)?;
        let Next::Packet = next else {
            let skipped = match next {
                Next::End => return Ok(TraceEnd::Whole),
                _ => trace.skip(&mut budget)?,
            };
            match skipped {
                Some(hole @ Piece::Hole(_)) => visitor(hole)?,
                _ if is_first && next == Next::Other => return Ok(TraceEnd::NotATrace),
                Some(piece) => visitor(piece)?,
                None => return Ok(TraceEnd::Early),
            }
            continue;
        };
        if form != PacketForm::Plain && !inflated.take_packet() {
            return Ok(TraceEnd::Early);
        }
        let is_good = || Reader::new(&packet).all(|field| field.is_ok());
        match hole::first_zeros(&packet) {
            Some(zeros) if !is_good() => {
                trace.unread(&packet[zeros..]);
                // Counted where it is decoded.
                visitor(Piece::Packet(&packet))?;
            }
            // Its last bytes may be in the hole that follows; see `hole::reaches_into`.
            _ if packet.last() == Some(&0) && trace.is_at_zero() => {
                visitor(Piece::Packet(&[0]))?;
            }
            _ => visitor(Piece::Packet(&packet))?,
        }
    }
}

/// A stream that ends where it can't be read any further, so that the part before is read as far as
/// that of a stream that was cut off.
struct UntilError<R> {
    inner: R,
    error: Option<io::Error>,
}

impl<R: BufRead> Read for UntilError<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(to)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for UntilError<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.error.is_some() {
            return Ok(&[]);
        }
        match self.inner.fill_buf() {
            Ok(bytes) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.error = Some(error);
                Ok(&[])
            }
        }
    }

    fn consume(&mut self, count: usize) {
        if self.error.is_none() {
            self.inner.consume(count);
        }
    }
}

/// The next part of a trace, before it is known how much of it can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    End,
    Packet,
    /// A packet that is cut off; its bytes come next again.
    Cut,
    /// No packet; its bytes come next again.
    Other,
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

    /// Returns whether the next byte is none of a packet's beginning. An error comes up when the
    /// byte is read.
    fn is_at_zero(&mut self) -> bool {
        matches!(self.fill_buf(), Ok([0, ..]))
    }

    /// Reads the next packet.
    fn next_packet(&mut self, packet: &mut Vec<u8>) -> io::Result<Next> {
        packet.clear();
        let mut head = Vec::with_capacity(MAX_HEAD);
        let tag = varint(self, &mut head)?;
        let next = match tag {
            _ if head.is_empty() => return Ok(Next::End),
            Some(PACKET) => Next::Cut,
            _ => Next::Other,
        };
        if next == Next::Cut
            && let Some(size) = varint(self, &mut head)?.filter(|size| *size <= MAX_PACKET)
            && self.by_ref().take(size).read_to_end(packet)? as u64 == size
        {
            return Ok(Next::Packet);
        }
        head.append(packet);
        self.unread(&head);
        Ok(next)
    }

    /// Skips the hole or the damage that comes next; none where there is no way back to packets.
    fn skip(&mut self, budget: &mut hole::Budget) -> io::Result<Option<Piece<'static>>> {
        let zeros = self.skip_zeros()?;
        // Enough of the zeros for a hole, which stand for all of them.
        let kept = zeros.min(hole::LEAST as u64);
        self.unread(&vec![0; kept as usize]);
        let missing = (2 * hole::WINDOW).saturating_sub(self.bytes.len()) as u64;
        let is_all =
            (&mut self.inner).take(missing).read_to_end(&mut self.bytes)? < missing as usize;
        if let Some(hole) = hole::find(&self.bytes, usize::MAX, is_all, budget) {
            self.consume(hole.end);
            return Ok(Some(Piece::Hole(zeros - kept + (hole.end - hole.start) as u64)));
        }
        let mut reader = Reader::new(&self.bytes);
        let field = reader.next().and_then(Result::ok);
        let end = field.map(|_| reader.offset() as usize);
        // A packet of another wire type is none.
        let is_packet = field.is_some_and(|field| field.number == trace::PACKET);
        let found = resync::find(&self.bytes, end, budget);
        let Some(skipped) = found.or(end) else {
            return Ok(self.skip_long_field()?.then_some(Piece::Other));
        };
        self.consume(skipped);
        let is_other = found.is_none() && zeros == 0 && !is_packet;
        let bytes = zeros - kept + skipped as u64;
        Ok(Some(if is_other { Piece::Other } else { Piece::Damage(bytes) }))
    }

    /// Skips a field that is no packet and longer than the bytes looked at. False if it is cut off,
    /// or none.
    fn skip_long_field(&mut self) -> io::Result<bool> {
        let mut head = Vec::with_capacity(MAX_HEAD);
        let is_long = varint(self, &mut head)?.is_some_and(is_long_field);
        match varint(self, &mut head)?.filter(|size| is_long && *size <= MAX_PACKET) {
            Some(size) => Ok(io::copy(&mut self.by_ref().take(size), &mut io::sink())? == size),
            None => Ok(false),
        }
    }

    fn skip_zeros(&mut self) -> io::Result<u64> {
        let mut zeros = 0;
        loop {
            let bytes = self.fill_buf()?;
            let run = bytes.iter().take_while(|byte| **byte == 0).count();
            if run == 0 {
                return Ok(zeros);
            }
            self.consume(run);
            zeros += run as u64;
        }
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

/// Returns whether this tag is that of a field with a length that is no packet. 0 is no number of a
/// field, and a greater one than `protozero` reads is none.
fn is_long_field(tag: u64) -> bool {
    tag != PACKET && tag & 7 == 2 && tag >> 3 > 0 && u32::try_from(tag).is_ok()
}

/// The next varint, whose bytes are appended to `head`; none where there is none.
fn varint(from: &mut impl BufRead, head: &mut Vec<u8>) -> io::Result<Option<u64>> {
    let mut value = 0;
    for index in 0..10 {
        let Some(&byte) = from.fill_buf()?.first() else { return Ok(None) };
        from.consume(1);
        head.push(byte);
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Ok(Some(value));
        }
    }
    Ok(None)
}
