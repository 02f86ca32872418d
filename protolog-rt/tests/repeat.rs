//! Identical consecutive messages of a call become one and a count, in every kind of session: the
//! log with the counts expanded says what the log without the rule says.
#![allow(unsafe_code)] // fork.

mod common;
#[path = "common/fork.rs"]
mod fork;
#[path = "common/killed.rs"]
mod killed;

use common::lock_sessions;
use protolog_reader::{Item, Log, LossReason, Rendering, Trace};
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{
    Builder, Level, LossCause, ProtoLogGroup, Session, Summary, d, i, recover_previous,
    request_scope, w,
};
use protolog_testkit::{temp_dir, trace_processor};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Repeats {
    Net,
    Disk,
    Script,
}

const REPEATED: LossReason = LossReason::Reported(LossCause::Repeated);

fn read(path: &Path) -> Log {
    Trace::open(path).expect("a trace").read().expect("a log")
}

fn builder(path: &Path) -> Builder {
    Session::builder().file(path).enable_all().report_losses(false)
}

/// Has this program for one test, without the rules of others.
fn lock_without_rules() -> impl Drop {
    let lock = lock_sessions();
    let selectors =
        ["group Repeats::Net", "Repeats::Net", "repeat::Repeats", "Repeats::Net and warn"];
    let dir = temp_dir();
    let none = builder(&dir.path().join("none"));
    let none = selectors.into_iter().fold(none, |all, selector| all.site(selector, "default"));
    none.start().expect("start").stop().expect("stop");
    lock
}

/// The number of messages that were counted only.
fn repeated(summary: &Summary) -> u64 {
    let losses = summary.losses.iter().filter(|loss| loss.cause == LossCause::Repeated);
    losses.map(|loss| loss.count).sum()
}

/// The items of a log in their order, in words.
fn shown(log: &Log) -> Vec<String> {
    let line = |item: Item<'_>| match item {
        Item::Entry(entry) => entry.values().text(Rendering::Full),
        Item::Loss(loss) => log.describe(loss),
        _ => String::new(),
    };
    log.items().map(line).collect()
}

/// What each call of each thread has said, with counts expanded; none of it twice.
type Said = BTreeMap<(String, String), Vec<String>>;

/// The first word of a text stands for its call.
fn add(said: &mut Said, thread: &str, text: &str, count: u64) {
    let call = text.split(' ').next().expect("a word").to_owned();
    let all = said.entry((thread.to_owned(), call)).or_default();
    all.extend((0..count).map(|_| text.to_owned()));
}

fn expanded(log: &Log) -> Said {
    let mut said = Said::new();
    for item in log.items() {
        match item {
            Item::Entry(entry) => {
                let thread = entry.thread().name.clone().expect("a name");
                add(&mut said, &thread, &entry.values().text(Rendering::Full), 1);
            }
            Item::Loss(loss) => {
                assert_eq!(loss.reason, REPEATED, "{}", log.describe(loss));
                let entry = log.repeated(loss).unwrap_or_else(|| panic!("no message: {loss:?}"));
                assert!(loss.from.is_some_and(|from| entry.time() <= from && from <= loss.time));
                let thread = log.thread_of(loss).name.clone().expect("a name");
                let text = entry.values().text(Rendering::Full);
                add(&mut said, &thread, &text, loss.count.expect("a count"));
            }
            _ => {}
        }
    }
    said
}

/// A call in a loop, which says the same.
fn no_answer(count: usize, from: &str) {
    for _ in 0..count {
        w!(Repeats::Net, "no answer from %s", from);
    }
}

/// The count stands behind the message, before the call's next one, whether the session streams
/// or keeps messages.
#[test]
fn repeats_are_counted_where_they_were() {
    let _lock = lock_without_rules();
    let dir = temp_dir();
    for (number, keeps) in [(0, false), (1, true)] {
        let path = dir.path().join(format!("{number}.pftrace"));
        let mut all = builder(&path).repeat("group Repeats::Net");
        if keeps {
            all = all.keep_newest();
        }
        let session = all.start().expect("start");
        i!(Repeats::Disk, "before");
        no_answer(1000, "a");
        i!(Repeats::Disk, "between");
        no_answer(500, "a");
        no_answer(2, "b");
        no_answer(1, "a");
        i!(Repeats::Disk, "same");
        i!(Repeats::Disk, "same");
        let summary = session.stop().expect("stop");
        assert_eq!((summary.messages, repeated(&summary), summary.lost()), (7, 1500, 0));
        let log = read(&path);
        let expected = [
            "before",
            "no answer from a",
            "between",
            "repeated 1499 times: no answer from a",
            "no answer from b",
            "repeated once: no answer from b",
            "no answer from a",
            "same",
            "same",
        ];
        assert_eq!(shown(&log), expected, "{number}");
        assert!(!log.stats().has_losses() && log.is_complete());
        let told: u64 = log.stats().lost.values().sum();
        assert_eq!(told, 1500);
        check_by_perfetto(&path, &log);
    }
}

