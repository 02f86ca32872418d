//! `diff`: traces of two runs of a program, and the report about them.

#[path = "../../protolog-reader/tests/common/trace/mod.rs"]
mod description;

use protolog_rt::{ProtoLogGroup, Session, d, i, w};
use protolog_testkit::{TempDir, assert_eq_text, serde_json, temp_dir};
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use std::thread;

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
    Disk,
}

/// Held while a session runs: what one test logs would be in the others' sessions.
static SESSIONS: Mutex<()> = Mutex::new(());

/// The trace of what `run` logs on a thread of this name.
fn record(dir: &TempDir, name: &str, thread: &str, run: impl FnOnce() + Send) {
    let _lock = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let session = Session::builder().file(dir.path().join(name)).enable_all().start().unwrap();
    thread::scope(|scope| {
        thread::Builder::new().name(thread.to_owned()).spawn_scoped(scope, run).unwrap();
    });
    session.stop().unwrap();
}

fn diff(dir: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    let Output { status, stdout, stderr } =
        tool.arg("diff").args(args).current_dir(dir).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// A request that connects to `host`, and sends `bytes`.
fn request(host: &str, bytes: u32) {
    i!(AppLog::Net, "connect to %s", host);
    d!(AppLog::Net, "sent %d bytes in %.1f ms", bytes, f64::from(bytes) / 100.0);
}

fn good() {
    (0..100).for_each(|number| request(["alpha", "beta"][number % 2], 100 + number as u32));
    d!(AppLog::Disk, "sync");
}

fn bad() {
    for number in 0..100 {
        request(["alpha", "gamma"][number % 2], 100 + 2 * number as u32);
        if number == 50 {
            w!(AppLog::Net, "retry %d", number);
        }
    }
}

#[test]
fn two_equal_runs_are_the_same() {
    let dir = temp_dir();
    record(&dir, "a.pftrace", "worker", good);
    record(&dir, "b.pftrace", "worker", good);
    let (code, out, errors) = diff(dir.path(), &["a.pftrace", "b.pftrace"]);
    assert_eq!(
        (code, &*out, &*errors),
        (Some(0), "the same: 201 messages in both, of 3 templates\n", "")
    );
    let (code, out, _) = diff(dir.path(), &["a.pftrace", "b.pftrace", "--format", "json"]);
    assert_eq!((code, &*out), (Some(0), ""));
}

#[test]
fn each_kind_of_difference_is_reported() {
    let dir = temp_dir();
    record(&dir, "good.pftrace", "worker", good);
    record(&dir, "bad.pftrace", "worker", bad);
    let (code, out, errors) = diff(dir.path(), &["good.pftrace", "bad.pftrace"]);
    assert_eq!((code, &*errors), (Some(1), ""));
    let out = out
        .replace("diff::", "")
        .replace(&location("retry"), "LINE")
        .replace(&location("sync"), "LINE");
    assert_eq_text(
        "\
only in bad.pftrace:
       1  W AppLog::Net: retry %d  (LINE)

only in good.pftrace:
       1  D AppLog::Disk: sync  (LINE)

other values:
  I AppLog::Net: connect to %s
    argument 1: - `beta` (50 times)
    argument 1: + `gamma` (50 times)
  D AppLog::Net: sent %d bytes in %.1f ms
    argument 1: mean 149.5 -> 199, greatest 199 -> 298

another order on the thread `THREAD`:
  after 102 and 102 messages:
    D AppLog::Net: sent %d bytes in %.1f ms
  + W AppLog::Net: retry %d
  after 200 and 201 messages:
    D AppLog::Net: sent %d bytes in %.1f ms
  - D AppLog::Disk: sync

201 messages in good.pftrace, 201 messages in bad.pftrace
",
        &threads(&out),
    );
    let quiet =
        ["--ignore-values", "--ignore-order", "--level", "warn", "good.pftrace", "bad.pftrace"];
    let (code, out, _) = diff(dir.path(), &quiet);
    assert_eq!(
        (code, out.contains("retry"), out.contains("sync")),
        (Some(1), true, false),
        "{out}"
    );
    let tolerant = ["--ignore-order", "--group", "net", "--level", "debug", "--tolerance", "40"];
    let (_, out, _) = diff(dir.path(), &[&tolerant[..], &["good.pftrace", "bad.pftrace"]].concat());
    assert!(!out.contains("argument 2") && out.contains("gamma"), "{out}");
    let (_, out, _) = diff(dir.path(), &["good.pftrace", "bad.pftrace", "--noise"]);
    let duration = "    argument 2: mean 1.495 -> 1.99, greatest 1.99 -> 2.98\n";
    assert!(out.contains(duration), "{out}");
}

#[test]
fn counts_and_json() {
    let dir = temp_dir();
    record(&dir, "a.pftrace", "worker", || (0..10).for_each(|_| d!(AppLog::Disk, "counted")));
    record(&dir, "b.pftrace", "worker", || (0..15).for_each(|_| d!(AppLog::Disk, "counted")));
    let args = ["a.pftrace", "b.pftrace", "--format", "json"];
    let (code, out, _) = diff(dir.path(), &args);
    assert_eq!(code, Some(1));
    let lines: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["count", "order"], "{out}");
    assert_eq!((&lines[0]["before"], &lines[0]["after"]), (&10.into(), &15.into()));
    assert_eq!(lines[0]["message"]["template"], "counted");
    assert_eq!(lines[1]["places"][0]["added"].as_array().unwrap().len(), 5);
    let (_, out, _) = diff(dir.path(), &["a.pftrace", "b.pftrace", "--ignore-order"]);
    assert!(
        out.contains("      10 -> 15          +50 %  D diff::AppLog::Disk: counted\n"),
        "{out}"
    );
    let same = [&args[..2], &["--ignore-order", "--tolerance", "50"]].concat();
    assert_eq!(diff(dir.path(), &same).0, Some(0));
}

