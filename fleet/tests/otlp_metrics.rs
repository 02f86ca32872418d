//! Metrics of logs have the totals of their traces.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use common::sink::{Sidecar, Sink, uids};
use common::{damaged, described, fleet, lines_of, trace};
use flate2::Compression;
use flate2::write::GzEncoder;
use protolog_rt::{Level, ProtoLogGroup, Session, i};
use protolog_testkit::temp_dir;
use serde_json::Value;

#[derive(ProtoLogGroup)]
enum MetricsLog {
    More,
    Ring,
    Small,
}

/// Sums of rows, by their labels.
fn rows(text: &str, name: &str) -> BTreeMap<String, u64> {
    let mut rows = BTreeMap::new();
    for line in text.lines() {
        let Some((of, value)) = line.rsplit_once(' ') else { continue };
        if let Some(labels) = of.strip_prefix(&format!("{name}{{")) {
            rows.insert(labels.trim_end_matches('}').to_owned(), value.parse().unwrap());
        }
    }
    rows
}

/// Messages by their row, losses by theirs, and the values of one argument.
#[derive(Debug, Default, PartialEq)]
struct Totals {
    messages: BTreeMap<String, u64>,
    lost: BTreeMap<String, u64>,
    values: Vec<u64>,
}

/// The totals of a trace, by what `read-log` shows of it.
fn totals(trace: &[u8]) -> Totals {
    let mut totals = Totals::default();
    for line in lines_of(trace).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let of = |name: &str| line[name].as_str().unwrap_or("").to_owned();
        if line["type"] == "message" {
            let (group, template) = (of("group"), of("template").replace('"', "\\\""));
            let level = of("level");
            let row = format!("group=\"{group}\",level=\"{level}\",template=\"{template}\"");
            if of("template") == "round %d of %s" {
                totals.values.push(of("message").split(' ').nth(1).unwrap().parse().unwrap());
            }
            *totals.messages.entry(row).or_default() += 1;
        } else if line["type"] == "loss" {
            let row = format!("group=\"{}\",reason=\"{}\"", of("group"), of("reason"));
            *totals.lost.entry(row).or_default() += line["count"].as_u64().unwrap();
        }
    }
    assert!(!totals.lost.is_empty() && !totals.values.is_empty());
    totals
}

/// Data points of a metric, by their attributes.
fn points(lines: &[Value], metric: &str) -> BTreeMap<String, Value> {
    let mut points = BTreeMap::new();
    for point in lines.iter().filter(|line| line["metric"] == metric) {
        let attributes = point["attributes"].as_object().unwrap();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let label = |(name, value): (&String, &Value)| {
            format!("{name}=\"{}\"", text(value).unwrap().replace('"', "\\\""))
        };
        points.insert(attributes.iter().map(label).collect::<Vec<_>>().join(","), point.clone());
    }
    points
}

fn counts(points: BTreeMap<String, Value>) -> BTreeMap<String, u64> {
    points.into_iter().map(|(row, point)| (row, point["value"].as_u64().unwrap())).collect()
}

/// The one start of all data points, none of which is less than an earlier one.
fn start(lines: &[Value]) -> u64 {
    let mut last: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let points: Vec<&Value> = lines.iter().filter(|line| line["metric"].is_string()).collect();
    for point in &points {
        assert_eq!(point["temporality"], 2, "{point}");
        assert_eq!(point["start"], points[0]["start"]);
        assert!(point["value"].is_null() || point["monotonic"] == true, "{point}");
        let value = point["value"].as_u64().or(point["count"].as_u64()).unwrap();
        let now = (point["time"].as_u64().unwrap(), value);
        assert!(now.0 >= point["start"].as_u64().unwrap());
        let row = format!("{} {}", point["metric"], point["attributes"]);
        let before = last.insert(row, now);
        assert!(before.is_none_or(|it| it.0 <= now.0 && it.1 <= now.1), "{before:?}: {point}");
    }
    points[0]["start"].as_u64().unwrap()
}

const HISTOGRAM: &str = "0:round %d of %s";

