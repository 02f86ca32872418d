//! Recordings, complete and damaged: the recovered messages, and the report of the rest.

use crate::common::{recording::recording, text};
use proptest::prelude::*;
use protolog_core::chunk::{PACKETS_AT, PAGE_HEADER, Packets, WRITER_ID_AT};
use protolog_core::recorder::{
    GENERATION_AT, HEADER_SIZE, LOSSES_AT, METADATA_USED_AT, POSITIONS, Position, RING_AT,
    TRACE_BYTES_AT, TRACE_FILE_AT, VERSION, loss_key,
};
use protolog_core::schema::loss_cause;
use protolog_reader::{Flaw, Log, Recording, Recovered, Trace, TraceSurvey};
use protolog_testkit::{assert_eq_text, temp_dir, trace_stats};

/// Two threads; the first chunk of the first one was overwritten.
const APP: &str = r#"
@1 process(100, "app")
@1 group(1, "demo::AppLog::Net", "Net") message(0x11, DEBUG, 1, "sent %d bytes", "src/net.rs:12")
@1 message(0x12, WARN, 1, "slow: %s", "src/net.rs:40")
@2 cleared snapshot(64=2000000000, boot=2000000000, incremental=64) default_clock=64 info(100, 101, "main", 3)
@2 ts=1000000 log(0x11, 4)
@2 needs ts=1000000 string(1, "write") log(0x12, $1)
@2 cleared snapshot(64=2500000000, boot=2500000000, incremental=64) default_clock=64 info(100, 101, "main", 5)
@2 ts=0 log(0x11, 6)
@3 cleared snapshot(64=2100000000, boot=2100000000, incremental=64) default_clock=64 info(100, 102, "worker", 0)
@3 ts=5 log(0x11, 1)
"#;

/// Messages of threads without a chunk.
const VANISHED: u64 = 4;

fn app() -> Vec<u8> {
    recording(APP, VANISHED)
}

/// Offset of the positions of writers in [`stream`], in the hole before the ring.
const POSITIONS_AT: usize = 16384;

/// The same as the buffer of a session that streams, whose file has the first messages of writer 1,
/// as the even generation says.
fn stream(first: Position) -> Vec<u8> {
    let mut bytes = app();
    let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
    put(176, &(POSITIONS_AT as u64).to_ne_bytes());
    put(184, &[7; 16]);
    put(GENERATION_AT, &2u64.to_ne_bytes());
    put(TRACE_BYTES_AT, &1000u64.to_ne_bytes());
    put(TRACE_FILE_AT, &[&11u16.to_ne_bytes()[..], b"app.pftrace"].concat());
    put(POSITIONS_AT + 8, &first.to_word().to_ne_bytes());
    bytes
}

/// Writes what follows the valid bytes of a trace; the trace lacks a part of them if `is_cut` is
/// set.
fn write_rest(bytes: &[u8], is_cut: bool) -> (Recovered, Vec<u8>) {
    let mut survey = TraceSurvey::default();
    survey.is_cut = is_cut;
    let mut rest = Vec::new();
    let report = Recording::parse(bytes).unwrap().write_rest(&survey, &mut rest).unwrap();
    (report, rest)
}

fn recover(bytes: &[u8]) -> (Recovered, Vec<u8>) {
    let mut trace = Vec::new();
    let report = Recording::parse(bytes).unwrap().write(&mut trace).unwrap();
    (report, trace)
}

fn read(trace: &[u8]) -> Log {
    Trace::from_bytes(trace).read().unwrap()
}

#[track_caller]
fn check(bytes: &[u8], expected: &str, flaws: &[Flaw]) {
    let (report, trace) = recover(bytes);
    assert_eq_text(expected, &text(&read(&trace)));
    assert_eq!(report.flaws, flaws);
}

