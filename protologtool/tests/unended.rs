//! Traces of sessions that have no end yet, or of whose file another program has made a hole.

use protolog_reader::{Rendering, Trace};
use protolog_rt::{Level, ProtoLogGroup, Session, i};
use protolog_testkit::temp_dir;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, id};

/// A group for each test: they run at the same time.
#[derive(ProtoLogGroup)]
enum Log {
    Cut,
    Many,
    Torn,
}

/// Runs the program: exit code, output, errors.
fn run(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_protologtool")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn unended(path: &Path) -> Vec<u32> {
    Trace::open(path).unwrap().read().unwrap().stats().unended.clone()
}

#[test]
fn a_trace_without_an_end_says_so() {
    let dir = temp_dir();
    let path = |name: &str| dir.path().join(name);
    let arg = |name: &str| path(name).to_str().unwrap().to_owned();
    let pid = id();
    let session = Session::builder().group("Cut", Level::Debug).file(path("app")).start().unwrap();
    i!(Log::Cut, "one %d", 1);
    session.flush().unwrap();
    fs::copy(path("app"), path("running")).unwrap();
    i!(Log::Cut, "two %d", 2);
    session.stop().unwrap();
    assert_eq!((unended(&path("running")), unended(&path("app"))), (vec![pid], vec![]));
    let line = format!(
        "warning: the session of process {pid} has no end: the process was killed, or logs still\n"
    );
    let (code, out, errors) = run(&["read-log", &arg("running"), "--format", "json"]);
    assert_eq!((code, errors), (0, line.clone()));
    let end = format!("{{\"type\":\"unended\",\"pid\":{pid}}}\n");
    assert!(out.ends_with(&end) && out.lines().count() == 2, "{out}");
    let (code, out, errors) = run(&["read-log", &arg("app"), "--format", "json"]);
    assert_eq!((code, out.lines().count(), errors.as_str()), (0, 2, ""));
    let (code, _, errors) = run(&["merge", &arg("running"), "-o", &arg("out")]);
    assert_eq!((code, errors), (0, line));
    // With the whole trace there is an end.
    for order in [["running", "app"], ["app", "running"]].map(|order| order.map(arg)) {
        let (code, _, errors) = run(&["merge", &order[0], &order[1], "-o", &arg("out")]);
        assert_eq!((code, errors.as_str()), (0, ""));
        assert!(unended(&path("out")).is_empty());
    }
    let (code, _, _) = run(&["merge", &arg("app"), &arg("out"), "-o", &arg("again")]);
    assert_eq!((code, unended(&path("again"))), (0, vec![]));
}

#[test]
fn segments_and_snapshots_have_an_end() {
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let session = Session::builder().group("Many", Level::Debug).file(&path);
    let session = session.segment_bytes(20_000).start().unwrap();
    for number in 0..2_000 {
        i!(Log::Many, "number %d of many", number);
    }
    session.stop().unwrap();
    let kept = Session::builder().group("Many", Level::Debug).keep_newest();
    let kept = kept.file(dir.path().join("kept.pftrace")).start().unwrap();
    i!(Log::Many, "kept %d", 1);
    kept.snapshot(dir.path().join("snapshot.pftrace")).unwrap();
    drop(kept);
    let files: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 2, "{files:?}");
    for file in files {
        assert!(unended(&file).is_empty(), "{}", file.display());
    }
}

#[test]
fn what_a_session_writes_after_its_file_was_truncated_is_read() {
    let dir = temp_dir();
    let path = dir.path().join("app");
    let session = Session::builder().group("Torn", Level::Debug).file(&path).start().unwrap();
    let log = |from: i32, to: i32| {
        for number in from..to {
            i!(Log::Torn, "number %d of %s", number, &format!("host {number}"));
        }
    };
    log(0, 1_000);
    session.flush().unwrap();
    File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
    log(1_000, 3_000);
    session.flush().unwrap();
    session.stop().unwrap();
    let log = Trace::open(&path).unwrap().read().unwrap();
    let stats = log.stats();
    // The trace was begun anew; what was in it is counted.
    assert_eq!((stats.skipped_bytes, stats.missing_strings, stats.ended_early), (0, 0, None));
    assert_eq!(stats.lost.values().sum::<u64>(), 1_000, "{stats:?}");
    let texts: Vec<_> = log.entries().map(|it| it.values().text(Rendering::Full)).collect();
    let expected = (1_000..3_000).map(|number| format!("number {number} of host {number}"));
    assert_eq!(texts, expected.collect::<Vec<_>>());
    let out = dir.path().join("out");
    let (code, _, errors) = run(&["merge", path.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    assert_eq!((code, &*errors), (0, ""));
    assert_eq!(Trace::open(&out).unwrap().read().unwrap().entries().len(), texts.len());
}
