//! Recordings for tests, made from the description of a trace: packets of sequence 1 are its annex; those of another one
//! are the chunks of writer `sequence - 1`, each of which begins with a packet that is `cleared`.
//!
//! A chunk has a page for itself. The last one of each writer is still being written.

use super::trace::trace;
use protolog_core::chunk::{CHUNK_HEADER, Layout, PAGE_HEADER, Packets, PageWord, State};
use protolog_core::recorder::{
    ANNEX_USED_AT, BuildId, Clock, Header, MAGIC, RING_AT, TOLD_AT, VERSION, record_head,
};
use protolog_core::schema::{packet, sequence_flags};
use protozero::Reader;
use std::collections::HashMap;

const PAGE: usize = 4096;

/// A chunk in the making.
struct Chunk {
    writer: u16,
    id: u32,
    packets: Vec<Vec<u8>>,
}

/// The bytes of a recording that says what `description` does; so many messages were of writers that have no place in the header.
pub(crate) fn recording(description: &str, told: u64) -> Vec<u8> {
    let (mut annex, mut chunks, mut ids) = (Vec::new(), Vec::<Chunk>::new(), HashMap::new());
    let trace = trace(description);
    for field in Reader::new(&trace) {
        let whole = field.unwrap().as_bytes().unwrap();
        let (sequence, cleared, packet) = take_apart(whole);
        if sequence <= 1 {
            annex.extend(record_head(&packet));
            annex.extend(packet);
            continue;
        }
        let writer = sequence as u16 - 1;
        if cleared {
            let id = ids.entry(writer).and_modify(|id| *id += 1).or_insert(0);
            chunks.push(Chunk { writer, id: *id, packets: Vec::new() });
        }
        let chunk = chunks.iter_mut().rev().find(|chunk| chunk.writer == writer);
        chunk.expect("a packet that is cleared").packets.push(packet);
    }
    let ring: Vec<u8> =
        chunks.iter().flat_map(|chunk| page(chunk, chunk.id == ids[&chunk.writer])).collect();
    let mut bytes = header(ring.len()).to_bytes().to_vec();
    bytes[..8].copy_from_slice(&MAGIC);
    bytes.resize(RING_AT, 0);
    bytes[ANNEX_USED_AT..][..8].copy_from_slice(&(annex.len() as u64).to_ne_bytes());
    bytes[TOLD_AT..][..8].copy_from_slice(&told.to_ne_bytes());
    bytes.extend(ring);
    bytes.extend(annex);
    bytes
}

fn header(ring: usize) -> Header {
    Header {
        version: VERSION,
        pid: 100,
        page: PAGE as u32,
        pages: (ring / PAGE) as u32,
        clock: Clock::Kernel,
        ring_at: RING_AT as u64,
        annex_at: (RING_AT + ring) as u64,
        realtime: 1_795_199_221_000_000_000,
        monotonic: 1_000_000_000,
        boottime: 1_000_000_000,
        boot_id: [7; 16],
        build_id: BuildId::new(&[1, 2, 3]),
    }
}

/// Its sequence, whether its state is cleared, and the packet without its sequence.
fn take_apart(bytes: &[u8]) -> (u32, bool, Vec<u8>) {
    let (mut sequence, mut cleared, mut rest) = (0, false, Vec::new());
    let (mut reader, mut from) = (Reader::new(bytes), 0);
    while let Some(field) = reader.next() {
        let field = field.unwrap();
        match field.number {
            packet::TRUSTED_PACKET_SEQUENCE_ID => sequence = field.as_u32().unwrap(),
            number => {
                let flags = sequence_flags::INCREMENTAL_STATE_CLEARED;
                cleared |= number == packet::SEQUENCE_FLAGS && field.as_u32().unwrap() & flags != 0;
                rest.extend_from_slice(&bytes[from..reader.offset() as usize]);
            }
        }
        from = reader.offset() as usize;
    }
    (sequence, cleared, rest)
}

/// A page with this chunk.
fn page(chunk: &Chunk, writing: bool) -> Vec<u8> {
    let state = if writing { State::Writing } else { State::Complete };
    let mut page = PageWord::divided(Layout::One).with(0, state).0.to_ne_bytes().to_vec();
    page.resize(PAGE_HEADER, 0);
    page.extend(chunk.id.to_ne_bytes());
    page.extend(chunk.writer.to_ne_bytes());
    page.extend(Packets::new(chunk.packets.len() as u16 + 1, 0).0.to_ne_bytes());
    for packet in &chunk.packets {
        let (size, length) = protozero::wire::encode_varint(packet.len() as u64);
        page.extend(&size[..length]);
        page.extend(packet);
    }
    assert!(page.len() < PAGE && page.len() > PAGE_HEADER + CHUNK_HEADER, "a chunk has its limits");
    page.resize(PAGE, 0);
    page
}
