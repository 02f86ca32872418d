//! Every kind of trace comes back from an archive, as lines and as a trace: those of the tests of
//! `protolog-reader`, those that sessions write in each way, and those that other tests kept.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{assert_same, check, described, exported, fleet, lines_of, lines_of_made};
use protolog_reader::{JsonWriter, MergeInput, Recording, Trace, merge, trace_of_winscope_log};
use protolog_rt::{Builder, ProtoLogGroup, Request, Session, bridge, d, i};
use protolog_testkit::{temp_dir, workspace_root};
use tracing_subscriber::prelude::*;
use viewer_config::{Collector, Format};

#[derive(ProtoLogGroup)]
enum KindLog {
    Net,
}

#[derive(ProtoLogGroup)]
enum FloodLog {
    Net,
}

/// All descriptions of traces: clocks of each kind, bundles, dictionaries that contradict each
/// other, damage, losses, spans, threads, and so on.
#[test]
fn described_traces() {
    let dir = workspace_root().join("protolog-reader/tests/cases");
    let mut checked = 0;
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let (description, _) = text.split_once("\n--- ").unwrap_or((&text, ""));
        checked += usize::from(check(&described::trace(description), &path.display().to_string()));
    }
    assert!(checked >= 40, "{checked}");
}

/// The files that a session writes while so many messages are logged, by name.
fn session(set_up: impl FnOnce(Builder, &Path) -> Builder, messages: i64) -> Vec<Vec<u8>> {
    let dir = temp_dir();
    let session = set_up(Session::builder().enable_all(), dir.path()).start().unwrap();
    log(messages);
    session.stop().unwrap();
    files_of(dir.path()).iter().map(|path| fs::read(path).unwrap()).collect()
}

/// The files of a directory, by name.
fn files_of(dir: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    paths.sort();
    paths
}

/// Logs so many messages with texts and numbers, on two threads.
fn log(count: i64) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..count {
                d!(KindLog::Net, "sent %d bytes to %s", number, format!("host-{}", number % 50));
            }
        });
        for number in 0..count {
            i!(KindLog::Net, "%s of %d", "request", number);
        }
    });
}

#[test]
fn rings_that_wrapped_segments_and_compressed_traces() {
    let ring = session(
        |builder, dir| builder.file(dir.join("ring.pftrace")).keep_newest().buffer_size(64 << 10),
        20_000,
    );
    let segments = session(
        |builder, dir| builder.file(dir.join("app.pftrace")).segment_bytes(64 << 10),
        5_000,
    );
    assert!(segments.len() > 3, "{}", segments.len());
    let compressed =
        session(|builder, dir| builder.file(dir.join("small.pftrace")).compress(6), 5_000);
    for (what, traces) in [("ring", &ring), ("segment", &segments), ("compressed", &compressed)] {
        for (number, trace) in traces.iter().enumerate() {
            assert!(check(trace, &format!("{what} {number}")));
        }
    }
    // A block of this many is divided into row groups by message.
    let large = session(|builder, dir| builder.file(dir.join("app.pftrace")), 40_000);
    assert!(check(&large[0], "many messages"));
    let whole = &compressed[0];
    for end in ["zst", "gz"] {
        let dir = temp_dir();
        let name = format!("app.pftrace.{end}");
        let bytes = if end == "gz" {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            io::Write::write_all(&mut encoder, whole).unwrap();
            encoder.finish().unwrap()
        } else {
            ruzstd::encoding::compress_to_vec(
                &whole[..],
                ruzstd::encoding::CompressionLevel::Fastest,
            )
        };
        fs::write(dir.path().join(&name), bytes).unwrap();
        assert_same(&exported(dir.path(), &[&name]), &lines_of(whole).unwrap(), end);
    }
}

/// A request with more texts than a trace defines at a time, among more requests than are known at
/// a time.
#[test]
fn many_texts_of_a_request_and_many_requests() {
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let session = Session::builder().file(&path).enable_all().start().unwrap();
    let request = Request::new("large");
    let of_request = request.enter();
    for number in 0..10_000 {
        d!(KindLog::Net, "sent %s", format!("part {number}"));
    }
    drop(of_request);
    for number in 0..10_000 {
        let _of_request = Request::new(format_args!("{}", number / 2 % 4500)).enter();
        d!(KindLog::Net, "answered %d", number);
    }
    session.stop().unwrap();
    let trace = fs::read(&path).unwrap();
    assert_eq!(lines_of(&trace).unwrap().matches("\"request\":\"large\"").count(), 10_000);
    assert!(check(&trace, "many texts of a request, and many requests"));
}

