//! A trace as a service writes it, for benches of archives: requests of five messages, whose ids
//! are in each of them and nowhere else, and messages that are rare.

use protolog_rt::{ProtoLogGroup, Session, d, e, i, v, w};
use std::path::Path;
use std::thread;
use std::time::Duration;

const THREADS: u64 = 4;
/// The messages of a request.
const OF_REQUEST: u64 = 5;
/// One of so many requests fails.
const FAILING: u64 = 200;
/// One of so many finds a page that is damaged.
const DAMAGED: u64 = 100_000;

#[derive(ProtoLogGroup)]
enum ServiceLog {
    Http,
    Cache,
    Store,
}

/// Writes a trace of so many messages to `path`, in segments of this size.
pub(crate) fn run(path: &Path, messages: u64, segment_bytes: u64) {
    let session = Session::builder().file(path).enable_all().segment_bytes(segment_bytes);
    let session = session.wait_at_most(Duration::MAX).start().expect("start a session");
    let requests = messages / OF_REQUEST / THREADS;
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let builder = thread::Builder::new().name(format!("worker-{thread}"));
            let log = move || (0..requests).for_each(|index| log(index * THREADS + thread));
            builder.spawn_scoped(scope, log).expect("start a thread");
        }
    });
    let summary = session.stop().expect("stop the session");
    assert_eq!(summary.messages, requests * THREADS * OF_REQUEST, "all are in the trace");
}

/// Logs a request.
fn log(number: u64) {
    let noise = mixed(number);
    let id = format!("{noise:016x}");
    let host = ["alpha", "beta", "gamma"][(number % 3) as usize];
    i!(ServiceLog::Http, "%s: GET /user/%d/photos", id, noise % 50_000);
    v!(ServiceLog::Cache, "%s: lookup %s: hit=%b", id, "photos", noise.is_multiple_of(5));
    d!(ServiceLog::Store, "%s: %d rows of %s in %.2f ms", id, noise % 90, host, took(noise));
    if number % FAILING == 77 {
        w!(ServiceLog::Store, "%s: %s does not answer, attempt %d", id, host, noise % 4 + 1);
    } else {
        d!(ServiceLog::Http, "%s: sent %d bytes to %s", id, noise % 90_000, host);
    }
    if number % DAMAGED == 4_711 {
        e!(ServiceLog::Store, "%s: page %d is damaged, checksum %x", id, noise % 4096, noise);
    } else {
        i!(ServiceLog::Http, "%s: status %d after %d µs", id, 200, noise % 70_000);
    }
}

/// Milliseconds, to the microsecond.
fn took(noise: u64) -> f64 {
    (noise >> 20) as u32 as f64 / 1e6
}

/// A number that looks like any other: the end of splitmix64.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