#[test]
fn totals_are_those_of_the_trace_whatever_was_sent_before() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    let url = sink.url();
    let args = [
        &["otlp", &url, "--state", "s", "--metrics", "--metrics-file", "m", "--service", "app"][..],
        &["--histogram", HISTOGRAM, "."],
    ];
    let args = args.concat();
    let output = fleet(&args, dir.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(dir.path().join("m")).unwrap();
    let Totals { messages, lost, values } = totals(trace());
    let of_app = |rows: &BTreeMap<String, u64>| -> BTreeMap<String, u64> {
        rows.iter().map(|(row, count)| (format!("service=\"app\",{row}"), *count)).collect()
    };
    assert_eq!(rows(&text, "protolog_messages_total"), of_app(&messages));
    assert_eq!(rows(&text, "protolog_lost_messages_total"), of_app(&lost));
    let labels = "service=\"app\",argument=\"0\",template=\"round %d of %s\"";
    assert_eq!(rows(&text, "protolog_argument_count")[labels], values.len() as u64);
    assert_eq!(rows(&text, "protolog_argument_sum")[labels], values.iter().sum::<u64>());
    let buckets = rows(&text, "protolog_argument_bucket");
    let most_100 = values.iter().filter(|value| **value <= 100).count();
    assert_eq!(buckets[&format!("{labels},le=\"100\"")], most_100 as u64);
    // Another run has nothing to send, and the same totals.
    fs::remove_file(dir.path().join("m")).unwrap();
    assert!(fleet(&args, dir.path()).status.success());
    assert_eq!(fs::read_to_string(dir.path().join("m")).unwrap(), text);
    let lines = sink.finish();
    assert_eq!(counts(points(&lines, "protolog.messages")), messages);
    assert_eq!(counts(points(&lines, "protolog.lost_messages")), lost);
    let of_argument = points(&lines, "protolog.argument");
    let of_argument = &of_argument["argument=\"0\",template=\"round %d of %s\""];
    assert_eq!(of_argument["count"], values.len());
    assert_eq!(of_argument["sum"], values.iter().sum::<u64>() as f64);
    let (bounds, buckets) = (&of_argument["bounds"], &of_argument["buckets"]);
    let (bounds, buckets) = (bounds.as_array().unwrap(), buckets.as_array().unwrap());
    assert_eq!(buckets.len(), bounds.len() + 1);
    let until = bounds.iter().position(|bound| *bound == 100.0).unwrap();
    let sum: u64 = buckets[..=until].iter().map(|bucket| bucket.as_u64().unwrap()).sum();
    assert_eq!(sum, most_100 as u64);
    assert_eq!(of_argument["resource"]["service.name"], "app");
    assert_eq!((&of_argument["unit"], &of_argument["path"]), (&"".into(), &"/v1/metrics".into()));
    start(&lines);
    // Without the state, counting begins again.
    let Some(sink) = Sink::start("") else { return };
    let again = fleet(&["otlp", &sink.url(), "--metrics", "."], dir.path());
    assert!(again.status.success());
    let again = sink.finish();
    assert!(start(&again) > start(&lines));
    assert_eq!(counts(points(&again, "protolog.messages")), messages);
    let program = std::env::current_exe().unwrap();
    let service = &points(&again, "protolog.messages").into_values().next().unwrap()["resource"];
    assert_eq!(service["service.name"], program.file_name().unwrap().to_str().unwrap());
}

