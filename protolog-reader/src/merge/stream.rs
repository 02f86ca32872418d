//! Reads the packets of a trace one at a time, whatever the size of the trace.

use super::error::MergeError;
use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
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

/// A visitor of packets.
type Visitor<'a> = dyn FnMut(&[u8]) -> Result<(), Stop> + 'a;

/// Calls `visitor` with each packet of a trace, which may be compressed with gzip.
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
pub(super) fn bundle(bytes: &[u8], visitor: &mut Visitor<'_>) -> Result<TraceEnd, Stop> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        plain(BufReader::new(MultiGzDecoder::new(bytes)), true, visitor)
    } else {
        plain(BufReader::new(ZlibDecoder::new(bytes)), true, visitor)
    }
}

/// Reads packets from a stream that is already inflated. If it can't be inflated further, it ends early.
fn plain(
    mut trace: impl BufRead,
    inflated: bool,
    visitor: &mut Visitor<'_>,
) -> Result<TraceEnd, Stop> {
    const PACKET: u64 = 0x0a;
    let early = |error: io::Error| {
        let cut = error.kind() == io::ErrorKind::UnexpectedEof;
        if cut || inflated { Ok(TraceEnd::Early) } else { Err(error.into()) }
    };
    let (mut packet, mut first) = (Vec::new(), true);
    loop {
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
        match (&mut trace).take(size).read_to_end(&mut packet) {
            Ok(read) if read as u64 == size => visitor(&packet)?,
            Ok(_) => return Ok(TraceEnd::Early),
            Err(error) => return early(error),
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
