//! Limits of the bytes per message in the file, everything included, plain and (with the feature
//! `compression`) compressed. The values are a running number and pseudorandom ones. `--nocapture`
//! shows the figures.

mod common;

use common::record;
use protolog_rt::{Builder, Level, ProtoLogGroup, i};
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Size,
}

const COUNT: u64 = 100_000;

/// Bytes per message that `log` logs, in a session with the options of `configure`.
fn measure(configure: fn(Builder) -> Builder, log: fn(u64)) -> f64 {
    let session = |session: Builder| session.log_from(Level::Info);
    let recording =
        record(|builder| configure(session(builder)).wait_at_most(Duration::from_secs(60)));
    (0..COUNT).for_each(log);
    let summary = recording.stop().summary;
    assert_eq!((summary.messages, summary.lost()), (COUNT, 0));
    summary.bytes as f64 / COUNT as f64
}

/// A pseudorandom number below 8192.
fn noise(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51
}

/// Logs two integers of about two bytes: one counts up, the other is pseudorandom.
fn two_ints(number: u64) {
    i!(Log::Size, "block %d has %d entries", number % 8_192, noise(number));
}

/// Logs the same two integers and a float.
fn two_ints_and_a_float(number: u64) {
    let took = noise(number + 1) as f64 / 1000.0;
    i!(Log::Size, "block %d has %d entries, %f ms", number % 8_192, noise(number), took);
}

/// Logs an integer and one of eight strings.
fn int_and_string(number: u64) {
    const TEXTS: [&str; 8] =
        ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"];
    i!(Log::Size, "%d of %s", number % 8_192, TEXTS[noise(number) as usize % 8]);
}

/// Logs an integer and one of four names that differ within.
fn int_and_host(number: u64) {
    const HOSTS: [&str; 4] = [
        "host-00017.example.org",
        "host-00018.example.org",
        "host-00170.example.org",
        "host-01017.example.org",
    ];
    i!(Log::Size, "%d of %s", number % 8_192, HOSTS[number as usize % 4]);
}

/// Logs a string of 40 bytes, always the same one.
fn long_string(_: u64) {
    i!(Log::Size, "text %s", "0123456789012345678901234567890123456789");
}

/// Logs a different string of 40 bytes each time.
fn new_string(number: u64) {
    i!(Log::Size, "text %s", format_args!("{number:040}"));
}

#[track_caller]
fn check_limit(what: &str, bytes: f64, limit: f64) {
    println!("{what}: {bytes:.1} bytes, at most {limit}");
    assert!(bytes <= limit, "{what}: {bytes:.1} bytes are more than {limit}");
}

#[test]
fn messages_are_small() {
    let plain: fn(Builder) -> Builder = |session| session;
    check_limit("two integers", measure(plain, two_ints), 26.0);
    check_limit("two integers and a float", measure(plain, two_ints_and_a_float), 35.0);
    check_limit("an integer and one of 8 strings", measure(plain, int_and_string), 28.0);
    check_limit("an integer and one of 4 hosts", measure(plain, int_and_host), 30.0);
    check_limit("a string of 40 bytes", measure(plain, long_string), 24.0);
    check_limit("a new string of 40 bytes", measure(plain, new_string), 74.0);
}

#[cfg(feature = "compression")]
#[test]
fn compressed_messages_are_smaller() {
    let zipped: fn(Builder) -> Builder = |session| session.compress(6);
    check_limit("two integers, compressed", measure(zipped, two_ints), 8.5);
    check_limit(
        "two integers and a float, compressed",
        measure(zipped, two_ints_and_a_float),
        17.0,
    );
}
