//! The views for Spark have the answers of `read-log`, and ClickHouse reads the tables.
//!
//! These engines are a gigabyte: without the Python of `PROTOLOG_ENGINES_PYTHON`, which
//! `cargo xtask soak engines` names, there is nothing to ask.

mod common;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{LazyLock, Mutex};

use common::{
    HOSTILE_COUNTS, SEARCHES, break_files, conversions, damaged_copies, described, exported, fleet,
    foreign_templates, lines_of, messages_of, sites_of, templates_of, trace,
};
use protolog_core::{Arg, Template, render};
use protolog_reader::Trace;
use protolog_testkit::{temp_dir, workspace_root};
use serde_json::Value as Json;
use tempfile::TempDir;

const WHY: &str = "PROTOLOG_ENGINES_PYTHON is no Python with pyspark and chdb";

/// The Python that has the engines.
fn engines() -> Option<OsString> {
    std::env::var_os("PROTOLOG_ENGINES_PYTHON")
}

/// A script of the engines' Python.
fn script(name: &str) -> Command {
    let mut python = Command::new(engines().expect(WHY));
    python.arg(workspace_root().join("fleet/tests").join(name));
    python
}

/// A session of Spark, which ends when its input does: with the tests.
struct Spark {
    _python: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// It takes longer to start than to answer, a minute on a busy machine: all tests share one.
static SPARK: LazyLock<Mutex<Spark>> = LazyLock::new(|| {
    let log = File::create(log()).unwrap();
    let mut python = script("spark.py");
    // It makes directories where it is.
    python.current_dir(env!("CARGO_TARGET_TMPDIR")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = python.stderr(log).spawn().expect(WHY);
    let (input, output) = (python.stdin.take().unwrap(), python.stdout.take().unwrap());
    Mutex::new(Spark { _python: python, input, output: BufReader::new(output) })
});

/// The file with what Spark says.
fn log() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("spark.log")
}

/// The rows that Spark answers about an archive, or why it doesn't.
fn try_ask(archive: &Path, command: &str, argument: &str) -> Result<Vec<Vec<Json>>, String> {
    // A test that failed has left nothing behind that others would see.
    let mut spark = SPARK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let question = serde_json::json!([archive, command, argument]).to_string();
    writeln!(spark.input, "{question}").unwrap();
    let mut rows = Vec::new();
    loop {
        let mut line = String::new();
        let length = spark.output.read_line(&mut line).unwrap();
        assert!(length > 0, "{question}: {}", fs::read_to_string(log()).unwrap());
        match serde_json::from_str(&line) {
            _ if line == "\n" => break Ok(rows),
            Ok(Json::Array(row)) => rows.push(row),
            Ok(Json::String(error)) => {
                assert_eq!(spark.output.read_line(&mut String::new()).unwrap(), 1);
                break Err(error);
            }
            other => panic!("{question}: {other:?}"),
        }
    }
}

/// The rows that Spark answers about an archive.
fn ask(archive: &Path, command: &str, argument: &str) -> Vec<Vec<Json>> {
    try_ask(archive, command, argument).unwrap_or_else(|error| panic!("{argument}: {error}"))
}

/// The messages, and the number of those that were lost, as `read-log` shows them.
fn expected() -> (Vec<Json>, u64) {
    let lines = lines_of(trace()).unwrap();
    let lines: Vec<Json> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let lost = lines.iter().filter(|line| line["type"] == "loss");
    let lost = lost.filter_map(|line| line["count"].as_u64()).sum();
    (lines.into_iter().filter(|line| line["type"] == "message").collect(), lost)
}

/// A directory with the archive of the trace.
fn archived() -> TempDir {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    dir
}

#[test]
fn the_log_and_what_is_lost_are_those_of_read_log() {
    if engines().is_none() {
        return;
    }
    let (dir, (messages, lost)) = (archived(), expected());
    let archive = dir.path().join("archive");

    let sql = "select message, level, tag, log_group, id, template, thread, boot_time from log
        order by boot_time, tie";
    let rows = ask(&archive, "query", sql);
    assert_eq!(rows.len(), messages.len());
    let names = ["message", "level", "tag", "group", "id", "template", "thread", "ts"];
    for (row, expected) in rows.iter().zip(&messages) {
        for (name, value) in names.iter().zip(row) {
            assert_eq!(*value, expected[name], "{name} of {expected}");
        }
    }

    let times = "select count(*) from log where unix_micros(time) <> time_ns div 1000";
    assert_eq!(ask(&archive, "query", times), [[Json::from(0)]]);

    let sums =
        "select (select sum(messages) from lost), sum(messages), count(*) from volume_by_site";
    let sums = ask(&archive, "query", sums);
    assert_eq!(sums, [[Json::from(lost), messages.len().into(), sites_of(&messages).into()]]);

    let log = Trace::from_bytes(trace()).read().unwrap();
    let passed_over: u64 = log.stats().passed_over.values().sum();
    let kept = messages.iter().filter(|message| message["rate"].is_string()).count();
    let sampled = "select log_group, level, kept, passed_over, cast(round(estimated * 2) as int) from sampled";
    let sampled = ask(&archive, "query", sampled);
    let group = messages.iter().find(|message| message["rate"].is_string()).unwrap();
    let [group, level] = ["group", "level"].map(|name| group[name].clone());
    // Two of three were kept.
    assert_eq!(sampled, [[group, level, kept.into(), passed_over.into(), (3 * kept).into()]]);
}

/// A file that is damaged fails what needs it, and is named; no view, and no question about other
/// dates.
#[test]
fn damaged_files_fail_what_asks_for_their_date() {
    if engines().is_none() {
        return;
    }
    let (dir, (messages, _)) = (archived(), expected());
    let archive = dir.path().join("archive");
    let broken = break_files(&archive);
    assert_eq!(broken.len(), 4);
    let count = "select count(message) from log where date > '2020-01-10'";
    assert_eq!(ask(&archive, "query", count), [[Json::from(messages.len())]]);
    // One of no bytes is passed by: it is named by `export check` alone.
    for path in broken.into_iter().skip(1) {
        let day = path.split('/').find_map(|part| part.strip_prefix("date=")).unwrap();
        let sql = format!("select count(message) from log where date = '{day}'");
        let error = try_ask(&archive, "query", &sql).unwrap_err();
        assert!(error.contains(&path), "{error}");
    }
}

/// Templates that are damaged take their texts along, and those of others take no memory.
#[test]
fn templates_that_are_damaged_or_foreign_fail_no_query() {
    if engines().is_none() {
        return;
    }
    let (dir, (messages, _)) = (archived(), expected());
    let archive = dir.path().join("archive");
    let args = ["parquet", "-o", "archive", "--host", "one", "--build", "b", "other.pftrace"];
    fs::write(dir.path().join("other.pftrace"), [&[0x0a, 2, 0x50, 7], trace()].concat()).unwrap();
    assert!(fleet(&args, dir.path()).status.success());
    assert!(foreign_templates(&archive).is_some());
    let whole = fs::read(templates_of(&archive, "b")).unwrap();
    let sql = "select count(*), count(if(build <> 'b', message, null)),
        count(if(build = 'b', message, null)) < 200 from log";
    let mut last = archive;
    for (round, bytes) in damaged_copies(&whole).iter().chain([&whole]).enumerate() {
        // Views are made anew for another directory.
        let moved = dir.path().join(format!("archive-{round}"));
        fs::rename(&last, &moved).unwrap();
        fs::write(templates_of(&moved, "b"), bytes).unwrap();
        last.clone_from(&moved);
        let is_damaged = *bytes != whole;
        let rows = ask(&moved, "query", sql);
        let count = Json::from(messages.len());
        assert_eq!(rows, [[(2 * messages.len()).into(), count, is_damaged.into()]], "{round}");
        let damaged = ask(&moved, "damaged", "");
        // Spark passes by a file of no bytes.
        assert_eq!(damaged.len(), usize::from(is_damaged && !bytes.is_empty()), "{round}");
    }
}

/// A trace may say that any number was lost: sums do not fail, here and there.
#[test]
fn numbers_that_are_too_large_fail_no_view() {
    if engines().is_none() {
        return;
    }
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), described::trace(HOSTILE_COUNTS)).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let sql = "select (select max(messages) from lost), (select max(passed_over) from sampled)";
    let sums = ask(&dir.path().join("archive"), "query", sql);
    assert_eq!(sums, [[Json::from(i64::MAX), i64::MAX.into()]]);
}

