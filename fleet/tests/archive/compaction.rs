//! Compaction by `integrations/duckdb/compact.sh`: a day is there whole or not at all, for those
//! who read meanwhile, and whenever it is killed.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use protolog_testkit::workspace_root;
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use super::soak::Random;
use crate::common::{exported, fleet, fleet_python, query, trace, wheels};

/// A job for one day and program.
fn job(dir: &Path, python: &Path, [date, program]: [&str; 2]) -> Command {
    let mut job = Command::new("sh");
    job.arg(workspace_root().join("integrations/duckdb/compact.sh"));
    job.args(["archive", "compact", date, program]).current_dir(dir);
    job.env("DUCKDB", workspace_root().join("fleet/tests/duckdb.sh"));
    job.env("PROTOLOG_TEST_PYTHON", python).env("PYTHONPATH", wheels());
    job
}

/// The days and programs that the archive has messages of.
fn places(archive: &Path) -> Vec<[String; 2]> {
    let below = |dir: &Path, key: &str| -> Vec<(String, PathBuf)> {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let named = paths.into_iter().map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            (name.strip_prefix(key).unwrap().to_owned(), path)
        });
        named.filter(|(name, _)| !name.starts_with("__HIVE")).collect()
    };
    let days = below(&archive.join("messages"), "date=").into_iter();
    let places = days.flat_map(|(date, path)| {
        let programs = below(&path, "program=").into_iter();
        programs.map(move |(program, _)| [date.clone(), program]).collect::<Vec<_>>()
    });
    places.collect()
}

/// A process that counts the messages that are there, as often as it can.
struct Reader(Child);

impl Reader {
    fn start(archive: &Path, python: &Path) -> Self {
        fs::create_dir_all(archive).unwrap();
        let mut reader = Command::new(python);
        reader.arg(workspace_root().join("fleet/tests/watch.py")).current_dir(archive);
        reader.env("PYTHONPATH", wheels()).stdin(Stdio::piped());
        Self(reader.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// All that it has counted.
    fn end(self) -> Vec<u64> {
        let output = self.0.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).unwrap();
        let counts = lines.lines().map(|line| {
            let [count, without_text]: [u64; 2] = serde_json::from_str(line).unwrap();
            assert_eq!(without_text, 0);
            count
        });
        counts.collect()
    }
}

/// Compacts all that the archive of a directory has, with jobs that are killed, while somebody
/// reads.
pub(super) fn compact_and_kill(dir: &Path, random: &mut Random, kills: u32) {
    let Some(python) = fleet_python("compaction") else { return };
    let [archive, compact] = ["archive", "compact"].map(|name| dir.join(name));
    let reader = Reader::start(&compact, &python);
    let mut counts = vec![0];
    for place in places(&archive) {
        let place = place.each_ref().map(String::as_str);
        // Which part of a job a kill meets depends on who else runs: one meets DuckDB.
        if counts.len() == 1 {
            let output = job(dir, &python, place).env("PROTOLOG_TEST_CUT", "1").output().unwrap();
            assert_eq!(output.status.code(), None, "{output:?}");
        }
        for _ in 0..kills {
            let mut killed = job(dir, &python, place);
            let killed = killed.process_group(0).stdout(Stdio::null()).stderr(Stdio::null());
            let mut killed = killed.spawn().unwrap();
            thread::sleep(Duration::from_micros(random.below(2_500_000)));
            let group = Pid::from_raw(killed.id() as i32).unwrap();
            // It may have ended.
            let _ = kill_process_group(group, Signal::KILL);
            killed.wait().unwrap();
        }
        let output = job(dir, &python, place).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let [date, program] = place;
        let sql = format!(
            "select count(*) from messages where date = '{date}' and program = '{program}'"
        );
        let [count]: [u64; 1] = serde_json::from_str(&query(&archive, &sql).unwrap()).unwrap();
        counts.push(counts.last().unwrap() + count);
    }
    let seen = reader.end();
    assert!(!seen.is_empty() && seen.iter().all(|count| counts.contains(count)), "{seen:?}");
    assert!(seen.is_sorted(), "{seen:?}");
    // Both have the same rows.
    let sql = "select
        (select sum(hash(time, boot_time, tie, source, host, thread, id, level, message, stack_trace, weight))::varchar
            from log where date is not null),
        (select sum(hash(l))::varchar from losses l where date is not null),
        (select sum(hash(s))::varchar from spans s where date is not null)";
    assert_eq!(query(&compact, sql), query(&archive, sql));
    let output = fleet(&["check", "compact"], dir);
    assert!(output.status.success(), "{output:?}");
    let left = fs::read_dir(&compact).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!left.into_iter().any(|name| name == ".compact"));
}

