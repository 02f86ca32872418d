//! The number of messages in a file.

use protolog_core::schema::{packet, trace};
use protolog_reader::Recording;
use protozero::Reader;
use std::path::Path;

/// Prints how many lines, messages of protolog, or track events are in a file, and its size in
/// bytes; or the messages in a recording of a process that was killed. A file that is not there
/// holds none. None for another kind.
pub(crate) fn run(kind: &str, path: &Path) -> Option<()> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let count = match kind {
        "lines" => bytes.split(|byte| *byte == b'\n').count() - 1,
        "messages" => packets_with(&bytes, packet::PROTOLOG_MESSAGE),
        "events" => packets_with(&bytes, packet::TRACK_EVENT),
        "recorded" => packets_with(&recovered(&bytes), packet::PROTOLOG_MESSAGE),
        _ => return None,
    };
    println!(r#"{{"messages": {count}, "bytes": {}}}"#, bytes.len());
    Some(())
}

/// The number of packets with this field, up to the first that is cut off.
fn packets_with(bytes: &[u8], field: u32) -> usize {
    let packets = Reader::new(bytes).map_while(Result::ok);
    let packets = packets.filter(|packet| packet.number == trace::PACKET);
    packets
        .filter_map(|packet| packet.as_bytes().ok())
        .filter(|packet| Reader::new(packet).flatten().any(|known| known.number == field))
        .count()
}

/// The trace that a recording makes.
fn recovered(recording: &[u8]) -> Vec<u8> {
    let mut trace = Vec::new();
    let recording = Recording::parse(recording).expect("read the recording");
    recording.write(&mut trace).expect("recover the recording");
    trace
}
