//! Traces, and what `read-log --format json` prints of them.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub(crate) mod conversions;
#[path = "../../../protolog-reader/tests/common/trace/mod.rs"]
pub(crate) mod described;
pub(crate) mod sink;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use protolog_reader::{JsonWriter, Trace};
use protolog_rt::{Error, ProtoLogGroup, Session, bridge, d, e, i, v, w, wtf};
use protolog_testkit::{python, skip, workspace_root};
use tempfile::TempDir;
use tracing_subscriber::prelude::*;

#[derive(ProtoLogGroup)]
enum TestLog {
    Net,
    #[protolog(tag = "Files")]
    Disk,
    Packets,
}

/// Runs the program.
pub(crate) fn fleet(args: &[&str], dir: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool-fleet"));
    command.current_dir(dir).args(args).output().unwrap()
}

/// The Python that has the wheels of `target/tools/fleet`. Without it or without them, it says that
/// something is skipped.
pub(crate) fn fleet_python(what: &str) -> Option<PathBuf> {
    let python = python()?;
    let read = |path: PathBuf| fs::read_to_string(path).ok();
    let wanted = read(workspace_root().join("tests/oracle/fleet.txt"));
    if read(wheels().join("complete")) != wanted {
        skip(what, "its wheels are not there; run `cargo xtask setup fleet`");
        return None;
    }
    Some(python)
}

/// The wheels for it.
pub(crate) fn wheels() -> PathBuf {
    workspace_root().join("target/tools/fleet")
}

/// The answer to a query on an archive, a line for each row.
pub(crate) fn query(archive: &Path, sql: &str) -> Option<String> {
    let answer = try_query(archive, sql)?;
    Some(answer.unwrap_or_else(|error| panic!("{sql}: {error}")))
}

/// The same, or the error of the engine.
pub(crate) fn try_query(archive: &Path, sql: &str) -> Option<Result<String, String>> {
    let python = fleet_python("SQL on archives")?;
    let script = workspace_root().join("fleet/tests/query.py");
    let mut command = Command::new(python);
    command.env("PYTHONPATH", wheels());
    let output = command.current_dir(archive).arg(script).arg(sql).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Some(if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) })
}

/// A script in namespaces where it can mount a disk of its own; `$0` is the program. None if the
/// system has no such namespaces.
pub(crate) fn with_mounts(script: &str, dir: &Path) -> Option<Command> {
    let unshare = || {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c"]).current_dir(dir);
        unshare
    };
    let probe = unshare().arg("mkdir -p disk && mount -t tmpfs none disk").output();
    if !probe.is_ok_and(|output| output.status.success()) {
        skip("a full disk", "there are no namespaces of users and mounts");
        return None;
    }
    let mut command = unshare();
    command.arg(script).arg(env!("CARGO_BIN_EXE_protologtool-fleet"));
    Some(command)
}

/// Exports traces, and returns the lines that the archive gives back.
pub(crate) fn exported(dir: &Path, traces: &[&str]) -> String {
    let args = [&["parquet", "-o", "archive", "--host", "one"], traces].concat();
    let output = fleet(&args, dir);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{errors}");
    let output = fleet(&["read", "archive"], dir);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Adds files to an archive as a copy that did not end, or a bad disk, leaves them: a day for each.
/// Returns their paths below the archive.
pub(crate) fn break_files(archive: &Path) -> Vec<String> {
    let mut found = walk(&archive.join("messages")).into_iter();
    let whole = found.find(|path| !path.to_str().unwrap().contains("date=__")).unwrap();
    let bytes = fs::read(&whole).unwrap();
    let below = whole.strip_prefix(archive).unwrap().to_str().unwrap();
    let day = below.split('/').find(|part| part.starts_with("date=")).unwrap();
    let end = bytes.len() - 8;
    let zeros = [b"PAR1", &vec![0; end - 4][..], &bytes[end..]].concat();
    let kinds = [Vec::new(), b"no table".repeat(20), bytes[..bytes.len() / 2].to_vec(), zeros];
    let broken = kinds.into_iter().enumerate().map(|(number, bytes)| {
        let name = below.replace(day, &format!("date=2020-01-0{}", number + 1));
        let path = archive.join(&name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        name
    });
    broken.collect()
}

/// The file with the templates of a build, or of any one if its name is empty.
pub(crate) fn templates_of(archive: &Path, build: &str) -> PathBuf {
    let mut files = walk(&archive.join("templates")).into_iter();
    let is_of_build = |path: &PathBuf| {
        let path = path.to_str().unwrap();
        let is_of_another = path.ends_with("/none.parquet") || path.contains("/program=foreign/");
        !is_of_another && (build.is_empty() || path.contains(&format!("/build={build}/")))
    };
    files.find(is_of_build).unwrap()
}

/// A file as a copy that did not end, or a bad disk, leaves it.
pub(crate) fn damaged_copies(whole: &[u8]) -> [Vec<u8>; 4] {
    let mut page = whole.to_vec();
    page[20..60].fill(0xff);
    [Vec::new(), b"no table".repeat(20), whole[..whole.len() / 2].to_vec(), page]
}

/// Pieces of templates as no export writes them.
pub(crate) const FOREIGN_PIECES: [&str; 6] = [
    r#"[{"kind":"s","argument":0,"place":3000000,"verb":"s","width":0,"zero_pad":false}]"#,
    r#"[{"kind":"i","argument":0,"place":0,"verb":"d","width":2000000000,"zero_pad":false}]"#,
    r#"[{"kind":"f","argument":0,"place":-1,"verb":"f","width":0,"zero_pad":false}]"#,
    r#"[{"text":"a","kind":"s","argument":0,"place":3000000}]"#,
    r#"[{"kind":"what","argument":0,"place":0}]"#,
    "[{",
];

/// Adds templates to an archive as other programs may write them: those of [`FOREIGN_PIECES`].
pub(crate) fn foreign_templates(archive: &Path) -> Option<()> {
    let directory = archive.join("templates/program=foreign/build=b");
    fs::create_dir_all(&directory).unwrap();
    let rows = FOREIGN_PIECES.iter().enumerate();
    let rows: Vec<String> = rows.map(|(id, pieces)| format!("('{id:016x}', '{pieces}')")).collect();
    let sql = format!(
        "copy (select id, 0::integer as variant, 'INFO' as level, 'T' as tag, 'T' as log_group, '?' as template,
            '' as location, pieces, null::varchar as names from (values {}) as one(id, pieces))
        to 'templates/program=foreign/build=b/foreign.parquet' (format parquet, compression zstd)",
        rows.join(", ")
    );
    query(archive, &sql).map(drop)
}

/// All files below a directory.
fn walk(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let below = entries.map(|path| if path.is_dir() { walk(&path) } else { vec![path] });
    below.collect::<Vec<_>>().concat()
}

/// Compares line by line, so that a difference is shown and not all.
#[track_caller]
pub(crate) fn assert_same(lines: &str, expected: &str, what: &str) {
    for (number, (line, expected)) in lines.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, expected, "{what}: line {number}");
    }
    assert_eq!(lines.lines().count(), expected.lines().count(), "{what}");
}

