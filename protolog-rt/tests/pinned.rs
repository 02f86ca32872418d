//! Pinned rings: messages that chatter never evicts, in one timeline with it; each message is in
//! one ring of each session, and what a ring loses is counted.

mod common;

use common::{Trace, lock_sessions};
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{
    Builder, Error, Level, LossCause, Pinned, ProtoLogGroup, Session, Summary, Triggers, d, e, i,
    print_group, w, wtf,
};
use protolog_testkit::{TempDir, temp_dir};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Net,
    Audit,
    Disk,
}

const RING: usize = 64 << 10;

/// Messages of [`chatter`] in 100 rings.
const CHATTER: u64 = 100 * RING as u64 / 12;

fn builder(dir: &TempDir) -> Builder {
    let path = dir.path().join("app.pftrace");
    Session::builder().file(path).enable_all().keep_newest().buffer_size(RING)
}

fn pinned() -> Pinned {
    Pinned::new().level(Level::Error)
}

fn chatter(count: u64) {
    (0..count).for_each(|number| d!(Log::Net, "chatter %d", number));
}

/// The trace that a session writes at its stop.
fn stop(session: Session, dir: TempDir) -> (Trace, Summary) {
    let summary = session.stop().expect("stop");
    (Trace::of(dir.path().join("app.pftrace"), summary.clone(), dir), summary)
}

/// A snapshot of a session that goes on.
fn snapshot(session: &Session) -> Trace {
    let dir = temp_dir();
    let path = dir.path().join("snapshot.pftrace");
    let summary = session.snapshot(&path).expect("take a snapshot");
    Trace::of(path, summary, dir)
}

/// The number of messages that a trace has, and that it says are missing.
#[track_caller]
fn accounted(trace: &Trace) -> u64 {
    let log = trace.log();
    log.entries().count() as u64 + log.stats().lost.values().sum::<u64>()
}

fn has(lines: &[String], line: &str) -> bool {
    lines.iter().any(|it| it == line)
}

#[test]
fn chatter_evicts_no_error() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = builder(&dir).pin(pinned()).start().expect("start");
    d!(Log::Net, "before");
    e!(Log::Disk, "disk %s is full", "sda");
    chatter(CHATTER);
    let trace = snapshot(&session);
    let lines = trace.messages();
    assert_eq!(lines[0], "ERROR Disk disk sda is full");
    assert!(lines[1..].iter().all(|line| line.starts_with("DEBUG Net chatter")), "{lines:?}");
    assert!(lines.len() < 10_000 && lines.len() > 100, "{}", lines.len());
    assert_eq!(accounted(&trace), CHATTER + 2);
    assert_eq!(trace.summary.messages, lines.len() as u64);
    wtf!(Log::Disk, "disk %s is gone", "sda");
    let (trace, summary) = stop(session, dir);
    let lines = trace.messages();
    assert_eq!(lines[0], "ERROR Disk disk sda is full");
    assert_eq!(lines.last().expect("messages"), "WTF Disk disk sda is gone");
    assert_eq!(accounted(&trace), CHATTER + 3);
    assert_eq!(summary.messages + summary.lost(), CHATTER + 3);
    let ring = summary.pinned_buffer.expect("a pinned ring");
    assert_eq!((ring.size, ring.chunks_overwritten), (256 << 10, 0));
    assert!(summary.buffer.chunks_overwritten > 1000);
    // Readers take the statistics of the usual ring.
    assert_eq!(trace.log().stats().buffer.map(|it| it.size), Some(RING as u64));
}

#[test]
fn without_a_pinned_ring_it_does() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = builder(&dir).start().expect("start");
    e!(Log::Disk, "disk %s is full", "sda");
    chatter(CHATTER);
    let (trace, summary) = stop(session, dir);
    assert!(!has(&trace.messages(), "ERROR Disk disk sda is full"));
    assert_eq!((accounted(&trace), summary.pinned_buffer), (CHATTER + 1, None));
}