#[test]
fn an_incomplete_trace_is_said_to_be_one() {
    let dir = temp_dir();
    record(&dir, "a.pftrace", "worker", good);
    let whole = fs::read(dir.path().join("a.pftrace")).unwrap();
    // Within a packet: cut between two, it is the trace of a process that logs still.
    fs::write(dir.path().join("cut.pftrace"), &whole[..whole.len() - 1]).unwrap();
    let (code, _, errors) = diff(dir.path(), &["a.pftrace", "cut.pftrace"]);
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("warning: `cut.pftrace`: "), "{errors}");
    let (code, _, errors) = diff(dir.path(), &["a.pftrace", "none.pftrace"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("can't read `none.pftrace`"), "{errors}");
    let (code, _, errors) = diff(dir.path(), &["a.pftrace", "a.pftrace", "--tolerance", "200"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("`200` for `--tolerance`: give a number from 0 to 100"), "{errors}");
}

/// The result of `diff` on files in memory: the exit code, what it prints, and the errors.
fn compare(files: &[(&str, String)], args: &[&str]) -> (Exit, String, String) {
    let system = Memory::default();
    for (path, trace) in files {
        system.add_file(path, description::trace(trace));
    }
    let words = ["protologtool", "diff"].iter().chain(args);
    let exit = cli::run(words.map(Into::into), &system);
    (exit, system.out(), system.errors())
}

/// A trace of these messages on threads, of a program at this path.
fn run_of(program: &str, threads: &[(&str, &[&str])]) -> String {
    let mut trace = format!(
        r#"group(1, "demo::Net", "Net") message(0x11, DEBUG, 1, "sent %d to %s", "a.rs:1") message(0x12, ERROR, 1, "failed", "a.rs:2")
        message(0x13, INFO, 1, "child pid=%d took %d ms at 0x%x, %s", "a.rs:3") message(0x14, INFO, 1, "begin", "a.rs:4") message(0x15, INFO, 1, "share %f", "a.rs:5")
        @90 snapshot(real=1795199221000000000, boot=1000000000) process(1000, "{program}")
"#
    );
    let mut time = 1_000_000_000_u64;
    for (index, (thread, messages)) in threads.iter().enumerate() {
        let (sequence, tid) = (index + 1, 2000 + index);
        writeln!(trace, "@{sequence} cleared info(1000, {tid}, \"{thread}\")").unwrap();
        for message in *messages {
            time += 1000;
            writeln!(trace, "@{sequence} needs ts={time} {message}").unwrap();
        }
    }
    trace
}

/// So many messages with the one value, and so many with the other.
fn split(ones: usize, twos: usize) -> Vec<&'static str> {
    let ones = std::iter::repeat_n(r#"string(1, "x") log(0x11, 1, $1)"#, ones);
    ones.chain(std::iter::repeat_n(r#"string(1, "x") log(0x11, 2, $1)"#, twos)).collect()
}

#[test]
fn runs_that_differ_are_never_the_same() {
    let of = |program: &str, messages: &[&str]| run_of(program, &[("worker", messages)]);
    let (begin, failed) = ("log(0x14)", "log(0x12)");
    let files = [
        ("ab", of("/one/app", &[begin, failed])),
        ("ba", of("/other/app", &[failed, begin])),
        ("many-ones", of("app", &split(99, 1))),
        ("many-twos", of("app", &split(1, 99))),
        ("finite", of("app", &["log(0x15, 1.5)"])),
        ("infinite", of("app", &["log(0x15, 1e999)"])),
    ];
    let (exit, out, errors) = compare(&files, &["ab", "ba"]);
    assert_eq!((exit, &*errors), (Exit::Problems, ""));
    assert!(out.contains("another order on the thread `worker`:"), "{out}");
    let (exit, out, _) = compare(&files, &["many-ones", "many-twos", "--ignore-order"]);
    assert_eq!(exit, Exit::Problems);
    assert!(out.contains("    argument 1: `1` 99 -> 1 times, `2` 1 -> 99 times\n"), "{out}");
    let (exit, out, _) = compare(&files, &["finite", "infinite", "--tolerance", "100"]);
    assert_eq!(exit, Exit::Problems, "{out}");
    let (exit, out, errors) = compare(&files, &["ab", "many-ones", "--group", "Nope"]);
    assert_eq!((exit, &*out), (Exit::Failed, ""));
    assert_eq!(errors, "error: no run has the group `Nope`\nhelp: use `demo::Net`\n");
    let (_, _, errors) = compare(&files, &["ab", "ab", "--group", "Nope", "--group", "Net"]);
    assert!(errors.starts_with("warning: the trace has no group `Nope`"), "{errors}");
}

#[test]
fn what_differs_between_any_two_runs_is_none() {
    let run = |numbers: [u64; 3], address: &str, order: bool, shares: &[&str]| {
        let [pid, took, at] = numbers;
        let noise = format!("string(1, \"map at 0x{address}\") log(0x13, {pid}, {took}, {at}, $1)");
        let (one, other) = (["log(0x14)", "log(0x12)"], ["log(0x12)", "log(0x14)"]);
        let pool = if order { [one, other] } else { [other, one] };
        run_of(
            "app",
            &[
                ("main loop", &[&*noise]),
                ("pool-0", &pool[0]),
                ("pool-1", &pool[1]),
                ("sums", shares),
            ],
        )
    };
    // The same numbers in another order: their sum is another one in its last digit.
    let shares: Vec<String> = (0..100).map(|it| format!("log(0x15, {}.1)", it * 7 % 100)).collect();
    let mut shares: Vec<&str> = shares.iter().map(|it| &**it).collect();
    let one = run([4711, 30, 0x7ffd_1234], "7ffd5e8a1c40", true, &shares);
    shares.sort_unstable();
    let files =
        [("one", one), ("other", run([815, 41, 0x7ffe_0008], "55d0c0ffee00", false, &shares))];
    let (exit, out, errors) = compare(&files, &["one", "other"]);
    assert_eq!((exit, &*errors), (Exit::Done, ""), "{out}");
    let (exit, out, _) = compare(&files, &["one", "other", "--noise"]);
    assert_eq!(exit, Exit::Problems);
    assert!(out.contains("    argument 1: - `4711`\n    argument 1: + `815`\n"), "{out}");
    let slow = run([815, 410, 1], "55d0c0ffee00", true, &shares);
    let files = [files[0].clone(), ("slow", slow)];
    let (exit, out, _) = compare(&files, &["one", "slow"]);
    assert_eq!(exit, Exit::Problems);
    assert!(
        out.contains("    argument 2: least 30 -> 410, mean 30 -> 410, greatest 30 -> 410\n"),
        "{out}"
    );
}

#[test]
fn what_differs_among_good_runs_is_no_difference() {
    let text = |number: u32, text: &str| format!(r#"string(1, "{text}") log(0x11, {number}, $1)"#);
    let run = |messages: &[String]| {
        let messages: Vec<&str> = messages.iter().map(|it| &**it).collect();
        run_of("app", &[("worker", &messages)])
    };
    let (begin, failed) = ("log(0x14)".to_owned(), "log(0x12)".to_owned());
    let files = [
        ("good/1.pftrace", run(&[begin.clone(), text(1, "session a"), text(1, "session a")])),
        ("good/2.pftrace", run(&[text(1, "session b")])),
        ("fine", run(&[text(1, "session c"), begin.clone(), text(1, "session c")])),
        ("bad", run(&[text(1, "session d"), failed, begin, text(2, "session d")])),
    ];
    let baseline = ["--baseline", "good/1.pftrace", "good/2.pftrace", "--"];
    let (exit, out, errors) = compare(&files, &[&baseline[..], &["fine"]].concat());
    assert_eq!((exit, &*errors), (Exit::Done, ""), "{out}");
    assert_eq!(out, "as in the 2 runs of the baseline: 3 messages, of 2 templates\n");
    let (exit, out, errors) = compare(&files, &[&baseline[..], &["bad"]].concat());
    assert_eq!((exit, &*errors), (Exit::Problems, ""));
    assert_eq_text(
        "\
only in bad:
       1  E demo::Net: failed  (a.rs:2)

other values:
  D demo::Net: sent %d to %s
    argument 1: + `2`

1 to 3 messages in the baseline, 4 messages in bad
",
        &out,
    );
    // A directory is the run of all its traces.
    let (exit, out, errors) = compare(&files, &["good", "good"]);
    assert_eq!((exit, &*errors), (Exit::Done, ""), "{out}");
}

/// The place of the call in this file whose line has `text`.
fn location(text: &str) -> String {
    let source = include_str!("diff.rs");
    let is_call = |line: &&str| line.contains("!(AppLog") && line.contains(text);
    let line = source.lines().position(|line| is_call(&line)).expect("a call") + 1;
    format!("protologtool/tests/diff.rs:{line}")
}

/// The report without the name of the process.
fn threads(report: &str) -> String {
    let line = report.lines().find(|line| line.starts_with("another order")).expect("a thread");
    let name = line.split('`').nth(1).expect("its name");
    assert!(name.ends_with("/worker") || name == "worker", "{name}");
    report.replace(name, "THREAD")
}

#[test]
fn a_run_of_which_a_file_is_left_out_is_incomplete() {
    let dir = temp_dir();
    for run in ["a", "b"] {
        fs::create_dir(dir.path().join(run)).expect("make a directory");
        record(&dir, &format!("{run}/one.pftrace"), "worker", good);
        record(&dir, &format!("{run}/two.pftrace"), "worker", good);
    }
    let (code, _, errors) = diff(dir.path(), &["a", "b"]);
    assert_eq!(code, Some(0), "{errors}");
    fs::write(dir.path().join("b/none.pftrace"), "no trace").expect("write a file");
    let (code, _, errors) = diff(dir.path(), &["a", "b"]);
    assert_eq!(code, Some(3), "{errors}");
}
