//! Sampling: messages that are kept by chance say at which rate, and the others are counted by
//! group and level, in every kind of session.

mod common;

use common::lock_sessions;
use protolog_reader::{Entry, Item, Log, Rendering, Trace};
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{Builder, Error, Init, Level, ProtoLogGroup, Session, Summary, d, i, w};
use protolog_testkit::temp_dir;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

#[derive(ProtoLogGroup)]
enum Sampled {
    Net,
    Disk,
    Many,
    Changing,
    Script,
    Followed,
    #[protolog(sample = "0.5%")]
    Declared,
}

fn read(path: &Path) -> Log {
    Trace::open(path).expect("a trace").read().expect("a log")
}

fn builder(path: &Path) -> Builder {
    Session::builder().file(path).enable_all()
}

/// The number of messages that the trace says were passed over: of a group by the end of its name.
fn passed_over(log: &Log, group: &str, level: Level) -> u64 {
    let is_it = |id: u32| log.dictionary().group_name(id).ends_with(group);
    let all = log.stats().passed_over.iter();
    let of = all.filter(|((id, of), _)| id.is_some_and(is_it) && *of == Some(level));
    of.map(|(_, count)| count).sum()
}

fn entries(log: &Log) -> Vec<Entry<'_>> {
    let entry = |item| match item {
        Item::Entry(entry) => entry,
        item => panic!("nothing is lost: {item:?}"),
    };
    log.items().map(entry).collect()
}

fn sum(summary: &Summary) -> u64 {
    summary.passed_over.iter().map(|one| one.count).sum()
}

#[test]
fn each_kind_of_session_says_how_many_were_passed_over() {
    const CALLS: u64 = 20_000;
    let _lock = lock_sessions();
    let dir = temp_dir();
    for number in 0..3 {
        let path = dir.path().join(format!("{number}.pftrace"));
        let all = builder(&path).sample("group Sampled::Net", "1/100");
        let all = if number == 0 { all } else { all.buffer_size(4 << 20).keep_newest() };
        let all = if number == 2 { all.record() } else { all };
        let session = all.start().expect("start");
        let evaluated = AtomicU64::new(0);
        for _ in 0..CALLS {
            d!(Sampled::Net, "sampled %d", evaluated.fetch_add(1, Ordering::Relaxed));
            i!(Sampled::Net, "with %s and %b", "a text", true);
        }
        for number in 0..50 {
            w!(Sampled::Net, "a warning %d", number);
            d!(Sampled::Disk, "of another group %d", number);
        }
        let so_far = session.summary();
        let summary = session.stop().expect("stop");
        assert_eq!((sum(&so_far), summary.lost()), (sum(&summary), 0));
        assert_eq!(summary.messages + sum(&summary), 2 * CALLS + 100);
        let log = read(&path);
        assert!(log.losses().is_empty(), "{:?}", log.losses());
        let (mut kept, mut weights) = ([0; 2], 0.0);
        for entry in entries(&log) {
            let text = entry.values().text(Rendering::Full);
            let place = if text.starts_with("sampled") { Some(0) } else { None };
            let place = place.or(text.starts_with("with a text and true").then_some(1));
            match place {
                Some(place) => {
                    kept[place] += 1;
                    let rate = entry.rate().expect("a rate");
                    assert_eq!((rate.kept(), rate.of()), (1, 100));
                    weights += rate.weight();
                }
                None => assert_eq!(entry.rate(), None, "{text}"),
            }
        }
        assert_eq!(evaluated.into_inner(), kept[0], "no argument of a message that is passed over");
        assert_eq!(passed_over(&log, "Sampled::Net", Level::Debug), CALLS - kept[0]);
        assert_eq!(passed_over(&log, "Sampled::Net", Level::Info), CALLS - kept[1]);
        assert_eq!(log.stats().passed_over.values().sum::<u64>(), sum(&summary));
        // Six standard deviations.
        let deviation = (2.0 * CALLS as f64 * 99.0).sqrt();
        assert!((weights - 2.0 * CALLS as f64).abs() < 6.0 * deviation, "{weights}");
    }
}

