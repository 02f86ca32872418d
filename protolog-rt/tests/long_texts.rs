//! Texts of megabytes: whole where a session allows it, otherwise cut with an ellipsis and counted; in every kind of session.

mod common;

use common::{Trace, record, wire};
use protolog_rt::{Builder, Level, LossCause, ProtoLogGroup, i};
use std::fmt::Write as _;

#[derive(ProtoLogGroup)]
enum Log {
    Text,
}

const MIB: usize = 1 << 20;

/// Text that shows where a piece of it is from.
fn text(length: usize) -> String {
    let mut text = String::new();
    for at in (0..length).step_by(8) {
        write!(text, "{at:07}.").expect("write to a string");
    }
    text.truncate(length);
    text
}

fn wide(session: Builder) -> Builder {
    session.log_from(Level::Info).max_text(8 * MIB)
}

/// How many texts were cut; nothing else is lost.
#[track_caller]
fn cut(trace: &Trace) -> u64 {
    let losses = trace.losses();
    assert!(losses.keys().all(|(_, cause)| *cause == wire(LossCause::Truncated)), "{losses:?}");
    losses.values().sum()
}

/// The texts that arrived, which Perfetto and our reader agree on.
#[track_caller]
fn texts(trace: &Trace) -> Vec<String> {
    let lines = trace.messages();
    lines
        .iter()
        .map(|line| line.strip_prefix("INFO Text ").expect("the group").to_owned())
        .collect()
}

/// Checks that `got` is `sent` whole, or its beginning of at least `least` bytes and an ellipsis.
#[track_caller]
fn check_cut(got: &str, sent: &str, least: usize) {
    let kept = got.strip_suffix('…').expect("an ellipsis");
    assert!(sent.starts_with(kept), "another text");
    assert!(
        kept.len() >= least && kept.len() < sent.len(),
        "{} bytes of {}",
        kept.len(),
        sent.len()
    );
}

#[test]
fn five_megabytes_are_whole_in_a_large_buffer() {
    let sent = text(5 * MIB);
    let kinds: [fn(Builder) -> Builder; 3] =
        [|session| session, Builder::keep_newest, Builder::keep_first];
    for kind in kinds {
        let recording = record(|session| kind(wide(session)).buffer_size(32 * MIB));
        i!(Log::Text, "before");
        i!(Log::Text, "%s", sent);
        i!(Log::Text, "after");
        let trace = recording.stop();
        assert_eq!(cut(&trace), 0);
        let texts = texts(&trace);
        assert_eq!(texts.len(), 3);
        assert!(texts[1] == sent, "{} bytes", texts[1].len());
        assert_eq!((texts[0].as_str(), texts[2].as_str()), ("before", "after"));
    }
}

#[test]
fn five_megabytes_are_cut_to_half_of_the_usual_buffer() {
    let sent = text(5 * MIB);
    let kinds: [fn(Builder) -> Builder; 3] =
        [|session| session, Builder::keep_newest, Builder::keep_first];
    for kind in kinds {
        let recording = record(|session| kind(wide(session)));
        i!(Log::Text, "before");
        i!(Log::Text, "%s", sent);
        i!(Log::Text, "after");
        let trace = recording.stop();
        assert_eq!((cut(&trace), trace.summary.lost()), (1, 0));
        let texts = texts(&trace);
        assert_eq!(texts.len(), 3);
        check_cut(&texts[1], &sent, 2 * MIB - 2_000);
    }
}

#[test]
fn the_cap_is_exact_whatever_the_length() {
    for cap in [3, 4, 100, 4_096, 70_000] {
        let recording = record(|session| wide(session).max_text(cap));
        for length in cap - 3..=cap + 3 {
            i!(Log::Text, "%s", text(length));
        }
        let umlauts = "ü".repeat(cap / 2 + 2);
        i!(Log::Text, "%s", umlauts);
        let trace = recording.stop();
        assert_eq!(cut(&trace), 4, "at {cap}");
        let texts = texts(&trace);
        for (length, got) in (cap - 3..=cap + 3).zip(&texts) {
            if length <= cap {
                assert_eq!(*got, text(length));
            } else {
                assert_eq!(*got, format!("{}…", text(cap - 3)), "{length} of {cap}");
            }
        }
        let kept = (cap - 3) / 2;
        assert_eq!(texts[7], format!("{}…", "ü".repeat(kept)));
    }
}

#[test]
fn half_of_the_buffer_is_where_texts_are_cut() {
    const HALF: usize = 32 << 10;
    let lengths: Vec<usize> =
        (HALF - 1_200..HALF + 200).step_by(97).chain(HALF - 80..HALF - 40).collect();
    let recording = record(|session| wide(session).buffer_size(2 * HALF));
    for &length in &lengths {
        i!(Log::Text, "%s", text(length));
        recording.session().flush().unwrap();
    }
    let trace = recording.stop();
    assert!(cut(&trace) > 3);
    let texts = texts(&trace);
    assert_eq!(texts.len(), lengths.len());
    let mut largest = 0;
    for (got, &length) in texts.iter().zip(&lengths) {
        if got.len() == length && !got.ends_with('…') {
            assert!(*got == text(length));
            largest = largest.max(length);
        } else {
            check_cut(got, &text(length), HALF - 1_100);
        }
    }
    assert!(largest > HALF - 100, "whole up to {largest}");
    let whole = |(got, length): (&String, &usize)| got.len() == *length || *length > largest;
    assert!(texts.iter().zip(&lengths).all(whole), "whole below, cut above");
}

#[test]
fn many_texts_share_the_half() {
    let long = text(20_000);
    let recording = record(|session| wide(session).buffer_size(64 << 10));
    i!(Log::Text, "%s|%s|%s|%s", long, "short", long, long);
    i!(Log::Text, "%s", "after");
    let trace = recording.stop();
    assert_eq!(cut(&trace), 1);
    let texts = texts(&trace);
    let parts: Vec<&str> = texts[0].split('|').collect();
    assert_eq!((parts[1], texts[1].as_str()), ("short", "after"));
    for part in [parts[0], parts[2], parts[3]] {
        check_cut(part, &long, 7_500);
    }
}

#[test]
fn texts_of_megabytes_among_others_in_a_ring() {
    let recording = record(|session| wide(session).keep_newest().buffer_size(8 * MIB));
    let mut sent = 0;
    for round in 0..12usize {
        i!(Log::Text, "%s", text(MIB + round));
        for _ in 0..500 {
            i!(Log::Text, "small");
        }
        sent += 501;
    }
    let trace = recording.stop();
    let texts = texts(&trace);
    assert_eq!(trace.summary.messages + trace.summary.lost(), sent);
    assert_eq!(texts.len() as u64, trace.summary.messages);
    let long: Vec<&String> = texts.iter().filter(|text| *text != "small").collect();
    assert!(long.len() >= 6, "{} of 1 MiB in 8 MiB", long.len());
    for (got, round) in long.iter().rev().zip((0..12).rev()) {
        assert!(**got == text(MIB + round), "{} bytes", got.len());
    }
}