/// The text of [`app`].
const TEXT: &str = "\
11-20 18:27:02.000   100   101 ! LOST    : 3 messages: overwritten before being read
11-20 18:27:02.001   100   101 D Net     : sent 4 bytes
11-20 18:27:02.002   100   101 W Net     : slow: write
11-20 18:27:02.100   100   102 D Net     : sent 1 bytes
11-20 18:27:02.500   100     ? ! LOST    : 4 messages: overwritten before being read
11-20 18:27:02.500   100   101 D Net     : sent 6 bytes
";

#[test]
fn a_recording_is_read_as_text() {
    let bytes = app();
    let (report, trace) = recover(&bytes);
    assert_eq!((report.pid, report.messages, report.threads), (100, 4, 2));
    assert_eq!((report.overwritten, report.lost), (7, 0));
    check(&bytes, TEXT, &[]);
    let dir = temp_dir();
    let path = dir.path().join("recovered.pftrace");
    std::fs::write(&path, &trace).unwrap();
    if let Some(stats) = trace_stats(&path) {
        assert_eq!(stats.to_string(), "", "counters of trace_processor");
    }
}

#[test]
fn the_rest_of_a_truncated_recording_is_recovered() {
    let bytes = app();
    let ring = 3 * 4096;
    let metadata = bytes.len() - RING_AT - ring;
    // Without its last byte, a packet of the metadata is lost.
    let (report, trace) = recover(&bytes[..bytes.len() - 1]);
    assert!(
        matches!(
            report.flaws[..],
            [Flaw::Truncated(1), Flaw::Metadata(_), Flaw::UnknownMessages(1)]
        ),
        "{report:?}"
    );
    assert_eq!(report.messages, 4);
    assert!(
        text(&read(&trace)).contains("#0000000000000012 (\"write\")"),
        "{}",
        text(&read(&trace))
    );
    // Without metadata and the last page.
    let (report, _) = recover(&bytes[..RING_AT + 2 * 4096 + 17]);
    let missing = (metadata + 4096 - 17) as u64;
    assert_eq!(report.flaws, [Flaw::Truncated(missing), Flaw::UnknownMessages(3)]);
    assert_eq!(report.messages, 3);
    // With the header only.
    let (report, trace) = recover(&bytes[..HEADER_SIZE]);
    assert_eq!(report.flaws, [Flaw::Truncated((bytes.len() - HEADER_SIZE) as u64)]);
    assert_eq!((report.messages, report.overwritten), (0, VANISHED));
    read(&trace);
}

#[test]
fn corrupt_parts_are_counted_and_the_rest_is_recovered() {
    let page = |index: usize| RING_AT + 4096 * index;
    let changed = |at: usize, value: &[u8]| {
        let mut bytes = app();
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes
    };
    let (report, _) = recover(&changed(page(0), &0x7000_0000u32.to_ne_bytes()));
    assert_eq!(report.flaws, [Flaw::Pages(1)]);
    assert_eq!(
        (report.messages, report.overwritten),
        (2, 9),
        "5 before the second chunk, 4 without a chunk"
    );
    let bytes = changed(page(0) + PAGE_HEADER + WRITER_ID_AT, &[0, 0]);
    assert_eq!(recover(&bytes).0.flaws, [Flaw::Chunks(1)]);
    assert!(!text(&read(&recover(&bytes).1)).contains("sent 4"));
    let bytes = changed(page(0) + PAGE_HEADER, &1u32.to_ne_bytes());
    assert_eq!(recover(&bytes).0.flaws, [Flaw::Chunks(1)], "two chunks with one number");
    let bytes = changed(page(0) + PAGE_HEADER + PACKETS_AT, &Packets::new(100, 0).0.to_ne_bytes());
    assert_eq!(recover(&bytes).0.flaws, [], "packets without bytes are ignored");
    // An invalid tag in the first packet.
    let bytes = changed(page(2) + PAGE_HEADER + 8 + 1, &[0x07]);
    assert_eq!(recover(&bytes).0.flaws, [Flaw::Packets(1)]);
    // A size beyond the end of the chunk.
    let bytes = changed(page(2) + PAGE_HEADER + 8, &[0xff, 0xff, 0x03]);
    assert_eq!(recover(&bytes).0.flaws, [Flaw::Chunks(1)]);
    check(&changed(8, &(VERSION + 1).to_ne_bytes()), TEXT, &[Flaw::Newer(VERSION + 1)]);
    let bytes = changed(METADATA_USED_AT, &[0xff; 8]);
    assert!(matches!(recover(&bytes).0.flaws[..], [Flaw::Truncated(_)]), "{:?}", recover(&bytes).0);
    assert_eq!(text(&read(&recover(&bytes).1)), TEXT);
}

