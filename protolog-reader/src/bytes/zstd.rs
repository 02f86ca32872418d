//! Streams of zstd frames, as `zstd` writes them, and Perfetto in bundles from v58 on.
//!
//! Invariants: the bytes read match the checksums of the frames that have one; of a broken frame,
//! all blocks before the damage are read.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Reads the contents of all frames.
pub(crate) struct ZstdFrames<R> {
    source: R,
    /// That of the frame that is being read.
    decoder: Option<Box<FrameDecoder>>,
    /// The error that comes after the bytes that the frame still has.
    error: Option<io::Error>,
}

/// The last block of a frame, which is empty, and a checksum.
const END: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

impl<R: BufRead> ZstdFrames<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, decoder: None, error: None }
    }

    /// Begins the next frame. False if there is none.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            let mut decoder = FrameDecoder::new();
            match decoder.init(&mut self.source) {
                Ok(()) => {
                    self.decoder = Some(Box::new(decoder));
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut (&mut self.source).take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(broken(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        while self.decoder.is_some() || self.begin()? {
            let Some(decoder) = &mut self.decoder else { break };
            while decoder.can_collect() < to.len() && !decoder.is_finished() {
                let missing = to.len() - decoder.can_collect();
                let wanted = BlockDecodingStrategy::UptoBytes(missing);
                if let Err(error) = decoder.decode_blocks(&mut self.source, wanted) {
                    self.error = Some(broken(error));
                    // Blocks may refer to those before, so the decoder keeps them until the frame
                    // ends.
                    if decoder.decode_blocks(&END[..], BlockDecodingStrategy::All).is_err() {
                        break;
                    }
                }
            }
            let read = decoder.read(to)?;
            if read > 0 {
                return Ok(read);
            }
            let (stored, found) =
                (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
            self.decoder = None;
            if let Some(error) = self.error.take() {
                return Err(error);
            }
            if stored.is_some() && stored != found {
                return Err(broken("the checksum is another one"));
            }
        }
        Ok(0)
    }
}

fn broken(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    #[test]
    fn blocks_before_damage_are_read() {
        let numbers = (0..60_000u32).map(|at| format!("{:7x},", at.wrapping_mul(0x9e37_79b9) >> 9));
        let content = numbers.collect::<String>().into_bytes();
        let whole = compress_to_vec(&content[..], CompressionLevel::Fastest);
        for part in [10, 50, 90, 99] {
            let cut = &whole[..whole.len() * part / 100];
            for step in [100, 1 << 20] {
                let (mut stream, mut read) = (ZstdFrames::new(cut), Vec::new());
                let mut bytes = vec![0; step];
                let error = loop {
                    match stream.read(&mut bytes) {
                        Ok(count) => read.extend_from_slice(&bytes[..count]),
                        Err(error) => break error,
                    }
                };
                assert_eq!(error.kind(), io::ErrorKind::InvalidData);
                assert!(content.starts_with(&read));
                // A block has 128 KiB at most.
                let least = (content.len() * part / 100).saturating_sub(128 << 10);
                assert!(read.len() >= least, "{part}: {} of {}", read.len(), content.len());
                assert_eq!(stream.read(&mut bytes).ok(), Some(0), "nothing follows");
            }
        }
    }
}
