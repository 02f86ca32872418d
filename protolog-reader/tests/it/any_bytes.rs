//! Any bytes can be read: no panic, everything left out is counted, memory is proportional.

use crate::common::{cases, text};
use proptest::prelude::*;
use protolog_reader::{
    EndReason, Entry, Follower, Item, JsonWriter, Limits, Log, Loss, LossReason, Pages, Stats,
    Thread, Trace,
};

/// Reads bytes in two parts, which has as many entries unless it says that it can't.
fn follow(bytes: &[u8], whole: &Log) {
    let (mut follower, mut entries) = (Follower::new(Vec::new()), 0);
    let mut count = |log: &Log| entries += log.entries().len();
    let Ok(taken) = follower.read(&bytes[..bytes.len() / 2], |_| None, &mut count) else { return };
    if follower.read(&bytes[taken..], |_| None, &mut count).is_ok() {
        let Stats { skipped_bytes, damaged_bytes, ended_early: ended, .. } = whole.stats();
        let skipped = skipped_bytes + damaged_bytes;
        assert!(entries == whole.entries().len() || skipped > 0 || ended.is_some());
    }
}

/// Reads bytes page by page, if they have pages, which say the same.
fn turn_pages(bytes: &[u8], whole: &Log, has_slices: bool) {
    let pages = Pages::survey_by(bytes.to_vec(), &[], |_| None, (100, 100, has_slices)).unwrap();
    let Some(mut pages) = pages else { return };
    let mut shown = String::new();
    while pages.next_page().unwrap() {
        shown.push_str(&text(pages.log()));
    }
    // A run of malformed packets is a loss of each page that it is in.
    let is_malformed = |(reason, _): &(LossReason, _)| *reason == LossReason::Malformed;
    let has_runs = whole.stats().lost.keys().any(is_malformed);
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !has_runs || !line.contains("! LOST"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(lines(&shown), lines(&text(whole)));
    assert_eq!(pages.log().stats(), whole.stats());
}

/// Reads bytes page by page, if they have pages, of some threads and a stretch of time, which are
/// as in the whole.
fn choose_of_pages(bytes: &[u8], whole: &Log) {
    let times: Vec<i64> = whole.entries().map(|entry| entry.time()).collect();
    let [Some(since), Some(until)] = [1, 3].map(|part| times.get(times.len() * part / 4)) else {
        return;
    };
    let admits = |thread: &Thread| thread.tid.is_none_or(|tid| tid % 2 == 1);
    let line = |entry: &Entry<'_>| format!("{} {:?}", entry.time(), entry.values());
    let chosen = |log: &Log| -> Vec<String> {
        let entries = log
            .entries()
            .filter(|entry| (since..until).contains(&&entry.time()) && admits(entry.thread()));
        entries.map(|entry| line(&entry)).collect()
    };
    let pages = Pages::survey_by(bytes.to_vec(), &[], |_| None, (100, 100, false)).unwrap();
    let Some(mut pages) = pages else { return };
    pages.choose(Some(*since), Some(*until), admits);
    let (mut found, mut losses) = (Vec::new(), 0);
    while pages.next_page().unwrap() {
        found.extend(pages.log().entries().map(|entry| line(&entry)));
        losses += pages.log().losses().len();
    }
    assert_eq!(found, chosen(whole));
    // Of those that are not wanted, damaged values are not found.
    let is_malformed = |loss: &&Loss| loss.reason == LossReason::Malformed;
    let malformed = whole.losses().iter().filter(is_malformed).count();
    assert!(losses <= whole.losses().len() + malformed * times.len());
    assert!(losses >= whole.losses().len() - malformed);
}

/// Reads bytes and renders the log, and checks the invariants of every log.
fn check(bytes: &[u8]) -> Option<Log> {
    let log = Trace::from_bytes(bytes).read().ok()?;
    let stats = log.stats();
    assert_eq!(stats.entries as usize, log.entries().len());
    follow(bytes, &log);
    turn_pages(bytes, &log, false);
    choose_of_pages(bytes, &log);
    let log = Trace::from_bytes(bytes).with_slices().read().expect("as without spans");
    turn_pages(bytes, &log, true);
    let (mut entries, mut losses, mut edges, mut last) = (0, 0, 0, i64::MIN);
    let mut json = Vec::new();
    for item in log.items() {
        let time = match item {
            Item::Entry(entry) => {
                entries += 1;
                entry.time()
            }
            Item::Loss(loss) => {
                losses += 1;
                loss.time
            }
            Item::SpanBegin(slice) => {
                edges += 1;
                slice.begin
            }
            Item::SpanEnd(slice) => {
                edges += 1;
                slice.end.expect("an end")
            }
        };
        assert!(last <= time, "items are in the order of time");
        last = time;
        JsonWriter::new(&log).write(&item, &mut json);
    }
    assert_eq!((entries, losses), (log.entries().len(), log.losses().len()));
    let lines = serde_json::Deserializer::from_slice(&json).into_iter::<serde_json::Value>();
    assert_eq!(lines.map(Result::unwrap).count(), entries + losses + edges);
    let ended = log.slices().iter().filter(|slice| slice.end.is_some()).count();
    assert_eq!(edges, log.slices().len() + ended);
    let text = text(&log);
    assert!(!text.contains(|char: char| char.is_control() && !"\n\t".contains(char)));
    assert!(text.lines().count() >= entries + losses);
    log.summary().to_string();
    Some(log)
}

#[test]
fn traces_truncated_anywhere() {
    for case in cases() {
        let bytes = case.trace();
        let whole = check(&bytes).map_or(0, |log| log.entries().len());
        let mut last = 0;
        for length in 0..bytes.len() {
            let Some(log) = check(&bytes[..length]) else {
                continue;
            };
            let entries = log.entries().len();
            assert!((last..=whole).contains(&entries), "{} truncated at {length}", case.name());
            last = entries;
            // Either a packet ends here, or the log reports its end.
            let ended = log.stats().ended_early;
            let reread = Trace::from_bytes(&bytes[..length]).read().unwrap();
            assert_eq!(reread.stats().ended_early, ended, "a second read has the same result");
            if let Some(ended) = ended {
                assert!(ended.offset <= log.stats().bytes);
            }
        }
    }
}

#[test]
fn a_truncated_packet_is_reported_as_such() {
    let bytes = crate::common::trace("ts=1 log(0x11, 1)\nts=2 log(0x11, 2)");
    let half = bytes.len() / 2;
    for length in 1..bytes.len() {
        let ended = check(&bytes[..length]).unwrap().stats().ended_early;
        let expected = (length != half).then_some(if length > half { half } else { 0 });
        assert_eq!(ended.map(|ended| ended.offset as usize), expected);
        assert!(ended.is_none_or(|ended| ended.reason == EndReason::Truncated));
    }
}

#[test]
fn limits_hold() {
    let mut limits = Limits::default();
    limits.entries = 2;
    let bytes = crate::common::trace("ts=1 log(1)\nts=2 log(2)\nts=3 log(3)\nts=4 log(4)");
    let log = Trace::from_bytes(bytes).with_limits(limits).read().unwrap();
    assert_eq!(log.entries().len(), 2);
    assert_eq!(log.stats().ended_early.unwrap().reason, EndReason::Limit);

    let mut limits = Limits::default();
    limits.sequences = 1;
    let bytes = crate::common::trace("@1 ts=1 log(1)\n@1 ts=2 log(2)\n@2 ts=3 log(3)");
    let log = Trace::from_bytes(bytes).with_limits(limits).read().unwrap();
    assert_eq!(log.entries().len(), 2);

    // All bundles share one limit.
    limits = Limits::default();
    limits.inflated_bytes = 1000;
    let part = format!("bundle(zlib) {{\nts=2 field(200, \"{}\")\n}}\n", "x".repeat(600));
    let bytes = crate::common::trace(&part.repeat(3));
    let log = Trace::from_bytes(bytes).with_limits(limits).read().unwrap();
    assert_eq!((log.stats().cut_bundles, log.stats().inflated_bytes), (2, 1000));

    // A megabyte of zeros, compressed to a thousand bytes.
    let mut limits = Limits::default();
    limits.inflated_bytes = 1000;
    let zeros = "\\x00".repeat(1 << 20);
    let bomb = crate::common::trace(&format!(
        "ts=1 log(1)\nbundle(zlib) {{\nbytes(\"{zeros}\")\n}}\nts=2 log(2)"
    ));
    assert!(bomb.len() < 2000);
    let log = Trace::from_bytes(bomb).with_limits(limits).read().unwrap();
    assert_eq!((log.entries().len(), log.stats().cut_bundles), (2, 1));
    assert!(log.stats().inflated_bytes <= 1000);

    let packets = "ts=1 log(1)\n".repeat(1000);
    let whole = crate::common::trace(&format!("whole(gzip)\n{packets}"));
    let log = Trace::from_bytes(whole).with_limits(limits).read().unwrap();
    assert_eq!(log.stats().ended_early.unwrap().reason, EndReason::Expansion);
    assert!(log.stats().bytes <= 1000 && log.entries().len() > 10);
}

#[test]
fn many_clocks_take_little_time() {
    let clocks: Vec<_> = (128..100_000).map(|id| format!("{id}=1")).collect();
    let chain = (200..2200)
        .map(|id| format!("snapshot({id}=1, {}=2, 199=1)\nts=1 clock={id} log(1)\n", id + 1));
    let description =
        format!("snapshot(boot=1, {})\n{}", clocks.join(", "), chain.collect::<String>());
    let log = check(&crate::common::trace(&description)).unwrap();
    assert!(log.stats().ignored_clocks > 90_000);
    assert_eq!(log.entries().len(), 2000);
}

#[test]
fn clearing_a_large_table_takes_little_time() {
    let strings: Vec<_> = (0..100_000).map(|iid| format!("string({iid}, \"\")")).collect();
    let clears = "@1 cleared string(1, \"\")\n".repeat(100_000);
    let description = format!("@1 cleared {}\n{clears}@1 needs ts=1 log(1, $1)", strings.join(" "));
    assert_eq!(check(&crate::common::trace(&description)).unwrap().entries().len(), 1);
}

proptest! {
    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes);
        check(&[&[0x0a, bytes.len().min(127) as u8][..], &bytes].concat());
    }

    #[test]
    fn traces_with_wrong_bytes(
        case in 0..cases().len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = cases()[case].trace();
        for (index, byte) in changes {
            if !bytes.is_empty() {
                let at = index.index(bytes.len());
                bytes[at] = byte;
            }
        }
        check(&bytes);
    }

    #[test]
    fn packets_in_any_order(
        lines in proptest::collection::vec((0..1000_usize, any::<prop::sample::Index>()), 0..30),
    ) {
        let cases = cases();
        let mut description = String::new();
        for (case, line) in lines {
            let case = &cases[case % cases.len()];
            let packets: Vec<_> = case.description.lines().filter(|line| line.starts_with('@')).collect();
            if !packets.is_empty() {
                description.push_str(packets[line.index(packets.len())]);
                description.push('\n');
            }
        }
        check(&crate::common::trace(&description));
    }
}
