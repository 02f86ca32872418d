//! Logs reach a collector: each message once, with all its parts, decoded with OpenTelemetry's own
//! protobufs.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use common::sink::{Sink, uids};
use common::{damaged, fleet, lines_of, trace};
use protolog_rt::{ProtoLogGroup, Session, d, i, w};
use protolog_testkit::{temp_dir, workspace_root};
use serde_json::Value;

/// The messages and losses of the trace, as `read-log` shows them.
fn expected() -> Vec<Value> {
    let lines = lines_of(trace()).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.filter(|line: &Value| line["type"] == "message" || line["type"] == "loss").collect()
}

fn send(sink: &Sink, dir: &Path, more: &[&str]) -> (Option<i32>, String) {
    let output = fleet(&[&["otlp", &sink.url(), "--retry-for", "5"], more].concat(), dir);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn each_message_arrives_once_with_its_parts() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    fs::write(dir.path().join("token"), "x-token: secret\n").unwrap();
    let args = ["--header-file", "token", "--state", "state.json", "--host", "m1", "app.pftrace"];
    assert_eq!(send(&sink, dir.path(), &args), (Some(0), String::new()));
    // Again: there is nothing new.
    assert_eq!(send(&sink, dir.path(), &args), (Some(0), String::new()));
    let (records, expected) = (sink.finish(), expected());
    assert_eq!(records.len(), expected.len());
    assert_eq!(uids(&records).len(), records.len());
    compare(&records, &expected);
    let one = records.iter().find(|it| it["body"] == "round 7 of example.org").unwrap();
    assert_eq!((one["severity"].as_u64(), &one["token"]), (Some(1), &"secret".into()));
    assert_eq!(one["path"], "/v1/logs");
    assert!(one["scope"].as_str().unwrap().ends_with("::TestLog::Net"));
    let of = |name: &str| one["attributes"][name].clone();
    assert_eq!(of("log.record.template"), "round %d of %s");
    assert_eq!(of("log.record.template.parameter.0"), 7);
    assert_eq!(of("log.record.template.parameter.1"), "example.org");
    assert_eq!((of("round"), of("host")), (7.into(), Value::Null));
    assert_eq!(of("protolog.request"), "GET /7");
    assert_eq!(of("code.file.path"), "tests/common/mod.rs");
    assert!(of("code.line.number").is_number() && of("thread.id").is_number());
    assert!(one["resource"]["process.pid"].is_number());
    assert_eq!(one["resource"]["host.name"], "m1");
    assert!(one["resource"]["service.name"].as_str().unwrap().starts_with("otlp"));
    guide_names_all(&records);
    let packet = |it: &&Value| it["attributes"]["log.record.template"] == "packet %d";
    let packet = records.iter().find(packet).unwrap();
    assert_eq!(packet["attributes"]["protolog.rate"], "2/3");
    assert!(one["attributes"]["protolog.rate"].is_null());
    let of_request = records.iter().filter(|it| it["attributes"]["protolog.request"].is_string());
    assert_eq!(of_request.count(), expected.iter().filter(|it| it["request"].is_string()).count());
    let stack = records.iter().find(|it| it["body"] == "/var/log is full").unwrap();
    assert!(stack["attributes"]["code.stacktrace"].is_string());
    let unsigned = |it: &&Value| it["attributes"]["log.record.template.parameter.3"].is_string();
    let unsigned = records.iter().find(unsigned).unwrap();
    assert_eq!(unsigned["attributes"]["log.record.template.parameter.3"], u64::MAX.to_string());
}

fn guide() -> String {
    fs::read_to_string(workspace_root().join("docs/guides/opentelemetry.md")).unwrap()
}

