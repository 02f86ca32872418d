//! Inflating, with a limit: a few bytes can hold gigabytes.

use std::io::Read;

use flate2::read::{MultiGzDecoder, ZlibDecoder};

/// What came of inflating.
#[derive(Debug)]
pub(crate) struct Inflated {
    /// All that could be read, whether or not it ended well.
    pub(crate) bytes: Vec<u8>,
    pub(crate) end: StreamEnd,
}

/// How the stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    Whole,
    /// The stream is cut off or corrupt.
    Broken,
    /// There is more than the limit.
    TooLarge,
}

/// Whether `bytes` start as a gzip stream does.
pub(crate) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Whether `bytes` start as a zstd frame does.
pub(crate) fn is_zstd(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
}

/// Inflates a gzip (also of several members) or zlib stream to `limit` bytes at most.
pub(crate) fn inflate(bytes: &[u8], limit: u64) -> Inflated {
    if is_gzip(bytes) {
        read(MultiGzDecoder::new(bytes), limit)
    } else {
        read(ZlibDecoder::new(bytes), limit)
    }
}

fn read(stream: impl Read, limit: u64) -> Inflated {
    let mut bytes = Vec::new();
    let end = match stream.take(limit.saturating_add(1)).read_to_end(&mut bytes) {
        Err(_) => StreamEnd::Broken,
        Ok(_) if bytes.len() as u64 > limit => StreamEnd::TooLarge,
        Ok(_) => StreamEnd::Whole,
    };
    bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    bytes.shrink_to_fit();
    Inflated { bytes, end }
}
