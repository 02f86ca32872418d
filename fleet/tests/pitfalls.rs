//! Situations in which other senders lost messages, sent them twice, or stopped: files that are
//! written anew, copied and cut, empty ones, a state without content, clocks before 1970.

mod common;

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;
use std::{iter, thread};

use common::sink::{Sidecar, Sink, uids};
use common::{check, described, exported, fleet, lines_of, messages_of, query, trace};
use protolog_rt::{ProtoLogGroup, Session, i};
use protolog_testkit::temp_dir;
use serde_json::Value;

#[derive(ProtoLogGroup)]
enum LaterLog {
    Work,
}

/// A trace of so many messages: another one each time.
fn later(messages: i64) -> Vec<u8> {
    trace();
    let dir = temp_dir();
    let path = dir.path().join("later.pftrace");
    let session = Session::builder().file(&path).enable_all().start().unwrap();
    for number in 0..messages {
        i!(LaterLog::Work, "later %d", number);
    }
    session.stop().unwrap();
    fs::read(path).unwrap()
}

/// Sends what is in the directory, with a state; the exit code and the messages.
fn send(sink: &Sink, dir: &Path) -> (Option<i32>, String) {
    let output = fleet(&["otlp", &sink.url(), "--retry-for", "5", "--state", "s", "."], dir);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// The number of messages and losses of a trace.
fn items(trace: &[u8]) -> usize {
    let lines = lines_of(trace).unwrap();
    let is_item =
        |line: &&str| ["\"message\",", "\"loss\","].iter().any(|it| line[..20].contains(it));
    lines.lines().filter(is_item).count()
}

/// Writes a file without making it another one, as a copy onto it does.
fn write_anew(path: &Path, bytes: &[u8]) {
    let mut file = File::options().write(true).truncate(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// The same file, with what is shorter than what was sent: it is another trace.
#[test]
fn a_trace_in_the_place_of_a_longer_one_is_sent_from_its_beginning() {
    let Some(mut sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let (first, second, third) = (trace(), later(200), later(100));
    fs::write(&path, first).unwrap();
    assert_eq!(send(&sink, dir.path()), (Some(0), String::new()));
    write_anew(&path, &second);
    assert_eq!(send(&sink, dir.path()), (Some(0), String::new()));
    let count = items(first) + items(&second);
    sink.wait_for(count);
    // The same while it is followed.
    let mut sender = Sidecar::start(&[&sink.url(), "--follow", "--state", "s", "."], dir.path());
    thread::sleep(Duration::from_millis(700));
    write_anew(&path, &third);
    let count = count + items(&third);
    sink.wait_for(count);
    assert_eq!(sender.terminate(), Some(0));
    let records = sink.finish();
    assert_eq!((uids(&records).len(), records.len()), (count, count));
}

/// Rotation by a copy, after which the file is cut off and written anew.
#[test]
fn a_copy_of_what_was_sent_is_not_sent_again() {
    let Some(mut sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let (path, copy) = (dir.path().join("app.pftrace"), dir.path().join("app.1.pftrace"));
    fs::write(&path, trace()).unwrap();
    let mut sender = Sidecar::start(&[&sink.url(), "--follow", "--state", "s", "."], dir.path());
    sink.wait_for(items(trace()));
    thread::sleep(Duration::from_millis(700));
    fs::copy(&path, &copy).unwrap();
    let later = later(200);
    write_anew(&path, &later);
    let count = items(trace()) + items(&later);
    sink.wait_for(count);
    thread::sleep(Duration::from_millis(700));
    assert_eq!(sender.terminate(), Some(0));
    assert_eq!(send(&sink, dir.path()), (Some(0), String::new()));
    let records = sink.finish();
    assert_eq!((uids(&records).len(), records.len()), (count, count));
}

/// A file that is cut off to a part of what was sent, and then has all of it again, as when a copy
/// of it is put back: every message is sent, whichever the place was where the sender stood.
#[test]
fn a_trace_that_is_cut_off_and_grows_again_is_sent_whole() {
    let Some(mut sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let (path, whole, other) = (dir.path().join("app.pftrace"), trace(), later(200));
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let mut sender = Sidecar::start(&[&sink.url(), "--follow", "--state", "s", "."], dir.path());
    sink.wait_for(100);
    thread::sleep(Duration::from_millis(700));
    write_anew(&path, &whole[..whole.len() / 4]);
    thread::sleep(Duration::from_millis(700));
    let mut file = File::options().append(true).open(&path).unwrap();
    file.write_all(&whole[whole.len() / 4..]).unwrap();
    fs::write(dir.path().join("other.pftrace"), &other).unwrap();
    let count = items(whole) + items(&other);
    sink.wait_for(count);
    assert_eq!(sender.terminate(), Some(0));
    assert_eq!(uids(&sink.finish()).len(), count);
}

/// A state that a full disk or a bad one has left is named, and nothing is sent: not with the
/// places, and not without them.
#[test]
fn a_state_that_is_damaged_is_named() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    let args = ["otlp", &sink.url(), "--metrics", "--state", "s", "."];
    let run = || {
        let output = fleet(&args, dir.path());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(run(), (Some(0), String::new()));
    for name in ["s", "s.metrics"] {
        let whole = fs::read(dir.path().join(name)).unwrap();
        for bytes in [&whole[..whole.len() / 2], &vec![0; whole.len()][..], b"\xff\xfe{}"] {
            fs::write(dir.path().join(name), bytes).unwrap();
            let (code, errors) = run();
            assert_eq!(code, Some(2), "{errors}");
            assert!(errors.contains(&format!("can't read `{name}`: ")), "{errors}");
            assert!(errors.contains("\nhelp: remove "), "{errors}");
            assert_eq!(fs::read(dir.path().join(name)).unwrap(), bytes);
        }
        fs::write(dir.path().join(name), whole).unwrap();
    }
    assert_eq!(run(), (Some(0), String::new()));
    let records = sink.finish();
    let is_record = |it: &&Value| it["attributes"]["log.record.uid"].is_string();
    assert_eq!(records.iter().filter(is_record).count(), items(trace()));
}

/// A program that goes on behind the place where its file was cut off: no trace is there, and
/// others are sent.
#[test]
fn a_trace_with_a_hole_keeps_no_other_back() {
    let Some(mut sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let (whole, later) = (trace(), later(200));
    let mut file = File::create(dir.path().join("app.pftrace")).unwrap();
    file.seek(SeekFrom::Start(whole.len() as u64 / 2)).unwrap();
    file.write_all(&whole[whole.len() / 2..]).unwrap();
    fs::write(dir.path().join("later.pftrace"), &later).unwrap();
    let (code, errors) = send(&sink, dir.path());
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("app.pftrace` is damaged"), "{errors}");
    sink.wait_for(items(&later));
    let output = fleet(&["parquet", "-o", "archive", "."], dir.path());
    assert_eq!(output.status.code(), Some(3));
    let read = fleet(&["read", "archive"], dir.path());
    assert!(String::from_utf8(read.stdout).unwrap().contains("later 199"));
}

/// As a disk that was full, or a machine that went down, leaves files.
#[test]
fn files_without_content_are_no_failure_and_a_state_without_content_is_named() {
    let Some(mut sink) = Sink::start("") else { return };
    let dir = temp_dir();
    for name in ["a.pftrace", "b.pftrace.part", "c.pftrace.gz"] {
        fs::write(dir.path().join(name), "").unwrap();
    }
    assert_eq!(exported(dir.path(), &["."]), "");
    assert_eq!(send(&sink, dir.path()), (Some(0), String::new()));
    let mut sender = Sidecar::start(&[&sink.url(), "--follow", "--state", "s", "."], dir.path());
    thread::sleep(Duration::from_millis(700));
    write_anew(&dir.path().join("a.pftrace"), trace());
    sink.wait_for(items(trace()));
    assert_eq!(sender.terminate(), Some(0));
    fs::write(dir.path().join("s"), "").unwrap();
    let (code, errors) = send(&sink, dir.path());
    assert_eq!(code, Some(2));
    assert!(errors.contains("can't read `s`: "), "{errors}");
    assert!(errors.ends_with("help: remove it to send everything again\n"), "{errors}");
    assert_eq!(sink.finish().len(), items(trace()));
}

/// An earlier copy of a trace is no newer state of it, whatever comes first.
#[test]
fn a_shorter_copy_does_not_replace_a_trace_in_an_archive() {
    let dir = temp_dir();
    let whole = trace();
    fs::write(dir.path().join("app.pftrace"), whole).unwrap();
    fs::write(dir.path().join("copy.pftrace"), &whole[..whole.len() / 2]).unwrap();
    let output = fleet(&["parquet", "-o", "archive", "."], dir.path());
    let text = String::from_utf8(output.stdout).unwrap();
    let older = "copy.pftrace: not exported, since the archive has more of this trace\n";
    assert!(text.contains(older), "{text}");
    let read = fleet(&["read", "archive"], dir.path());
    assert_eq!(String::from_utf8(read.stdout).unwrap(), lines_of(whole).unwrap());
}

/// A collector may say something whenever it accepts a request.
#[test]
fn what_a_collector_says_of_what_it_accepts_is_said_once() {
    let Some(sink) = Sink::start(&"reject=0,".repeat(100)) else { return };
    let dir = temp_dir();
    for (number, trace) in iter::repeat_with(|| later(50)).take(3).enumerate() {
        fs::write(dir.path().join(format!("{number}.pftrace")), trace).unwrap();
        let (code, errors) = send(&sink, dir.path());
        assert_eq!(code, Some(0), "{errors}");
        assert_eq!(errors.matches("says of what it accepts: `too old`").count(), 1, "{errors}");
    }
    let output = fleet(&["otlp", &sink.url(), "."], dir.path());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors.matches("says of what it accepts: `too old`").count(), 1, "{errors}");
    assert_eq!(uids(&sink.finish()).len(), 150);
}

/// A machine that starts without a clock: the wall clock is before 1970, and then set.
const BEFORE_1970: &str = r#"
group(1, "demo::AppLog::Net", "Net") message(0x11, DEBUG, 1, "sent %d", "net.rs:12")
@1 cleared default_clock=6 snapshot(boot=90000000000000, real=1000)
@1 ts=1000000000 log(0x11, 1)
@1 ts=89999999999999 log(0x11, 2)
@1 ts=90000000000000 log(0x11, 3)
@1 snapshot(boot=90000000002000, real=1764201600000000000)
@1 ts=90000000002001 log(0x11, 4)
"#;

#[test]
fn times_before_1970_are_days_and_times_as_any_other() {
    let bytes = described::trace(BEFORE_1970);
    assert!(check(&bytes, "before 1970"));
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), &bytes).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let sql = "select message, date, epoch_ns(time), boot_time from log order by boot_time";
    let Some(rows) = query(&dir.path().join("archive"), sql) else { return };
    let times = messages_of(&bytes);
    let times: Vec<i64> = times.iter().map(|it| it["ts"].as_i64().unwrap()).collect();
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(rows.len(), times.len());
    for (row, time) in rows.iter().zip(&times) {
        assert_eq!(row[3], *time, "{row}");
        let day = row[2].as_i64().unwrap().div_euclid(86_400_000_000_000);
        let date = match day {
            -2 => "1969-12-30",
            -1 => "1969-12-31",
            0 => "1970-01-01",
            _ => "2025-11-27",
        };
        assert_eq!(row[1], date, "{row}");
    }
    let before = "select count(*) from messages where date < '1970-01-01' and time < '1970-01-01'";
    let found = query(&dir.path().join("archive"), before).unwrap();
    let expected = rows.iter().filter(|row| row[2].as_i64().unwrap() < 0).count();
    assert!(expected > 0);
    assert_eq!(found.trim(), format!("[{expected}]"));
}
