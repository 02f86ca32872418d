//! Limits: messages beyond them are not written, and counted by group with the time of the first
//! and the last, in every kind of session.

mod common;

use common::lock_sessions;
use protolog_control::{Program, Rule};
use protolog_core::control::protocol::Request;
use protolog_reader::{Item, Log, LossReason, Rendering, Trace};
use protolog_rt::control::serve_in;
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{Builder, Error, Level, LossCause, ProtoLogGroup, Session, Summary, d, i, w};
use protolog_testkit::{run, temp_dir_for_sockets as temp_dir};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Limits {
    Net,
    Disk,
    Shared,
    Script,
}

#[derive(ProtoLogGroup)]
enum AtRunTime {
    Run,
}

#[derive(ProtoLogGroup)]
enum Declared {
    #[protolog(limit = "1/h burst 20")]
    Few,
    #[protolog(sample = "1/2", limit = r"1/h:5")]
    Both,
    #[protolog(limit = "1/h")]
    Other,
    Plain,
}

#[derive(ProtoLogGroup)]
enum Ended {
    #[protolog(limit = "1/h", sample = "1/1000")]
    Late,
}

const LIMITED: LossReason = LossReason::Reported(LossCause::Limited);

fn read(path: &Path) -> Log {
    Trace::open(path).expect("a trace").read().expect("a log")
}

/// The entries of a log in their order: the text of a message, or the number of suppressed ones
/// with their group's tag.
fn shown(log: &Log) -> Vec<String> {
    let line = |item: Item<'_>| match item {
        Item::Entry(entry) => entry.values().text(Rendering::Full),
        Item::Loss(loss) => {
            assert!(loss.from.is_some_and(|from| from <= loss.time), "{loss:?}");
            loss.describe(log.dictionary())
        }
        _ => String::new(),
    };
    log.items().map(line).collect()
}

fn limited(summary: &Summary) -> u64 {
    let losses = summary.losses.iter().filter(|loss| loss.cause == LossCause::Limited);
    losses.map(|loss| loss.count).sum()
}

fn builder(path: &Path) -> Builder {
    Session::builder().file(path).enable_all().report_losses(false)
}

/// The number of suppressed messages stands at their place, whether the session streams or keeps
/// messages.
#[test]
fn suppressed_messages_are_counted_where_they_were() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    for (number, keeps) in [(0, false), (1, true)] {
        let path = dir.path().join(format!("{number}.pftrace"));
        // Another limit begins with a new burst.
        let limit = format!("1/h burst {}", 3 + number);
        let mut all = builder(&path).limit("group Limits::Net and \"flood %d\"", limit);
        if keeps {
            all = all.keep_newest();
        }
        let session = all.start().expect("start");
        let evaluated = AtomicU64::new(0);
        i!(Limits::Disk, "before");
        for _ in 0..1000 {
            w!(Limits::Net, "flood %d", evaluated.fetch_add(1, Ordering::Relaxed));
        }
        i!(Limits::Net, "after");
        let summary = session.stop().expect("stop");
        let passed = 3 + number;
        assert_eq!(evaluated.into_inner(), passed, "no argument of a suppressed message");
        assert_eq!((summary.messages, limited(&summary)), (passed + 2, 1000 - passed));
        let log = read(&path);
        let mut expected = vec!["before".to_owned()];
        expected.extend((0..passed).map(|number| format!("flood {number}")));
        let group = "limits::Limits::Net";
        expected.push(format!("{} messages of {group}: suppressed by a limit", 1000 - passed));
        expected.push("after".into());
        assert_eq!(shown(&log), expected);
        assert_eq!(log.stats().lost.values().sum::<u64>(), 1000 - passed);
    }
}

#[test]
fn threads_share_the_limit_of_a_group_and_count_exactly() {
    const THREADS: u64 = 8;
    const CALLS: u64 = 20_000;
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("a.pftrace");
    let all = builder(&path).group_limit("group Limits::Shared", "1/h burst 4000");
    let session = all.start().expect("start");
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for number in 0..CALLS / 2 {
                    d!(Limits::Shared, "one %d", number);
                    i!(Limits::Shared, "other %d", number);
                }
            });
        }
    });
    let summary = session.stop().expect("stop");
    assert_eq!(summary.messages + limited(&summary), THREADS * CALLS);
    // A thread that ends may leave as many tokens as it had taken at once.
    assert!((4000 - THREADS * 64..=4000).contains(&summary.messages), "{}", summary.messages);
    let log = read(&path);
    let lost = log.losses().iter().filter(|loss| loss.reason == LIMITED);
    assert_eq!(lost.filter_map(|loss| loss.count).sum::<u64>(), limited(&summary));
    assert_eq!(log.entries().len() as u64, summary.messages);
}