/// Checks that an archive of a trace has its lines, and that they are those of the trace that is
/// made of the archive. False if it is no trace.
#[track_caller]
pub(crate) fn check(trace: &[u8], what: &str) -> bool {
    let Some(expected) = lines_of(trace) else { return false };
    let expected = without_repeated(&expected);
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("app.pftrace"), trace).unwrap();
    assert_same(&exported(dir.path(), &["app.pftrace"]), &expected, what);
    assert_same(&lines_of_made(dir.path()), &expected, &format!("{what}, made again"));
    true
}

/// Lines without the message that was repeated, of which an archive keeps the number and the times.
fn without_repeated(lines: &str) -> String {
    let line = |line: &str| {
        let is_repeat = line.contains(r#""reason":"repeated""#);
        let known = line.find(r#","id":""#).filter(|_| is_repeat);
        known.map_or_else(|| format!("{line}\n"), |at| format!("{}}}\n", &line[..at]))
    };
    lines.lines().map(line).collect()
}

/// As [`check`], of a damaged trace: in one that is made of the archive, spans whose events were
/// damaged may stand elsewhere among items of one time.
#[track_caller]
pub(crate) fn check_damaged(trace: &[u8], what: &str) {
    let Some(expected) = lines_of(trace) else { return };
    let expected = without_repeated(&expected);
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("app.pftrace"), trace).unwrap();
    assert_same(&exported(dir.path(), &["app.pftrace"]), &expected, what);
    let without_spans = |lines: &str| {
        let is_span = |line: &&str| line.starts_with("{\"type\":\"span_");
        lines.lines().filter(|line| !is_span(line)).collect::<Vec<_>>().join("\n")
    };
    let made = without_spans(&lines_of_made(dir.path()));
    assert_same(&made, &without_spans(&expected), &format!("{what}, made again"));
}

/// The messages that `read-log` prints of a trace.
pub(crate) fn messages_of(trace: &[u8]) -> Vec<serde_json::Value> {
    let lines = lines_of(trace).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.filter(|line: &serde_json::Value| line["type"] == "message").collect()
}

/// The places in the sources that messages come from: which those are, losses decide.
pub(crate) fn sites_of(messages: &[serde_json::Value]) -> usize {
    let ids = messages.iter().map(|message| message["id"].as_str().unwrap());
    ids.collect::<std::collections::BTreeSet<_>>().len()
}

/// A trace that says more was lost, and passed over, than any program logs.
pub(crate) const HOSTILE_COUNTS: &str = r#"
group(1, "demo::AppLog::Net", "Net")
@1 cleared ts=5 loss(1, 1, 18446744073709551615) passed_over(1, 3, 18446744073709551615) log(0x11, 1)
@1 ts=6 loss(1, 1, 9223372036854775807) loss(1, 1, 9223372036854775807) passed_over(2, 3, 9223372036854775807)
"#;

/// Texts to look for in the messages of [`trace`].
pub(crate) const SEARCHES: [&str; 14] = [
    "example.org",
    "is full",
    "var is",
    "round 1",
    "und 17 of exa",
    "done",
    "in the span",
    "17",
    "true",
    "größe",
    "100%",
    "inf",
    "no such text",
    "/var/log",
];

/// The lines of the one trace that is made of the archive in a directory.
pub(crate) fn lines_of_made(dir: &Path) -> String {
    lines_of(&made_trace(dir)).unwrap_or_default()
}

/// The one trace that is made of the archive in a directory.
pub(crate) fn made_trace(dir: &Path) -> Vec<u8> {
    let output = fleet(&["traces", "-o", "made", "archive"], dir);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut files = fs::read_dir(dir.join("made")).unwrap();
    let made = fs::read(files.next().unwrap().unwrap().path()).unwrap();
    assert!(files.next().is_none());
    made
}

/// The output of `read-log --format json --spans` for a trace.
pub(crate) fn lines_of(trace: &[u8]) -> Option<String> {
    let log = Trace::from_bytes(trace).with_slices().read().ok()?;
    let (mut writer, mut out) = (JsonWriter::new(&log), Vec::new());
    for item in log.items() {
        writer.write(&item, &mut out);
    }
    writer.write_end(&mut out);
    Some(String::from_utf8(out).unwrap())
}

/// A trace with values of all kinds, spans and losses.
pub(crate) fn trace() -> &'static [u8] {
    static TRACE: OnceLock<Vec<u8>> = OnceLock::new();
    TRACE.get_or_init(|| {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("app.pftrace");
        tracing_subscriber::registry().with(bridge::tracing_layer()).init();
        // How much the buffer takes depends on who runs when.
        let mut blocks = 2_000;
        while !log_all(&path, blocks).unwrap() {
            blocks *= 2;
            assert!(blocks < 1_000_000, "nothing is lost");
        }
        fs::read(path).unwrap()
    })
}

