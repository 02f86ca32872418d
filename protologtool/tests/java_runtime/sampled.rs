//! Sampling in Java programs, as they are written and rewritten: what each trace says of the
//! messages that were kept and of those that were passed over, by our reader, by Perfetto's and by
//! the official descriptors; switched from outside, killed, and at the end of the JVM.

use super::switched::{Program, done};
use super::{classes, rewritten, tool};
use protolog_core::Arg;
use protolog_core::randomness::{randomness, threshold};
use protolog_reader::{Item, Log, Rate, Rendering, Trace};
use protolog_testkit::serde_json::Value;
use protolog_testkit::{check_trace, run_any, temp_dir, temp_dir_for_sockets, trace_processor};
use std::collections::BTreeSet;
use std::env::join_paths;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const THREADS: usize = 4;

#[test]
fn calls_are_sampled_as_they_are_written() {
    let Some(classes) = classes() else { return };
    let dir = temp_dir_for_sockets();
    check_asked(dir.path(), &[classes.to_path_buf()], false);
}

#[test]
fn calls_are_sampled_rewritten() {
    let dir = temp_dir_for_sockets();
    let Some(written) = classes() else { return };
    let classes = rewritten(dir.path(), written, &["app/Sampled.java", "app/AppLog.java"]);
    check_asked(dir.path(), &classes, true);
}

