//! Requests of Java programs: each message belongs to the innermost one that its thread is in, on
//! however many threads. Messages name their request in their texts, so that a trace is compared
//! with the program and not with itself. `protolog-rt/tests/requests.rs` has those of Rust.

use super::{classes, tool};
use protolog_reader::{Log, Rendering, Trace};
use protolog_testkit::{java_25, run_any, temp_dir, trace_processor};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the program, and returns the directory of each way.
fn run(java: &Path, dir: &Path, ways: &[&str]) -> Option<Vec<PathBuf>> {
    let mut java = Command::new(java);
    java.arg("-Dprotolog.level=off").arg("-cp").arg(classes()?);
    let output = run_any(java.arg("app.Requests").arg(dir).args(ways));
    // It is said that a file was emptied.
    let is_quiet = output.stderr.is_empty() || ways.contains(&"cut");
    assert!(output.code == Some(0) && is_quiet, "{output:?}");
    Some(ways.iter().map(|way| dir.join(way)).collect())
}

pub(crate) fn read(trace: &Path) -> Log {
    Trace::open(trace).expect("open").with_slices().read().expect("read")
}

/// Checks that each message belongs to the request that it names, and returns their number by
/// request.
#[track_caller]
fn counts(trace: &Path) -> BTreeMap<String, usize> {
    let log = read(trace);
    let mut counts = BTreeMap::new();
    for entry in log.entries() {
        let text = entry.values().text(Rendering::Bare);
        // Pairs of other loggers follow.
        let (text, _) = text.split_once(" request_id=").unwrap_or((&text, ""));
        let (text, _) = text.split_once(" user=").unwrap_or((text, ""));
        let expected = text.rsplit_once("in ").expect("a request").1;
        assert_eq!(entry.request().unwrap_or("none"), expected, "{text}");
        *counts.entry(expected.to_owned()).or_default() += 1;
    }
    if let Some(tables) = trace_processor(trace, &["SELECT count(*) AS count FROM protolog"]) {
        assert_eq!(tables[0].texts("count"), [log.entries().count().to_string()]);
    }
    counts
}

fn expected<const N: usize>(counts: [(&str, usize); N]) -> BTreeMap<String, usize> {
    counts.into_iter().map(|(request, count)| (request.to_owned(), count)).collect()
}

#[test]
fn messages_belong_to_the_innermost_request() {
    let dir = temp_dir();
    let ways = ["nested", "deep", "empty", "elsewhere", "leaked"];
    let Some(dirs) = run("java".as_ref(), dir.path(), &ways) else { return };
    let trace = |at: usize| dirs[at].join("app.pftrace");
    let by_request = [("2", 3), ("last", 1), ("none", 3), ("null", 1), ("one", 4), ("thrown", 1)];
    assert_eq!(counts(&trace(0)), expected(by_request));
    let long = "ä".repeat(30) + "…";
    assert_eq!(counts(&trace(1)), expected([("63", 1), ("forgotten", 1), ("none", 1), (&long, 2)]));
    assert_eq!(counts(&trace(2)), expected([("none", 2)]));
    assert_eq!(read(&trace(2)).requests().count(), 0);
    assert_eq!(counts(&trace(3)), expected([("left", 1), ("next", 1), ("none", 2)]));
    let leaked = counts(&trace(4));
    assert!(leaked.len() == 1001 && leaked.values().all(|count| *count == 1), "{leaked:?}");
    let shown = tool(&["read-log", "--request", "2", trace(0).to_str().unwrap()]).stdout;
    assert_eq!(shown.lines().count(), 3, "{shown}");
}

#[test]
fn threads_and_tasks_enter_requests() {
    let dir = temp_dir();
    let Some(dirs) = run("java".as_ref(), dir.path(), &["threads", "tasks"]) else { return };
    let all = [("a", 400), ("b", 400), ("c", 400), ("d", 400), ("none", 1600)];
    let trace = dirs[0].join("app.pftrace");
    assert_eq!(counts(&trace), expected(all));
    assert_eq!(read(&trace).slices().len(), 1600);
    let counts = counts(&dirs[1].join("app.pftrace"));
    assert_eq!((counts.len(), counts["none"], counts["left"]), (203, 410, 200));
    assert!(counts.iter().all(|(id, count)| !id.starts_with("task") || *count == 3), "{counts:?}");
    assert_eq!(counts["repeated"], 10);
}

/// They share writers, so that marks and names of threads take turns in a chunk.
#[test]
fn virtual_threads_have_requests_of_their_own() {
    let Some(java) = java_25() else { return };
    let dir = temp_dir();
    let Some(dirs) = run(&java, dir.path(), &["virtual", "tasks"]) else { return };
    let counts = counts(&dirs[0].join("app.pftrace"));
    assert_eq!((counts.len(), counts["none"]), (101, 4000));
    assert!(counts.iter().all(|(id, count)| id == "none" || *count == 40), "{counts:?}");
}

#[test]
fn events_of_other_loggers_name_their_request() {
    let dir = temp_dir();
    let Some(dirs) = run("java".as_ref(), dir.path(), &["bridged"]) else { return };
    let trace = dirs[0].join("app.pftrace");
    let long = "x".repeat(61) + "…";
    let all = [("none", 6), ("one", 9), ("own", 6), ("two", 3), (&long, 2)];
    assert_eq!(counts(&trace), expected(all));
    assert_eq!(read(&trace).requests().count(), 4);
}

#[test]
fn pinned_messages_and_several_sessions_have_it() {
    let dir = temp_dir();
    let Some(dirs) = run("java".as_ref(), dir.path(), &["pinned"]) else { return };
    let stream = counts(&dirs[0].join("other.pftrace"));
    assert_eq!(stream, expected([("none", 150), ("r", 150)]));
    let ring = counts(&dirs[0].join("app.pftrace"));
    assert_eq!(ring, expected([("none", 450), ("r", 450)]));
}

#[test]
fn a_ring_that_lost_the_begin_has_the_request() {
    let dir = temp_dir();
    let Some(dirs) = run("java".as_ref(), dir.path(), &["ring"]) else { return };
    let counts = counts(&dirs[0].join("app.pftrace"));
    assert_eq!(counts.len(), 1, "{counts:?}");
    assert!((1000..15_000).contains(&counts["long"]), "{counts:?}");
}

#[test]
fn segments_compressed_and_cut_traces_have_it() {
    let dir = temp_dir();
    let ways = ["segments", "compressed", "cut"];
    let Some(dirs) = run("java".as_ref(), dir.path(), &ways) else { return };
    for dir in &dirs[..2] {
        let mut sum = BTreeMap::<String, usize>::new();
        for file in std::fs::read_dir(dir).expect("a directory") {
            for (id, count) in counts(&file.expect("a file").path()) {
                *sum.entry(id).or_default() += count;
            }
        }
        assert_eq!(sum, expected([("none", 13_300), ("third", 6_700)]), "{}", dir.display());
    }
    assert!(std::fs::read_dir(&dirs[0]).expect("a directory").count() > 10, "many segments");
    let counts = counts(&dirs[2].join("app.pftrace"));
    assert!(counts["none"] == 1 && counts["cut"] >= 10, "{counts:?}");
}