/// The first command and the record below it.
#[test]
fn the_guide_shows_what_comes() {
    let Some(sink) = Sink::start("") else { return };
    let (dir, guide) = (temp_dir(), guide());
    let file = dir.path().join("hello.pftrace");
    let session = Session::builder().file(&file).enable_all().start().unwrap();
    d!(IdLog::Net, "sent %d bytes to %s in %8.3f ms", 1500, "example.org", 0.271);
    w!(IdLog::Net, "/var is full");
    session.stop().unwrap();
    let (_, after) = guide.split_once("```console\n$ protologtool export ").unwrap();
    let (command, after) = after.split_once('\n').unwrap();
    let words = command.replace("http://localhost:4318", &sink.url());
    let output = fleet(&words.split(' ').collect::<Vec<_>>(), dir.path());
    assert!(output.status.success());
    let said = [output.stdout, output.stderr].concat();
    assert_eq!(String::from_utf8(said).unwrap(), after.split_once("```").unwrap().0);

    let records = sink.finish();
    let record = records.iter().find(|it| it["level"] == "DEBUG").unwrap();
    let shown = after.split_once("```text\nLogRecord\n").unwrap().1.split_once("```").unwrap().0;
    let mut seen = 0;
    for line in shown.lines() {
        let (name, value) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
        let got = match name {
            "body" => &record["body"],
            "severity_text" => &record["level"],
            "attributes" => &record["attributes"],
            _ => &record["attributes"][name],
        };
        match name {
            // They differ from run to run, or are this file's.
            "attributes" | "thread.id" | "code.file.path" => assert!(!got.is_null(), "{name}"),
            "time_unix_nano" => assert!(record["time"].is_u64()),
            _ => {
                let got = got.as_str().map_or_else(|| got.to_string(), str::to_owned);
                assert_eq!(got, value.trim(), "{name}");
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 10);
}

/// Each attribute is in the guide.
fn guide_names_all(records: &[Value]) {
    let guide = guide();
    let of = |it: &Value| it.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let all = records.iter().flat_map(|it| [of(&it["attributes"]), of(&it["resource"])].concat());
    for name in all.collect::<BTreeSet<_>>() {
        // Names of arguments are the program's.
        let is_parameter = name.starts_with("log.record.template.parameter.")
            || ["round", "name"].contains(&name.as_str());
        assert!(is_parameter || guide.contains(&format!("`{name}`")), "{name}");
    }
}

/// Compares texts, levels, times and threads in the order of time, and the counts of losses.
fn compare(records: &[Value], expected: &[Value]) {
    let mut got: Vec<_> = records.iter().filter(|it| it["event"] == "").map(shown).collect();
    let messages = expected.iter().filter(|line| line["type"] == "message");
    let mut wanted: Vec<_> = messages
        .map(|line| {
            let time: jiff::Timestamp = line["time"].as_str().unwrap().parse().unwrap();
            let nanos = time.as_nanosecond() as u64;
            (nanos, line["tid"].clone(), line["level"].clone(), line["message"].to_string())
        })
        .collect();
    got.sort_by_key(|it| (it.0, it.3.clone()));
    wanted.sort_by_key(|it| (it.0, it.3.clone()));
    assert_eq!(got.len(), wanted.len());
    for (got, wanted) in got.iter().zip(&wanted) {
        assert_eq!(got, wanted);
    }
    let lost = |lines: &[Value], count: &dyn Fn(&Value) -> Option<u64>| -> u64 {
        lines.iter().filter_map(count).sum()
    };
    let sent = lost(records, &|it| it["attributes"]["protolog.loss.count"].as_u64());
    let in_trace = expected.iter().filter(|it| it["type"] == "loss").cloned();
    let in_trace = lost(&in_trace.collect::<Vec<_>>(), &|it| it["count"].as_u64());
    assert!(sent > 0 && sent == in_trace, "{sent} of {in_trace}");
}

fn shown(record: &Value) -> (u64, Value, Value, String) {
    let time = record["time"].as_u64().unwrap();
    let tid = record["attributes"]["thread.id"].clone();
    (time, tid, record["level"].clone(), record["body"].to_string())
}

#[derive(ProtoLogGroup)]
enum IdLog {
    Net,
}

#[test]
fn ids_of_traces_that_the_program_logs_are_ids_of_records() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let path = dir.path().join("ids.pftrace");
    let session = Session::builder().file(&path).enable_all().start().unwrap();
    let (trace_id, span_id) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    i!(IdLog::Net, "done, trace_id=%s span_id=%s", trace_id, span_id);
    i!(IdLog::Net, "done, trace_id=%s", "none");
    session.stop().unwrap();
    assert_eq!(send(&sink, dir.path(), &["ids.pftrace"]), (Some(0), String::new()));
    let records = sink.finish();
    assert_eq!(
        (&records[0]["trace_id"], &records[0]["span_id"]),
        (&trace_id.into(), &span_id.into())
    );
    assert_eq!((&records[1]["trace_id"], &records[1]["span_id"]), (&"".into(), &"".into()));
}

#[test]
fn more_traces_than_files_may_be_open_are_sent() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let end = packets(trace()).take_while(|end| *end < 40_000).last().unwrap();
    for number in 1..=60 {
        let path = dir.path().join(format!("{number}.pftrace"));
        fs::write(path, &other(number)[..4 + end]).unwrap();
    }
    let program = env!("CARGO_BIN_EXE_protologtool-fleet");
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n 50; exec {program} otlp {} .", sink.url())]);
    let code = command.current_dir(dir.path()).status().unwrap().code();
    assert!(matches!(code, Some(0 | 3)), "{code:?}");
    let records = sink.finish();
    assert!(records.len() >= 60 && records.len() % 60 == 0, "{}", records.len());
    assert_eq!(uids(&records).len(), records.len());
}

