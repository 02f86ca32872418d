//! Archives while programs write, rotate, end and are killed, and exporters are killed or can't
//! write, and while days are compacted: every message whose call has returned is there once, and
//! so it stays.
//!
//! A short run is a test; `cargo xtask soak archives` has it go on for `PROTOLOG_SOAK_SECONDS`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use protolog_reader::{Recording, complete, find_recording, session_id};
use protolog_rt::{ProtoLogGroup, RecordingPlace, Session, i};
use tempfile::TempDir;

use super::compaction::compact_and_kill;
use super::{assert_only_recorded, content, export_and_kill_of, lines_in};
use crate::common::{assert_same, fleet, lines_of, query};

#[derive(ProtoLogGroup)]
enum SoakLog {
    Work,
}

/// Rounds of a test.
const ROUNDS: u32 = 1;

/// The messages of a program: all that it logs are exported again and again.
const MOST: u64 = 3_000;

/// The program: logs numbers to `PROTOLOG_SOAK_PROGRAM` until it is killed, or asked to end by a
/// file, and notes in a file how many calls have returned.
#[test]
fn program() {
    let Some(path) = std::env::var_os("PROTOLOG_SOAK_PROGRAM") else { return };
    let path = PathBuf::from(path);
    let session = Session::builder().file(&path).enable_all().segment_bytes(20_000);
    let session = session.recording_in(RecordingPlace::BesideTrace).start().unwrap();
    let done = File::create(path.with_extension("done")).unwrap();
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut number = 0_u64;
    // A test that fails takes its directory along.
    let is_wanted = || path.parent().unwrap().is_dir() && !path.with_extension("end").exists();
    while is_wanted() {
        for _ in 0..if number < MOST { 20 } else { 0 } {
            i!(SoakLog::Work, "soak %d of %s", number, name);
            number += 1;
        }
        done.write_all_at(&number.to_le_bytes(), 0).unwrap();
        thread::sleep(Duration::from_millis(3));
    }
    session.stop().unwrap();
}

fn start(path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["soak::program", "--exact", "--nocapture"]).env("PROTOLOG_SOAK_PROGRAM", path);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// The number of calls that have returned.
fn done(path: &Path) -> u64 {
    let bytes = fs::read(path.with_extension("done")).unwrap_or_default();
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

/// SplitMix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % most
    }
}

/// The numbers that the archive has of each program, and how often.
fn numbers(lines: &str) -> BTreeMap<String, BTreeMap<u64, u32>> {
    let mut all = BTreeMap::<String, BTreeMap<u64, u32>>::new();
    for line in lines.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        if line["template"] == "soak %d of %s" {
            let [number, name] = [0, 1].map(|at| &line["args"][at]);
            let of = all.entry(name.as_str().unwrap().to_owned()).or_default();
            *of.entry(number.as_u64().unwrap()).or_default() += 1;
        }
    }
    all
}

/// An export that may write no file of more than so many KiB.
fn export_within(dir: &Path, kib: u64) -> Option<i32> {
    let script =
        format!("trap '' XFSZ; ulimit -f {kib}; exec \"$0\" parquet -o archive --host one logs");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_protologtool-fleet")]).current_dir(dir);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().code()
}

/// Exports what there is, as often as it takes to be sure that programs have gone on meanwhile.
fn export(dir: &Path) {
    let output = fleet(&["parquet", "-o", "archive", "--host", "one", "logs"], dir);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{errors}");
}

#[test]
fn nothing_is_lost_or_doubled_while_programs_and_exporters_are_killed() {
    let seconds = std::env::var("PROTOLOG_SOAK_SECONDS").map_or(180, |it| it.parse().unwrap());
    let is_soak = std::env::var_os("PROTOLOG_SOAK").is_some();
    let end = is_soak.then(|| Instant::now() + Duration::from_secs(seconds));
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let mut random = Random(seed.as_nanos() as u64);
    println!("seed {}", random.0);
    let mut round = 0;
    while end.map_or(round < ROUNDS, |end| Instant::now() < end) {
        run(&mut random, is_soak);
        round += 1;
    }
    println!("{round} rounds");
}

fn run(random: &mut Random, is_soak: bool) {
    let dir = TempDir::new().unwrap();
    let logs = dir.path().join("logs");
    fs::create_dir(&logs).unwrap();
    let mut all: Vec<(PathBuf, u64)> = Vec::new();
    // The programs of each turn begin while those of the one before are killed or end.
    let mut running: Vec<(PathBuf, Child)> = Vec::new();
    for turn in 0..2 {
        for number in 0..2 {
            let path = logs.join(format!("app-{turn}-{number}.pftrace"));
            running.push((path.clone(), start(&path)));
        }
        // How long they take to begin depends on who else runs.
        let late = Instant::now() + Duration::from_secs(60);
        while running.iter().any(|(path, _)| done(path) == 0) {
            assert!(Instant::now() < late, "a program does not begin");
            thread::sleep(Duration::from_millis(5));
        }
        for _ in 0..3 {
            thread::sleep(Duration::from_millis(random.below(150)));
            match random.below(4) {
                0 => export(dir.path()),
                1 => _ = export_within(dir.path(), 1 + random.below(64)),
                _ => export_and_kill_of(
                    dir.path(),
                    "logs",
                    Duration::from_micros(random.below(400_000)),
                ),
            }
        }
        for (path, mut program) in running.drain(..) {
            if random.below(2) == 0 {
                program.kill().unwrap();
            } else {
                fs::write(path.with_extension("end"), "").unwrap();
            }
            program.wait().unwrap();
            let done = done(&path);
            all.push((path, done));
        }
    }
    check(dir.path(), &all);
    compact_and_kill(dir.path(), random, if is_soak { 4 } else { 1 });
    retire(dir.path(), &lines_in(dir.path()));
}

