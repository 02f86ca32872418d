//! Sampling by bytes: long messages are kept more often, the longest always; what is kept says how
//! many messages and bytes it stands for. Messages far smaller than the interval are estimated as
//! well as large ones, where other samplers counted each for its own bytes
//! (influxdata/influxdb_iox#2330).

mod common;

use common::lock_sessions;
use protolog_reader::{Item, Log, Rate, Trace};
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{Builder, Level, ProtoLogGroup, Session, Summary, d, e, i};
use protolog_testkit::temp_dir;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::thread;

#[derive(ProtoLogGroup)]
enum Bytes {
    Mixed,
    Shared,
    Script,
    Limited,
    #[protolog(sample = "1/1KiB")]
    Declared,
}

fn read(path: &Path) -> Log {
    Trace::open(path).expect("a trace").read().expect("a log")
}

fn builder(path: &Path) -> Builder {
    Session::builder().file(path).enable_all().max_string_bytes(1 << 20)
}

fn passed_over(summary: &Summary) -> u64 {
    summary.passed_over.iter().map(|one| one.count).sum()
}

/// What messages of one template stand for.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    kept: u64,
    sampled: u64,
    messages: f64,
    bytes: f64,
    variance_of_messages: f64,
    variance_of_bytes: f64,
}

impl Sum {
    fn assert_is_near(&self, messages: u64, bytes: u64) {
        let near = |found: f64, all: u64, variance: f64| {
            assert!(
                (found - all as f64).abs() <= 4.5 * variance.sqrt() + 1e-6,
                "{self:?} of {all}"
            );
        };
        near(self.messages, messages, self.variance_of_messages);
        near(self.bytes, bytes, self.variance_of_bytes);
    }
}

fn sums(log: &Log) -> BTreeMap<String, Sum> {
    let mut all: BTreeMap<String, Sum> = BTreeMap::new();
    for item in log.items() {
        let Item::Entry(entry) = item else { panic!("nothing is lost: {item:?}") };
        let sum = all.entry(entry.message().expect("a message").template().to_owned()).or_default();
        let (bytes, weight) = (entry.volume() as f64, entry.rate().map_or(1.0, Rate::weight));
        sum.kept += 1;
        sum.sampled += u64::from(entry.rate().is_some());
        sum.messages += weight;
        sum.bytes += weight * bytes;
        sum.variance_of_messages += weight * (weight - 1.0);
        sum.variance_of_bytes += weight * (weight - 1.0) * bytes * bytes;
    }
    all
}

#[test]
fn kept_messages_stand_for_the_bytes_that_were_logged() {
    const ROUNDS: u64 = 3_000;
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("mixed.pftrace");
    let session = builder(&path).buffer_size(64 << 20).sample("Bytes::Mixed", "1/16KiB");
    let session = session.start().expect("start");
    let (page, file) = ("p".repeat(2_000), "f".repeat(80 << 10));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for round in 0..ROUNDS / 3 {
                    for part in 0..20 {
                        d!(Bytes::Mixed, "part %d", part);
                    }
                    i!(Bytes::Mixed, "page %s", &page);
                    if round % 100 == 0 {
                        d!(Bytes::Mixed, "file %s", &file);
                        e!(Bytes::Mixed, "an error is kept");
                    }
                }
            });
        }
    });
    let summary = session.stop().expect("stop");
    assert_eq!(summary.lost(), 0);
    assert_eq!(summary.messages + passed_over(&summary), ROUNDS * 21 + 60);
    let sums = sums(&read(&path));
    let (part, page_sum, file_sum) = (sums["part %d"], sums["page %s"], sums["file %s"]);
    part.assert_is_near(20 * ROUNDS, 20 * ROUNDS * 20);
    page_sum.assert_is_near(ROUNDS, ROUNDS * 2_030);
    assert!(part.sampled == part.kept && page_sum.sampled == page_sum.kept);
    // Twenty parts have a fifth of the bytes of a page, and are kept as often.
    assert!(part.kept < page_sum.kept && part.kept > 30, "{part:?}, {page_sum:?}");
    // More than 4.6 times the interval: each is there, and stands for itself.
    assert_eq!((file_sum.kept, file_sum.sampled), (30, 0));
    assert_eq!(file_sum.bytes as u64, 30 * (30 + (80 << 10)));
    assert_eq!((sums["an error is kept"].kept, sums["an error is kept"].sampled), (30, 0));
}

/// Arguments are evaluated once each; a message is decided once for all sessions.
#[test]
fn sessions_have_the_same_messages() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let paths = ["one", "two"].map(|name| dir.path().join(name));
    let sessions = paths
        .each_ref()
        .map(|path| builder(path).sample("Bytes::Shared", "1/1 KiB").start().expect("start"));
    let evaluated = Cell::new(0);
    for _ in 0..5_000 {
        let number = || {
            evaluated.set(evaluated.get() + 1);
            evaluated.get()
        };
        d!(Bytes::Shared, "number %d of %s", number(), "a text");
    }
    assert_eq!(evaluated.get(), 5_000);
    let summaries = sessions.map(|session| session.stop().expect("stop"));
    assert_eq!(summaries[0].passed_over, summaries[1].passed_over);
    assert_eq!(summaries[0].messages + passed_over(&summaries[0]), 5_000);
    let [one, two] = paths.each_ref().map(|path| sums(&read(path))["number %d of %s"]);
    assert_eq!((one.kept, one.bytes.to_bits()), (two.kept, two.bytes.to_bits()));
    one.assert_is_near(5_000, 5_000 * (18 + 18 + 3) - 63);
}

/// Messages whose text comes at run time, and those of a group that declares its rate.
#[test]
fn messages_at_run_time_and_declared_rates_are_sampled() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("script.pftrace");
    let session = builder(&path).sample("Bytes::Script", "1/2KiB").start().expect("start");
    for number in 0..3_000_u64 {
        let args = [Arg::Uint(number % 50), Arg::Str("twenty bytes of text")];
        dynamic::log(&Bytes::Script, Level::Info, "script %d says %s", &args);
        d!(Bytes::Declared, "declared %d", number % 50);
    }
    let summary = session.stop().expect("stop");
    assert_eq!(summary.messages + passed_over(&summary), 6_000);
    let sums = sums(&read(&path));
    sums["script %d says %s"].assert_is_near(3_000, 3_000 * (18 + 2 + 32));
    sums["declared %d"].assert_is_near(3_000, 3_000 * 20);
    assert!(sums.values().all(|sum| sum.kept > 20 && sum.sampled == sum.kept), "{sums:?}");
}

/// A limit takes what sampling has kept, and counts what it suppresses of that.
#[test]
fn a_limit_is_asked_after_the_rate() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("limited.pftrace");
    let builder = builder(&path).sample("Bytes::Limited", "1/400B");
    let session = builder.limit("Bytes::Limited", "1/h burst 7").start().expect("start");
    for number in 0..4_000 {
        d!(Bytes::Limited, "limited %d", number);
    }
    let summary = session.stop().expect("stop");
    assert_eq!(summary.messages, 7);
    let expected = 4_000.0 * (1.0 - (-21.0_f64 / 400.0).exp());
    let limited = summary.lost() + 7;
    assert!((limited as f64 - expected).abs() < 5.0 * expected.sqrt(), "{limited} {expected}");
    assert_eq!(limited + passed_over(&summary), 4_000);
}
