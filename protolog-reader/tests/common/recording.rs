//! Recordings for tests, made from the description of a trace: packets of sequence 1 are the
//! metadata; those of another sequence are the chunks of writer `sequence - 1`, each of which
//! begins with a packet that is `cleared`.
//!
//! A chunk has a page for itself. The last chunk of each writer is still being written.

use super::trace::trace;
use protolog_core::chunk::{CHUNK_HEADER, ChunkState, PAGE_HEADER, Packets, PageLayout, PageWord};
use protolog_core::recorder::{
    BuildId, ClockSource, Header, MAGIC, METADATA_USED_AT, OTHER_MESSAGE_COUNT_AT, RING_AT,
    VERSION, record_header,
};
use protolog_core::schema::{packet, sequence_flags};
use protozero::Reader;
use std::collections::HashMap;

const PAGE: usize = 4096;

/// A chunk, in a page of its own.
pub(crate) struct ChunkSpec {
    pub(crate) writer: u16,
    pub(crate) id: u32,
    pub(crate) state: ChunkState,
    pub(crate) flags: u16,
    /// The packet count, including the packet that is being written.
    pub(crate) count: u16,
    /// Packets, or pieces of them.
    pub(crate) packets: Vec<Vec<u8>>,
    /// The bytes after them.
    pub(crate) rest: Vec<u8>,
}

/// The bytes of a recording with the contents of `description`. Writers without a counter of their
/// own have completed `completed` messages.
pub(crate) fn recording(description: &str, completed: u64) -> Vec<u8> {
    let (mut metadata, mut chunks, mut ids) = (Vec::new(), Vec::<ChunkSpec>::new(), HashMap::new());
    for (sequence, cleared, packet) in packets(description) {
        if sequence <= 1 {
            metadata.push(packet);
            continue;
        }
        let writer = sequence as u16 - 1;
        if cleared {
            let id = *ids.entry(writer).and_modify(|id| *id += 1).or_insert(0);
            let (state, packets) = (ChunkState::Complete, Vec::new());
            chunks.push(ChunkSpec {
                writer,
                id,
                state,
                flags: 0,
                count: 1,
                packets,
                rest: Vec::new(),
            });
        }
        let chunk = chunks.iter_mut().rev().find(|chunk| chunk.writer == writer);
        let chunk = chunk.expect("a packet that is cleared");
        chunk.packets.push(packet);
        chunk.count += 1;
    }
    for chunk in &mut chunks {
        if chunk.id == ids[&chunk.writer] {
            chunk.state = ChunkState::Writing;
        }
    }
    with_chunks(&metadata, &chunks, completed)
}

/// The bytes of a recording with these metadata packets and chunks.
pub(crate) fn with_chunks(metadata: &[Vec<u8>], chunks: &[ChunkSpec], completed: u64) -> Vec<u8> {
    let metadata: Vec<u8> =
        metadata.iter().flat_map(|packet| [&record_header(packet), &packet[..]].concat()).collect();
    let ring: Vec<u8> = chunks.iter().flat_map(page).collect();
    let mut bytes = header(ring.len()).to_bytes().to_vec();
    bytes[..8].copy_from_slice(&MAGIC);
    bytes.resize(RING_AT, 0);
    bytes[METADATA_USED_AT..][..8].copy_from_slice(&(metadata.len() as u64).to_ne_bytes());
    bytes[OTHER_MESSAGE_COUNT_AT..][..8].copy_from_slice(&completed.to_ne_bytes());
    bytes.extend(ring);
    bytes.extend(metadata);
    bytes
}

fn header(ring: usize) -> Header {
    Header {
        version: VERSION,
        pid: 100,
        page: PAGE as u32,
        pages: (ring / PAGE) as u32,
        clock: ClockSource::Kernel,
        ring_at: RING_AT as u64,
        metadata_at: (RING_AT + ring) as u64,
        realtime: 1_795_199_221_000_000_000,
        monotonic: 1_000_000_000,
        boottime: 1_000_000_000,
        boot_id: [7; 16],
        build_id: BuildId::new(&[1, 2, 3]),
        positions_at: 0,
        session_id: [0; 16],
    }
}

/// The packets of a description: sequence, `cleared` flag, contents.
pub(crate) fn packets(description: &str) -> Vec<(u32, bool, Vec<u8>)> {
    let trace = trace(description);
    Reader::new(&trace).map(|field| split_packet(field.unwrap().as_bytes().unwrap())).collect()
}

/// The sequence of a packet, its `cleared` flag, and the packet without its sequence id.
fn split_packet(bytes: &[u8]) -> (u32, bool, Vec<u8>) {
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

/// A page with one chunk.
fn page(chunk: &ChunkSpec) -> Vec<u8> {
    let mut page = PageWord::divided(PageLayout::One).with(0, chunk.state).0.to_ne_bytes().to_vec();
    page.resize(PAGE_HEADER, 0);
    page.extend(chunk.id.to_ne_bytes());
    page.extend(chunk.writer.to_ne_bytes());
    page.extend(Packets::new(chunk.count, chunk.flags).0.to_ne_bytes());
    for packet in &chunk.packets {
        let (size, length) = protozero::wire::encode_varint(packet.len() as u64);
        page.extend(&size[..length]);
        page.extend(packet);
    }
    page.extend(&chunk.rest);
    assert!(page.len() < PAGE && page.len() > PAGE_HEADER + CHUNK_HEADER, "a chunk has its limits");
    page.resize(PAGE, 0);
    page
}