/// Messages that a limit suppressed, which have the time of the first, too.
#[test]
fn suppressed_messages() {
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let builder = Session::builder().file(&path).enable_all();
    let session = builder.limit("group FloodLog::Net", "1/h").start().unwrap();
    for number in 0..100 {
        d!(FloodLog::Net, "flood %d", number);
    }
    session.stop().unwrap();
    let trace = fs::read(&path).unwrap();
    assert!(lines_of(&trace).unwrap().contains("\"from_ts\":"));
    assert!(check(&trace, "suppressed messages"));
}

/// The recording of a process that runs, which is what one that was killed leaves.
#[test]
fn recordings() {
    let dir = temp_dir();
    let path = dir.path().join("app.rec");
    let session = Session::builder().enable_all().record_at(&path).start().unwrap();
    log(500);
    let recording = fs::read(&path).unwrap();
    session.stop().unwrap();
    let mut trace = Vec::new();
    Recording::parse(&recording).unwrap().write(&mut trace).unwrap();
    let expected = lines_of(&trace).unwrap();
    assert!(expected.lines().count() > 900);
    fs::write(dir.path().join("dead.rec"), recording).unwrap();
    assert_same(&exported(dir.path(), &["dead.rec"]), &expected, "the recording");
    assert_same(&lines_of_made(dir.path()), &expected, "made again");
}

struct Bytes<'a>(&'a [u8]);

impl MergeInput for Bytes<'_> {
    fn name(&self) -> &'static str {
        "bytes"
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.0))
    }
}

/// Two processes with one pid, as the first ones of containers are, in one trace.
#[test]
fn processes_with_one_pid() {
    let of_process = |fingerprint: u64, name: &str, at: u64| {
        described::trace(&format!(
            "group(1, \"demo::Log::A\", \"A\") message(0x11, INFO, 1, \"%d of %s\")\n\
             @1 cleared snapshot(boot={at}, real=1795199220000000000) started(1, {fingerprint}) process(1, \"{name}\")\n\
             @2 cleared started(1, {fingerprint})\n\
             @2 needs ts={at} string(1, \"{name}\") log(0x11, 5, $1)\n"
        ))
    };
    let (one, other) = (of_process(7, "server", 1000), of_process(9, "worker", 2000));
    let mut both = Vec::new();
    merge(&[&Bytes(&one), &Bytes(&other)], &mut both).unwrap();
    let lines = lines_of(&both).unwrap();
    assert!(lines.contains("\"process\":\"server\"") && lines.contains("\"process\":\"worker\""));
    assert!(check(&both, "two processes"));
}

/// Spans of tasks that take turns on a thread, with fields that come later.
#[test]
fn spans_of_tasks() {
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let session = Session::builder().file(&path).enable_all().start().unwrap();
    let subscriber = tracing_subscriber::registry().with(bridge::tracing_layer());
    tracing::subscriber::with_default(subscriber, || {
        let spans: Vec<tracing::Span> = (0..3)
            .map(|id| {
                tracing::info_span!("task", zone = id, status = tracing::field::Empty, a = "x")
            })
            .collect();
        for round in 0..5 {
            for span in &spans {
                let _inside = span.enter();
                let _inner = tracing::debug_span!("step", round, share = 0.5).entered();
                span.record("status", round * 100);
                std::thread::sleep(Duration::from_micros(50));
                tracing::info!(round, "in the span");
            }
        }
    });
    session.stop().unwrap();
    let trace = fs::read(&path).unwrap();
    assert!(lines_of(&trace).unwrap().contains("\"busy\""));
    assert!(check(&trace, "tasks"));
}