/// Perfetto has the messages that were written, and takes no record for an error.
fn check_by_perfetto(path: &Path, log: &Log) {
    let queries = [
        "SELECT message FROM protolog ORDER BY ts, id",
        "SELECT name FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0",
    ];
    let Some(tables) = trace_processor(path, &queries) else { return };
    let texts: Vec<_> = log.entries().map(|entry| entry.values().text(Rendering::Full)).collect();
    assert_eq!(tables[0].texts("message"), texts);
    assert_eq!(tables[1].texts("name"), Vec::<String>::new());
}

/// A call that goes on is in the log about once a second, and what it said until its silence is
/// reported while the program runs.
#[test]
fn a_call_in_a_loop_is_seen_while_it_goes_on() {
    let _lock = lock_without_rules();
    let dir = temp_dir();
    let path = dir.path().join("live.pftrace");
    let session = builder(&path).repeat("group Repeats::Net").start().expect("start");
    let end = Instant::now() + Duration::from_millis(2_500);
    let mut count = 0;
    while Instant::now() < end {
        no_answer(10, "a");
        count += 10;
        thread::sleep(Duration::from_millis(1));
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    let told = loop {
        session.flush().expect("flush");
        let log = read(&path);
        let told: u64 = expanded(&log).values().map(|all| all.len() as u64).sum();
        if told == count || Instant::now() > deadline {
            break told;
        }
        thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(told, count, "silence follows");
    let summary = session.stop().expect("stop");
    assert_eq!(summary.messages + repeated(&summary), count);
    assert!((3..=4).contains(&summary.messages), "{} are written", summary.messages);
}

/// Numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }
}

/// Logs messages of several calls, most of which say the same as the one before.
fn log_at_random(thread: &str, random: &mut Random, count: u64) -> Said {
    let mut said = Said::new();
    let mut say = |text: &str| add(&mut said, thread, text, 1);
    let long = "x".repeat(300);
    let (mut numbers, mut texts) = ([0; 3], ["a", "a"]);
    for _ in 0..count {
        if random.below(5) == 0 {
            numbers[random.below(3) as usize] = random.below(3);
            texts[random.below(2) as usize] = ["a", "b", "", &long][random.below(4) as usize];
        }
        match random.below(6) {
            0 | 1 => {
                d!(Repeats::Net, "numbers %d %d", numbers[0], numbers[1]);
                say(&format!("numbers {} {}", numbers[0], numbers[1]));
            }
            2 => {
                i!(Repeats::Net, "text %s", texts[0]);
                say(&format!("text {}", texts[0]));
            }
            3 => {
                w!(Repeats::Net, "both %s %d", texts[1], numbers[2]);
                say(&format!("both {} {}", texts[1], numbers[2]));
            }
            4 => {
                i!(Repeats::Disk, "disk");
                say("disk");
            }
            _ => {
                let args = [Arg::Str(texts[1]), Arg::Int(numbers[0] as i64)];
                dynamic::log(&Repeats::Script, Level::Info, "script %s %d", &args);
                say(&format!("script {} {}", texts[1], numbers[0]));
            }
        }
    }
    said
}

/// Threads of a name each log at random; returns what they said.
fn log_on_threads(seed: u64, threads: u64, count: u64) -> Said {
    let spawn = |number: u64| {
        let name = format!("t{number}");
        let body = move || {
            let mut random = Random(seed << 8 | number);
            log_at_random(&format!("t{number}"), &mut random, count)
        };
        thread::Builder::new().name(name).spawn(body).expect("a thread")
    };
    let threads: Vec<_> = (0..threads).map(spawn).collect();
    threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
}

#[test]
fn counts_expanded_say_what_was_said() {
    let _lock = lock_without_rules();
    let dir = temp_dir();
    for seed in 0..12 {
        let (keeps, both) = (seed % 3 == 1, seed % 3 == 2);
        let paths = [0, 1].map(|number| dir.path().join(format!("{seed}-{number}.pftrace")));
        let start = |path: &Path, keeps: bool| {
            let all = builder(path).buffer_size(16 << 20).repeat("repeat::Repeats");
            let all = if keeps { all.keep_newest() } else { all };
            all.start().expect("start")
        };
        let first = start(&paths[0], keeps);
        let second = both.then(|| start(&paths[1], true));
        let said = log_on_threads(seed, 1 + seed % 4, 5_000);
        let count: u64 = said.values().map(|all| all.len() as u64).sum();
        for (session, path) in [Some(first), second].into_iter().flatten().zip(&paths) {
            let summary = session.stop().expect("stop");
            assert_eq!(summary.messages + repeated(&summary), count, "{seed}");
            assert!(repeated(&summary) > count / 4, "{seed}: {summary:?}");
            let log = read(path);
            assert_eq!(log.stats().entries, summary.messages);
            for (call, texts) in expanded(&log) {
                let wrong = texts.iter().zip(&said[&call]).position(|(found, said)| found != said);
                let around = |all: &[String]| {
                    let at = wrong.unwrap_or_default();
                    all[at.saturating_sub(3)..(at + 3).min(all.len())].to_vec()
                };
                assert!(
                    texts == said[&call],
                    "{seed}: {call:?}: at {wrong:?} {:?} for {:?}",
                    around(&texts),
                    around(&said[&call])
                );
            }
        }
    }
}

/// Whatever changes while messages are merged, none of them is counted for another one, or twice.
#[test]
fn rules_and_sessions_that_change_lose_nothing() {
    let _lock = lock_without_rules();
    let dir = temp_dir();
    let path = dir.path().join("long.pftrace");
    let session =
        builder(&path).buffer_size(16 << 20).repeat("repeat::Repeats").start().expect("start");
    let changes = thread::spawn({
        let path = dir.path().join("other.pftrace");
        move || {
            for number in 0..40 {
                let words = ["repeat", "norepeat", "repeat,text", "default,notext"][number % 4];
                let other = Session::builder().file(&path).site("Repeats::Net", words);
                let other = other.enable_all().start().expect("start");
                thread::sleep(Duration::from_millis(2));
                other.stop().expect("stop");
            }
        }
    });
    let mut said = Said::new();
    while !changes.is_finished() {
        for (call, texts) in log_on_threads(7, 2, 2_000) {
            said.entry(call).or_default().extend(texts);
        }
    }
    changes.join().expect("no panic");
    let count: u64 = said.values().map(|all| all.len() as u64).sum();
    let summary = session.stop().expect("stop");
    assert_eq!(
        (summary.messages + repeated(&summary), summary.lost()),
        (count, 0),
        "{:?}",
        summary.losses
    );
    let log = read(&path);
    assert!(expanded(&log) == said);
}

/// Messages of two requests are told apart, and so are those that a limit lets pass.
#[test]
fn requests_and_limits_end_a_run() {
    let _lock = lock_without_rules();
    let dir = temp_dir();
    let path = dir.path().join("requests.pftrace");
    let all = builder(&path).repeat("Repeats::Net").limit("Repeats::Net", "1/h burst 3");
    let session = all.start().expect("start");
    for request in ["one", "two"] {
        let _scope = request_scope(request);
        no_answer(10, "a");
    }
    no_answer(4, "b");
    no_answer(4, "c");
    let summary = session.stop().expect("stop");
    let limited: u64 = summary.lost();
    assert_eq!((summary.messages, repeated(&summary), limited), (3, 21, 4));
    let log = read(&path);
    let requests: Vec<_> =
        log.entries().map(|entry| entry.request().unwrap_or("").to_owned()).collect();
    assert_eq!(requests, ["one", "two", ""]);
}

/// Messages that are sampled are not merged, so that each stands for as many as it says.
#[test]
fn sampled_calls_are_not_merged() {
    let _lock = lock_without_rules();
    let dir = temp_dir();
    let path = dir.path().join("sampled.pftrace");
    let all = builder(&path).repeat("Repeats::Net").sample("Repeats::Net and warn", "1/10");
    let session = all.start().expect("start");
    no_answer(1_000, "a");
    let summary = session.stop().expect("stop");
    let passed_over: u64 = summary.passed_over.iter().map(|one| one.count).sum();
    assert_eq!((summary.messages + passed_over, repeated(&summary)), (1_000, 0));
    assert!(passed_over > 700);
}

/// A ring that has overwritten records still knows how many messages were repeated.
#[test]
fn a_ring_knows_the_number_of_what_it_has_overwritten() {
    let _lock = lock_without_rules();
    let dir = temp_dir();
    let path = dir.path().join("ring.pftrace");
    let all = builder(&path).buffer_size(64 << 10).keep_newest().repeat("Repeats::Net");
    let session = all.start().expect("start");
    let rounds = 20_000;
    for number in 0..rounds {
        for _ in 0..3 {
            d!(Repeats::Net, "round %d", number);
        }
    }
    let summary = session.stop().expect("stop");
    assert_eq!(repeated(&summary), 2 * rounds);
    assert_eq!(summary.messages + summary.lost(), rounds);
    let log = read(&path);
    let told = log.stats().lost.iter().filter(|((reason, _), _)| *reason == REPEATED);
    assert_eq!(told.map(|(_, count)| count).sum::<u64>(), 2 * rounds);
    let whole = shown(&log);
    let last = format!("repeated 2 times: round {}", rounds - 1);
    assert!(whole.iter().any(|line| *line == format!("repeated 2 times: round {}", rounds - 2)));
    assert!(whole.contains(&last) || whole.iter().any(|line| line.starts_with("repeated ")));
}

/// A message that finds no room is repeated by none: the others are lost as it is.
#[test]
fn a_message_that_is_lost_begins_no_run() {
    let _lock = lock_without_rules();
    let dir = temp_dir();
    let path = dir.path().join("full.pftrace");
    let all = builder(&path).buffer_size(64 << 10).keep_first().repeat("group Repeats::Net");
    let session = all.start().expect("start");
    let rounds = 2_000;
    for number in 0..rounds {
        no_answer(3, &format!("{number} {}", "x".repeat(100)));
    }
    let summary = session.stop().expect("stop");
    assert_eq!(summary.messages + repeated(&summary) + summary.lost(), 3 * rounds);
    assert_eq!(repeated(&summary), 2 * summary.messages);
    assert!(summary.messages < rounds, "the buffer is full");
}

/// What a killed program has counted is in its recording.
#[test]
fn a_killed_program_leaves_its_counts() {
    const CHILD: &str = "PROTOLOG_TEST_REPEAT";
    if let Ok(path) = std::env::var(CHILD) {
        let keeps = path.ends_with("ring");
        let all = builder(Path::new(&path)).repeat("repeat::Repeats");
        let recording = format!("{path}.rec");
        let all = if keeps { all.keep_newest().record_at(recording) } else { all };
        let _session = all.start().expect("start");
        no_answer(10, "a");
        no_answer(20, "b");
        no_answer(300, "c");
        println!("ready");
        loop {
            thread::sleep(Duration::from_secs(1));
        }
    }
    let _lock = lock_without_rules();
    let dir = temp_dir();
    for name in ["stream", "ring"] {
        let path = dir.path().join(name);
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "a_killed_program_leaves_its_counts", "--nocapture"])
            .env(CHILD, &path)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("a child");
        let stdout = child.stdout.take().expect("piped");
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(stdout));
        assert!(lines.any(|line| line.expect("a line").contains("ready")));
        child.kill().expect("kill");
        child.wait().expect("an end");
        let log = if name == "ring" {
            killed::recover(&dir.path().join("ring.rec"))
        } else {
            recover_previous(&path).expect("recover");
            read(&path)
        };
        let told = log.stats().lost.iter().filter(|((reason, _), _)| *reason == REPEATED);
        let told: u64 = told.map(|(_, count)| count).sum();
        assert_eq!(log.stats().entries + told, 330, "{name}: {:?}", shown(&log));
        let written = ["a", "b", "c"].map(|from| format!("no answer from {from}"));
        assert_eq!(killed::texts(&log), written, "{name}");
        assert!(shown(&log).contains(&"repeated 9 times: no answer from a".to_owned()), "{name}");
    }
}

/// The child's trace has the message that its counts are of, and no count of its parent's.
#[test]
fn a_forked_child_writes_the_message_that_it_repeats() {
    if !fork::has_process_of_its_own("a_forked_child_writes_the_message_that_it_repeats") {
        return;
    }
    let dir = temp_dir();
    let session = builder(&dir.path().join("app.pftrace")).follow_forks().repeat("Repeats::Net");
    let session = session.start().expect("start");
    let log = |count: u32| (0..count).for_each(|_| w!(Repeats::Net, "no answer from %d", 7));
    log(5);
    let child = fork::spawn(fork::fork, || {
        log(3);
        w!(Repeats::Net, "no answer from %d", 8);
        session.flush().is_ok()
    });
    fork::wait(child);
    log(4);
    assert_eq!(repeated(&session.stop().expect("stop")), 8);
    let of_child = read(&dir.path().join(format!("app-{child}.pftrace")));
    // Its session begins with the first one, which ends the run once more.
    let seven = "no answer from 7";
    let expected = [seven, seven, &format!("repeated once: {seven}"), "no answer from 8"];
    assert_eq!(shown(&of_child), expected);
}