#[test]
fn chunks_that_were_about_to_be_reused_are_overwritten() {
    let mut bytes = app();
    // PageLayout One, chunk 0 Reading; free, whatever is in it.
    for header in [0x1000_0002u32, 0x1000_0000] {
        bytes[RING_AT..][..4].copy_from_slice(&header.to_ne_bytes());
        let (report, _) = recover(&bytes);
        assert_eq!((report.messages, report.overwritten, report.flaws.len()), (2, 9, 0));
    }
}

#[test]
fn losses_are_reported() {
    let mut bytes = app();
    for (index, cause, count) in [(0, loss_cause::TRUNCATED, 2u64), (1, loss_cause::REENTRANT, 3)] {
        let at = LOSSES_AT + 16 * index;
        bytes[at..][..8].copy_from_slice(&loss_key(1, cause).to_ne_bytes());
        bytes[at + 8..][..8].copy_from_slice(&count.to_ne_bytes());
    }
    let (report, trace) = recover(&bytes);
    assert_eq!((report.lost, report.messages), (3, 4), "truncated messages are there");
    assert_eq_text(
        "\
lost: 7 messages: overwritten before being read
lost: 3 messages of demo::AppLog::Net: logged inside another log call
2 messages of demo::AppLog::Net: truncated, since an argument was too long
",
        &read(&trace).summary().to_string(),
    );
}

#[test]
fn a_trace_gets_what_follows_each_position() {
    let at = |chunk, packets, is_stale| stream(Position { chunk, packets, is_stale });
    let trace = Recording::parse(&at(0, 2, false)).unwrap().trace().expect("a trace file");
    assert_eq!((trace.path.to_str(), trace.bytes), (Some("app.pftrace"), 1000));
    let messages = |bytes: &[u8], is_cut| write_rest(bytes, is_cut).0.messages;
    // Writer 2 has one message, of which nothing is in the file.
    for (chunk, packets, expected) in [(0, 0, 4), (0, 2, 3), (0, 3, 2), (1, 0, 2), (1, 2, 1)] {
        assert_eq!(messages(&at(chunk, packets, false), false), expected, "{chunk}:{packets}");
        // State that the rest of a chunk builds on is written again if the file lacks it.
        let (report, rest) = write_rest(&at(chunk, packets, true), false);
        assert_eq!(report.messages, expected);
        assert_eq!(write_rest(&at(chunk, packets, false), true).1, rest, "the file lacks it");
        assert_eq!(read(&rest).stats().entries, expected, "{chunk}:{packets}");
    }
    // A chunk that was on its way to the file.
    let mut bytes = at(0, 2, false);
    bytes[RING_AT..][..4].copy_from_slice(&0x1000_0002u32.to_ne_bytes());
    assert_eq!(messages(&bytes, false), 3);
    // No generation counts yet.
    bytes[GENERATION_AT] = 0;
    assert_eq!(Recording::parse(&bytes).unwrap().trace(), None);
    assert_eq!(messages(&bytes, false), 4);
}