fn check(dir: &Path, all: &[(PathBuf, u64)]) {
    let archive = dir.join("archive");
    export(dir);
    let lines = lines_in(dir);
    let numbers = numbers(&lines);
    for (path, done) in all {
        let none = BTreeMap::new();
        let found = numbers.get(path.file_stem().unwrap().to_str().unwrap()).unwrap_or(&none);
        let missing: Vec<u64> = (0..*done).filter(|number| !found.contains_key(number)).collect();
        assert!(missing.is_empty(), "{}: {} of {done}, {missing:?}", path.display(), missing.len());
        let doubled = found.iter().find(|(_, count)| **count > 1);
        assert_eq!(doubled, None, "{}", path.display());
    }
    assert_only_recorded(&archive);
    // Another export changes nothing.
    let before = content(&archive);
    export(dir);
    assert!(content(&archive) == before, "{:?}", names(&before, &content(&archive)));
    // Each trace has the lines of `read-log`, and made again, so has it.
    let output = fleet(&["traces", "-o", "made", "archive"], dir);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made: Vec<String> = lines_of_all(&dir.join("made"));
    assert_same(&sorted(&made.concat()), &sorted(&lines), "made again");
    for path in fs::read_dir(dir.join("logs")).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_trace = [".pftrace", ".pftrace.part"].iter().any(|end| name.ends_with(end));
        let Some(of_trace) = is_trace.then(|| lines_of(&completed(&path))).flatten() else {
            continue;
        };
        if !of_trace.is_empty() && !made.contains(&of_trace) {
            // The one that has most of it.
            let has =
                |lines: &&String| lines.lines().filter(|line| of_trace.contains(*line)).count();
            let nearest = made.iter().max_by_key(has).unwrap();
            assert_same(nearest, &of_trace, &path.display().to_string());
        }
    }
    let count = lines.lines().filter(|line| line.starts_with("{\"type\":\"message\"")).count();
    let rows = query(
        &archive,
        "select count(*), count(distinct message) from log where template like 'soak%'",
    );
    if let Some(rows) = rows {
        let soak = lines.lines().filter(|line| line.contains("\"template\":\"soak ")).count();
        assert_eq!(rows.trim(), format!("[{soak}, {soak}]"), "{count}");
    }
}

/// A trace with what its recording has more of it: a program that is killed while it rotates has
/// that of a segment which is complete and has its last name, since it has begun no other.
fn completed(path: &Path) -> Vec<u8> {
    let mut trace = fs::read(path).unwrap();
    let open = |path: &Path| File::open(path).ok();
    if let Some(recording) = find_recording(path, session_id(&trace), open) {
        let recorded = fs::read(recording).unwrap();
        let recording = Recording::parse(&recorded).unwrap();
        if recording.trace().is_some_and(|of| of.is_at(path)) {
            complete(&mut trace, &recording).transpose().unwrap();
        }
    }
    trace
}

/// A day is removed as the manual says, and comes back by an export.
fn retire(dir: &Path, lines: &str) {
    let archive = dir.join("archive");
    for table in ["messages", "losses", "spans"] {
        for day in fs::read_dir(archive.join(table)).unwrap().map(|entry| entry.unwrap().path()) {
            if !day.to_str().unwrap().contains("__HIVE_DEFAULT_PARTITION__") {
                fs::remove_dir_all(day).unwrap();
            }
        }
    }
    let output = fleet(&["read", "archive"], dir);
    assert_eq!(output.status.code(), Some(2), "an export without its files was read");
    if let Some(count) = query(&archive, "select count(*) from log") {
        assert_eq!(count.trim(), "[0]");
    }
    let files = content(&archive).into_iter().map(|(path, _)| path);
    let (records, files): (Vec<PathBuf>, Vec<PathBuf>) =
        files.partition(|path| path.extension().is_some_and(|extension| extension == "json"));
    for record in records {
        let source = format!("{}-", record.file_stem().unwrap().to_str().unwrap());
        let is_own = |path: &&PathBuf| {
            path.file_name().is_some_and(|name| name.to_str().unwrap().starts_with(&source))
        };
        for path in files.iter().filter(is_own).chain([&record]) {
            fs::remove_file(path).unwrap();
        }
    }
    let output = fleet(&["check", "archive"], dir);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(lines_in(dir), "");
    export(dir);
    assert_same(&lines_in(dir), lines, "after the day was removed");
}

fn sorted(lines: &str) -> String {
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// The lines of the traces in a directory.
fn lines_of_all(dir: &Path) -> Vec<String> {
    let traces = fs::read_dir(dir).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    traces.map(|trace| lines_of(&trace).unwrap_or_default()).collect()
}

/// The names of files that are in one of both, or differ.
fn names(one: &[(PathBuf, Vec<u8>)], other: &[(PathBuf, Vec<u8>)]) -> Vec<PathBuf> {
    let of = |a: &[(PathBuf, Vec<u8>)], b: &[(PathBuf, Vec<u8>)]| -> Vec<PathBuf> {
        a.iter().filter(|it| !b.contains(it)).map(|(path, _)| path.clone()).collect()
    };
    [of(one, other), of(other, one)].concat()
}
