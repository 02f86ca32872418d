//! Spans of Java programs, as they are written and rewritten: as our reader and Perfetto's
//! `trace_processor` show them. `protolog-rt/tests/spans.rs` has those of Rust.

use super::{classes, rewritten, tool};
use protolog_reader::{Log, SpanSlice, Trace};
use protolog_testkit::{java_25, run_any, temp_dir, trace_processor};
use std::collections::BTreeMap;
use std::env::join_paths;
use std::path::{Path, PathBuf};
use std::process::Command;

const NET: &str = "app.AppLog.NET";
const DISK: &str = "app.AppLog.DISK";

fn run(java: &Path, classes: &[PathBuf], dir: &Path, ways: &[&str]) -> (String, String) {
    let mut java = Command::new(java);
    java.arg("-Dprotolog.level=off").arg("-cp").arg(join_paths(classes).unwrap());
    let output = run_any(java.arg("app.Spans").arg(dir).args(ways));
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    (output.stdout, output.stderr)
}

fn read(trace: &Path) -> Log {
    let bytes = std::fs::read(trace).unwrap();
    Trace::from_bytes(bytes).with_slices().read().unwrap()
}

/// Depth, name, category and arguments of each slice, in the order of their begins; those of
/// `trace_processor`, if there is one, are the same, with the same times.
#[track_caller]
fn slices(trace: &Path) -> Vec<String> {
    let sql = "select slice.ts as ts, slice.dur as dur, depth || ' ' || slice.name || ' ' || category || ifnull((
            select group_concat(' ' || substr(key, 7) || '=' || display_value, '') from (
                select * from args where args.arg_set_id = slice.arg_set_id and key glob 'debug.*' order by id)), '')
            as line
        from slice join thread_track on slice.track_id = thread_track.id order by slice.ts, depth";
    let log = read(trace);
    let lines: Vec<String> = log.slices().iter().map(line).collect();
    let stats =
        "select name, value from stats where severity in ('error', 'data_loss') and value > 0";
    if let Some(tables) = trace_processor(trace, &[sql, stats]) {
        assert_eq!(tables[0].texts("line"), lines, "Perfetto, our reader");
        let duration = |slice: &SpanSlice| slice.duration().unwrap_or(-1).to_string();
        let durations: Vec<String> = log.slices().iter().map(duration).collect();
        assert_eq!(tables[0].texts("dur"), durations, "Perfetto, our reader");
        assert_eq!(tables[1].texts("name"), [""; 0]);
    }
    assert!(log.slices().iter().all(|slice| slice.end.is_some()), "each has ended");
    lines
}

fn line(slice: &SpanSlice) -> String {
    let SpanSlice { name, target, depth, .. } = slice;
    let args = slice.args.iter().map(|arg| format!(" {}={}", arg.name, arg.value));
    format!("{depth} {name} {target}{}", args.collect::<String>())
}

/// Each message, with the spans that it is in.
fn around(trace: &Path) -> Vec<String> {
    let log = read(trace);
    let text = |entry: &protolog_reader::Entry<'_>| {
        let text = entry.values().text(protolog_reader::Rendering::Bare);
        format!("{}|{text}", protolog_reader::spans_text(&entry.spans()))
    };
    log.entries().map(|entry| text(&entry)).collect()
}

const WAYS: [&str; 9] =
    ["nested", "off", "levels", "names", "order", "elsewhere", "thrown", "deep", "long"];

#[test]
fn spans_are_recorded_as_they_are_written() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let (out, err) = run("java".as_ref(), &[classes.to_path_buf()], dir.path(), &WAYS);
    // Arguments of a call that is not rewritten are evaluated.
    check(dir.path(), &out, &err, 2);
}

#[test]
fn spans_are_recorded_rewritten() {
    let dir = temp_dir();
    let Some(written) = classes() else { return };
    let classes = rewritten(dir.path(), written, &["app/Spans.java", "app/AppLog.java"]);
    let (out, err) = run("java".as_ref(), &classes, dir.path(), &WAYS);
    check(dir.path(), &out, &err, 1);
}

