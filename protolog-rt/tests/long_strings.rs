//! String arguments of megabytes, in every kind of session: complete if the session's limit allows
//! it, otherwise truncated with an ellipsis and counted.

mod common;

use common::{Trace, record, wire};
use protolog_rt::{Builder, Level, LossCause, ProtoLogGroup, i};
use std::fmt::Write as _;

#[derive(ProtoLogGroup)]
enum Log {
    Text,
}

const MIB: usize = 1 << 20;

/// A string in which every piece shows its offset.
fn pattern(length: usize) -> String {
    let mut pattern = String::new();
    for at in (0..length).step_by(8) {
        write!(pattern, "{at:07}.").expect("write to a string");
    }
    pattern.truncate(length);
    pattern
}

fn with_long_strings(session: Builder) -> Builder {
    session.log_from(Level::Info).max_string_bytes(8 * MIB)
}

/// Number of truncated strings. Checks that there is no loss of another cause.
#[track_caller]
fn count_truncated(trace: &Trace) -> u64 {
    let losses = trace.losses();
    assert!(losses.keys().all(|(_, cause)| *cause == wire(LossCause::Truncated)), "{losses:?}");
    losses.values().sum()
}

/// The messages of the trace. Checks that Perfetto and our reader agree on them.
#[track_caller]
fn strings(trace: &Trace) -> Vec<String> {
    let lines = trace.messages();
    lines
        .iter()
        .map(|line| line.strip_prefix("INFO Text ").expect("the group").to_owned())
        .collect()
}

/// Checks that `got` is a prefix of `sent` of at least `least` bytes and an ellipsis.
#[track_caller]
fn check_truncated(got: &str, sent: &str, least: usize) {
    let kept = got.strip_suffix('…').expect("an ellipsis");
    assert!(sent.starts_with(kept), "not a prefix");
    assert!(
        kept.len() >= least && kept.len() < sent.len(),
        "{} bytes of {}",
        kept.len(),
        sent.len()
    );
}

#[test]
fn five_megabytes_are_complete_in_a_large_buffer() {
    let sent = pattern(5 * MIB);
    let kinds: [fn(Builder) -> Builder; 3] =
        [|session| session, Builder::keep_newest, Builder::keep_first];
    for kind in kinds {
        let recording = record(|session| kind(with_long_strings(session)).buffer_size(32 * MIB));
        i!(Log::Text, "before");
        i!(Log::Text, "%s", sent);
        i!(Log::Text, "after");
        let trace = recording.stop();
        assert_eq!(count_truncated(&trace), 0);
        let strings = strings(&trace);
        assert_eq!(strings.len(), 3);
        assert!(strings[1] == sent, "{} bytes", strings[1].len());
        assert_eq!((strings[0].as_str(), strings[2].as_str()), ("before", "after"));
    }
}

#[test]
fn five_megabytes_are_truncated_to_half_of_the_buffer() {
    let sent = pattern(5 * MIB);
    let kinds: [fn(Builder) -> Builder; 3] =
        [|session| session, Builder::keep_newest, Builder::keep_first];
    for kind in kinds {
        let recording = record(|session| kind(with_long_strings(session)).buffer_size(4 << 20));
        i!(Log::Text, "before");
        i!(Log::Text, "%s", sent);
        i!(Log::Text, "after");
        let trace = recording.stop();
        assert_eq!((count_truncated(&trace), trace.summary.lost()), (1, 0));
        let strings = strings(&trace);
        assert_eq!(strings.len(), 3);
        check_truncated(&strings[1], &sent, 2 * MIB - 2_000);
    }
}

#[test]
fn the_limit_is_exact_for_every_length() {
    for cap in [3, 4, 100, 4_096, 70_000] {
        let recording = record(|session| with_long_strings(session).max_string_bytes(cap));
        for length in cap - 3..=cap + 3 {
            i!(Log::Text, "%s", pattern(length));
        }
        let umlauts = "ü".repeat(cap / 2 + 2);
        i!(Log::Text, "%s", umlauts);
        let trace = recording.stop();
        assert_eq!(count_truncated(&trace), 4, "at {cap}");
        let strings = strings(&trace);
        for (length, got) in (cap - 3..=cap + 3).zip(&strings) {
            if length <= cap {
                assert_eq!(*got, pattern(length));
            } else {
                assert_eq!(*got, format!("{}…", pattern(cap - 3)), "{length} of {cap}");
            }
        }
        let kept = (cap - 3) / 2;
        assert_eq!(strings[7], format!("{}…", "ü".repeat(kept)));
    }
}