/// A flood that ends in silence is in the file soon, though nothing is logged or flushed after it.
#[test]
fn a_flood_before_silence_is_in_the_file() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("a.pftrace");
    let all = builder(&path).limit("group Limits::Disk and \"silence %d\"", "1/h burst 1");
    let session = all.start().expect("start");
    let log = |count: u64| (0..count).for_each(|number| d!(Limits::Disk, "silence %d", number));
    log(1);
    // The session's thread has nothing to do meanwhile, and sleeps.
    thread::sleep(Duration::from_millis(2500));
    log(100);
    let end = Instant::now() + Duration::from_secs(60);
    let count = || read(&path).losses().iter().filter_map(|loss| loss.count).sum::<u64>();
    while count() < 100 {
        assert!(Instant::now() < end, "{} are in the file", count());
        thread::sleep(Duration::from_millis(50));
    }
    let summary = session.stop().expect("stop");
    assert_eq!((summary.messages, limited(&summary), count()), (1, 100, 100), "counted once");
}

#[test]
fn each_session_counts_what_it_would_have_recorded() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    // One call, which has one limit.
    let log = || (0..10).for_each(|number| d!(Limits::Net, "both %d", number));
    let [one, two] = ["one", "two"].map(|name| dir.path().join(name));
    let first = builder(&one).limit("group Limits::Net and \"both %d\"", "1/h burst 2");
    let first = first.start().expect("start");
    let second = Session::builder().file(&two).group("Limits::Net", Level::Warn);
    let second = second.report_losses(false).start().expect("start");
    log();
    assert_eq!(limited(&second.stop().expect("stop")), 0, "it records no debug messages");
    log();
    let summary = first.stop().expect("stop");
    assert_eq!((summary.messages, limited(&summary)), (2, 18));
    log();
    // What is off takes no part of a limit.
    let third = dir.path().join("three");
    let third = builder(&third).limit("group Limits::Net and \"both %d\"", "1/h burst 5");
    let third = third.group("Limits::Net", Level::Error).start().expect("start");
    log();
    assert_eq!(limited(&third.stop().expect("stop")), 0);
    let fourth = dir.path().join("four");
    let fourth = builder(&fourth).start().expect("start");
    log();
    let summary = fourth.stop().expect("stop");
    assert_eq!((summary.messages, limited(&summary)), (5, 5));
}

#[test]
fn messages_whose_text_comes_at_run_time_are_limited() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("a.pftrace");
    let all = builder(&path)
        .limit("group Limits::Script and \"line %d\"", "1/h burst 2")
        .group_limit("group Limits::Script and \"shared\"", "1/h burst 3");
    let session = all.start().expect("start");
    for number in 0..10 {
        dynamic::log(&Limits::Script, Level::Info, "line %d", &[Arg::Int(number)]);
        dynamic::log(&Limits::Script, Level::Info, "other line %d", &[Arg::Int(number)]);
        dynamic::log(&Limits::Script, Level::Info, "shared one", &[]);
        dynamic::log(&Limits::Script, Level::Info, "shared two", &[]);
        dynamic::log(&Limits::Script, Level::Info, "free", &[]);
    }
    let summary = session.stop().expect("stop");
    assert_eq!((summary.messages, limited(&summary)), (2 + 2 + 3 + 10, 8 + 8 + 17));
}

/// A limit of a second lets messages pass again, and what was suppressed in between is told apart.
#[test]
fn the_rate_holds_over_time() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("a.pftrace");
    let all = builder(&path).limit("group Limits::Net and \"rate %d\"", "1000/s burst 10");
    let session = all.start().expect("start");
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(500) {
        d!(Limits::Net, "rate %d", 1);
    }
    let took = start.elapsed();
    let summary = session.stop().expect("stop");
    // Tokens of 10 ms may be used late; the last call is a little after the time was looked at.
    let most = 10 + took.as_millis() as u64 + 12;
    assert!(summary.messages <= most, "{} in {took:?}", summary.messages);
    // Many more than the burst. A thread that seldom runs, on a busy machine, misses tokens.
    assert!(summary.messages >= 30, "{} in {took:?}", summary.messages);
    assert!(limited(&summary) > 0);
}