/// A log that Android wrote before it had Perfetto, whose messages a dictionary in JSON has.
#[test]
fn logs_of_android_with_their_dictionary() {
    const DICTIONARY: &str = r#"{"version": "2.0.0", "messages": {"-1792430067":
        {"message": "Attempted to add %s: %d, %f, %b", "level": "WARN", "group": "WM", "at": "a.java"}},
        "groups": {"WM": {"tag": "WindowManager"}}}"#;
    let field = |number: u8, wire: u8, bytes: &[u8]| -> Vec<u8> {
        let length = if wire == 2 { vec![bytes.len() as u8] } else { Vec::new() };
        [&[number << 3 | wire], &length[..], bytes].concat()
    };
    let parts = [
        field(1, 5, &(-1_792_430_067_i32).to_le_bytes()),
        field(2, 1, &1_000_000_000_u64.to_le_bytes()),
        field(3, 2, b"window"),
        field(4, 2, &[5]),
        field(5, 2, &0.25_f64.to_le_bytes()),
        field(6, 2, &[1]),
    ];
    let offset = field(3, 1, &1_795_199_220_000_u64.to_le_bytes());
    let log = [&b"\x09PROTOLOG"[..], &offset, &field(4, 2, &parts.concat())].concat();
    let mut collector = Collector::new();
    collector.read_as(Format::of_content(DICTIONARY.as_bytes()), DICTIONARY.as_bytes()).unwrap();
    let dictionary = collector.finish_anyway().dictionary;
    let trace = Trace::from_bytes(trace_of_winscope_log(&log)).with_dictionary(dictionary);
    let read = trace.read().unwrap();
    let (mut writer, mut expected) = (JsonWriter::new(&read), Vec::new());
    read.items().for_each(|item| writer.write(&item, &mut expected));
    let expected = String::from_utf8(expected).unwrap();
    assert!(expected.contains("Attempted to add window: -3, 0.250000, true"), "{expected}");

    let dir = temp_dir();
    fs::write(dir.path().join("wm.winscope"), log).unwrap();
    fs::write(dir.path().join("wm.json"), DICTIONARY).unwrap();
    let lines = exported(dir.path(), &["--viewer-config", "wm.json", "wm.winscope"]);
    assert_same(&lines, &expected, "the log");
    assert_same(&lines_of_made(dir.path()), &expected, "made again");
}

/// All traces that the other tests left in a directory of `PROTOLOG_KEPT`, as
/// `cargo xtask soak archives` does it.
#[test]
fn traces_of_all_tests() {
    let Some(kept) = std::env::var_os("PROTOLOG_KEPT_BEFORE") else { return };
    let (mut seen, mut open, mut checked) = (BTreeSet::new(), vec![PathBuf::from(kept)], 0);
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            let size = entry.metadata().map_or(0, |metadata| metadata.len());
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() && size > 0 && size <= MOST {
                let Ok(bytes) = fs::read(&path) else { continue };
                let mut hasher = DefaultHasher::new();
                bytes.hash(&mut hasher);
                if seen.insert(hasher.finish()) {
                    checked += usize::from(check_kept(&bytes, &path));
                }
            }
        }
    }
    println!("{checked} traces");
    assert!(checked > 0);
}

/// The most bytes of a trace that is checked.
const MOST: u64 = 32 << 20;

/// False if the file is neither a trace nor a recording.
fn check_kept(bytes: &[u8], path: &Path) -> bool {
    let what = path.display().to_string();
    if Recording::matches(bytes) {
        let mut trace = Vec::new();
        let recording = Recording::parse(bytes);
        let is_written = recording.is_ok_and(|it| it.write(&mut trace).is_ok());
        return is_written && check(&trace, &what);
    }
    check(bytes, &what)
}

/// An archive of several traces becomes as many again, and nothing where one can't be made.
#[test]
fn an_archive_becomes_as_many_traces() {
    let dir = temp_dir();
    for name in ["a.pftrace", "b.pftrace"] {
        let id = u64::from(name.as_bytes()[0]);
        let trace = described::trace(&format!("@1 cleared pid={id} ts=5 log(0x11, 5)\n"));
        fs::write(dir.path().join(name), trace).unwrap();
    }
    exported(dir.path(), &["a.pftrace", "b.pftrace"]);
    let output = fleet(&["traces", "-o", "made", "archive"], dir.path());
    let said = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = said.lines().map(|line| &line[..2]).collect();
    assert_eq!(names, ["a-", "b-"], "{said}");
    assert_eq!(files_of(&dir.path().join("made")).len(), 2);
    let templates = dir.path().join("archive/messages");
    fs::remove_dir_all(templates).unwrap();
    let output = fleet(&["traces", "-o", "none", "archive"], dir.path());
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("error: can't read `archive/messages/"), "{errors}");
    assert_eq!(files_of(&dir.path().join("none")), [] as [PathBuf; 0]);
}
