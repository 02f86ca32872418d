//! What the first bytes of a trace say, or all of it: the session that wrote it, and whether it is a segment.

use protolog_recording::{Inflate, TraceSurvey};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// The part of a trace that has the id of its session, in bytes.
pub(super) const HEAD: u64 = 1 << 20;

/// Bytes that are read at a time.
const BUFFER: usize = 256 << 10;

/// Surveys the first `length` bytes of a trace.
pub(super) fn survey_of(file: &File, length: u64) -> io::Result<TraceSurvey> {
    let mut file = file;
    file.seek(SeekFrom::Start(0))?;
    TraceSurvey::of_stream(BufReader::with_capacity(BUFFER, file.take(length)), INFLATE)
}

/// Surveys the first bytes of a trace, which have the id of its session and the name of its program.
pub(super) fn survey_of_head(file: &File) -> io::Result<TraceSurvey> {
    Ok(TraceSurvey::of_head(&head(file)?, INFLATE))
}

/// The first bytes of a trace, which have the id of its session.
pub(super) fn head(file: &File) -> io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (file, Vec::new());
    file.seek(SeekFrom::Start(0))?;
    file.take(HEAD).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(feature = "compression")]
pub(super) const INFLATE: Inflate<'static> = &|bundle| {
    let mut packets = Vec::new();
    let done = flate2::read::ZlibDecoder::new(bundle).take(HEAD).read_to_end(&mut packets);
    done.ok().map(|_| packets)
};

#[cfg(not(feature = "compression"))]
pub(super) const INFLATE: Inflate<'static> = &|_| None;
