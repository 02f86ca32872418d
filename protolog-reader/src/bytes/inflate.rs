//! Inflates streams up to a limit, because a few bytes can hold gigabytes.
//!
//! Invariant: the bytes of a broken stream before the damage are read, the same ones by every
//! reader.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::{Decompress, FlushDecompress, Status};

use crate::bytes::zstd::ZstdFrames;

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
    /// The memory has no room for its contents.
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
    let is_compressed = is_compressed(trace.fill_buf()?);
    if is_compressed { content(trace).map(Some) } else { Ok(None) }
}

/// The content of a gzip stream, also of several members, of zstd frames, or of a zlib stream.
///
/// # Errors
///
/// If the first bytes can't be read.
pub(crate) fn content<'a>(mut stream: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let head = stream.fill_buf()?;
    Ok(if is_zstd(head) {
        Box::new(ZstdFrames::new(stream))
    } else if is_gzip(head) {
        Box::new(Inflater::new(stream, Framing::Gzip))
    } else {
        Box::new(Inflater::new(stream, Framing::Zlib))
    })
}

/// The content of a stream of zlib, gzip or zstd; none if it is damaged, or has more bytes than the
/// limit.
pub fn inflated(stream: &[u8], limit: u64) -> Option<Vec<u8>> {
    let Inflated { bytes, end } = inflate(stream, limit);
    (end == StreamEnd::Whole).then_some(bytes)
}

/// Inflates the [`content`] of a stream to at most `limit` bytes.
pub(crate) fn inflate(bytes: &[u8], limit: u64) -> Inflated {
    let mut inflated = Vec::new();
    if limit == 0 {
        // Without the cost of a decompressor, since more of them may follow.
        return Inflated { bytes: inflated, end: StreamEnd::TooLarge };
    }
    let stream = content(bytes).map(|content| content.take(limit.saturating_add(1)));
    let end = match stream.and_then(|mut stream| stream.read_to_end(&mut inflated)) {
        Err(error) if error.kind() == ErrorKind::OutOfMemory => StreamEnd::NoRoom,
        Err(_) => StreamEnd::Broken,
        Ok(_) if inflated.len() as u64 > limit => StreamEnd::TooLarge,
        Ok(_) => StreamEnd::Whole,
    };
    inflated.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    inflated.shrink_to_fit();
    Inflated { bytes: inflated, end }
}

/// The head and the end of a stream of `deflate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// One stream.
    Zlib,
    /// Members that follow each other.
    Gzip,
}

impl Framing {
    fn decompressor(self) -> Decompress {
        match self {
            Self::Zlib => Decompress::new(true),
            Self::Gzip => Decompress::new_gzip(WINDOW_BITS),
        }
    }
}

/// The largest window that a stream may have, as a power of two.
const WINDOW_BITS: u8 = 15;

/// Reads a stream of `deflate`. An error comes after all that was inflated before it, which the
/// readers of `flate2` drop, more or less of it by the sizes of their reads.
struct Inflater<R> {
    source: R,
    form: Framing,
    stream: Decompress,
    place: StreamPlace,
}

/// The place in the stream.
enum StreamPlace {
    Within,
    /// Between members.
    Between,
    /// Before an error.
    Broken(io::Error),
    End,
}

impl<R: BufRead> Inflater<R> {
    fn new(source: R, form: Framing) -> Self {
        Self { source, form, stream: form.decompressor(), place: StreamPlace::Within }
    }

    /// Inflates the bytes that the source has at hand. Returns the number of bytes.
    fn step(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let input = self.source.fill_buf()?;
        let is_end = input.is_empty();
        if let StreamPlace::Between = self.place {
            if is_end {
                self.place = StreamPlace::End;
                return Ok(0);
            }
            (self.stream, self.place) = (self.form.decompressor(), StreamPlace::Within);
        }
        let before = (self.stream.total_in(), self.stream.total_out());
        let status = self.stream.decompress(input, to, FlushDecompress::None);
        let taken = (self.stream.total_in() - before.0) as usize;
        let made = (self.stream.total_out() - before.1) as usize;
        self.source.consume(taken);
        match status {
            Ok(Status::StreamEnd) if self.form == Framing::Gzip => {
                self.place = StreamPlace::Between;
            }
            Ok(Status::StreamEnd) => self.place = StreamPlace::End,
            Ok(_) if taken + made > 0 => {}
            Ok(_) if is_end => self.place = StreamPlace::Broken(ErrorKind::UnexpectedEof.into()),
            Ok(_) => self.place = StreamPlace::Broken(ErrorKind::InvalidData.into()),
            Err(error) => {
                self.place = StreamPlace::Broken(io::Error::new(ErrorKind::InvalidData, error));
            }
        }
        Ok(made)
    }
}