/// By level and by group, whatever way a message takes.
#[test]
fn what_is_pinned_is_what_was_named() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let pinned = Pinned::new().level(Level::Warn).group("Audit", Level::Info);
    let session = builder(&dir).pin(pinned).start().expect("start");
    i!(Log::Audit, "user %d", 7);
    i!(Log::Disk, "info is not pinned");
    w!(Log::Net, "a text %s, and a long one: %s", "net", "x".repeat(100).as_str());
    dynamic::log(&Log::Net, Level::Warn, "made at run time: %s", &[Arg::Str("x")]);
    print_group(&Log::Disk, Some(Level::Error));
    e!(Log::Disk, "printed, too");
    print_group(&Log::Disk, None);
    wtf!(Log::Net, "worse");
    chatter(CHATTER);
    let (trace, summary) = stop(session, dir);
    let lines = trace.messages();
    let first: Vec<&str> = lines.iter().map(String::as_str).take(5).collect();
    let long = format!("WARN Net a text net, and a long one: {}", "x".repeat(100));
    let expected = [
        "INFO Audit user 7",
        &long,
        "WARN Net made at run time: x",
        "ERROR Disk printed, too",
        "WTF Net worse",
    ];
    assert_eq!(first, expected);
    assert!(lines[5].starts_with("DEBUG Net chatter"), "{}", lines[5]);
    assert_eq!(summary.messages + summary.lost(), CHATTER + 6);
}

/// The two rings are one timeline.
#[test]
fn messages_are_in_the_order_in_which_they_were_logged() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = builder(&dir).pin(pinned()).start().expect("start");
    for number in 0..40_000u64 {
        d!(Log::Net, "%d", number);
        if number % 100 == 0 {
            e!(Log::Net, "%d", number);
        }
    }
    let (trace, _) = stop(session, dir);
    let lines = trace.messages();
    let number = |line: &str| line.rsplit(' ').next().and_then(|it| it.parse::<u64>().ok());
    let numbers: Vec<_> = lines.iter().map(|line| number(line).expect("a number")).collect();
    assert!(numbers.is_sorted());
    assert_eq!(lines.iter().filter(|line| line.starts_with("ERROR")).count(), 400);
    let kept = lines.iter().filter(|line| line.starts_with("DEBUG")).count();
    assert!((1_000..39_000).contains(&kept), "{kept}");
    for pair in lines.windows(2).filter(|pair| pair[0].starts_with("DEBUG")) {
        let is_error = pair[1].starts_with("ERROR");
        assert_eq!(is_error, number(&pair[0]).expect("a number") % 100 == 0, "{pair:?}");
    }
}

#[test]
fn a_trigger_s_file_has_both_rings() {
    const ERRORS: u64 = 500;
    let (_lock, dir, files) = (lock_sessions(), temp_dir(), temp_dir());
    let triggers = Triggers::to(files.path().join("app.pftrace"));
    let triggers = triggers.before_bytes(8 << 10).after(Duration::from_secs(3600));
    let triggers = triggers.on_level(Level::Wtf).on_group("Disk", Level::Warn);
    let session = builder(&dir).triggers(triggers).pin(pinned()).start().expect("start");
    w!(Log::Disk, "disk is nearly full");
    // Several chunks.
    (0..ERRORS).for_each(|number| e!(Log::Disk, "no block %d", number));
    chatter(CHATTER);
    wtf!(Log::Disk, "disk is gone");
    let counts = session.trigger_counts();
    let counts: Vec<_> = counts.iter().map(|it| (&*it.cause, it.fired, it.suppressed)).collect();
    assert_eq!(counts, [("wtf", 1, 0), ("Disk", 1, ERRORS + 1)]);
    session.stop().expect("stop");
    let names = std::fs::read_dir(files.path()).expect("a directory");
    let mut paths: Vec<_> = names.map(|it| it.expect("an entry").path()).collect();
    paths.sort();
    assert_eq!(paths.len(), 2, "{paths:?}");
    for path in paths {
        let trace = Trace::of(path, Summary::default(), temp_dir());
        let lines = trace.messages();
        let errors = lines.iter().filter(|line| line.starts_with("ERROR")).count() as u64;
        assert_eq!((errors, has(&lines, "WTF Disk disk is gone")), (ERRORS, true));
        let all = CHATTER + ERRORS + 2;
        assert_eq!(accounted(&trace), all + 1, "the message about the cause, too");
    }
}

/// A trigger's first copy has what its pinned ring loses before the second one.
#[test]
fn a_trigger_s_file_has_errors_of_before_the_event() {
    let (_lock, dir, files) = (lock_sessions(), temp_dir(), temp_dir());
    let triggers = Triggers::to(files.path().join("app.pftrace")).after(Duration::from_secs(3600));
    let pinned = pinned().buffer_size(RING);
    let session = builder(&dir).triggers(triggers).pin(pinned).start().expect("start");
    e!(Log::Disk, "the first error");
    session.trigger("event").expect("a session with triggers");
    thread::sleep(Duration::from_millis(300));
    for number in 0..CHATTER / 10 {
        e!(Log::Net, "error %d", number);
    }
    session.stop().expect("stop");
    let path = std::fs::read_dir(files.path()).expect("a directory").next().expect("a file");
    let trace = Trace::of(path.expect("an entry").path(), Summary::default(), temp_dir());
    let lines = trace.messages();
    assert_eq!(lines[..2], ["ERROR Disk the first error", "WARN trigger trigger: event"]);
    assert_eq!(lines.last().expect("messages"), &format!("ERROR Net error {}", CHATTER / 10 - 1));
    assert_eq!(accounted(&trace), CHATTER / 10 + 2);
}