/// Every conversion, by the function that takes an id.
#[test]
fn messages_are_rendered_as_by_read_log() {
    if engines().is_none() {
        return;
    }
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), conversions::trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let archive = dir.path().join("archive");
    let rows = ask(&archive, "rendered", "");
    let sql = "select l.message, m.text from log l join messages m using (boot_time, tie) order by boot_time, tie";
    let texts = ask(&archive, "query", sql);
    let expected = messages_of(&conversions::trace());
    assert_eq!(texts.len(), expected.len());
    let mut rows = rows.iter();
    for (row, expected) in texts.iter().zip(&expected) {
        assert_eq!(row[0], expected["message"], "{expected}");
        if row[1].is_null() {
            assert_eq!(rows.next().unwrap()[0], expected["message"], "{expected}");
        }
    }
    assert!(rows.next().is_none());
}

#[test]
fn searches_find_what_read_log_shows() {
    if engines().is_none() {
        return;
    }
    let (dir, (messages, _)) = (archived(), expected());
    let wanted = serde_json::to_string(&SEARCHES).unwrap();
    let found = ask(&dir.path().join("archive"), "found", &wanted);
    for (wanted, row) in SEARCHES.iter().zip(found) {
        let count =
            |is_one: &dyn Fn(&Json) -> bool| messages.iter().filter(|it| is_one(it)).count();
        let expected = [
            count(&|it| it["message"].as_str().unwrap().contains(wanted)),
            count(&|it| it["template"].as_str().unwrap().replace("%%", "%").contains(wanted)),
            // A float that JSON has no number for is a text there.
            count(&|it| {
                *wanted != "inf"
                    && it["args"].as_array().unwrap().iter().any(|arg| arg.as_str() == Some(wanted))
            }),
        ];
        assert_eq!(row, expected.map(Json::from), "{wanted}");
    }
}

