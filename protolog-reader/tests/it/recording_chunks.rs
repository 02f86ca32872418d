//! Recordings chunk by chunk: the order of chunks, packets that continue in the next one, and the
//! valid part of a chunk that was being written.

use crate::common::recording::{ChunkSpec, packets, with_chunks};
use crate::common::text;
use protolog_core::chunk::{ChunkState, DROPPED_PACKET_SIZE, Packets};
use protolog_core::recorder::{MESSAGE_COUNTS, message_count_at};
use protolog_reader::{Flaw, Recording, Recovered, Trace};
use protolog_testkit::assert_eq_text;
use protozero::wire::encode_varint;

const METADATA: &str = r#"
@1 process(100, "app")
@1 group(1, "demo::AppLog::Net", "Net") message(0x11, DEBUG, 1, "sent %d bytes", "src/net.rs:12")
@1 message(0x12, WARN, 1, "slow: %s", "src/net.rs:40")
"#;

/// The beginning of all lines.
const MINUTE: &str = "11-20 18:27:";

const CONTINUED: u16 = Packets::CONTINUED;
const CONTINUES: u16 = Packets::CONTINUES;

fn packet(description: &str) -> Vec<u8> {
    packets(&format!("@2 {description}\n")).remove(0).2
}

/// The first packet of a chunk that has `before` messages of its thread before it, `millis` after
/// the first one.
fn begin(before: u64, millis: u64) -> Vec<u8> {
    let time = 2_000_000_000 + millis * 1_000_000;
    packet(&format!(
        "cleared snapshot(64={time}, boot={time}, incremental=64) default_clock=64 info(100, 101, \"main\", {before})"
    ))
}

/// A message, a millisecond later.
fn sent(number: u64) -> Vec<u8> {
    packet(&format!("ts=1000000 log(0x11, {number})"))
}

/// A message with a string, a millisecond later.
fn slow(what: &str) -> Vec<u8> {
    packet(&format!("needs ts=1000000 string(1, \"{what}\") log(0x12, $1)"))
}

/// A complete chunk of the first thread.
fn chunk(id: u32, flags: u16, packets: &[&[u8]]) -> ChunkSpec {
    let packets: Vec<_> = packets.iter().map(|packet| packet.to_vec()).collect();
    let count = packets.len() as u16;
    ChunkSpec {
        writer: 1,
        id,
        state: ChunkState::Complete,
        flags,
        count,
        packets,
        rest: Vec::new(),
    }
}

/// A recording with these chunks, whose writers without a counter of their own have completed
/// `completed` messages.
fn bytes(chunks: &[ChunkSpec], completed: u64) -> Vec<u8> {
    let metadata: Vec<_> = packets(METADATA).into_iter().map(|(.., packet)| packet).collect();
    with_chunks(&metadata, chunks, completed)
}

/// The report and the text of a recovery.
fn recover(chunks: &[ChunkSpec], completed: u64) -> (Recovered, String) {
    let (bytes, mut trace) = (bytes(chunks, completed), Vec::new());
    let report = Recording::parse(&bytes).unwrap().write(&mut trace).unwrap();
    (report, text(&Trace::from_bytes(trace).read().unwrap()))
}

/// Checks the lines, from the seconds on, and the flaws.
#[track_caller]
fn check(chunks: &[ChunkSpec], expected: &str, flaws: &[Flaw]) {
    let (report, text) = recover(chunks, 0);
    assert!(text.lines().all(|line| line.starts_with(MINUTE)), "{text}");
    assert_eq_text(expected, &text.replace(MINUTE, ""));
    assert_eq!(report.flaws, flaws);
}

/// The line of [`sent`], `millis` after the first one.
fn line(millis: u64, number: u64) -> String {
    format!("02.{millis:03}   100   101 D Net     : sent {number} bytes\n")
}

/// The line of missing messages.
fn missing(millis: u64, count: u64) -> String {
    let messages = if count == 1 { "message" } else { "messages" };
    format!(
        "02.{millis:03}   100   101 ! LOST    : {count} {messages}: overwritten before being read\n"
    )
}

#[test]
fn a_packet_continues_in_the_next_chunks() {
    let long = slow("a text that is in several pieces");
    let text = "02.002   100   101 W Net     : slow: a text that is in several pieces\n".to_owned();
    let expected = [line(1, 1), text, line(101, 2), line(201, 3)].concat();
    for first in 1..long.len() - 1 {
        let second = (first + 3).min(long.len() - 1);
        let (one, two, three) = (&long[..first], &long[first..second], &long[second..]);
        // The numbers of chunks wrap.
        let mut chunks = [
            chunk(u32::MAX, CONTINUED, &[&begin(0, 0), &sent(1), one]),
            chunk(0, CONTINUES | CONTINUED, &[two]),
            chunk(1, CONTINUES, &[three, &begin(2, 100), &sent(2)]),
            chunk(2, 0, &[&begin(3, 200), &sent(3)]),
        ];
        check(&chunks, &expected, &[]);
        // Their order in the ring does not matter.
        chunks.rotate_left(first % 4);
        chunks.swap(1, 2);
        check(&chunks, &expected, &[]);
    }
}