#[test]
fn what_is_none_is_refused() {
    let refused = |bytes: &[u8]| {
        let error = Recording::parse(bytes).unwrap_err();
        assert!(error.help().starts_with(|c: char| c.is_ascii_lowercase()));
        error.to_string()
    };
    assert_eq!(refused(b""), "not a recording");
    assert_eq!(refused(&recover(&app()).1), "not a recording");
    assert_eq!(refused(&app()[..100]), "the recording ends within its header");
    let mut bytes = app();
    bytes[12..16].reverse();
    assert_eq!(refused(&bytes), "the recording has the byte order of another machine");
    bytes[12..16].reverse();
    bytes[..8].fill(0);
    assert_eq!(refused(&bytes), "the recording is incomplete");
    assert!(Recording::matches(&app()) && !Recording::matches(&bytes));
}

/// Recovers any bytes, and checks what always holds.
fn recover_any(bytes: &[u8]) {
    let Ok(recording) = Recording::parse(bytes) else { return };
    let mut trace = Vec::new();
    let report = recording.write(&mut trace).unwrap();
    assert!(trace.len() <= 8 * bytes.len() + 4096, "{} of {}", trace.len(), bytes.len());
    let log = read(&trace);
    // A message that needs strings of a damaged packet is no entry.
    assert!(log.stats().entries <= report.messages);
    assert_eq!(log.stats().ended_early, None);
    let _ = recording.trace();
    for is_cut in [false, true] {
        let (report, rest) = write_rest(bytes, is_cut);
        assert!(rest.len() <= 8 * bytes.len() + 4096, "{} of {}", rest.len(), bytes.len());
        let log = read(&rest);
        assert!(log.stats().entries <= report.messages);
        assert_eq!(log.stats().ended_early, None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_damage_is_survived(
        places in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..60),
        end in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let mut bytes = app();
        // The hole between header and ring is nothing.
        let meant: Vec<usize> = (8..512).chain(RING_AT..bytes.len()).collect();
        for (place, value) in places {
            bytes[meant[place.index(meant.len())]] = value;
        }
        let end = if whole { bytes.len() } else { end.index(bytes.len() + 1) };
        recover_any(&bytes[..end]);
    }

    #[test]
    fn any_damage_of_a_stream_is_survived(
        places in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..60),
        positions in proptest::collection::vec((any::<u8>(), any::<u8>(), any::<bool>()), 3),
        generation in 0..4u8,
        end in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let mut bytes = stream(Position::default());
        for (writer, (chunk, packets, is_stale)) in positions.into_iter().enumerate() {
            let position = Position {
                chunk: u32::from(chunk % 4).wrapping_sub(1),
                packets: u16::from(packets % 8),
                is_stale,
            };
            bytes[POSITIONS_AT + 8 * writer..][..8].copy_from_slice(&position.to_word().to_ne_bytes());
        }
        bytes[GENERATION_AT] = generation;
        // Counters, the trace file twice, positions, and the ring.
        let files = TRACE_FILE_AT..TRACE_FILE_AT + 64;
        let positions = POSITIONS_AT..POSITIONS_AT + 32;
        let odd = (POSITIONS_AT + 8 * POSITIONS).min(bytes.len())..bytes.len();
        let meant: Vec<usize> = (128..512)
            .chain(files.clone())
            .chain(files.map(|at| at + 4096))
            .chain(positions)
            .chain(odd)
            .chain(RING_AT..bytes.len())
            .collect();
        for (place, value) in places {
            bytes[meant[place.index(meant.len())]] = value;
        }
        let end = if whole { bytes.len() } else { end.index(bytes.len() + 1) };
        recover_any(&bytes[..end]);
    }

    #[test]
    fn damage_where_there_is_something_is_survived(
        places in proptest::collection::vec((0..3usize, 0..200usize, any::<u8>()), 1..30),
    ) {
        let mut bytes = app();
        for (page, at, value) in places {
            bytes[RING_AT + 4096 * page + at] = value;
        }
        recover_any(&bytes);
    }
}