/// Nanoseconds, directories and arguments.
#[test]
fn clickhouse_reads_the_tables() {
    if engines().is_none() {
        return;
    }
    let (dir, (messages, lost)) = (archived(), expected());
    let archive = dir.path().join("archive");
    let table = |name: &str| format!("file('{}/{name}/**/*.parquet', Parquet)", archive.display());

    let ns = |place: Option<&Json>| place.and_then(|line| line["ts"].as_i64());
    let span = ns(messages.last()).unwrap() - ns(messages.first()).unwrap();
    let with_host = messages.iter().filter(|line| line["template"] == "round %d of %s").count();
    let sql = format!(
        "select count(), toUnixTimestamp64Nano(max(time)) - toUnixTimestamp64Nano(min(time)), \
         countIf(s0 = 'example.org' and i0 is not null), uniq(date, program, build) from {}",
        table("messages")
    );
    let expected = [Json::from(messages.len()), span.into(), with_host.into(), 1.into()];
    assert_eq!(clickhouse(&sql), [expected]);

    let sql = format!("select sum(count) from {}", table("losses"));
    assert_eq!(clickhouse(&sql), [[Json::from(lost)]]);
}

/// The rows that ClickHouse answers.
fn clickhouse(sql: &str) -> Vec<Vec<Json>> {
    let output = script("clickhouse.py").arg(sql).output().expect(WHY);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Floats of all sizes, halves and others, in all conversions.
#[test]
fn floats_have_the_digits_that_read_log_shows() {
    if engines().is_none() {
        return;
    }
    let dir = temp_dir();
    let (mut input, mut expected) = (String::new(), Vec::new());
    let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
    let odd = [0.0, -0.0, 1.005, 0.125, 2.5, 9.995, 999_999.5, 1e300, 5e-324, f64::MAX, 1e22];
    for turn in 0..4_000_usize {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        let value = match turn % 4 {
            0 => f64::from_bits(bits),
            1 => (bits % 32_000) as f64 / 8.0,
            2 => (bits % 100_000) as f64 / 1_000.0,
            _ => odd.get(turn / 4).copied().unwrap_or(f64::from(bits as i32) / 7.0),
        };
        let (verb, width) = (['f', 'e', 'g'][turn % 3], [0, 0, 8, 12][turn / 3 % 4]);
        let (zeros, precision) =
            (turn % 5 == 0, [None, Some(0), Some(1), Some(3), Some(10)][turn % 7 % 5]);
        if !value.is_finite() {
            continue;
        }
        let line = serde_json::json!([hex(value), verb.to_string(), width, zeros, precision]);
        let _ = writeln!(input, "{line}");
        let flags = if zeros && width > 0 { "0" } else { "" };
        let width = if width == 0 { String::new() } else { width.to_string() };
        let precision = precision.map_or(String::new(), |it| format!(".{it}"));
        let template = format!("%{flags}{width}{precision}{verb}");
        let (parsed, mut text) = (Template::parse(&template).unwrap(), String::new());
        render(&mut text, &parsed, |_| Some(Arg::Float(value))).unwrap();
        expected.push((template, value, text));
    }
    let floats = dir.path().join("floats");
    fs::write(&floats, input).unwrap();
    let rows = ask(dir.path(), "floats", floats.to_str().unwrap());
    assert_eq!(rows.len(), expected.len());
    for (row, (template, value, text)) in rows.iter().zip(expected) {
        assert_eq!(row[0], text, "{template} of {value:e}");
    }
}

/// A float as C writes it with `%a`, which has all of its bits.
fn hex(value: f64) -> String {
    let bits = value.to_bits();
    let (mantissa, exponent) = (bits & ((1 << 52) - 1), (bits >> 52 & 0x7ff) as i64);
    let (lead, exponent) = if exponent == 0 { (0, -1022) } else { (1, exponent - 1023) };
    let sign = if value.is_sign_negative() { "-" } else { "" };
    format!("{sign}0x{lead}.{mantissa:013x}p{exponent}")
}
