//! A trace as Perfetto's service hands it out: it vouches for the user, the sequence and the
//! process of each packet, behind the fields that the program wrote.

use std::fs;
use std::path::{Path, PathBuf};

use protolog_core::schema::{packet, trace};
use protozero::wire::{WireType, encode_varint, tag};
use protozero::{Reader, Value};

/// `TracePacket.trusted_uid` and `TracePacket.trusted_pid`.
const USER: (u32, u64) = (3, 1000);
const PROCESS: (u32, u64) = (79, 31_415);

/// The file beside a trace that has the same packets, vouched for.
pub(crate) fn beside(trace: &Path) -> PathBuf {
    trace.with_extension("vouched.pftrace")
}

/// Writes it.
pub(crate) fn write_beside(path: &Path) {
    let bytes = fs::read(path).expect("read the trace");
    let mut vouched = Vec::new();
    for field in Reader::new(&bytes) {
        let field = field.expect("a whole trace");
        let Value::Bytes(packet) = field.value else { panic!("packets alone") };
        let packet = vouch(packet);
        put(&mut vouched, tag(trace::PACKET, WireType::Bytes).into());
        put(&mut vouched, packet.len() as u64);
        vouched.extend_from_slice(&packet);
    }
    fs::write(beside(path), vouched).expect("write the trace");
}

fn vouch(bytes: &[u8]) -> Vec<u8> {
    let (mut vouched, mut sequence) = (Vec::new(), None);
    let mut reader = Reader::new(bytes);
    while let Some(field) = reader.next() {
        let field = field.expect("a whole packet");
        if field.number == packet::TRUSTED_PACKET_SEQUENCE_ID {
            sequence = Some(field.as_u64().expect("a number"));
            continue;
        }
        let end = reader.offset() as usize;
        vouched.extend_from_slice(&bytes[field.offset as usize..end]);
    }
    let sequence = sequence.map(|id| (packet::TRUSTED_PACKET_SEQUENCE_ID, id));
    for (number, value) in [Some(USER), sequence, Some(PROCESS)].into_iter().flatten() {
        put(&mut vouched, tag(number, WireType::Varint).into());
        put(&mut vouched, value);
    }
    vouched
}

fn put(out: &mut Vec<u8>, value: u64) {
    let (bytes, length) = encode_varint(value);
    out.extend_from_slice(&bytes[..length]);
}