#[test]
fn strings_are_truncated_at_half_of_the_buffer() {
    const HALF: usize = 32 << 10;
    let lengths: Vec<usize> =
        (HALF - 1_200..HALF + 200).step_by(97).chain(HALF - 80..HALF - 40).collect();
    let recording = record(|session| with_long_strings(session).buffer_size(2 * HALF));
    for &length in &lengths {
        i!(Log::Text, "%s", pattern(length));
        recording.session().flush().unwrap();
    }
    let trace = recording.stop();
    assert!(count_truncated(&trace) > 3);
    let strings = strings(&trace);
    assert_eq!(strings.len(), lengths.len());
    let mut largest = 0;
    for (got, &length) in strings.iter().zip(&lengths) {
        if got.len() == length && !got.ends_with('…') {
            assert!(*got == pattern(length));
            largest = largest.max(length);
        } else {
            check_truncated(got, &pattern(length), HALF - 1_100);
        }
    }
    assert!(largest > HALF - 100, "complete up to {largest}");
    let whole = |(got, length): (&String, &usize)| got.len() == *length || *length > largest;
    assert!(strings.iter().zip(&lengths).all(whole), "complete below, truncated above");
}

#[test]
fn strings_of_one_message_share_half_of_the_buffer() {
    let long = pattern(20_000);
    let recording = record(|session| with_long_strings(session).buffer_size(64 << 10));
    i!(Log::Text, "%s|%s|%s|%s", long, "short", long, long);
    i!(Log::Text, "%s", "after");
    let trace = recording.stop();
    assert_eq!(count_truncated(&trace), 1);
    let strings = strings(&trace);
    let parts: Vec<&str> = strings[0].split('|').collect();
    assert_eq!((parts[1], strings[1].as_str()), ("short", "after"));
    for part in [parts[0], parts[2], parts[3]] {
        check_truncated(part, &long, 7_500);
    }
}

#[test]
fn a_ring_buffer_keeps_strings_of_megabytes() {
    let recording = record(|session| with_long_strings(session).keep_newest().buffer_size(8 * MIB));
    let mut sent = 0;
    for round in 0..12usize {
        i!(Log::Text, "%s", pattern(MIB + round));
        for _ in 0..500 {
            i!(Log::Text, "small");
        }
        sent += 501;
    }
    let trace = recording.stop();
    let strings = strings(&trace);
    assert_eq!(trace.summary.messages + trace.summary.lost(), sent);
    assert_eq!(strings.len() as u64, trace.summary.messages);
    let long: Vec<&String> = strings.iter().filter(|text| *text != "small").collect();
    assert!(long.len() >= 6, "{} of 1 MiB in 8 MiB", long.len());
    for (got, round) in long.iter().rev().zip((0..12).rev()) {
        assert!(**got == pattern(MIB + round), "{} bytes", got.len());
    }
}

/// Formatted arguments have the same limit as strings, that of each session.
#[test]
fn formatted_arguments_are_complete_up_to_the_sessions_limit() {
    let sent = pattern(3 * MIB);
    let recording = record(|session| with_long_strings(session).buffer_size(32 * MIB));
    i!(Log::Text, "%s", format_args!("{sent}"));
    i!(
        Log::Text,
        "%s and %s",
        format_args!("{}", &sent[..1025]),
        format_args!("{:?}", &sent[..MIB])
    );
    let trace = recording.stop();
    assert_eq!(count_truncated(&trace), 0);
    let found = strings(&trace);
    assert!(found[0] == sent, "{} bytes", found[0].len());
    assert!(found[1] == format!("{} and {:?}", &sent[..1025], &sent[..MIB]));
    drop(trace); // It holds the lock of sessions.

    let recording = record(|session| session.log_from(Level::Info).max_string_bytes(5000));
    i!(Log::Text, "%s", format_args!("{sent}"));
    i!(Log::Text, "%s", format_args!("{}", &sent[..5000]));
    i!(Log::Text, "%s", format_args!("{}", &sent[..5001]));
    let trace = recording.stop();
    assert_eq!(count_truncated(&trace), 2);
    let found = strings(&trace);
    check_truncated(&found[0], &sent, 4990);
    assert_eq!(found[1], sent[..5000]);
    check_truncated(&found[2], &sent[..5001], 4990);
}

struct Panics;

impl std::fmt::Display for Panics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "state {}, ", 7)?;
        let list: &[u32] = &[];
        write!(f, "{}", list[3])
    }
}

/// The message says so, and the call returns.
#[test]
fn an_argument_may_panic_while_it_is_formatted() {
    let recording = record(|session| session.log_from(Level::Info));
    i!(Log::Text, "before %s after %d", Panics, 5);
    i!(Log::Text, "the next");
    let trace = recording.stop();
    assert_eq!(
        strings(&trace),
        [
            "before state 7, <panicked: index out of bounds: the len is 0 but the index is 3> after 5",
            "the next"
        ]
    );
}