fn check_asked(dir: &Path, classes: &[PathBuf], is_rewritten: bool) {
    let args = [dir.to_str().unwrap(), "asked"];
    let mut program = Program::run(dir, &join_paths(classes).unwrap(), "app.Sampled", &args);
    if !is_rewritten {
        // Calls are known once they have logged.
        program.instruct("log 1");
    }
    // The dictionary has one more that the program does not come to.
    let calls = if is_rewritten { 4 } else { 3 };
    let set = done(dir, &["sample", "NET", "1/50"], &[&program]);
    let expected = format!(
        "Setting {} calls of client app.Sampled (pid PID) to sample:1/50, and keeping all messages of 1 call of WARN and worse\n",
        calls - 1
    );
    assert!(set.starts_with(&expected), "{set}");
    let marked: Vec<_> = set.lines().filter(|line| line.ends_with(" (all are kept)")).collect();
    assert!(matches!(marked[..], [line] if line.contains(" WARN ")), "{set}");
    let rules = done(dir, &["site", "rules"], &[&program]);
    let rule = format!("site NET=sample:1/50 ({calls} calls)");
    assert_eq!(rules, format!("{rule} in app.Sampled (pid PID)\n"));
    let status = done(dir, &["groups", "status"], &[&program]);
    assert!(status.contains(&rule), "{status}");
    program.instruct("log 10000");
    let json = done(dir, &["sample", "\"answer of\"", "2/3", "--json"], &[]);
    assert!(json.contains(r#""rule":"sample:2/3","calls":1"#), "{json}");
    program.instruct("log 1000");
    done(dir, &["sample", "\"answer of\"", "off"], &[]);
    done(dir, &["sample", "NET", "off"], &[]);
    program.instruct("log 100");
    let rules = done(dir, &["site", "rules"], &[&program]);
    assert!(rules.contains(&format!("site NET=nosample ({calls} calls)")), "{rules}");
    let ended = program.instruct("stop");
    program.send("end");
    program.end();

    let numbers: Vec<u64> = ended[0].split(' ').map(|number| number.parse().unwrap()).collect();
    let before = if is_rewritten { 0 } else { 4 };
    let total = before + 2 * (10_000 + 1_000 + 100) + 2 * (100 + 10 + 1);
    assert_eq!((numbers[0] + numbers[1], numbers[2]), (total, 0), "each is there or counted");
    let trace = dir.join("app.pftrace");
    let log = read(&trace);
    assert_eq!((kept(&log), passed_over(&log)), (numbers[0], numbers[1]));
    assert!(log.losses().is_empty(), "{:?}", log.losses());
    let rates: BTreeSet<String> = rates(&log).map(|rate| rate.unwrap_or("all".into())).collect();
    assert_eq!(rates.iter().map(String::as_str).collect::<Vec<_>>(), ["1/50", "2/3", "all"]);

    // The total is exact, and the numbers of each kind are within the intervals' neighbourhood.
    let path = trace.to_str().unwrap();
    let count = tool(&["read-log", "--count", "--estimate", path]).stdout;
    assert_eq!(count.split_whitespace().collect::<Vec<_>>(), [&total.to_string(), "exact"]);
    let lines = tool(&["read-log", "--count-by", "template", "--estimate", path]).stdout;
    let of = |text: &str| {
        let line = lines.lines().find(|line| line.contains(text)).expect("a line");
        line.split_whitespace().next().unwrap().parse::<f64>().unwrap()
    };
    let each = (total as f64 - 2.0 * 111.0) / 2.0;
    for text in ["request %d of %s", "answer of %d bytes"] {
        // Six standard deviations of the rate 1/50.
        assert!((of(text) - each).abs() < 6.0 * (each * 49.0).sqrt(), "{lines}");
    }
    assert_eq!(of("late answer %d") as u64, 111 + before / 4, "warnings are kept");
    check_by_others(&trace, &log);
}

/// Messages of one request are kept together, the same as programs in Rust keep, and as the reader
/// says: calls that are written and rewritten.
#[test]
fn requests_are_kept_as_in_rust() {
    let Some(written) = classes() else { return };
    for is_rewritten in [false, true] {
        let dir = temp_dir_for_sockets();
        let dir = dir.path();
        let mut classes = vec![written.to_path_buf()];
        if is_rewritten {
            classes = rewritten(dir, written, &["app/Sampled.java", "app/AppLog.java"]);
        }
        let args = [dir.to_str().unwrap(), "asked"];
        let mut program = Program::run(dir, &join_paths(&classes).unwrap(), "app.Sampled", &args);
        if !is_rewritten {
            program.instruct("log 1");
        }
        done(dir, &["sample", "NET", "1/20 by arg1"], &[&program]);
        program.instruct("log 4000");
        let rules = done(dir, &["site", "rules"], &[&program]);
        assert!(rules.starts_with("site NET=sample:1/20:arg1 ("), "{rules}");
        program.instruct("stop");
        program.send("end");
        program.end();
        let log = read(&dir.join("app.pftrace"));
        let rate = Rate::parse("1/20").unwrap();
        let is_kept = |request: &i64| randomness(Arg::Int(*request)) >= threshold(rate);
        let kept: Vec<i64> = (0..4000).filter(is_kept).collect();
        for text in ["request ", "answer of "] {
            let found: Vec<i64> = log
                .items()
                .filter_map(|item| {
                    let Item::Entry(entry) = item else { panic!("nothing is lost: {item:?}") };
                    let shown = entry.values().text(Rendering::Full);
                    let number = shown.strip_prefix(text)?.split(' ').next()?.parse().ok()?;
                    // The one before the rate was set has none.
                    assert_eq!(entry.rate()?.to_string(), "1/20:arg1");
                    assert_eq!(entry.randomness(), Some(randomness(Arg::Int(number))));
                    Some(number)
                })
                .collect();
            assert_eq!(found, kept, "{text}");
        }
        assert_eq!(passed_over(&log), 2 * (4000 - kept.len() as u64));
    }
}

/// The contents of the trace by Perfetto's reader and the official descriptors.
fn check_by_others(trace: &Path, log: &Log) {
    if let Some(tables) = trace_processor(trace, &["SELECT COUNT(*) AS messages FROM protolog"]) {
        assert_eq!(tables[0].texts("messages"), [kept(log).to_string()]);
    }
    let Some(packets) = check_trace(trace) else { return };
    let paths = |packet: &Value| {
        packet["unknown"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|path| path.as_str().unwrap().to_owned())
            .collect::<BTreeSet<_>>()
    };
    let has = |path: &str| packets.iter().filter(|packet| paths(packet).contains(path)).count();
    let sampled = rates(log).flatten();
    let (one, more): (Vec<_>, Vec<_>) = sampled.partition(|rate| rate.starts_with("1/"));
    assert_eq!(has("protolog_message.1001"), one.len() + more.len());
    assert_eq!(has("protolog_message.1002"), more.len());
    assert!(has("1009") > 0);
}

#[test]
fn what_a_killed_program_has_passed_over_is_counted() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    // At different instants. `cargo xtask soak kill` has more of them.
    let rounds = std::env::var("PROTOLOG_KILL_ROUNDS").map_or(3, |rounds| rounds.parse().unwrap());
    for round in 0..rounds {
        let after = Duration::from_millis(20 + round * 97 % 600);
        kill(classes, dir.path(), "record", after);
        kill(classes, dir.path(), "stream", after);
    }
}

/// There are more groups than counters in a recording: those of the last ones have no group.
#[test]
fn many_groups_that_are_passed_over_are_counted() {
    const GROUPS: u64 = 70;
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let args = [dir.path().to_str().unwrap(), &GROUPS.to_string()];
    run_and_kill(classes, dir.path(), "app.ManyGroups", &args, Duration::ZERO);
    let log = read(&dir.path().join("app.pftrace"));
    let all = &log.stats().passed_over;
    assert_eq!(all.values().sum::<u64>(), 3 * GROUPS, "{all:?}");
    assert_eq!(all.get(&(None, None)), Some(&(3 * (GROUPS - 64))));
}

fn kill(classes: &Path, dir: &Path, mode: &str, after: Duration) {
    let calls = dir.join("calls");
    let _ = fs::remove_file(&calls);
    let args = [dir.to_str().unwrap(), mode, &THREADS.to_string()];
    run_and_kill(classes, dir, "app.Sampled", &args, after);
    let counts = fs::read(&calls).unwrap();
    let logged: u64 =
        counts.chunks_exact(8).map(|count| u64::from_le_bytes(count.try_into().unwrap())).sum();
    let log = read(&dir.join("app.pftrace"));
    assert!(log.losses().is_empty(), "{mode}: {:?}", log.losses());
    let found = kept(&log) + passed_over(&log);
    // Each thread was within one call at most.
    let within = logged..=logged + THREADS as u64;
    assert!(within.contains(&found), "{mode} after {after:?}: {found} of {logged}");
    assert!(rates(&log).all(|rate| rate.is_some()), "each is sampled");
}

/// Runs the program, kills it so long after it is ready, and makes its trace.
fn run_and_kill(classes: &Path, dir: &Path, main: &str, args: &[&str], after: Duration) {
    let (trace, recording) = (dir.join("app.pftrace"), dir.join("app.rec"));
    for file in [&trace, &recording] {
        let _ = fs::remove_file(file);
    }
    let mut java = Command::new("java");
    java.arg("-Dprotolog.level=off").arg("-cp").arg(classes).arg(main).args(args);
    let mut child = java.stdout(Stdio::piped()).spawn().expect("start java");
    let mut ready = [0];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).expect("it is ready");
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    if recording.exists() {
        tool(&["recover", recording.to_str().unwrap(), "-o", trace.to_str().unwrap()]);
    } else {
        tool(&["recover", trace.to_str().unwrap()]);
    }
}