#[test]
fn a_trace_that_is_still_there_is_not_forgotten() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let write = |number| fs::write(dir.path().join(format!("{number}.pftrace")), other(number));
    write(1).unwrap();
    assert_eq!(send(&sink, dir.path(), &["--state", "s", "."]), (Some(0), String::new()));
    // That was in 1970.
    let state = fs::read_to_string(dir.path().join("s")).unwrap();
    let mut state: Value = serde_json::from_str(&state).unwrap();
    state.as_object_mut().unwrap().values_mut().for_each(|sent| sent["time"] = 7.into());
    fs::write(dir.path().join("s"), state.to_string()).unwrap();
    for number in [2, 3] {
        write(number).unwrap();
        assert_eq!(send(&sink, dir.path(), &["--state", "s", "."]), (Some(0), String::new()));
    }
    assert_eq!(sink.finish().len(), 3 * expected().len());
}

/// The trace with another beginning: a packet that has a time and nothing else.
fn other(number: u8) -> Vec<u8> {
    [&[0x0a, 2, 0x40, number], trace()].concat()
}

#[test]
fn a_damaged_trace_is_sent_as_far_as_it_goes() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let damaged = damaged();
    fs::write(dir.path().join("bad.pftrace"), &damaged).unwrap();
    let (code, errors) = send(&sink, dir.path(), &["--state", "s", "bad.pftrace"]);
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.starts_with("warning: `bad.pftrace` is damaged"), "{errors}");
    let messages = lines_of(&damaged).unwrap().matches("\"type\":\"message\"").count();
    let records = sink.finish();
    let bodies = records.iter().filter(|it| it["event"] == "");
    assert_eq!(uids(&bodies.cloned().collect::<Vec<_>>()).len(), messages);
}

/// Damage of packets, and an end in the middle of one: read once, and named once.
#[test]
fn a_trace_that_can_t_be_read_on_ends_the_run() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let mut damaged = trace().to_vec();
    let at = packets(&damaged).nth(100).unwrap();
    damaged[at..at + 8].fill(0);
    let size = trace().len() - 7;
    let (cut, both) = (&trace()[..size], &damaged[..size]);
    // What has no end may still be written.
    for (name, bytes, followed) in [("bad", &damaged[..], 3), ("cut", cut, 0), ("both", both, 3)] {
        let name = format!("{name}.pftrace");
        fs::write(dir.path().join(&name), bytes).unwrap();
        let (code, errors) = send(&sink, dir.path(), &[&name]);
        assert_eq!(code, Some(3), "{errors}");
        assert_eq!(errors.matches("is damaged").count(), 1, "{errors}");
        let mut sender =
            common::sink::Sidecar::start(&[&sink.url(), "--follow", &name], dir.path());
        std::thread::sleep(std::time::Duration::from_millis(1500));
        assert_eq!(sender.terminate(), Some(followed), "{name}");
    }
    // Each of them once by each run, but for what the damage made to be sent again.
    let records = sink.finish();
    assert!(records.len() < 10 * expected().len(), "{}", records.len());
}

/// The places of packets.
fn packets(trace: &[u8]) -> impl Iterator<Item = usize> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let place = at;
        let (mut size, mut shift) = (0, 0);
        at += 1;
        loop {
            let byte = *trace.get(at)?;
            at += 1;
            size |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        at += size;
        Some(place)
    })
}

#[test]
fn a_wrong_command_line_is_explained() {
    let dir = temp_dir();
    let long = "https://me:hidden@collector/v1/logs";
    for (args, expected) in [
        (
            &["app.pftrace"][..],
            "error: no URL of a collector is named\nhelp: name one, such as `http://localhost:4318`, before the traces\n",
        ),
        (
            &["http://a"],
            "error: no trace is named\nhelp: give the file that a session writes, or a directory\n",
        ),
        (
            &["ftp://a", "x"],
            "error: `ftp://a` is no URL of a collector\nhelp: name one, such as `http://localhost:4318`\n",
        ),
        (
            &[long, "x"],
            "error: `https://collector/v1/logs` has a user or a password in it\nhelp: write `authorization=Basic …` into a file, for `--header-file`\n",
        ),
        (
            &["http://a", "x", "--header", "hidden"],
            "error: a header of `--header` has no `=`\nhelp: write it as `NAME=VALUE`\n",
        ),
        (
            &["http://127.0.0.1:9", "x.pftrace"],
            "error: can't read `x.pftrace`: No such file or directory (os error 2)\n",
        ),
    ] {
        let output = fleet(&[&["otlp"], args].concat(), dir.path());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
    }
}