/// Returns whether messages were lost.
fn log_all(path: &Path, blocks: u32) -> Result<bool, Error> {
    let session = Session::builder()
        .file(path)
        .enable_all()
        .collect_stacktrace("Disk")
        .sample("TestLog::Packets", "2/3")
        .buffer_size(64 << 10)
        .start()?;
    let (host, path) = ("example.org", PathBuf::from("/var/log"));
    for round in 0..200_i64 {
        let (unsigned, float) = (u64::MAX - round as u64, round as f64 / 7.0);
        // One message in it, and those of a whole round.
        let request = protolog_rt::Request::new(format_args!("GET /{round}"));
        let of_round = (round % 20 == 8).then(|| request.enter());
        let of_message = (round % 10 == 7).then(|| request.enter());
        v!(TestLog::Net, "round %d of %s", round = round, host);
        drop(of_message);
        d!(TestLog::Net, "[%05d] [%x] [%o] [%3d] 100%%", -round, -round, round, unsigned);
        i!(TestLog::Net, "%f %e %g [%8.3f] [%08.2f]", float, float, float, -float, float);
        w!(TestLog::Net, "%b and %6b, [%12s] [%.3s]", round % 2 == 0, true, "größe", host);
        let _span = tracing::info_span!("request", id = round, %host).entered();
        tracing::info!(round, name = "a \"quoted\"\n\u{7f} text", "in a span");
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300][round as usize % 5];
        e!(TestLog::Net, "odd %f, %g", odd, odd);
        d!(TestLog::Packets, "packet %d", round);
        if round % 50 == 0 {
            wtf!(TestLog::Disk, "%s is full", path.display());
        }
        drop(of_round);
    }
    // More than the buffer takes.
    let long = "x".repeat(4 << 10);
    for round in 0..blocks {
        d!(TestLog::Disk, "block %d: %s", round, long);
    }
    i!(TestLog::Disk, "done");
    session.stop().map(|summary| !summary.losses.is_empty())
}

/// Logs into segments of which there are three at most, until it is dropped.
pub(crate) struct Rotation {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Rotation {
    /// Below this directory.
    pub(crate) fn start(dir: &Path) -> Self {
        // What is logged there is in no segment.
        trace();
        let session = Session::builder().file(dir.join("app.pftrace")).enable_all();
        let session = session.segment_bytes(20_000).keep_segments(3).start().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                for _ in 0..200 {
                    i!(TestLog::Net, "rotated %d", number);
                    number += 1;
                }
                thread::sleep(Duration::from_millis(3));
            }
            session.stop().unwrap();
        });
        Self { is_over, thread: Some(thread) }
    }

    /// Ends it, and waits until all segments are complete.
    pub(crate) fn end(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Rotation {
    fn drop(&mut self) {
        self.end();
    }
}

/// The trace with two parts of it gone.
pub(crate) fn damaged() -> Vec<u8> {
    let mut damaged = trace().to_vec();
    for at in [20_000, 30_000] {
        damaged[at..at + 200].fill(0xff);
    }
    damaged
}
