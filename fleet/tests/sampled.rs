//! What sampling passed over is in an archive and in metrics, beside what is lost and apart from
//! it: as many by group and level as `read-log` says of the trace.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::sink::{Sidecar, Sink};
use common::{HOSTILE_COUNTS, check, described, exported, fleet, lines_of_made, made_trace, query};
use protolog_reader::{Item, Log, Trace};
use protolog_testkit::temp_dir;
use serde_json::Value;

/// Two processes and three threads, two days, levels and groups that are not known, a record
/// without messages around it, one of a group that is in no dictionary, and losses beside all that.
const SAMPLED: &str = r#"
group(1, "demo::AppLog::Net", "Net") group(2, "demo::AppLog::Disk", "Disk")
message(0x11, DEBUG, 1, "sent %d", "net.rs:12") message(0x12, INFO, 1, "slow %d", "net.rs:13") message(0x21, INFO, 2, "read %d", "disk.rs:1")
@9 snapshot(real=1795219200000000000, boot=1000000000)
@8 process(100, "/usr/bin/web")
@8 process(200, "batch")
@1 cleared default_clock=6 info(100, 101, "main")
@1 ts=2000000000 rate(1, 100) log(0x11, 1)
@1 ts=2000000001 passed_over(1, 1, 120) passed_over(1, 3, 7) log(0x12, 5)
@1 ts=2000000002 rate(1, 10) log(0x11, 2)
@1 ts=2000000003 loss(1, 1, 4) log(0x12, 6)
@2 cleared default_clock=6 info(100, 102, "worker")
@2 ts=2000000004 passed_over(1, 1, 30) log(0x11, 3)
@2 ts=100000000000000 passed_over(1, 1, 1000) rate(1, 100) log(0x11, 4)
@3 cleared default_clock=6 info(200, 201, "main")
@3 ts=2000000005 passed_over(2, 3, 50) rate(1, 50) log(0x21, 9)
@3 ts=2000000006 passed_over(7, 3, 2) passed_over(0, 0, 3) passed_over(2, 0, 4)
@3 ts=2000000007 loss(2, 13, 11)
"#;

/// Messages that were kept by chance, and that were passed over, by group and level, as far as they
/// are known.
type Counts = BTreeMap<(String, String), (u64, u64)>;

fn counts(log: &Log) -> Counts {
    let mut counts = Counts::new();
    for ((group, level), count) in &log.stats().passed_over {
        let group = group.map_or(String::new(), |id| log.dictionary().group_name(id).into_owned());
        let level = level.map_or("", protolog_reader::Level::name).to_owned();
        counts.entry((group, level)).or_default().1 += count;
    }
    for item in log.items() {
        let Item::Entry(entry) = item else { continue };
        if entry.rate().is_some() {
            let values = entry.values();
            let group = values.group(log).map_or("", |group| &group.name).to_owned();
            let level = values.level().map_or("", protolog_reader::Level::name).to_owned();
            counts.entry((group, level)).or_default().0 += 1;
        }
    }
    counts
}

/// The sum of the weights of all messages: what `read-log --estimate` begins with.
fn weights(log: &Log) -> f64 {
    let weight = |item: Item<'_>| match item {
        Item::Entry(entry) => {
            entry.rate().map_or(1.0, |it| f64::from(it.of()) / f64::from(it.kept()))
        }
        _ => 0.0,
    };
    log.items().map(weight).sum()
}

fn read(trace: &[u8]) -> Log {
    Trace::from_bytes(trace.to_vec()).read().unwrap()
}

/// The traces: that of the description, and one that a session wrote.
fn traces() -> [Vec<u8>; 2] {
    [described::trace(SAMPLED), common::trace().to_vec()]
}

fn archived(trace: &[u8], dir: &Path) {
    fs::write(dir.join("app.pftrace"), trace).unwrap();
    exported(dir, &["app.pftrace"]);
}

