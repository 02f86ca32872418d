//! Sampling by the value of an argument: all messages of a request are kept, or none, in each
//! thread and kind of call; and messages whose arguments panic, or whose group changes.

mod common;

use common::lock_sessions;
use protolog_core::randomness::{randomness, threshold};
use protolog_reader::{Entry, Item, Log, Rate, Rendering, Trace};
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{Builder, Init, Level, ProtoLogGroup, Session, Summary, d, i, w};
use protolog_testkit::temp_dir;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::catch_unwind;
use std::path::Path;
use std::thread;

#[derive(ProtoLogGroup)]
enum By {
    Request,
    Nested,
    Limited,
    Script,
    Panics,
    Printed,
    #[protolog(sample = "1/4 by arg1")]
    Declared,
}

fn read(path: &Path) -> Log {
    Trace::open(path).expect("a trace").read().expect("a log")
}

fn builder(path: &Path) -> Builder {
    Session::builder().file(path).enable_all()
}

fn entries(log: &Log) -> Vec<Entry<'_>> {
    let entry = |item| match item {
        Item::Entry(entry) => entry,
        item => panic!("nothing is lost: {item:?}"),
    };
    log.items().map(entry).collect()
}

fn passed_over(summary: &Summary) -> u64 {
    summary.passed_over.iter().map(|one| one.count).sum()
}

fn rate(text: &str) -> Rate {
    Rate::parse(text).expect("a rate")
}

/// The requests below `count` that a rate keeps.
fn kept_of(count: u64, text: &str) -> BTreeSet<u64> {
    let keeps = |request: &u64| randomness(Arg::Uint(*request)) >= threshold(rate(text));
    (0..count).filter(keeps).collect()
}

/// Messages of each kind of each request, by the number that follows `request `.
fn by_request<'a>(entries: impl IntoIterator<Item = &'a Entry<'a>>) -> BTreeMap<u64, u64> {
    let mut found = BTreeMap::new();
    for entry in entries {
        let text = entry.values().text(Rendering::Full);
        let (_, rest) = text.split_once("request ").expect("a request");
        let number = rest.split(' ').next().and_then(|word| word.parse().ok());
        *found.entry(number.expect("a number")).or_insert(0) += 1;
    }
    found
}

/// Requests are kept as wholes, though their messages are of several calls and threads, pass the
/// request as a number or a text, and run on in a second session beside the first.
#[test]
fn requests_are_kept_whole() {
    const REQUESTS: u64 = 4_000;
    let _lock = lock_sessions();
    let dir = temp_dir();
    for sessions in 1..3 {
        let path = dir.path().join(format!("{sessions}.pftrace"));
        let by = builder(&path).sample("By::Request and \"begins\"", "1/20:arg2");
        let by = by.sample("By::Request and \"goes\"", "1/20 by arg1");
        let session = by.sample("By::Request and \"alone\"", "1/20 by arg3").start();
        let session = session.expect("start");
        let other = (sessions > 1)
            .then(|| builder(&dir.path().join("other.pftrace")).start().expect("start"));
        let part = |begin: u64| {
            for request in (begin..REQUESTS).step_by(4) {
                i!(By::Request, "from %s begins request %d", "a host", request);
                thread::yield_now();
                d!(By::Request, "request %s goes on", request);
                d!(By::Request, "request %d goes on %f", request as u32, 0.5);
                w!(By::Request, "a warning goes of request %d", request);
            }
        };
        thread::scope(|scope| (0..4).for_each(|begin| drop(scope.spawn(move || part(begin)))));
        // It has no third argument: so it is kept.
        i!(By::Request, "alone is request %d", REQUESTS);
        let kept = kept_of(REQUESTS, "1/20");
        let error = (REQUESTS as f64 * 19.0).sqrt();
        assert!((kept.len() as f64 * 20.0 - REQUESTS as f64).abs() < 4.0 * error, "{}", kept.len());
        let summary = session.stop().expect("stop");
        assert_eq!(summary.lost(), 0);
        assert_eq!(passed_over(&summary), 3 * (REQUESTS - kept.len() as u64));
        assert_eq!(summary.messages + passed_over(&summary), 4 * REQUESTS + 1);
        if let Some(other) = other {
            assert_eq!(other.stop().expect("stop").passed_over, summary.passed_over);
        }
        let log = read(&path);
        let all = entries(&log);
        let (sampled, whole): (Vec<_>, Vec<_>) =
            all.iter().partition(|entry| entry.rate().is_some());
        assert_eq!(whole.len() as u64, REQUESTS + 1, "warnings, and the one alone");
        let found = by_request(sampled.iter().copied());
        assert_eq!(found, kept.iter().map(|request| (*request, 3)).collect());
        for entry in sampled {
            let rate = entry.rate().expect("a rate");
            let by = if entry.values().text(Rendering::Full).starts_with("from") { 2 } else { 1 };
            assert_eq!((rate.kept(), rate.of(), rate.by()), (1, 20, Some(by)));
            // The reader has it from the message.
            assert!(entry.randomness().is_some_and(|it| it >= threshold(rate)));
        }
        // The rules are the program's: they end here.
        let nosample = ["begins", "goes", "alone"].map(|it| format!("By::Request and \"{it}\""));
        let path = dir.path().join("end.pftrace");
        let end = nosample.iter().fold(builder(&path), |builder, it| builder.sample(it, "1/1"));
        end.start().expect("start").stop().expect("stop");
    }
}

