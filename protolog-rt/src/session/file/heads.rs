//! Facts that the first bytes of a trace have, or all of it: the session that wrote it, and whether
//! it is a segment.

use protolog_recording::TraceSurvey;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// The part of a trace that has the id of its session, in bytes.
pub(in crate::session) const HEAD: u64 = 1 << 20;

/// The most bytes that the bundles of that part may have, and how many times the size of a trace
/// those of all of it: its author may have made the file to keep programs busy that start.
const EXPANDED_HEAD: u64 = 16 << 20;
const EXPANSION: u64 = 64;

/// Bytes that are read at a time.
const BUFFER: usize = 256 << 10;

/// Surveys the first `length` bytes of a trace.
pub(in crate::session) fn survey_of(file: &File, length: u64) -> io::Result<TraceSurvey> {
    let mut file = file;
    file.seek(SeekFrom::Start(0))?;
    let inflate = within(length.saturating_mul(EXPANSION).max(EXPANDED_HEAD));
    TraceSurvey::of_stream(BufReader::with_capacity(BUFFER, file.take(length)), &inflate)
}

/// Surveys the first bytes of a trace, which have the id of its session and the name of its
/// program.
pub(in crate::session) fn survey_of_head(file: &File) -> io::Result<TraceSurvey> {
    Ok(TraceSurvey::of_head(&head(file)?, &within(EXPANDED_HEAD)))
}

/// The first bytes of a trace, which have the id of its session.
fn head(file: &File) -> io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (file, Vec::new());
    file.seek(SeekFrom::Start(0))?;
    file.take(HEAD).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The id of the session of a trace, as its first bytes say.
pub(in crate::session) fn session_id_of(file: &File) -> io::Result<[u8; 16]> {
    Ok(survey_of_head(file)?.session_id)
}

/// Surveys the first bytes of a trace, all of them, and returns their number.
pub(in crate::session) fn survey_of_part(file: &File) -> io::Result<(TraceSurvey, u64)> {
    let bytes = head(file)?;
    Ok((TraceSurvey::of(&bytes, &within(EXPANDED_HEAD)), bytes.len() as u64))
}

/// Inflates bundles, as long as all of them together have at most `most` bytes; and each one as far
/// as [`HEAD`].
#[cfg(feature = "compression")]
fn within(most: u64) -> impl Fn(&[u8]) -> Option<Vec<u8>> {
    let left = std::cell::Cell::new(most);
    move |bundle| {
        let mut packets = Vec::new();
        let inflating = flate2::read::ZlibDecoder::new(bundle).take(HEAD.min(left.get()));
        let done = { inflating }.read_to_end(&mut packets);
        left.set(left.get().saturating_sub(packets.len() as u64));
        done.ok().map(|_| packets)
    }
}

#[cfg(not(feature = "compression"))]
fn within(_: u64) -> impl Fn(&[u8]) -> Option<Vec<u8>> {
    |_| None
}

#[cfg(all(test, feature = "compression"))]
mod tests {
    use super::*;
    use flate2::{Compression, write::ZlibEncoder};
    use protolog_core::schema::packet;
    use protolog_recording::PacketWriter;
    use std::io::Write;

    #[test]
    fn the_bundles_of_a_trace_have_one_limit_together() {
        let mut bundle = ZlibEncoder::new(Vec::new(), Compression::best());
        bundle.write_all(&vec![0; HEAD as usize]).expect("memory");
        let bundle = bundle.finish().expect("memory");
        let mut trace = Vec::new();
        for _ in 0..500 {
            let mut to = PacketWriter::new(&mut trace);
            to.write_with(1, |to| {
                to.bytes(packet::COMPRESSED_PACKETS, &bundle);
            })
            .expect("memory");
        }
        let inflated = std::cell::Cell::new(0);
        let limited = within(EXPANDED_HEAD);
        let counting = |bundle: &[u8]| {
            let packets = limited(bundle);
            inflated.set(inflated.get() + packets.as_ref().map_or(0, Vec::len) as u64);
            packets
        };
        let survey = TraceSurvey::of_head(&trace, &counting);
        assert_eq!((survey.session_id, inflated.get()), ([0; 16], EXPANDED_HEAD));
    }
}