#[test]
fn counters_go_on_when_senders_are_killed_and_traces_are_removed() {
    let Some(mut sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let (whole, url) = (trace(), sink.url());
    let args = [&url, "--follow", "--state", "s", "--metrics", "--histogram", HISTOGRAM, "."];
    let start_sender =
        || Sidecar::start_with(&args, dir.path(), &[("OTEL_METRIC_EXPORT_INTERVAL", "200")]);
    let counted = |lines: &[Value]| counts(points(lines, "protolog.messages"));
    let Totals { messages, lost, .. } = totals(whole);
    let mut seen = 0;
    for part in [3, 2, 1] {
        fs::write(dir.path().join("app.pftrace"), &whole[..whole.len() / part]).unwrap();
        let mut sender = start_sender();
        let is_more = |lines: &[Value]| counted(lines).values().sum::<u64>() > seen;
        let is_all = |lines: &[Value]| counted(lines) == messages;
        let lines = sink.wait_until_all(|it| if part == 1 { is_all(it) } else { is_more(it) });
        seen = counted(lines).values().sum();
        sender.kill();
    }
    // A program removes its trace while no sender runs, and another one logs the same.
    fs::remove_file(dir.path().join("app.pftrace")).unwrap();
    let session = Session::builder().file(dir.path().join("b.pftrace")).enable_all();
    let session = session.start().unwrap();
    for round in 0..70 {
        i!(MetricsLog::More, "more %d", round);
    }
    session.stop().unwrap();
    let mut sender = start_sender();
    sink.wait_until(|line| line["attributes"]["template"] == "more %d" && line["value"] == 70);
    assert_eq!(sender.terminate(), Some(0));
    let lines = sink.finish();
    start(&lines);
    let mut all = counts(points(&lines, "protolog.messages"));
    // Its session has what other tests log meanwhile, too.
    all.retain(|row, _| !row.contains("more %d") && !row.contains("ring %d"));
    assert_eq!((all, counts(points(&lines, "protolog.lost_messages"))), (messages, lost));
}

#[test]
fn a_recording_that_is_read_again_is_counted_once() {
    let Some(mut sink) = Sink::start("") else { return };
    let dir = temp_dir();
    // What is logged there is not in the recording.
    trace();
    let session = Session::builder().enable_all().record().start().unwrap();
    let recording = session.recording().unwrap().to_owned();
    let recording = recording.to_str().unwrap();
    let log = |rounds: std::ops::Range<i32>| {
        for round in rounds {
            i!(MetricsLog::Ring, "ring %d", round);
        }
    };
    let url = sink.url();
    let args = [&url, "--follow", "--state", "s", "--metrics", recording];
    for count in [100_u64, 200, 300] {
        log(count as i32 - 100..count as i32);
        let variables = [("OTEL_METRIC_EXPORT_INTERVAL", "100")];
        let mut sender = Sidecar::start_with(&args, dir.path(), &variables);
        let is_it =
            |line: &Value| line["attributes"]["template"] == "ring %d" && line["value"] == count;
        sink.wait_until(is_it);
        sender.kill();
    }
    session.stop().unwrap();
    let lines = sink.finish();
    start(&lines);
    let values = lines.iter().filter(|line| line["attributes"]["template"] == "ring %d");
    assert!(values.filter_map(|line| line["value"].as_u64()).all(|value| value <= 300));
}

#[test]
fn what_a_collector_says_to_metrics_is_no_matter_of_the_log() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    let lines = lines_of(trace()).unwrap();
    let records = lines.matches("{\"type\":\"message\"").count()
        + lines.matches("{\"type\":\"loss\"").count();
    for (answers, code, said) in [
        ("metrics=404", 2, "/v1/metrics` refuses the metrics: status 404\nhelp: check the URL"),
        ("metrics=400", 3, "/v1/metrics` refuses a data point, which is left out: status 400"),
        ("metrics=reject", 3, "/v1/metrics` rejects 1 data point, which is left out: `too many`"),
        ("metrics=503", 2, "can't send to `http"),
        ("limit=3", 0, ""),
    ] {
        let Some(sink) = Sink::start(answers) else { return };
        let args = ["otlp", &sink.url(), "--metrics", "--retry-for", "1", "app.pftrace"];
        let output = fleet(&args, dir.path());
        let errors = String::from_utf8(output.stderr).unwrap();
        // It takes a few records only.
        let is_limited = answers == "limit=3";
        assert!(errors.contains(said), "{answers}: {errors}");
        assert!(is_limited || output.status.code() == Some(code), "{answers}: {errors}");
        let lines = sink.finish();
        assert_eq!(uids(&lines).len(), records, "{answers}");
        if is_limited {
            assert_eq!(counts(points(&lines, "protolog.messages")), totals(trace()).messages);
        }
    }
}

#[test]
fn a_sender_whose_metrics_are_refused_ends_though_it_follows() {
    let dir = temp_dir();
    trace();
    let session = Session::builder().file(dir.path().join("a.pftrace")).enable_all();
    let session = session.start().unwrap();
    i!(MetricsLog::More, "once");
    session.stop().unwrap();
    // The log waits for the collector meanwhile.
    let busy = "503,".repeat(1_000);
    let Some(sink) = Sink::start(&format!("{busy}metrics=404")) else { return };
    let variables = [("OTEL_METRIC_EXPORT_INTERVAL", "200")];
    let args = [&sink.url(), "--follow", "--metrics", "."];
    let mut sender = Sidecar::start_with(&args, dir.path(), &variables);
    assert_eq!(sender.wait(), Some(2));
}

#[test]
fn a_trace_that_is_damaged_is_counted_once() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let damaged = damaged();
    fs::write(dir.path().join("bad.pftrace"), &damaged).unwrap();
    let args = ["otlp", &sink.url(), "--metrics-file", "m", "bad.pftrace"];
    assert_eq!(fleet(&args, dir.path()).status.code(), Some(3));
    let text = fs::read_to_string(dir.path().join("m")).unwrap();
    let messages = lines_of(&damaged).unwrap().matches("\"type\":\"message\"").count();
    let counted: u64 = rows(&text, "protolog_messages_total").values().sum();
    assert_eq!(counted as usize, messages);
}

/// A trace with one message, without a session: another number makes it another trace.
fn small(number: usize) -> Vec<u8> {
    described::trace(&format!(
        "group(1, \"demo::Log::A\", \"A\") message(0x11, INFO, 1, \"small %d\", \"a.rs:1\")\n\
         @1 cleared snapshot(boot=5, real=1795199220000000000)\n@1 needs ts=10 log(0x11, {number})\n"
    ))
}

