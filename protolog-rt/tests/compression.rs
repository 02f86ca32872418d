//! Compressed traces: the same messages in fewer bytes, for Perfetto and for our reader, in
//! complete bundles only.
#![cfg(feature = "compression")]

mod common;

use common::{lock_sessions, record};
use protolog_reader::Trace as TraceFile;
use protolog_rt::{Builder, Level, ProtoLogGroup, Session, i};
use protolog_testkit::temp_dir;
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Zip,
}

fn compressed(session: Builder) -> Builder {
    session.log_from(Level::Info).compress(6)
}

#[test]
fn compression_keeps_messages_and_saves_bytes() {
    let mut sizes = Vec::new();
    let mut lines = Vec::new();
    let kinds: [fn(Builder) -> Builder; 2] = [|session| session.log_from(Level::Info), compressed];
    for kind in kinds {
        let recording = record(kind);
        for number in 0..5_000u64 {
            i!(Log::Zip, "%d of %d, %s", number, 5_000, "some text");
        }
        let trace = recording.stop();
        assert_eq!((trace.summary.messages, trace.summary.lost()), (5_000, 0));
        let size = std::fs::metadata(&trace.path).unwrap().len();
        assert_eq!(trace.summary.bytes, size);
        sizes.push(size);
        lines.push(trace.messages());
    }
    assert_eq!(lines[0], lines[1]);
    assert!(sizes[1] * 3 < sizes[0], "{sizes:?}");
}

/// zlib makes such texts longer at its fastest level, by more than it does random bytes.
#[test]
fn texts_that_grow_are_not_lost() {
    let recording = record(|session| compressed(session).compress(1).max_string_bytes(4 << 20));
    let mut state = 88_172_645_463_325_252_u64;
    let text = |length: usize| -> String {
        let character = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from_u32(0x4e00 + (state % 0x5200) as u32).expect("a character")
        };
        std::iter::repeat_with(character).take(length).collect()
    };
    let lengths = [vec![900; 600], vec![1_000_000]].concat();
    let texts: Vec<String> = lengths.into_iter().map(text).collect();
    for text in &texts {
        i!(Log::Zip, "%s", text);
    }
    let trace = recording.stop();
    assert_eq!((trace.summary.messages, trace.summary.lost()), (601, 0));
    let expected: Vec<String> = texts.iter().map(|text| format!("INFO Zip {text}")).collect();
    assert!(trace.lines() == expected);
}

#[test]
fn a_flush_makes_the_file_readable() {
    let recording = record(compressed);
    for count in 1..=5 {
        i!(Log::Zip, "message %d", count);
        recording.session().flush().unwrap();
        // Without its last byte a trace lacks its last bundle.
        let bytes = std::fs::read(&recording.path).unwrap();
        let read = |bytes: &[u8]| TraceFile::from_bytes(bytes).read().unwrap().entries().len();
        assert_eq!((read(&bytes), read(&bytes[..bytes.len() - 1])), (count, count - 1));
    }
    let trace = recording.stop();
    trace.check(
        &(1..=5)
            .map(|n| format!("INFO Zip message {n}"))
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn strings_of_megabytes_are_compressed() {
    let recording =
        record(|session| compressed(session).buffer_size(32 << 20).max_string_bytes(8 << 20));
    let text: String =
        (0..5usize << 20).map(|at| char::from(b'a' + (at * at % 26) as u8)).collect();
    i!(Log::Zip, "before");
    i!(Log::Zip, "%s", text);
    i!(Log::Zip, "after");
    let trace = recording.stop();
    assert!(trace.summary.bytes < 1 << 20, "{} bytes", trace.summary.bytes);
    let lines = trace.messages();
    assert!(lines[1] == format!("INFO Zip {text}") && lines.len() == 3);
}

#[test]
fn segments_of_compressed_packets_keep_their_limit() {
    const LIMIT: u64 = 100 << 10;
    const COUNT: u64 = 150_000;
    let _lock = lock_sessions();
    let dir = temp_dir();
    let session = compressed(Session::builder().file(dir.path().join("zip.pftrace")));
    let session =
        session.segment_bytes(LIMIT).wait_at_most(Duration::from_secs(60)).start().unwrap();
    thread::scope(|scope| {
        for thread in 0..3u64 {
            scope.spawn(move || {
                for number in 0..COUNT / 3 {
                    i!(Log::Zip, "%d:%d %d", thread, number, number * 7919 % 10_007);
                }
            });
        }
    });
    let summary = session.stop().unwrap();
    assert_eq!((summary.messages, summary.lost()), (COUNT, 0));
    let mut paths: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 3, "{} segments", paths.len());
    let mut next = [0; 3];
    for (index, path) in paths.iter().enumerate() {
        let size = std::fs::metadata(path).unwrap().len();
        assert!(size <= LIMIT, "{size} bytes");
        assert!(size > LIMIT / 2 || index + 1 == paths.len(), "{size} bytes");
        let trace = common::Trace::of(path.clone(), protolog_rt::Summary::default(), temp_dir());
        for line in if index < 2 { trace.messages() } else { trace.lines() } {
            let (thread, rest) = line.strip_prefix("INFO Zip ").unwrap().split_once(':').unwrap();
            let (number, value) = rest.split_once(' ').unwrap();
            let number: u64 = number.parse().unwrap();
            let thread: usize = thread.parse().unwrap();
            assert_eq!(
                (number, value),
                (next[thread], (number * 7919 % 10_007).to_string().as_str())
            );
            next[thread] += 1;
        }
    }
    assert_eq!(next, [COUNT / 3; 3]);
}

#[test]
fn in_memory_sessions_compress_when_they_write() {
    for kind in [Builder::keep_newest, Builder::keep_first, Builder::record] {
        let mut sizes = Vec::new();
        for zip in [false, true] {
            let recording = record(|session| {
                let session = kind(session.log_from(Level::Info).buffer_size(256 << 10));
                if zip { session.compress(6) } else { session }
            });
            for number in 0..3_000u64 {
                i!(Log::Zip, "%d of %d, %s", number, 3_000, "some text");
            }
            let snapshot = recording.snapshot();
            let trace = recording.stop();
            for trace in [&snapshot, &trace] {
                assert_eq!((trace.summary.messages, trace.summary.lost()), (3_000, 0));
                assert_eq!(trace.summary.bytes, std::fs::metadata(&trace.path).unwrap().len());
            }
            assert_eq!(snapshot.lines(), trace.messages());
            sizes.push(trace.summary.bytes);
        }
        assert!(sizes[1] * 3 < sizes[0], "{sizes:?}");
    }
}

#[test]
fn a_large_in_memory_session_is_compressed() {
    let recording = record(|session| {
        compressed(session).keep_first().buffer_size(16 << 20).max_string_bytes(4 << 20)
    });
    let text: String =
        (0..3usize << 20).map(|at| char::from(b'a' + (at * at % 26) as u8)).collect();
    for number in 0..100_000u64 {
        i!(Log::Zip, "%d", number);
        if number % 50_000 == 1_000 {
            i!(Log::Zip, "%s", text);
        }
    }
    let trace = recording.stop();
    assert_eq!((trace.summary.messages, trace.summary.lost()), (100_002, 0));
    let mut lines = trace.messages();
    for at in [51_002, 1_001] {
        assert_eq!(lines.remove(at), format!("INFO Zip {text}"));
    }
    assert!((0..100_000u64).map(|number| format!("INFO Zip {number}")).eq(lines));
}