#[test]
fn a_pinned_ring_overwrites_its_own_oldest_messages() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = builder(&dir).pin(pinned().buffer_size(1)).start().expect("start");
    d!(Log::Net, "of the usual ring");
    for number in 0..CHATTER / 4 {
        e!(Log::Net, "error %d", number);
    }
    let (trace, summary) = stop(session, dir);
    let lines = trace.messages();
    assert_eq!(lines[0], "DEBUG Net of the usual ring");
    assert_eq!(lines.last().expect("messages"), &format!("ERROR Net error {}", CHATTER / 4 - 1));
    assert_eq!(accounted(&trace), CHATTER / 4 + 1);
    assert_eq!(summary.losses[0].cause, LossCause::Overwritten);
    assert_eq!(summary.messages + summary.lost(), CHATTER / 4 + 1);
    let ring = summary.pinned_buffer.expect("a pinned ring");
    assert_eq!((ring.size, summary.buffer.chunks_overwritten), (64 << 10, 0), "at least so many");
    assert!(ring.chunks_overwritten > 10, "{ring:?}");
}

#[test]
fn a_message_larger_than_the_pinned_ring_is_cut_and_counted() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let builder = builder(&dir).buffer_size(1 << 20).max_string_bytes(1 << 20);
    let session = builder.pin(pinned().buffer_size(64 << 10)).start().expect("start");
    e!(Log::Net, "before");
    let long = "x".repeat(200 << 10);
    e!(Log::Net, "long: %s", long);
    d!(Log::Net, "long: %s", long);
    e!(Log::Net, "after");
    let (trace, summary) = stop(session, dir);
    let lines = trace.messages();
    let lengths: Vec<_> = lines.iter().map(String::len).collect();
    assert_eq!(lengths.len(), 4, "{lengths:?}");
    assert!((20 << 10..40 << 10).contains(&lengths[1]), "half of the pinned ring: {lengths:?}");
    assert!(lines[1].ends_with('…') && lengths[2] > long.len(), "{lengths:?}");
    let causes: Vec<_> = summary.losses.iter().map(|loss| (loss.cause, loss.count)).collect();
    assert_eq!(causes, [(LossCause::Truncated, 1)]);
}

#[test]
fn threads_lose_no_error() {
    const THREADS: u64 = 8;
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = builder(&dir).pin(pinned().buffer_size(1 << 20)).start().expect("start");
    let work = |thread: u64| {
        for number in 0..CHATTER / 10 {
            d!(Log::Net, "chatter %d", number);
            if number % 500 == 0 {
                e!(Log::Disk, "error %d of %d", number, thread);
            }
        }
    };
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || work(thread));
        }
    });
    let errors = THREADS * (CHATTER / 10).div_ceil(500);
    let (trace, summary) = stop(session, dir);
    let lines = trace.messages();
    assert_eq!(lines.iter().filter(|line| line.starts_with("ERROR")).count() as u64, errors);
    let all = THREADS * (CHATTER / 10) + errors;
    assert_eq!((accounted(&trace), summary.messages + summary.lost()), (all, all));
}

/// More threads than a ring has chunks, and than a session gives sequences of their own: those that
/// ended are used again, though the first message of each thread is for the other ring.
#[test]
fn sequences_are_used_again() {
    const THREADS: u64 = 1_200;
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = builder(&dir).pin(pinned().buffer_size(RING)).start().expect("start");
    for number in 0..THREADS {
        thread::spawn(move || {
            d!(Log::Net, "debug %d", number);
            e!(Log::Net, "error %d", number);
        })
        .join()
        .expect("the thread ends");
    }
    let (trace, summary) = stop(session, dir);
    let lines = trace.messages();
    assert!(has(&lines, "ERROR Net error 1199"));
    assert_eq!(accounted(&trace), 2 * THREADS);
    assert_eq!(summary.messages + summary.lost(), 2 * THREADS);
}