#[test]
fn what_is_passed_over_while_the_program_ends_is_counted() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let mut java = Command::new("java");
    java.arg("-Dprotolog.level=off").arg("-cp").arg(classes).arg("app.Sampled").arg(dir.path());
    let output = run_any(java.args(["ends", &THREADS.to_string()]));
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let counts = fs::read(dir.path().join("calls")).unwrap();
    let logged: u64 =
        counts.chunks_exact(8).map(|count| u64::from_le_bytes(count.try_into().unwrap())).sum();
    let log = read(&dir.path().join("app.pftrace"));
    // Messages that are kept after the end of the file are lost, and counted.
    let lost: u64 = log.losses().iter().map(|loss| loss.count.unwrap_or_default()).sum();
    let found = kept(&log) + passed_over(&log) + lost;
    let within = logged..=logged + THREADS as u64;
    assert!(within.contains(&found), "{found} of {logged}, {lost} lost");
}

fn read(trace: &Path) -> Log {
    Trace::open(trace).expect("a trace").read().expect("a log")
}

fn kept(log: &Log) -> u64 {
    log.items().filter(|item| matches!(item, Item::Entry(_))).count() as u64
}

fn passed_over(log: &Log) -> u64 {
    let all = &log.stats().passed_over;
    assert!(all.keys().all(|(group, level)| group.is_some() && level.is_some()), "{all:?}");
    all.values().sum()
}

/// The rate of each message.
fn rates(log: &Log) -> impl Iterator<Item = Option<String>> {
    let entries = log.items().filter_map(|item| match item {
        Item::Entry(entry) => Some(entry.rate().map(|rate| rate.to_string())),
        _ => None,
    });
    entries.collect::<Vec<_>>().into_iter()
}
