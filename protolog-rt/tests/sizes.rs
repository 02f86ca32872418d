//! Bytes per message in the file, everything included, plain and (with the feature `compression`) compressed: limits that
//! hold for the values below: a running number, and others that can't be foreseen. `--nocapture` shows the figures.

mod common;

use common::record;
use protolog_rt::{Builder, Level, ProtoLogGroup, i};
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Size,
}

const COUNT: u64 = 100_000;

/// Bytes per message of what `log` logs, through a session as `configure` says.
fn measure(configure: fn(Builder) -> Builder, log: fn(u64)) -> f64 {
    let session = |session: Builder| session.log_from(Level::Info);
    let recording =
        record(|builder| configure(session(builder)).wait_at_most(Duration::from_secs(60)));
    (0..COUNT).for_each(log);
    let summary = recording.stop().summary;
    assert_eq!((summary.messages, summary.lost()), (COUNT, 0));
    summary.bytes as f64 / COUNT as f64
}

/// What nobody can foresee, from 0 up to below 8192.
fn noise(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51
}

/// Two integers of two bytes or so: one that counts up, and one that can't be foreseen.
fn two_ints(number: u64) {
    i!(Log::Size, "block %d has %d entries", number % 8_192, noise(number));
}

/// The same, and a float.
fn two_ints_and_a_float(number: u64) {
    let took = noise(number + 1) as f64 / 1000.0;
    i!(Log::Size, "block %d has %d entries, %f ms", number % 8_192, noise(number), took);
}

/// An integer, and a text, one of eight.
fn int_and_text(number: u64) {
    const TEXTS: [&str; 8] =
        ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"];
    i!(Log::Size, "%d of %s", number % 8_192, TEXTS[noise(number) as usize % 8]);
}

/// A text of 40 bytes, always the same.
fn long_text(_: u64) {
    i!(Log::Size, "text %s", "0123456789012345678901234567890123456789");
}

/// A text that never comes again.
fn new_text(number: u64) {
    i!(Log::Size, "text %s", format_args!("{number:040}"));
}

#[track_caller]
fn check(what: &str, bytes: f64, limit: f64) {
    println!("{what}: {bytes:.1} bytes, at most {limit}");
    assert!(bytes <= limit, "{what}: {bytes:.1} bytes are more than {limit}");
}

#[test]
fn messages_are_small() {
    let plain: fn(Builder) -> Builder = |session| session;
    check("two integers", measure(plain, two_ints), 26.0);
    check("two integers and a float", measure(plain, two_ints_and_a_float), 35.0);
    check("an integer and a text, one of 8", measure(plain, int_and_text), 28.0);
    check("a text of 40 bytes", measure(plain, long_text), 24.0);
    check("a new text of 40 bytes", measure(plain, new_text), 74.0);
}

#[cfg(feature = "compression")]
#[test]
fn compressed_messages_are_smaller() {
    let zipped: fn(Builder) -> Builder = |session| session.compress(6);
    check("two integers, compressed", measure(zipped, two_ints), 8.5);
    check("two integers and a float, compressed", measure(zipped, two_ints_and_a_float), 17.0);
}