/// The exit code of a job, and what it says.
fn ended(dir: &Path, python: &Path, place: [&str; 2]) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = job(dir, python, place).output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

/// The files below a directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Who removes a day for which the job has ended well loses nothing.
#[test]
fn a_machine_that_comes_later_is_said() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.pftrace"), trace()).unwrap();
    fs::write(dir.path().join("b.pftrace"), [&[0x0a, 2, 0x50, 7], trace()].concat()).unwrap();
    exported(dir.path(), &["a.pftrace"]);
    let Some(python) = fleet_python("compaction") else { return };
    let [archive, compact] = ["archive", "compact"].map(|name| dir.path().join(name));
    let [date, program] = &places(&archive)[0];
    for _ in 0..2 {
        assert_eq!(ended(dir.path(), &python, [date, program]), (Some(0), String::new()));
    }
    for file in files(&compact) {
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o77, 0, "{}", file.display());
    }
    exported(dir.path(), &["b.pftrace"]);
    let (code, errors) = ended(dir.path(), &python, [date, program]);
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains(".parquet`, which came later\nhelp: keep it"), "{errors}");
    for table in ["losses", "messages", "spans"] {
        let day = archive.join(table).join(format!("date={date}"));
        let removed = if day.exists() { fs::remove_dir_all(day) } else { Ok(()) };
        removed.unwrap();
    }
    assert_eq!(ended(dir.path(), &python, [date, program]).0, Some(0));
}

/// What a bad disk changes in files that were compacted is found by the checksums beside them.
#[test]
fn a_check_finds_what_was_changed_in_a_day_that_was_compacted() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.pftrace"), trace()).unwrap();
    exported(dir.path(), &["a.pftrace"]);
    let Some(python) = fleet_python("compaction") else { return };
    let [archive, compact] = ["archive", "compact"].map(|name| dir.path().join(name));
    let [date, program] = &places(&archive)[0];
    assert_eq!(ended(dir.path(), &python, [date, program]), (Some(0), String::new()));
    let checked = || {
        let output = fleet(&["check", "compact"], dir.path());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    assert_eq!(checked(), (Some(0), String::new(), String::new()));
    for table in ["messages", "losses", "spans"] {
        let mut found = files(&compact.join(table)).into_iter();
        let path = found.find(|path| !path.ends_with("none.parquet")).unwrap();
        let name = path.strip_prefix(dir.path()).unwrap().to_str().unwrap();
        let whole = fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(whole.len() / 20) {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&path, changed).unwrap();
            let (code, names, reasons) = checked();
            assert_eq!((code, names), (Some(3), format!("{name}\n")), "{at}: {reasons}");
            let help = "\nhelp: compact its day again if that is there, or move the file out of the archive\n";
            assert!(reasons.ends_with(help), "{reasons}");
        }
        fs::remove_file(&path).unwrap();
        let (code, names, reasons) = checked();
        assert_eq!((code, names), (Some(3), String::new()), "{reasons}");
        assert!(reasons.starts_with(&format!("warning: `{name}` is missing\n")), "{reasons}");
        fs::write(&path, whole).unwrap();
    }
    // A list that is damaged is named, too; and a day that was removed lacks nothing.
    let list = compact.join(format!(".sha256/date={date}/program={program}"));
    let whole = fs::read(&list).unwrap();
    fs::write(&list, &whole[..whole.len() - 9]).unwrap();
    let (code, names, _) = checked();
    let below = format!("compact/.sha256/date={date}/program={program}\n");
    assert_eq!((code, names), (Some(3), below));
    fs::write(&list, &whole).unwrap();
    for table in ["messages", "losses", "spans"] {
        fs::remove_dir_all(compact.join(table).join(format!("date={date}"))).unwrap();
    }
    assert_eq!(checked(), (Some(0), String::new(), String::new()));
}

/// Traces that are still there when their day is removed bring it back with the next export: it is
/// the day that was compacted, and no machine that came later.
#[test]
fn a_day_that_is_exported_again_is_compacted_already() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.pftrace"), trace()).unwrap();
    exported(dir.path(), &["a.pftrace"]);
    let Some(python) = fleet_python("compaction") else { return };
    let archive = dir.path().join("archive");
    let [date, program] = &places(&archive)[0];
    assert_eq!(ended(dir.path(), &python, [date, program]), (Some(0), String::new()));
    for table in ["losses", "messages", "spans"] {
        fs::remove_dir_all(archive.join(table).join(format!("date={date}"))).unwrap();
    }
    // Other files of the same names: rows of one are those of the other.
    thread::sleep(Duration::from_millis(20));
    exported(dir.path(), &["a.pftrace"]);
    assert_eq!(&places(&archive)[0], &[date.clone(), program.clone()]);
    assert_eq!(ended(dir.path(), &python, [date, program]), (Some(0), String::new()));
}