impl<R: BufRead> Read for Inflater<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.place, StreamPlace::End) {
                StreamPlace::Broken(error) => return Err(error),
                StreamPlace::End => return Ok(0),
                place => self.place = place,
            }
            let made = self.step(to)?;
            if made > 0 {
                return Ok(made);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::read::{MultiGzDecoder, ZlibDecoder};
    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    /// Bytes that compress, but not to nothing.
    fn content_of(size: u32) -> Vec<u8> {
        let numbers = (0..size / 8).map(|at| format!("{:7x},", at.wrapping_mul(0x9e37_79b9) >> 9));
        numbers.collect::<String>().into_bytes()
    }

    /// All bytes before an error, by reads of one size.
    fn read_by(mut stream: impl Read, size: usize) -> (Vec<u8>, bool) {
        let (mut all, mut part) = (Vec::new(), vec![0; size]);
        loop {
            match stream.read(&mut part) {
                Ok(0) => return (all, true),
                Ok(read) => all.extend_from_slice(&part[..read]),
                Err(_) => return (all, false),
            }
        }
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(content).unwrap();
        gzip.finish().unwrap()
    }

    fn zlib(content: &[u8]) -> Vec<u8> {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(content).unwrap();
        zlib.finish().unwrap()
    }

    #[test]
    fn what_is_before_damage_is_read_whatever_the_sizes_of_reads() {
        let content = content_of(40_000);
        let members = [gzip(&content[..10_000]), gzip(b""), gzip(&content[10_000..])].concat();
        for (stream, is_gzip) in [(members, true), (zlib(&content), false)] {
            let most = |damaged: &[u8]| {
                if is_gzip {
                    read_by(MultiGzDecoder::new(damaged), 1)
                } else {
                    read_by(ZlibDecoder::new(damaged), 1)
                }
            };
            assert_eq!(most(&stream), (content.clone(), true));
            for at in (0..stream.len()).step_by(stream.len() / 97) {
                let mut flipped = stream.clone();
                flipped[at] ^= 0x10;
                for damaged in [&flipped[..], &stream[..at]] {
                    if inflate_starts_as(damaged, is_gzip) {
                        let expected = most(damaged);
                        for size in [1, 7, 4096, 1 << 20] {
                            let parts = BufReader::with_capacity(11, damaged);
                            let read = read_by(self::content(parts).unwrap(), size);
                            assert_eq!(read.1, expected.1, "{at} {size}");
                            assert!(read.0.len() >= expected.0.len(), "{at} {size}");
                        }
                        let Inflated { bytes, end } = inflate(damaged, u64::MAX);
                        assert_eq!(end == StreamEnd::Whole, expected.1);
                        assert_eq!(bytes, read_by(self::content(damaged).unwrap(), 1).0);
                    }
                }
            }
        }
    }

    fn inflate_starts_as(bytes: &[u8], gzip: bool) -> bool {
        !bytes.is_empty() && !is_zstd(bytes) && is_gzip(bytes) == gzip
    }

    #[test]
    fn what_follows_a_stream_is_damage_of_gzip_alone() {
        let with_rest = |stream: Vec<u8>| [&stream[..], b"rest"].concat();
        assert_eq!(read_by(content(&with_rest(gzip(b"a"))[..]).unwrap(), 9), (b"a".into(), false));
        assert_eq!(read_by(content(&with_rest(zlib(b"a"))[..]).unwrap(), 9), (b"a".into(), true));
    }
}
