//! Streams of zstd frames, as `zstd` writes them, and Perfetto in bundles from v58 on.
//!
//! Invariant: what is read is as the frames' checksums say, where they have one.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Reads the contents of all frames.
pub(crate) struct ZstdFrames<R> {
    source: R,
    /// That of the frame that is being read.
    decoder: Option<Box<FrameDecoder>>,
}

impl<R: BufRead> ZstdFrames<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, decoder: None }
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
                decoder.decode_blocks(&mut self.source, wanted).map_err(broken)?;
            }
            let read = decoder.read(to)?;
            if read > 0 {
                return Ok(read);
            }
            let (stored, found) =
                (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
            if stored.is_some() && stored != found {
                return Err(broken("the checksum is another one"));
            }
            self.decoder = None;
        }
        Ok(0)
    }
}

fn broken(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