#[test]
fn what_a_rate_keeps_each_greater_one_keeps() {
    const REQUESTS: u64 = 3_000;
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("nested.pftrace");
    let kept = ["1%", "10%", "50%"].map(|rate| {
        let rate = format!("{rate} by arg1");
        let session = builder(&path).sample("By::Nested", rate).start().expect("start");
        (0..REQUESTS).for_each(|request| d!(By::Nested, "request %d", request));
        session.stop().expect("stop");
        by_request(&entries(&read(&path))).into_keys().collect::<BTreeSet<_>>()
    });
    assert!(kept[0].is_subset(&kept[1]) && kept[1].is_subset(&kept[2]), "{kept:?}");
    assert!(!kept[0].is_empty());
    for (kept, part) in kept.iter().zip([0.01, 0.1, 0.5]) {
        let all = REQUESTS as f64;
        let error = (all * part * (1.0 - part)).sqrt();
        assert!((kept.len() as f64 - all * part).abs() < 4.0 * error, "{} at {part}", kept.len());
    }
}

/// A limit counts those that were kept, and holds them back after their arguments are there.
#[test]
fn limits_hold_for_those_that_are_kept() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("limited.pftrace");
    let session = builder(&path)
        .sample("By::Limited", "1/10 by arg1")
        .limit("By::Limited", "1/h burst 5")
        .start()
        .expect("start");
    (0..1_000_u64).for_each(|request| d!(By::Limited, "request %d", request));
    let kept = kept_of(1_000, "1/10");
    let summary = session.stop().expect("stop");
    assert_eq!(passed_over(&summary), 1_000 - kept.len() as u64);
    assert_eq!((summary.messages, summary.lost()), (5, kept.len() as u64 - 5));
    let log = read(&path);
    let logged: Vec<_> = log
        .items()
        .filter_map(|item| if let Item::Entry(entry) = item { Some(entry) } else { None })
        .collect();
    let found = by_request(&logged);
    assert_eq!(found.into_keys().collect::<Vec<_>>(), kept.into_iter().take(5).collect::<Vec<_>>());
}

#[test]
fn messages_that_come_at_run_time_and_declared_rates_are_kept_the_same() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("script.pftrace");
    let session = builder(&path).sample("By::Script", "1/4 by arg2").start().expect("start");
    let template: String = ["%s of", " request %d"].concat();
    for request in 0..1_000 {
        let args = [Arg::Str("a line"), Arg::Uint(request)];
        dynamic::log(&By::Script, Level::Info, &template, &args);
        d!(By::Declared, "request %d by declaration", request);
    }
    let summary = session.stop().expect("stop");
    let kept = kept_of(1_000, "1/4");
    assert_eq!(summary.messages, 2 * kept.len() as u64);
    let found = by_request(&entries(&read(&path)));
    assert_eq!(found, kept.into_iter().map(|request| (request, 2)).collect());
}

/// Arguments that panic leave the rate of their message behind. A later message of the call that
/// does not ask, since no rule is left, has none.
#[test]
fn the_rate_of_a_message_that_panicked_is_no_later_ones() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("panics.pftrace");
    let log = |panics: bool| {
        let value = || if panics { panic!("an argument") } else { 1 };
        d!(By::Panics, "it is %d", value());
    };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let session = builder(&path).sample("By::Panics", "1/2").start().expect("start");
    let panicked = (0..100).filter(|_| catch_unwind(|| log(true)).is_err()).count();
    std::panic::set_hook(hook);
    assert!((20..80).contains(&panicked), "{panicked}");
    // Nothing is said of the group any more, so that its calls do not ask.
    apply(dir.path(), "site By::Panics=default");
    (0..50).for_each(|_| log(false));
    let summary = session.stop().expect("stop");
    assert_eq!(summary.messages, 50);
    assert!(entries(&read(&path)).iter().all(|entry| entry.rate().is_none()));
}

/// What the cache of calls knows holds only as long as the group's word is the same: here only
/// text is printed from then on, so that the session counts nothing.
#[test]
fn a_call_that_was_passed_over_follows_its_groups_word() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("printed.pftrace");
    let session = builder(&path).sample("By::Printed", "1/1000000000").start().expect("start");
    let log = || (0..100).for_each(|number| d!(By::Printed, "printed %d", number));
    let so_far = || passed_over(&session.summary());
    log();
    assert_eq!(so_far(), 100);
    // No rule and no session changes: the calls of the group still ask, for the text output alone.
    protolog_rt::print_group(&By::Printed, Some(Level::Debug));
    apply(dir.path(), "Printed=warn");
    log();
    assert_eq!(so_far(), 100, "not recorded, and so not counted");
    apply(dir.path(), "Printed=debug");
    log();
    assert_eq!(so_far(), 200);
    protolog_rt::print_group(&By::Printed, None);
    session.stop().expect("stop");
}

/// Applies settings as `init` does.
fn apply(dir: &Path, text: &str) {
    let path = dir.join("settings");
    std::fs::write(&path, format!("{text}\n")).expect("write settings");
    let init = Init::new().control(false).persistent_settings(false).config_file(path);
    init.groups::<By>().start().expect("apply settings");
}