/// Escapes of DuckDB are others than those of exports.
#[test]
fn a_program_of_any_name_is_compacted() {
    let dir = TempDir::new().unwrap();
    let name = |from: &str, to: &str| {
        let mut bytes = trace().to_vec();
        let mut count = 0;
        for at in 0..bytes.len() - from.len() {
            if bytes[at..].starts_with(from.as_bytes()) {
                bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
                count += 1;
            }
        }
        assert!(count > 0);
        bytes
    };
    fs::write(dir.path().join("a.pftrace"), name("/archive-", "/a %*'ve-")).unwrap();
    exported(dir.path(), &["a.pftrace"]);
    let Some(python) = fleet_python("compaction") else { return };
    let [archive, compact] = ["archive", "compact"].map(|name| dir.path().join(name));
    let [date, program] = &places(&archive)[0];
    assert!(program.contains('%'), "{program}");
    assert_eq!(ended(dir.path(), &python, [date, program]), (Some(0), String::new()));
    let sql = "select program, sum(hash(message))::varchar from log group by all";
    assert_eq!(query(&compact, sql), query(&archive, sql));
    // No message has no program.
    let none = ["__HIVE_DEFAULT_PARTITION__"; 2];
    assert_eq!(ended(dir.path(), &python, none).0, Some(2));
}

/// A link of somebody else would lead to what is removed here.
#[test]
fn a_directory_that_others_may_write_to_is_refused() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.pftrace"), trace()).unwrap();
    exported(dir.path(), &["a.pftrace"]);
    let Some(python) = fleet_python("compaction") else { return };
    let [archive, compact] = ["archive", "compact"].map(|name| dir.path().join(name));
    let [date, program] = &places(&archive)[0];
    let before = files(&archive);
    let refused = || {
        let (code, errors) = ended(dir.path(), &python, [date, program]);
        assert_eq!(code, Some(2), "{errors}");
        assert!(errors.contains("others may write there"), "{errors}");
        assert_eq!(files(&archive), before);
    };
    symlink(&archive, &compact).unwrap();
    refused();
    fs::remove_file(&compact).unwrap();
    fs::create_dir(&compact).unwrap();
    symlink(archive.join("messages"), compact.join("messages")).unwrap();
    refused();
    fs::remove_file(compact.join("messages")).unwrap();
    fs::set_permissions(&compact, fs::Permissions::from_mode(0o777)).unwrap();
    refused();
    fs::set_permissions(&compact, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(ended(dir.path(), &python, [date, program]), (Some(0), String::new()));
}

#[test]
fn a_day_is_compacted_whole_or_not_at_all() {
    let dir = TempDir::new().unwrap();
    for (name, first) in [("a", 7), ("b", 8)] {
        // Others by their first bytes.
        let trace = [&[0x0a, 2, 0x50, first], trace()].concat();
        fs::write(dir.path().join(format!("{name}.pftrace")), trace).unwrap();
    }
    exported(dir.path(), &["a.pftrace", "b.pftrace"]);
    compact_and_kill(dir.path(), &mut Random(38), 2);
    let Some(python) = fleet_python("compaction") else { return };
    let [date, program] = &places(&dir.path().join("archive"))[0];
    let failed = |place| ended(dir.path(), &python, place);
    let (code, errors) = failed([date, "other"]);
    assert_eq!(code, Some(2));
    assert!(errors.ends_with("help: name a date and a program that were exported\n"), "{errors}");
    let (code, errors) = failed([date, "it's"]);
    assert_eq!(code, Some(2), "{errors}");
    // What a killed export has left would be there twice, for good.
    fs::remove_dir_all(dir.path().join("compact")).unwrap();
    fs::write(dir.path().join("archive/exports/0123456789abcdef.intent"), "{}").unwrap();
    let (code, errors) = failed([date, program]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("was interrupted"), "{errors}");
    exported(dir.path(), &["a.pftrace"]);
    assert_eq!(failed([date, program]), (Some(0), String::new()));
    // A job may be killed when all is in its place, and nothing is left to do but clearing up.
    let work = dir.path().join("compact/.compact");
    fs::create_dir(&work).unwrap();
    fs::write(work.join("said"), "").unwrap();
    assert_eq!(failed([date, program]), (Some(0), String::new()));
    assert!(!work.exists());
}