/// The number of messages of [`small`] in a file of metrics.
fn count_small(metrics: &Path) -> u64 {
    let text = fs::read_to_string(metrics).unwrap_or_default();
    let rows = rows(&text, "protolog_messages_total");
    rows.iter().filter(|(row, _)| row.contains("small %d")).map(|(_, count)| count).sum()
}

/// The number of traces in a file of counts.
fn traces_in(counts: &Path) -> usize {
    let counts: Value = serde_json::from_slice(&fs::read(counts).unwrap()).unwrap();
    counts["traces"].as_object().unwrap().len()
}

#[test]
fn what_traces_had_that_are_gone_becomes_one_sum() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let (logs, file) = (dir.path().join("logs"), dir.path().join("m"));
    fs::create_dir(&logs).unwrap();
    for number in 0..400 {
        fs::write(logs.join(format!("{number}.pftrace")), small(number)).unwrap();
    }
    let url = sink.url();
    let args = ["otlp", &url, "--state", "s", "--metrics", "--metrics-file", "m", "logs"];
    let run = || assert!(fleet(&args, dir.path()).status.success());
    run();
    assert_eq!((count_small(&file), traces_in(&dir.path().join("s.metrics"))), (400, 400));
    (1..400).for_each(|number| fs::remove_file(logs.join(format!("{number}.pftrace"))).unwrap());
    for _ in 0..2 {
        run();
        assert_eq!((count_small(&file), traces_in(&dir.path().join("s.metrics"))), (400, 257));
    }
    // What may come back is counted once, and what is new is counted.
    fs::write(logs.join("399.pftrace"), small(399)).unwrap();
    fs::write(logs.join("400.pftrace"), small(400)).unwrap();
    run();
    assert_eq!(count_small(&file), 401);
}

#[test]
fn a_trace_that_outlives_its_source_by_a_compressed_copy_is_counted_once() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let (logs, file) = (dir.path().join("logs"), dir.path().join("m"));
    fs::create_dir(&logs).unwrap();
    let session = Session::builder().file(logs.join("a.pftrace")).log_from(Level::Wtf);
    let session = session.group("Small", Level::Info).start().unwrap();
    i!(MetricsLog::Small, "small %d", 0);
    session.stop().unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&fs::read(logs.join("a.pftrace")).unwrap()).unwrap();
    fs::write(logs.join("b.pftrace.gz"), packed.finish().unwrap()).unwrap();
    let url = sink.url();
    let args = [&url, "--state", "s", "--metrics-file", "m", "logs"];
    let mut sender = Sidecar::start(&[&args[..], &["--follow"]].concat(), dir.path());
    let wait_for = |count| {
        let end = Instant::now() + Duration::from_secs(60);
        while count_small(&file) != count && Instant::now() < end {
            thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(count_small(&file), count);
    };
    wait_for(1);
    // The copy is read when nothing was added to it for five seconds.
    thread::sleep(Duration::from_secs(6));
    fs::remove_file(logs.join("a.pftrace")).unwrap();
    thread::sleep(Duration::from_secs(1));
    let others = || (1..=300).map(|number| logs.join(format!("{number}.pftrace")));
    others().enumerate().for_each(|(at, path)| fs::write(path, small(at + 1)).unwrap());
    wait_for(301);
    others().for_each(|path| fs::remove_file(path).unwrap());
    thread::sleep(Duration::from_secs(1));
    assert_eq!(sender.terminate(), Some(0));
    assert!(traces_in(&dir.path().join("s.metrics")) <= 257);
    assert!(fleet(&[&["otlp"], &args[..]].concat(), dir.path()).status.success());
    assert_eq!(count_small(&file), 301);
}

#[test]
fn after_an_outage_the_newest_data_points_come_first() {
    let Some(mut sink) = Sink::start("metrics-busy=2") else { return };
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), small(0)).unwrap();
    let url = sink.url();
    let args = [&url, "--follow", "--metrics", "app.pftrace"];
    let variables = [("OTEL_METRIC_EXPORT_INTERVAL", "100")];
    let mut sender = Sidecar::start_with(&args, dir.path(), &variables);
    let times = |lines: &[Value]| -> BTreeSet<u64> {
        lines
            .iter()
            .filter(|it| it["metric"].is_string())
            .filter_map(|it| it["time"].as_u64())
            .collect()
    };
    let lines = sink.wait_until_all(|lines| times(lines).len() > 1);
    let first: Vec<u64> = times(lines).into_iter().take(2).collect();
    // The first ones were on their way all the time; those of the two seconds after are too old.
    assert!(first[1] - first[0] > 1_000_000_000, "{first:?}");
    assert_eq!(sender.terminate(), Some(0));
}