#[test]
fn a_piece_without_the_others_is_ignored() {
    let long = slow("in two pieces");
    let (begun, rest) = long.split_at(long.len() / 2);
    let begins = |id| chunk(id, CONTINUED, &[&begin(0, 0), &sent(1), begun]);
    let ends = |id| chunk(id, CONTINUES, &[rest, &begin(2, 100), &sent(2)]);
    let whole = |id, before| chunk(id, 0, &[&begin(before, 200), &sent(3)]);
    check(&[ends(1), whole(2, 3)], &[missing(100, 2), line(101, 2), line(201, 3)].concat(), &[]);
    check(&[begins(0), whole(2, 3)], &[line(1, 1), missing(200, 2), line(201, 3)].concat(), &[]);
    // The rest belongs to another packet.
    let expected = [line(1, 1), missing(100, 1), line(101, 2)].concat();
    check(&[begins(0), ends(2)], &expected, &[]);
    // The next chunk does not continue the packet.
    check(&[begins(0), whole(1, 1)], &[line(1, 1), line(201, 3)].concat(), &[]);
    // The next chunk was only begun.
    let mut empty = chunk(1, 0, &[b""]);
    empty.state = ChunkState::Writing;
    check(&[begins(0), empty, ends(2)], &expected, &[]);
}

#[test]
fn a_packet_that_was_being_written_does_not_count() {
    let long = slow("in two pieces");
    let (begun, rest) = long.split_at(long.len() / 2);
    let mut chunks = [
        chunk(0, 0, &[&begin(0, 0), &sent(1), &sent(2)]),
        chunk(1, CONTINUED, &[&begin(2, 100), &sent(3), begun]),
        chunk(2, CONTINUES, &[rest]),
    ];
    chunks[0].state = ChunkState::Writing;
    chunks[1].state = ChunkState::Writing;
    check(&chunks, &[line(1, 1), missing(100, 1), line(101, 3)].concat(), &[]);
    // A chunk that was about to be reused is ignored, and one without packets.
    chunks[0].state = ChunkState::Reading;
    check(&chunks, &[missing(100, 2), line(101, 3)].concat(), &[]);
    (chunks[0].state, chunks[0].count) = (ChunkState::Complete, 0);
    check(&chunks, &[missing(100, 2), line(101, 3)].concat(), &[]);
}

#[test]
fn a_dropped_packet_ends_its_chunk() {
    let mark = || encode_varint(u64::from(DROPPED_PACKET_SIZE)).0[..4].to_vec();
    let dropped = |id, flags, packets: &[&[u8]]| {
        let chunk = chunk(id, flags, packets);
        ChunkSpec { count: chunk.count + 2, rest: mark(), ..chunk }
    };
    let whole = |id, before| chunk(id, 0, &[&begin(before, 200), &sent(3)]);
    let chunks = [dropped(0, 0, &[&begin(0, 0), &sent(1)]), whole(1, 1)];
    check(&chunks, &[line(1, 1), line(201, 3)].concat(), &[]);
    // The rest of a packet that continues.
    let long = slow("in two pieces");
    let (begun, rest) = long.split_at(long.len() / 2);
    let mut chunks = [
        chunk(0, CONTINUED, &[&begin(0, 0), &sent(1), begun]),
        dropped(1, CONTINUES, &[]),
        chunk(2, CONTINUES, &[rest, &begin(2, 100), &sent(2)]),
    ];
    let expected = [line(1, 1), missing(100, 1), line(101, 2)].concat();
    check(&chunks, &expected, &[]);
    // Any other size beyond the end of the chunk is corrupt.
    chunks[1].rest[0] ^= 1;
    check(&chunks, &expected, &[Flaw::Chunks(1)]);
}

#[test]
fn messages_in_counters_but_in_no_chunk_are_overwritten() {
    // The shared counter has the complete chunks of writers without a counter of their own; newer
    // messages are not counted.
    let many = MESSAGE_COUNTS as u16 + 1;
    let of = |writer, mut chunk: ChunkSpec, state| {
        (chunk.writer, chunk.state) = (writer, state);
        chunk
    };
    let first = |writer, state| of(writer, chunk(0, 0, &[&begin(0, 0), &sent(1), &sent(2)]), state);
    let second = |writer, state| of(writer, chunk(1, 0, &[&begin(2, 100), &sent(3), b""]), state);
    let overwritten = |chunks: &[ChunkSpec], completed| recover(chunks, completed).0.overwritten;
    let (complete, writing) = (ChunkState::Complete, ChunkState::Writing);
    for (completed, expected) in [(0, 0), (2, 0), (5, 3)] {
        let chunks = [first(many, complete), second(many, writing)];
        assert_eq!(overwritten(&chunks, completed), expected, "{completed}");
        let another = [first(many, complete), first(many + 1, complete)];
        assert_eq!(
            overwritten(&another, completed),
            u64::saturating_sub(completed, 4),
            "{completed}"
        );
        // Its second chunk has the number of messages in the first one.
        let second = [second(many, writing)];
        assert_eq!(overwritten(&second, completed), 2 + expected, "{completed}");
        // A writer with a counter of its own is not in the shared one.
        assert_eq!(overwritten(&[first(1, complete)], completed), completed, "{completed}");
    }
    // The loss has the time of the last message.
    let text = recover(&[first(1, complete)], 1).1;
    let lost = |line: &str| line.contains(":02.002 ") && line.contains("LOST");
    assert!(text.lines().any(lost), "{text}");
    // A writer with a counter may have lost its newest chunks, or all.
    let mut bytes = bytes(&[first(1, complete)], 0);
    for (writer, count) in [(1, 5u64), (2, 7)] {
        bytes[message_count_at(writer).unwrap()..][..8].copy_from_slice(&count.to_ne_bytes());
    }
    let report = Recording::parse(&bytes).unwrap().write(&mut Vec::new()).unwrap();
    assert_eq!((report.messages, report.overwritten), (2, 3 + 7));
}