fn check(dir: &Path, out: &str, err: &str, evaluated: u64) {
    let trace = |name: &str| dir.join(name).with_extension("pftrace");
    assert_eq!(out, "true\nfalse\ntrue\n");
    names(&trace("names"));
    nested(&trace("nested"));
    assert_eq!(slices(&trace("off")), [format!("0 on {DISK} 1={evaluated}")]);
    let net = |lines: &[&str]| lines.iter().map(|it| format!("{it} {NET}")).collect::<Vec<_>>();
    let levels = ["0 debug|1=1", "1 info", "2 warn", "3 error", "4 wtf"];
    let of = |it: &str| match it.split_once('|') {
        Some((name, arguments)) => format!("{name} {NET} {arguments}"),
        None => format!("{it} {}", if it.ends_with("warn") { DISK } else { NET }),
    };
    assert_eq!(slices(&trace("levels")), levels.map(of));
    assert_eq!(around(&trace("levels")), [""; 0]);
    let expected = ["0 outer", "1 inner", "2 innermost", "0 next", "1 deeper"];
    assert_eq!(slices(&trace("order")), net(&expected));
    let expected = ["outer|in outer", "next:deeper|in deeper", "|in none", "|still in none"];
    assert_eq!(around(&trace("order")), expected);
    // Those that another thread closes do not nest in each other.
    // One that begins next has its own group and arguments.
    let mut expected = net(&["0 left", "1 within"].repeat(100));
    expected.push(format!("0 after {DISK} 1=7 2=x"));
    assert_eq!(slices(&trace("elsewhere")), expected);
    assert_eq!(around(&trace("elsewhere")), ["after{1=7 2=x}|in after"]);
    let said = "the thread `closes` has closed a span of another thread, which ends later";
    assert_eq!(err.matches(said).count(), 1, "{err}");
    let lines = slices(&trace("thrown"));
    assert!(lines[0].starts_with(&format!("0 outer {NET} 1=<app.Spans$")), "{lines:?}");
    assert_eq!(lines[1..], net(&["1 inner"]));
    assert_eq!(around(&trace("thrown")), ["|caught"]);
    let lines = slices(&trace("deep"));
    assert_eq!(lines.len(), 65);
    assert_eq!(lines[63..], [format!("63 deep {NET} 1=63"), format!("0 last {NET}")]);
    assert_eq!(around(&trace("deep")), ["last|in last"]);
    let lines = slices(&trace("long"));
    assert!(lines[0].starts_with(&format!("0 long {NET} 1=ää")), "{}", lines[0]);
    assert!(lines[0].ends_with("ä… 2=s 3=3") && lines[0].len() < 2_048, "{}", lines[0]);
    let cut: Vec<&str> = lines[1].split(" 2=").collect();
    assert!(cut.len() == 2 && cut.iter().all(|it| it.ends_with("ä…") && it.len() > 500), "{cut:?}");
}