/// Each session has each message once.
#[test]
fn other_sessions_have_what_they_had() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = builder(&dir).pin(pinned()).start().expect("start");
    e!(Log::Net, "first");
    let (stream_dir, ring_dir) = (temp_dir(), temp_dir());
    let stream = Session::builder().file(stream_dir.path().join("app.pftrace"));
    let stream = stream.log_from(Level::Warn).start().expect("start");
    let ring = builder(&ring_dir).group("Disk", Level::Error).start().expect("start");
    for number in 0..1000u64 {
        d!(Log::Net, "debug %d", number);
        e!(Log::Net, "error %d", number);
        w!(Log::Disk, "warning %d", number);
    }
    let (trace, summary) = stop(stream, stream_dir);
    assert_eq!((trace.messages().len(), summary.lost()), (2000, 0));
    e!(Log::Net, "last");
    let (trace, _) = stop(ring, ring_dir);
    assert_eq!(accounted(&trace), 2001, "no warnings of the disk");
    let (trace, summary) = stop(session, dir);
    let lines = trace.messages();
    assert_eq!(lines.iter().filter(|line| line.starts_with("ERROR")).count(), 1002);
    assert_eq!((accounted(&trace), summary.messages + summary.lost()), (3002, 3002));
}

/// What changes beside a session that pins changes nothing in it.
#[test]
fn switches_meanwhile_lose_and_double_nothing() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = builder(&dir).pin(pinned().buffer_size(4 << 20)).start().expect("start");
    let is_over = AtomicBool::new(false);
    let logged = thread::scope(|scope| {
        let loggers: Vec<_> = (0..2)
            .map(|thread: u64| {
                let is_over = &is_over;
                scope.spawn(move || {
                    let mut number = 0u64;
                    while !is_over.load(Ordering::Relaxed) {
                        d!(Log::Net, "debug %d of %d", number, thread);
                        e!(Log::Audit, "error %d of %d", number, thread);
                        number += 1;
                        if number % 16 == 0 {
                            thread::sleep(Duration::from_millis(1));
                        }
                    }
                    number
                })
            })
            .collect();
        let end = Instant::now() + Duration::from_millis(1500);
        while Instant::now() < end {
            let other = temp_dir();
            let path = other.path().join("other.pftrace");
            let other = Session::builder().file(path).enable_all().report_losses(false);
            let other = other.start().expect("start");
            thread::sleep(Duration::from_millis(2));
            print_group(&Log::Disk, Some(Level::Wtf));
            drop(other);
            print_group(&Log::Disk, None);
            drop(snapshot(&session));
        }
        is_over.store(true, Ordering::Relaxed);
        loggers.into_iter().map(|logger| logger.join().expect("the thread ends")).sum::<u64>()
    });
    let (trace, summary) = stop(session, dir);
    let lines = trace.lines();
    let errors = lines.iter().filter(|line| line.starts_with("ERROR")).count() as u64;
    assert_eq!(errors, logged, "each error is there, once");
    assert_eq!((accounted(&trace), summary.messages + summary.lost()), (2 * logged, 2 * logged));
}

/// The session starts while threads log, and a message that it pins is in one of its rings.
#[test]
fn a_session_that_starts_beside_another_one_gets_each_message_once() {
    let (_lock, dir, first_dir) = (lock_sessions(), temp_dir(), temp_dir());
    let first = builder(&first_dir).buffer_size(16 << 20).start().expect("start");
    e!(Log::Net, "0");
    let session = builder(&dir).pin(pinned()).start().expect("start");
    for number in 1..10u64 {
        e!(Log::Net, "%d", number);
    }
    let (trace, _) = stop(first, first_dir);
    assert_eq!(trace.messages().len(), 10);
    e!(Log::Net, "10");
    chatter(CHATTER);
    let (trace, _) = stop(session, dir);
    let lines = trace.messages();
    let expected: Vec<_> = (1..=10).map(|number| format!("ERROR Net {number}")).collect();
    assert_eq!(lines[..10], expected);
}

#[test]
fn settings_without_a_meaning_are_refused() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let start = |set: fn(Builder) -> Builder| set(builder(&dir)).start().map(drop);
    let first = start(|it| it.pin(pinned()).keep_first());
    assert!(matches!(first, Err(Error::NotWithPinned { option: "keep_first" })), "{first:?}");
    let scoped = start(|it| it.this_thread().pin(pinned()));
    assert!(matches!(scoped, Err(Error::NotWithPinned { option: "this_thread" })), "{scoped:?}");
    let nothing = start(|it| it.pin(Pinned::new().buffer_size(1 << 20)));
    assert!(matches!(nothing, Err(Error::NothingPinned)), "{nothing:?}");
}
