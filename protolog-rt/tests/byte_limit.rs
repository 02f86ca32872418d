//! Limits of a session's bytes: what passes is bounded, what does not is counted by group with its
//! times, shown where it happened, also when silence follows.
//!
//! What other limiters got wrong is here, too: a message that is larger than the limit and never
//! comes (cloudfoundry/diego-release#727), a last count that is smaller than the number when
//! silence follows a burst (stacktale/stacktale#29).

mod common;

use common::lock_sessions;
use protolog_reader::{Item, Log, LossCause, LossReason, Rendering, Trace};
use protolog_rt::{Builder, Error, Level, Pinned, ProtoLogGroup, Session, d, e, i, w};
use protolog_testkit::{temp_dir, wait_until};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Limited {
    Net,
    Disk,
}

fn read(path: &Path) -> Log {
    Trace::open(path).expect("a trace").read().expect("a log")
}

fn builder(path: &Path) -> Builder {
    Session::builder().file(path).enable_all()
}

/// Messages and suppressed ones, by what the trace says.
fn counts(log: &Log) -> (u64, u64) {
    let suppressed = log
        .losses()
        .iter()
        .filter(|loss| loss.reason == LossReason::Reported(LossCause::Limited))
        .map(|loss| loss.count.expect("a number"));
    (log.entries().len() as u64, suppressed.sum())
}

#[test]
fn what_passes_is_bounded_and_the_rest_is_counted() {
    const EACH: u64 = 40_000;
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let start = Instant::now();
    let session = builder(&path).limit_bytes("100KiB/s burst 300KiB").start().expect("start");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for number in 0..EACH {
                    d!(Limited::Net, "packet %d of %d", number, EACH);
                    w!(Limited::Disk, "slow %d", number);
                }
            });
        }
    });
    let summary = session.stop().expect("stop");
    let most = 300.0 + 100.0 * start.elapsed().as_secs_f64() + 4.0 * 4.0 + 16.0;
    // The file has a few bytes more of each message than its thread wrote.
    let most = most + summary.messages as f64 * 5.0 / 1024.0;
    assert!((summary.bytes as f64) < most * 1024.0, "{} of {most} KiB", summary.bytes);
    assert!(summary.bytes > 250 << 10, "{}", summary.bytes);
    let limited = summary.losses.iter().filter(|loss| loss.cause == LossCause::Limited);
    let by_group: Vec<_> = limited.map(|loss| (loss.group.clone(), loss.count)).collect();
    assert_eq!(by_group.len(), 2, "{by_group:?}");
    let suppressed: u64 = by_group.iter().map(|(_, count)| count).sum();
    assert_eq!((summary.lost(), summary.messages + suppressed), (suppressed, 8 * EACH));
    let log = read(&path);
    assert_eq!(counts(&log), (summary.messages, suppressed));
    let times = log.losses().iter().all(|loss| loss.from.is_some());
    assert!(times, "{:?}", log.losses());
}

/// Bytes come back with time, for a thread that found none, too.
#[test]
fn a_thread_goes_on_when_there_are_bytes_again() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let session = builder(&path).limit_bytes("20KiB/s burst 8KiB").start().expect("start");
    let flood = |from: u64| (from..from + 5_000).for_each(|number| d!(Limited::Net, "%d", number));
    flood(0);
    session.flush().expect("flush");
    let before = counts(&read(&path)).0;
    assert!(before < 2_000, "{before}");
    thread::sleep(Duration::from_millis(600));
    flood(5_000);
    // A loss that nothing follows is in the file all the same.
    wait_until("each is there or counted", || {
        let _ = session.flush();
        let (messages, suppressed) = counts(&read(&path));
        messages + suppressed == 10_000
    });
    let summary = session.stop().expect("stop");
    assert!(summary.messages > before + 200, "{} after {before}", summary.messages);
    let texts: Vec<u64> = read(&path)
        .entries()
        .map(|entry| entry.values().text(Rendering::default()).parse().expect("a number"))
        .collect();
    assert!(texts.is_sorted() && texts.iter().any(|number| *number >= 5_000));
    let log = read(&path);
    let first = log.items().position(|item| matches!(item, Item::Loss(_)));
    assert!(first.is_some_and(|at| at < log.entries().len()), "between the floods: {first:?}");
}

/// A thread that logs now and then gives the rest of its chunk back.
#[test]
fn what_a_thread_does_not_use_is_given_back() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let session = builder(&path).limit_bytes("1KiB/h burst 32KiB").start().expect("start");
    for number in 0..200 {
        thread::spawn(move || i!(Limited::Net, "thread %d", number)).join().expect("it ends");
    }
    let summary = session.stop().expect("stop");
    assert_eq!((summary.messages, summary.lost()), (200, 0));
}

#[test]
fn a_message_larger_than_a_burst_passes_whole() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let large = "x".repeat(100 << 10);
    let builder = builder(&path).max_string_bytes(1 << 20);
    let session = builder.limit_bytes("1KiB/h burst 20KiB").start().expect("start");
    (0..3).for_each(|_| d!(Limited::Net, "large %s", &large));
    let summary = session.stop().expect("stop");
    assert_eq!((summary.messages, summary.lost()), (1, 2));
    let log = read(&path);
    let entry = log.entries().next().expect("a message");
    assert!(entry.values().text(Rendering::default()).ends_with(&large));
}

/// Other sessions have all, and so has a ring of pinned messages.
#[test]
fn other_sessions_and_pinned_messages_are_not_limited() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let paths = ["one", "two"].map(|name| dir.path().join(name));
    let pinned = Pinned::new().level(Level::Error).buffer_size(1 << 20);
    let one = builder(&paths[0]).keep_newest().pin(pinned).limit_bytes("1KiB/h:16KiB");
    let one = one.start().expect("start");
    let two = builder(&paths[1]).start().expect("start");
    for number in 0..3_000 {
        d!(Limited::Net, "packet %d", number);
        if number % 10 == 0 {
            e!(Limited::Disk, "error %d", number);
        }
    }
    assert_eq!(two.stop().expect("stop").lost(), 0);
    let summary = one.stop().expect("stop");
    assert_eq!(summary.messages + summary.lost(), 3_300);
    let log = read(&paths[0]);
    let errors = log.entries().filter(|it| it.values().level() == Some(Level::Error)).count();
    assert_eq!(errors, 300);
    assert!(summary.messages < 300 + 1_200, "{}", summary.messages);
    assert_eq!(counts(&log), (summary.messages, summary.lost()));
}

#[test]
fn a_limit_that_is_none_is_an_error_of_the_start() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let error = builder(&path).limit_bytes("100/s").start().expect_err("no bytes");
    assert_eq!(error.to_string(), "invalid limit of bytes `100/s`");
    assert!(matches!(error, Error::BadRule { help, .. } if help.starts_with("write bytes")));
    assert!(!path.exists());
}