#[test]
fn a_trace_that_is_made_again_has_passed_over_as_many() {
    for trace in traces() {
        assert!(check(&trace, "a sampled trace"));
        let dir = temp_dir();
        archived(&trace, dir.path());
        lines_of_made(dir.path());
        let (log, made) = (read(&trace), read(&made_trace(dir.path())));
        assert!(log.stats().passed_over.values().sum::<u64>() > 20);
        assert_eq!(counts(&made), counts(&log));
        assert!((weights(&made) - weights(&log)).abs() < 1e-6);
        // All that `read-log --estimate` goes by.
        assert_eq!(made.stats().entries, log.stats().entries);
        assert_eq!(made.stats().has_losses(), log.stats().has_losses());
        // An archive of the made trace has the same again.
        let again = temp_dir();
        archived(&made_trace(dir.path()), again.path());
        let sql = "select date, host, program, log_group, level, passed_over from sampled";
        let of = |dir: &Path| query(&dir.join("archive"), sql);
        assert_eq!(of(again.path()), of(dir.path()));
    }
}

#[test]
fn sql_tells_what_was_passed_over_from_what_is_lost() {
    for trace in traces() {
        let (dir, log) = (temp_dir(), read(&trace));
        archived(&trace, dir.path());
        let archive = dir.path().join("archive");
        let sql = "select coalesce(log_group, ''), coalesce(level, ''), sum(kept), sum(passed_over) from sampled group by all";
        let Some(rows) = query(&archive, sql) else { return };
        let row = |row: &str| {
            let (group, level, kept, passed_over) = serde_json::from_str(row).unwrap();
            ((group, level), (kept, passed_over))
        };
        assert_eq!(rows.lines().map(row).collect::<Counts>(), counts(&log));
        let lost: u64 = log.losses().iter().filter_map(|loss| loss.count).sum();
        let passed_over: u64 = log.stats().passed_over.values().sum();
        // As `read-log --count --estimate` has it where nothing is lost; and the sums of the table
        // itself, for engines without views.
        let sql = "select (select sum(messages) from lost), (select count(*) from messages) + (select sum(passed_over) from sampled),
            (select sum(count) from protolog_files('losses')), (select sum(weight) from log),
            (select sum(estimated) from sampled) + (select count(*) from messages where weight = 1)";
        let sums = query(&archive, sql).unwrap();
        let sums: [f64; 5] = serde_json::from_str(&sums).unwrap();
        let total = (log.stats().entries + passed_over) as f64;
        let expected = [lost as f64, total, lost as f64, weights(&log), weights(&log)];
        for (sum, expected) in sums.iter().zip(expected) {
            assert!((sum - expected).abs() < 1e-6, "{sums:?}: {expected}");
        }
        let reasons = query(&archive, "select count(*) from lost where reason = 'passed_over'");
        assert_eq!(reasons.unwrap().trim(), "[0]");
    }
}

/// By day and program, where the partitions are.
#[test]
fn days_and_programs_have_their_own() {
    let dir = temp_dir();
    archived(&described::trace(SAMPLED), dir.path());
    let sql =
        "select date, program, log_group, level, kept, passed_over, rate, estimated from sampled
        order by all";
    let Some(rows) = query(&dir.path().join("archive"), sql) else { return };
    let expected = r#"
["2026-11-21", "batch", "demo::AppLog::Disk", "INFO", 1, 50, 0.0196078431372549, 50.0]
["2026-11-21", "batch", "demo::AppLog::Disk", null, 0, 4, 0.0, 0.0]
["2026-11-21", "batch", "group 7", "INFO", 0, 2, 0.0, 0.0]
["2026-11-21", "batch", null, null, 0, 3, 0.0, 0.0]
["2026-11-21", "web", "demo::AppLog::Net", "DEBUG", 2, 150, 0.013157894736842105, 110.0]
["2026-11-21", "web", "demo::AppLog::Net", "INFO", 0, 7, 0.0, 0.0]
["2026-11-22", "web", "demo::AppLog::Net", "DEBUG", 1, 1000, 0.000999000999000999, 100.0]
"#;
    assert_eq!(rows.trim(), expected.trim());
}

/// One trace is no reason for a view to fail on the archives of a thousand machines.
#[test]
fn numbers_that_are_too_large_fail_no_view() {
    let dir = temp_dir();
    archived(&described::trace(HOSTILE_COUNTS), dir.path());
    let sql = "select (select max(messages) from lost), (select max(passed_over) from sampled), (select count(*) from losses)";
    let Some(sums) = query(&dir.path().join("archive"), sql) else { return };
    assert_eq!(sums.trim(), format!("[{}, {}, 3]", i64::MAX, i64::MAX));
    check(&described::trace(HOSTILE_COUNTS), "large numbers");
}

