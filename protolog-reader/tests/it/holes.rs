//! Traces with holes, as another program leaves them that truncates the file of a session: what
//! follows is read, and nothing is read that was not written.

use crate::common::{Input, trace};
use protolog_reader::{Log, Merged, Trace, merge};

/// The strings of the second chunk have the ids of those of the first one. A string is a trace
/// itself.
const APP: &str = r#"
@1 snapshot(real=1795199222000000000, mono=2000000000, boot=2000000000) boot(7) info(100, 0, "")
@1 group(1, "app::Log::Net", "Net") message(0x11, DEBUG, 1, "sent %d", "src/net.rs:12") message(0x12, WARN, 1, "slow: %s", "src/net.rs:40")
@2 cleared snapshot(64=2000000000, boot=2000000000, incremental=64) default_clock=64 info(100, 100, "main")
@2 ts=1000000 log(0x11, 1)
@2 needs ts=1000 string(1, "disk") log(0x12, $1)
@3 cleared snapshot(64=2500000000, boot=2500000000, incremental=64) default_clock=64 info(100, 101, "other")
@3 needs ts=1 string(1, "\x0a\x12\x40\x05\xc2\x06\x0b\x09\x99\x00\x00\x00\x00\x00\x00\x00\x18\x02\x50\x02\x0a\x04\x40\x05\x50\x02\x0a") log(0x12, $1)
@3 needs ts=5 log(0x12, $1)
@2 needs ts=2000000 log(0x12, $1)
@2 cleared snapshot(64=3000000000, boot=3000000000, incremental=64) default_clock=64 info(100, 100, "main")
@2 needs ts=1 string(1, "cpu") log(0x12, $1)
@2 ts=1 log(0x11, 2)
@3 ts=1 log(0x11, 3)
"#;

/// Times, ids and values; times that are guesses are left out.
fn entries(log: &Log) -> Vec<(Option<i64>, String)> {
    let entries = log.entries().map(|entry| {
        let values = entry.values();
        let time = (!entry.time_is_guess()).then(|| entry.time());
        (time, format!("{:x} {:?}", values.message_id(), values.args()))
    });
    entries.collect()
}

fn merged(bytes: &[u8]) -> (Merged, Vec<u8>) {
    let mut out = Vec::new();
    let merged = merge(&[&Input(bytes)], &mut out).unwrap();
    (merged, out)
}

/// Checks that nothing was read that is not in `whole`, and that `merge` has the same. Returns what
/// was read.
#[track_caller]
fn check(bytes: &[u8], whole: &[(Option<i64>, String)]) -> Vec<(Option<i64>, String)> {
    let log = Trace::from_bytes(bytes).read().unwrap();
    let found = entries(&log);
    for (time, text) in &found {
        let is_known = |(known, other): &(Option<i64>, String)| {
            text == other && time.is_none_or(|time| Some(time) == *known)
        };
        assert!(whole.iter().any(is_known), "{time:?} {text}: {found:?}");
    }
    let (report, out) = merged(bytes);
    assert_eq!(report.skipped_bytes, log.stats().skipped_bytes);
    let again = entries(&Trace::from_bytes(out).read().unwrap());
    let sorted = |mut all: Vec<(Option<i64>, String)>| {
        all.sort();
        all
    };
    assert_eq!(sorted(again), sorted(found.clone()));
    found
}

#[test]
fn what_follows_a_hole_is_read() {
    let bytes = trace(APP);
    let whole = entries(&Trace::from_bytes(bytes.clone()).read().unwrap());
    assert_eq!(whole.len(), 8);
    let places = places(&bytes);
    for start in 1..=places[places.len() - 2] {
        // Fewer zeros are no hole.
        let holed = [&vec![0; start.max(64)], &bytes[start..]].concat();
        let found = check(&holed, &whole);
        let log = Trace::from_bytes(holed).read().unwrap();
        let next = places.iter().find(|place| **place >= start).unwrap();
        assert_eq!(log.stats().skipped_bytes as usize, *next - start + start.max(64), "{start}");
        assert!(log.summary().to_string().contains("bytes skipped"));
        assert!(found.iter().any(|(_, text)| text == "11 [Int(3)]"));
        if start <= places[places.len() - 5] {
            assert!(found.contains(whole.last().unwrap()), "{start} {found:?}");
        }
    }
}

/// Offsets of packets.
fn places(bytes: &[u8]) -> Vec<usize> {
    let mut reader = protozero::Reader::new(bytes);
    let mut places = vec![0];
    while let Some(Ok(_)) = reader.next() {
        places.push(reader.offset() as usize);
    }
    places
}

#[test]
fn a_hole_may_be_anywhere() {
    let bytes = trace(APP);
    let whole = entries(&Trace::from_bytes(bytes.clone()).read().unwrap());
    let (places, mut most) = (places(&bytes), 0);
    for cut in (3..bytes.len()).step_by(3) {
        for place in &places[..places.len() - 2] {
            let hole = [&bytes[..cut], &[0; 5000], &bytes[*place..]].concat();
            let found = check(&hole, &[&whole[..], &whole].concat());
            assert!(found.iter().any(|(_, text)| text == "11 [Int(3)]"), "{cut} {place}");
            most = most.max(found.len());
        }
    }
    assert!(most > whole.len(), "what is before it is there, too");
    // At the end.
    let end = [&bytes[..], &[0; 77]].concat();
    assert_eq!(check(&end, &whole), whole);
    assert_eq!(Trace::from_bytes(end).read().unwrap().stats().skipped_bytes, 77);
}

#[test]
fn zeros_alone_are_no_trace() {
    for zeros in [1, 2, 100_000] {
        assert!(Trace::from_bytes(vec![0; zeros]).read().is_err());
        let mut text = vec![0; zeros];
        text.extend_from_slice(b"\nhello, world\n, this is no trace");
        assert!(Trace::from_bytes(text.clone()).read().is_err());
        assert!(merge(&[&Input(&text)], &mut Vec::new()).is_err());
    }
}

#[test]
fn a_hole_may_be_larger_than_what_is_looked_at() {
    let bytes = trace(APP);
    let whole = entries(&Trace::from_bytes(bytes.clone()).read().unwrap());
    let first = [&vec![0; 5 << 20][..], &bytes].concat();
    assert_eq!(check(&first, &whole), whole);
    // The rest of a large packet, of which the beginning is lost.
    let rest = [&vec![0; 4096][..], &vec![b'x'; 100_000], &bytes].concat();
    assert_eq!(check(&rest, &whole), whole);
}