/// All calls of the group together, WARN and worse too; a session's rule and an operator's say
/// otherwise.
#[test]
fn a_group_declares_its_limit() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("a.pftrace");
    let log = || {
        for number in 0..100 {
            d!(Declared::Few, "few %d", number);
            w!(Declared::Few, "few warnings %d", number);
            d!(Declared::Both, "both %d", number);
            d!(Declared::Other, "other %d", number);
            d!(Declared::Plain, "plain %d", number);
        }
    };
    let session = builder(&path).group_limit("Declared::Other", "1/h burst 50").start();
    let session = session.expect("start");
    log();
    let summary = session.stop().expect("stop");
    assert_eq!(summary.messages, 20 + 5 + 50 + 100);
    let passed_over: u64 = summary.passed_over.iter().map(|it| it.count).sum();
    assert!((20..80).contains(&passed_over), "sampled before it is limited: {passed_over}");
    assert_eq!(limited(&summary), 180 + (100 - passed_over - 5) + 50);
    let server = serve_in(dir.path().join("run")).expect("listen");
    let mut operator = Program::connect(server.path()).expect("connect");
    let rules = operator.rules().expect("an answer").expect("rules").rules;
    let rule = |rule: &Rule| format!("{} {}", rule.words, rule.selector);
    let mut rules: Vec<_> = rules.iter().map(rule).filter(|it| it.contains("Declared")).collect();
    rules.sort();
    let expected = [
        "group-limit:1/h group limits::Declared::Other",
        "group-limit:1/h:20 group limits::Declared::Few",
        "group-limit:1/h:5,sample:1/2 group limits::Declared::Both",
        "group-limit:1/h:50 Declared::Other",
    ];
    assert_eq!(rules, expected);
    for rule in ["group limits::Declared::Few=default", "Declared::Both=nogroup-limit,nosample"] {
        operator.request(&Request::Set(&format!("site {rule}"))).expect("an answer");
    }
    let session = builder(&path).start().expect("start");
    log();
    let summary = session.stop().expect("stop");
    assert_eq!((summary.messages, limited(&summary)), (200 + 100 + 100, 100));
    for rule in ["Both", "Other"] {
        operator.request(&Request::Set(&format!("site Declared::{rule}=default"))).expect("done");
    }
}

/// What ends a declared limit, as the state file says it at a start, comes before the group is
/// seen.
#[test]
fn a_reset_ends_what_a_later_group_declares() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let all = builder(&dir.path().join("a.pftrace")).site("Ended::Late", "default");
    let session = all.start().expect("start");
    for number in 0..100 {
        d!(Ended::Late, "late %d", number);
    }
    assert_eq!(session.stop().expect("stop").messages, 100);
}

#[test]
fn a_rule_that_is_none_is_refused_before_anything_happens() {
    let dir = temp_dir();
    let path = dir.path().join("a.pftrace");
    for (selector, limit, problem, help) in [
        ("net and", "1/s", "column 8: missing condition", "write"),
        ("net", "fast", "invalid limit `fast`", "write a number up to 1000000 and a time"),
    ] {
        let error = builder(&path).limit(selector, limit).start().expect_err("refused");
        assert!(matches!(error, Error::BadRule { .. }));
        assert!(error.to_string().starts_with(problem), "{error}");
        assert!(error.help().starts_with(help), "{error:?}");
    }
    assert!(!path.exists());
}

/// A slip of the hand would change nothing in silence. Messages of a group without calls come at
/// run time.
#[test]
fn a_rule_that_takes_no_call_is_said() {
    const DIR: &str = "PROTOLOG_TEST_IDLE_RULES";
    if let Some(dir) = std::env::var_os(DIR) {
        assert!(!AtRunTime::Run.is_enabled(Level::Info), "it is known from now on");
        let session = builder(&Path::new(&dir).join("app.pftrace"));
        let session = session.sample("Limits::Nett", "1/10").limit("net and \"retri\"", "1/s");
        let session = session.group_limit("limits.rs:999999", "1/s").limit("Limits::Net", "9/s");
        let session = session.limit("AtRunTime::Run", "9/s").start().expect("start");
        dynamic::log(&AtRunTime::Run, Level::Info, "at run time", &[]);
        session.stop().expect("stop");
        return;
    }
    let dir = temp_dir();
    let mut own = Command::new(std::env::current_exe().expect("the test itself"));
    let own = own.args(["--exact", "a_rule_that_takes_no_call_is_said", "--nocapture"]);
    let stderr = run(own.env(DIR, dir.path())).stderr;
    let lines: Vec<&str> = stderr.lines().filter(|line| line.contains("no call")).collect();
    let expected = ["Limits::Nett", "net and \"retri\"", "limits.rs:999999"]
        .map(|it| format!("protolog: no call of this program is taken by `{it}`"));
    assert_eq!(lines, expected);
}