/// The rows of a metric in text of OpenMetrics, by group and level.
fn rows(text: &str) -> Counts {
    let mut counts = Counts::new();
    for line in text.lines() {
        let Some(line) = line.strip_prefix("protolog_passed_over_messages_total{") else {
            continue;
        };
        let label = |name: &str| {
            let (_, rest) = line.split_once(&format!("{name}=\"")).unwrap();
            rest.split('"').next().unwrap().to_owned()
        };
        let count: u64 = line.rsplit(' ').next().unwrap().parse().unwrap();
        counts.entry((label("group"), label("level"))).or_default().1 += count;
    }
    counts
}

/// Of a trace without the messages that were kept.
fn only_passed_over(log: &Log) -> Counts {
    let counts = counts(log).into_iter().filter(|(_, (_, passed_over))| *passed_over > 0);
    counts.map(|(kind, (_, passed_over))| (kind, (0, passed_over))).collect()
}

#[test]
fn metrics_count_what_was_passed_over_and_records_say_their_rate() {
    for trace in traces() {
        let Some(sink) = Sink::start("") else { return };
        let (dir, log) = (temp_dir(), read(&trace));
        fs::write(dir.path().join("app.pftrace"), &trace).unwrap();
        let url = sink.url();
        let args =
            ["otlp", &url, "--state", "s", "--metrics", "--metrics-file", "m", "app.pftrace"];
        // Another run has nothing to send, and the same totals.
        for _ in 0..2 {
            assert!(fleet(&args, dir.path()).status.success());
            let text = fs::read_to_string(dir.path().join("m")).unwrap();
            assert_eq!(rows(&text), only_passed_over(&log));
        }
        let lines = sink.finish();
        let sum = |metric: &str| -> u64 {
            // Cumulative: the last one of each row.
            let points = lines.iter().filter(|it| it["metric"] == metric);
            let row = |it: &Value| {
                (format!("{}{}", it["resource"], it["attributes"]), it["value"].as_u64())
            };
            points.map(row).collect::<BTreeMap<_, _>>().into_values().flatten().sum()
        };
        let passed_over: u64 = log.stats().passed_over.values().sum();
        let lost: u64 = log.losses().iter().filter_map(|loss| loss.count).sum();
        assert_eq!(sum("protolog.passed_over_messages"), passed_over);
        assert_eq!(sum("protolog.lost_messages"), lost);
        let records = lines.iter().filter(|it| it["metric"].is_null());
        let sampled = records.filter(|it| it["attributes"]["protolog.rate"].is_string()).count();
        let kept: u64 = counts(&log).values().map(|(kept, _)| kept).sum();
        assert_eq!(sampled as u64, kept);
    }
}

/// A trace that grows is counted part by part.
#[test]
fn what_is_passed_over_later_is_added() {
    let Some(mut sink) = Sink::start("") else { return };
    let (dir, trace) = (temp_dir(), common::trace());
    let (path, log) = (dir.path().join("app.pftrace"), read(trace));
    let is_at_packet =
        |at: &usize| Trace::from_bytes(trace[..*at].to_vec()).read().unwrap().is_complete();
    let cut = (trace.len() / 8..trace.len()).find(is_at_packet).unwrap();
    fs::write(&path, &trace[..cut]).unwrap();
    let first = read(&trace[..cut]);
    let entries = |log: &Log| log.stats().entries as usize + log.losses().len();
    let args = [&sink.url(), "--follow", "--state", "s", "--metrics-file", "m", "app.pftrace"];
    let mut sender = Sidecar::start(&args, dir.path());
    sink.wait_for(entries(&first));
    fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, &trace[cut..]))
        .unwrap();
    sink.wait_for(entries(&log));
    assert_eq!(sender.terminate(), Some(0));
    let text = fs::read_to_string(dir.path().join("m")).unwrap();
    assert_eq!(rows(&text), only_passed_over(&log));
}
