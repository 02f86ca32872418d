//! `diff`: traces of two runs of a program, and the report about them.

use protolog_rt::{ProtoLogGroup, Session, d, i, w};
use protolog_testkit::{TempDir, assert_eq_text, serde_json, temp_dir};
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
  D AppLog::Net: sent %d bytes in %.1f ms
    argument 1: mean 149.5 -> 199, greatest 199 -> 298
  D AppLog::Net: sent %d bytes in %.1f ms
    argument 2: mean 1.495 -> 1.99, greatest 1.99 -> 2.98
  I AppLog::Net: connect to %s
    argument 1: - `beta` (50 times)
    argument 1: + `gamma` (50 times)

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
