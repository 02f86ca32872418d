//! Inflates streams up to a limit, because a few bytes can hold gigabytes.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::read::{MultiGzDecoder, ZlibDecoder};

use crate::zstd::ZstdFrames;

/// The result of inflating.
#[derive(Debug)]
pub(crate) struct Inflated {
    /// Everything that could be inflated, even if the stream is broken.
    pub(crate) bytes: Vec<u8>,
    pub(crate) end: StreamEnd,
}

/// The end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    Whole,
    /// The stream is truncated or corrupt.
    Broken,
    /// The stream holds more than the limit.
    TooLarge,
    /// The memory has no room for what it holds.
    NoRoom,
}

/// True if `bytes` begin like a gzip stream.
pub(crate) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// True if `bytes` begin like a zstd frame.
pub(crate) fn is_zstd(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
}

/// True if `bytes` begin like a stream that a whole trace may be compressed as.
pub(crate) fn is_compressed(bytes: &[u8]) -> bool {
    is_gzip(bytes) || is_zstd(bytes)
}

/// The content of a trace that is compressed as a whole, with gzip or zstd; none of any other.
///
/// # Errors
///
/// If the first bytes can't be read. Damage comes up where the content is read.
pub fn decompress<'a>(trace: impl Read + 'a) -> io::Result<Option<Box<dyn Read + 'a>>> {
    let mut trace = BufReader::with_capacity(256 << 10, trace);
    let head = trace.fill_buf()?;
    let (is_gzip, is_zstd) = (is_gzip(head), is_zstd(head));
    Ok(if is_gzip {
        Some(Box::new(flate2::bufread::MultiGzDecoder::new(trace)))
    } else if is_zstd {
        Some(Box::new(ZstdFrames::new(trace)))
    } else {
        None
    })
}

/// Inflates a gzip stream, also of several members, zstd frames, or a zlib stream, to at most `limit` bytes.
pub(crate) fn inflate(bytes: &[u8], limit: u64) -> Inflated {
    if is_gzip(bytes) {
        read(MultiGzDecoder::new(bytes), limit)
    } else if is_zstd(bytes) {
        read(ZstdFrames::new(bytes), limit)
    } else {
        read(ZlibDecoder::new(bytes), limit)
    }
}

fn read(stream: impl Read, limit: u64) -> Inflated {
    let mut bytes = Vec::new();
    let end = match stream.take(limit.saturating_add(1)).read_to_end(&mut bytes) {
        Err(error) if error.kind() == ErrorKind::OutOfMemory => StreamEnd::NoRoom,
        Err(_) => StreamEnd::Broken,
        Ok(_) if bytes.len() as u64 > limit => StreamEnd::TooLarge,
        Ok(_) => StreamEnd::Whole,
    };
    bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    bytes.shrink_to_fit();
    Inflated { bytes, end }
}