/// Names are in spans and in messages, whose texts are as without.
fn names(trace: &Path) {
    let expected = [
        format!("0 request {NET} path=/a 2=7 done-part=0.5"),
        format!("1 at {NET} 1=100% is-last=true"),
    ];
    assert_eq!(slices(trace), expected);
    let request = "request{path=/a 2=7 done-part=0.5}";
    let expected = [
        format!("{request}|sent 12 of 20 to example"),
        format!("{request}:at{{1=100% is-last=true}}|no name 5%(x)"),
    ];
    assert_eq!(around(trace), expected);
    let trace = trace.to_str().unwrap();
    let shown = tool(&["read-log", "--format", "json", "--arg", "bytes=12", trace]).stdout;
    assert_eq!(shown.lines().count(), 1, "{shown}");
    assert!(shown.contains("sent 0012 of 20 to example"), "{shown}");
    assert!(shown.contains(r#""fields":{"bytes":12,"host":"example"}"#), "{shown}");
    let spans = tool(&["read-log", "--spans", "--span", "request.path=/a", trace]).stdout;
    assert!(spans.contains("path=/a"), "{spans}");
}

fn nested(trace: &Path) {
    let expected = [
        format!("0 request {NET} 1=/a=b 2=7"),
        format!("1 lookup {DISK} 1=-5 2={} 3=0.5 4=true 5=x", i64::MAX),
        format!("1 plain {DISK}"),
    ];
    assert_eq!(slices(trace), expected);
    let request = "request{1=/a=b 2=7}";
    let lookup = format!("lookup{{1=-5 2={} 3=0.5 4=true 5=x}}", i64::MAX);
    let expected = [
        format!("{request}|in the request"),
        format!("{request}:{lookup}|in the lookup"),
        "|in none".to_owned(),
    ];
    assert_eq!(around(trace), expected);
    let shown = tool(&["read-log", "--spans=around", "--span", "lookup", trace.to_str().unwrap()]);
    assert_eq!(shown.stdout.lines().count(), 1, "{}", shown.stdout);
    assert!(shown.stdout.contains("request{1=/a=b 2=7}:lookup{"), "{}", shown.stdout);
    assert!(shown.stdout.contains("in the lookup"), "{}", shown.stdout);
}

/// Against what the program itself writes down.
#[test]
fn spans_that_are_closed_at_random_end_what_they_began() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let (out, _) = run("java".as_ref(), &[classes.to_path_buf()], dir.path(), &["random"]);
    let expected: Vec<&str> = out.lines().collect();
    assert!(expected.len() > 1_000);
    assert_eq!(slices(&dir.path().join("random.pftrace")), expected);
}

/// Begins and ends that the ring has overwritten are no spans of later messages; no span is pinned.
#[test]
fn spans_of_a_ring() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    run("java".as_ref(), &[classes.to_path_buf()], dir.path(), &["ring"]);
    let trace = dir.path().join("ring.pftrace");
    let log = read(&trace);
    let count = log.slices().len();
    assert!((500..15_000).contains(&count), "{count}");
    assert!(log.slices().iter().all(|slice| slice.depth == 0 && &*slice.name == "turn"));
    // Each chunk that is left names the thread of its slices.
    let sql =
        "select slice.name as name from slice join thread_track on slice.track_id = thread_track.id
        join thread using (utid) where thread.name = 'main'";
    if let Some(tables) = trace_processor(&trace, &[sql]) {
        assert!(tables[0].texts("name").len().abs_diff(count) <= 1, "{count}");
    }
    let lines = around(&trace);
    assert_eq!(lines.last().unwrap(), "|pinned");
    let whole = lines[1..lines.len() - 1].iter();
    assert!(whole.clone().count() > 500);
    for line in whole {
        let (span, number) = line.split_once("|chatter ").unwrap();
        assert_eq!(span, format!("turn{{1={number}}}"));
    }
}

/// Each thread has a track of its own, with its own spans.
#[track_caller]
fn threads(trace: &Path, count: usize, rounds: usize) {
    assert_eq!(slices(trace).len(), 2 * count * rounds);
    let mut by_track = BTreeMap::<String, usize>::new();
    for line in around(trace) {
        let (spans, message) = line.split_once("|in round ").unwrap();
        let (round, thread) = message.split_once(" of ").unwrap();
        let expected = format!("outer{{1={thread} 2={round}}}:inner{{1={thread} 2={round}}}");
        assert_eq!(spans, expected);
        *by_track.entry(thread.to_owned()).or_default() += 1;
    }
    assert_eq!(by_track.len(), count);
    assert!(by_track.values().all(|of| *of == rounds), "{by_track:?}");
}

#[test]
fn threads_have_spans_of_their_own() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    run("java".as_ref(), &[classes.to_path_buf()], dir.path(), &["threads"]);
    threads(&dir.path().join("threads.pftrace"), 8, 200);
}

#[test]
fn virtual_threads_have_spans_of_their_own() {
    let (Some(java), Some(classes)) = (java_25(), classes()) else { return };
    let dir = temp_dir();
    run(&java, &[classes.to_path_buf()], dir.path(), &["virtual"]);
    threads(&dir.path().join("virtual.pftrace"), 200, 8);
}