/// Calls that a thread has passed over follow the next change: of their rule, of the levels of
/// their group, of the sessions that run.
#[test]
fn a_call_that_was_passed_over_follows_each_change() {
    const SELECTOR: &str = "Sampled::Followed and \"followed\"";
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("followed.pftrace");
    let settings = dir.path().join("settings");
    let apply = |lines: &str| {
        std::fs::write(&settings, format!("{lines}\n")).expect("write settings");
        let init = Init::new().control(false).persistent_settings(false).config_file(&settings);
        init.groups::<Sampled>().start().expect("apply settings");
    };
    let log = || (0..100).for_each(|number| d!(Sampled::Followed, "followed %d", number));
    let beside = "site group Sampled::Followed and \"beside\"=limit:1/h";
    let session = builder(&path).sample(SELECTOR, "1/1000000000").start().expect("start");
    let so_far = || (session.summary().messages, sum(&session.summary()));
    log();
    assert_eq!(so_far(), (0, 100));
    // No rule changes with these.
    apply("Followed=warn,text");
    log();
    assert_eq!(so_far(), (0, 100), "not recorded, and so not counted");
    apply("Followed=debug,notext");
    log();
    assert_eq!(so_far(), (0, 200));
    apply(&format!("site {SELECTOR}=nosample\n{beside}"));
    log();
    assert_eq!(so_far(), (100, 200), "kept, as the rule says now");
    apply(&format!("site {SELECTOR}=sample:1/1000000000\n{beside}"));
    log();
    assert_eq!(so_far(), (100, 300));
    (0..3).for_each(|number| d!(Sampled::Followed, "beside %d", number));
    assert_eq!(so_far(), (101, 300), "another call, with a limit");
    let other = builder(&dir.path().join("other.pftrace")).start().expect("start");
    log();
    assert_eq!(sum(&other.stop().expect("stop")), 100, "in a session that has started");
    log();
    let summary = session.stop().expect("stop");
    assert_eq!((summary.messages, sum(&summary)), (101, 500));
    apply("");
}

#[test]
fn rates_that_change_in_flight_bias_nothing() {
    rates_change_in_flight(false);
}

#[test]
fn rates_that_change_in_flight_bias_nothing_in_several_sessions() {
    rates_change_in_flight(true);
}

/// The totals are exact, and the weights of those that were kept add up to them within six standard
/// deviations, though threads log while the rate changes: to one session beside those that change
/// it, or to two.
fn rates_change_in_flight(has_second: bool) {
    const THREADS: u64 = 8;
    const CALLS: u64 = 20_000;
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("changing.pftrace");
    let second_path = dir.path().join("second.pftrace");
    let changes_path = dir.path().join("changes.pftrace");
    let rates = ["1/20", "1/50", "1/7", "1/200"];
    let session = builder(&path).sample("Sampled::Changing", rates[0]).start().expect("start");
    let second = has_second.then(|| builder(&second_path).start().expect("start"));
    let is_done = AtomicBool::new(false);
    let changes = thread::scope(|scope| {
        let log = |thread: u64| {
            move || {
                for number in 0..CALLS {
                    d!(Sampled::Changing, "changing %d of %d", number, thread);
                }
            }
        };
        let all: Vec<_> = (0..THREADS).map(|thread| scope.spawn(log(thread))).collect();
        let (done, changes_path) = (&is_done, &changes_path);
        let changer = scope.spawn(move || {
            let mut changes = 0;
            while !done.load(Ordering::Relaxed) {
                changes += 1;
                // It records only WTF.
                let builder = Session::builder().file(changes_path);
                let rate = rates[changes % rates.len()];
                // Each start applies the rule.
                let session = builder.sample("Sampled::Changing", rate).start().expect("start");
                session.stop().expect("stop");
            }
            changes
        });
        for thread in all {
            thread.join().expect("it ends");
        }
        is_done.store(true, Ordering::Relaxed);
        changer.join().expect("it ends")
    });
    assert!(changes > 0);
    let second = second.map(|second| (&second_path, second.stop().expect("stop")));
    for (path, summary) in [(&path, session.stop().expect("stop"))].into_iter().chain(second) {
        let total = THREADS * CALLS;
        assert_eq!((summary.messages + sum(&summary), summary.lost()), (total, 0));
        let log = read(path);
        assert_eq!(passed_over(&log, "Changing", Level::Debug), total - summary.messages);
        let (mut estimate, mut variance) = (0.0, 0.0);
        for entry in entries(&log) {
            let weight = entry.rate().expect("a rate").weight();
            estimate += weight;
            variance += weight * (weight - 1.0);
        }
        let error = f64::sqrt(variance);
        assert!((estimate - total as f64).abs() < 6.0 * error, "{estimate} ± {error} of {total}");
    }
}

#[test]
fn warnings_are_sampled_by_name_only_and_messages_that_come_at_run_time_too() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("named.pftrace");
    let named = "Sampled::Many and warn";
    let all = builder(&path).sample("Sampled::Many", "1/10").sample(named, "1/100");
    let session = all.sample("group Sampled::Script", "1/10").start().expect("start");
    for number in 0..5_000 {
        w!(Sampled::Many, "named %d", number);
        d!(Sampled::Many, "by group %d", number);
        let line: String = ["user ", "%s", " has %d"].concat();
        dynamic::log(&Sampled::Script, Level::Info, &line, &[Arg::Str("ann"), Arg::Int(number)]);
    }
    let summary = session.stop().expect("stop");
    assert_eq!(summary.messages + sum(&summary), 15_000);
    let log = read(&path);
    for (group, level, between) in [
        // Of 50 that are kept, at least 7 are, and at most 100: six standard errors away.
        ("Many", Level::Warn, 4_900..4_994),
        ("Many", Level::Debug, 4_300..4_700),
        ("Script", Level::Info, 4_300..4_700),
    ] {
        let count = passed_over(&log, group, level);
        assert!(between.contains(&count), "{group}: {count}");
    }
    let ann = |entry: &Entry<'_>| entry.values().text(Rendering::Full).starts_with("user ann has ");
    let of: Vec<_> = entries(&log).iter().filter(|it| ann(it)).map(Entry::rate).collect();
    assert!(of.len() > 300 && of.iter().all(|rate| rate.is_some_and(|rate| rate.of() == 10)));
}

/// A group's own rate holds from its first message on, until a rule says otherwise.
#[test]
fn a_group_declares_its_rate() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("declared.pftrace");
    let session = builder(&path).start().expect("start");
    for number in 0..10_000 {
        d!(Sampled::Declared, "declared %d", number);
    }
    let summary = session.stop().expect("stop");
    assert_eq!(summary.messages + sum(&summary), 10_000);
    let log = read(&path);
    let found = passed_over(&log, "Declared", Level::Debug);
    assert!((9_900..9_999).contains(&found), "{found}");
    assert!(entries(&log).iter().all(|entry| entry.rate().is_some_and(|rate| rate.of() == 200)));
    let session = builder(&path).sample("Sampled::Declared", "1/1").start().expect("start");
    (0..100).for_each(|number| d!(Sampled::Declared, "declared %d", number));
    assert_eq!(session.stop().expect("stop").messages, 100);
    assert!(entries(&read(&path)).iter().all(|entry| entry.rate().is_none()));
}

#[test]
fn a_rate_that_is_none_is_an_error_of_the_start() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let started = builder(&dir.path().join("none.pftrace")).sample("net", "often").start();
    let Err(error) = started else { panic!("it starts") };
    assert!(matches!(error, Error::BadRule { .. }), "{error:?}");
    assert!(error.to_string().contains("invalid rate `often`"), "{error}");
}
