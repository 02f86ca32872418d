//! An archive gives back what its traces have: the lines of `read-log`, each once, in order.

mod common;
#[path = "archive/compaction.rs"]
mod compaction;
#[path = "archive/damage.rs"]
mod damage;
#[path = "archive/foreign.rs"]
mod foreign;
#[path = "archive/soak.rs"]
mod soak;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{
    Rotation, assert_same, check, check_damaged, exported, fleet, lines_of, trace, with_mounts,
};
use tempfile::TempDir;

#[test]
fn all_kinds_of_values_spans_and_losses_come_back() {
    let expected = lines_of(trace()).unwrap();
    let parts = [
        "\"span_end\"",
        "\"loss\"",
        "\"NaN\"",
        "\"stack_trace\"",
        "\"rate\"",
        "18446744073709551615",
    ];
    for part in parts {
        assert!(expected.contains(part), "the trace has no {part}");
    }
    check(trace(), "the trace");
}

/// Damage makes traces with everything that is unusual: messages in no dictionary, values that do
/// not fit, strings and times that are missing, spans without an end.
#[test]
fn what_is_left_of_damaged_traces_comes_back() {
    let trace = trace();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |most: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) as usize % most
    };
    for round in 0..60 {
        let mut damaged = trace[..200_000.min(trace.len())].to_vec();
        let more = &trace[trace.len() - 60_000..];
        damaged.extend_from_slice(more);
        for _ in 0..=next(40) {
            let at = next(damaged.len());
            damaged[at] ^= 1 << next(8);
        }
        if round % 3 == 0 {
            damaged.truncate(next(damaged.len()));
        }
        check_damaged(&damaged, &format!("damaged trace {round}"));
    }
}

#[test]
fn exporting_again_changes_nothing_and_a_grown_trace_replaces_itself() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("app.pftrace");
    let whole = trace();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let output = fleet(&["parquet", "-o", "archive", "app.pftrace"], dir.path());
    assert_eq!(output.status.code(), Some(3));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("warning: `app.pftrace` is damaged: "), "{errors}");
    let half = exported(dir.path(), &["app.pftrace"]);
    fs::write(&path, whole).unwrap();
    let all = exported(dir.path(), &["app.pftrace"]);
    assert!(half.lines().count() < all.lines().count());
    assert_eq!(all, lines_of(whole).unwrap());
    let before = content(&dir.path().join("archive"));
    fs::rename(&path, dir.path().join("other.pftrace")).unwrap();
    assert_eq!(exported(dir.path(), &["other.pftrace"]), all);
    let after = content(&dir.path().join("archive"));
    let tables = |files: &[(PathBuf, Vec<u8>)]| -> Vec<(PathBuf, Vec<u8>)> {
        let is_table = |(path, _): &&(PathBuf, Vec<u8>)| path.extension().unwrap() == "parquet";
        files.iter().filter(is_table).cloned().collect()
    };
    assert!(!tables(&before).is_empty());
    assert!(tables(&before) == tables(&after));
}

#[test]
fn a_directory_of_traces_becomes_one_archive() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("logs")).unwrap();
    fs::write(dir.path().join("logs/a.pftrace"), trace()).unwrap();
    // Another one by its first bytes.
    let other = [&[0x0a, 2, 0x50, 7], trace()].concat();
    fs::write(dir.path().join("logs/b.pftrace"), &other).unwrap();
    let lines = exported(dir.path(), &["logs"]);
    let both =
        lines_of(trace()).unwrap().lines().count() + lines_of(&other).unwrap().lines().count();
    assert_eq!(lines.lines().count(), both);
}

#[test]
fn a_failure_leaves_the_archive_as_it_was() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("bad.pftrace"), "no trace").unwrap();
    let output = fleet(&["parquet", "-o", "archive", "bad.pftrace"], dir.path());
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("error: can't read `bad.pftrace`"), "{errors}");
    assert_eq!(content(&dir.path().join("archive")), []);
    // A file where a directory would be.
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    fs::create_dir_all(dir.path().join("archive")).unwrap();
    fs::write(dir.path().join("archive/messages"), "").unwrap();
    let output = fleet(&["parquet", "-o", "archive", "app.pftrace"], dir.path());
    assert_eq!(output.status.code(), Some(2));
    let left = content(&dir.path().join("archive"));
    assert_eq!(left, [(dir.path().join("archive/messages"), Vec::new())]);
}

/// Exports a trace, and kills that after a time.
fn export_and_kill(dir: &Path, after: Duration) {
    export_and_kill_of(dir, "app.pftrace", after);
}

fn export_and_kill_of(dir: &Path, traces: &str, after: Duration) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool-fleet"));
    command.args(["parquet", "-o", "archive", "--host", "one", traces]).current_dir(dir);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    // Not by a sleep: that is longer than what lies between two renames.
    while begun.elapsed() < after && child.try_wait().unwrap().is_none() {}
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The trace with a part of it gone, which each of both may replace in an archive: they end at the
/// same time.
fn with_damage(trace: &[u8]) -> Vec<u8> {
    let mut damaged = trace.to_vec();
    damaged[20_000..24_000].fill(0xff);
    assert_ne!(lines_of(&damaged), lines_of(trace));
    damaged
}

/// The content of an archive; nothing without any export.
fn lines_in(dir: &Path) -> String {
    if !dir.join("archive/exports").is_dir() {
        return String::new();
    }
    let output = fleet(&["read", "archive"], dir);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_export_that_ends_at_any_step_is_there_whole_or_not_at_all() {
    let dir = TempDir::new().unwrap();
    let whole = &trace()[..60_000];
    let traces = [&with_damage(whole)[..], whole];
    let lines = traces.map(|trace| lines_of(trace).unwrap());
    let write = |now: usize| fs::write(dir.path().join("app.pftrace"), traces[now]).unwrap();
    write(0);
    assert_eq!(exported(dir.path(), &["app.pftrace"]), lines[0]);
    let (mut ends, mut outcomes) = (0, BTreeSet::new());
    for step in 1_u32.. {
        let now = step as usize % 2;
        write(now);
        let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool-fleet"));
        command.args(["parquet", "-o", "archive", "--host", "one", "app.pftrace"]);
        command.env("PROTOLOG_FLEET_LAST_STEP", step.to_string()).current_dir(dir.path());
        let is_killed = command.output().unwrap().status.code().is_none();
        let left = lines_in(dir.path());
        assert!(lines.contains(&left), "{step}: {} lines", left.lines().count());
        outcomes.insert(left == lines[now]);
        // Another export leaves nothing of that which was killed.
        assert_eq!(exported(dir.path(), &["app.pftrace"]), lines[now]);
        assert_only_recorded(&dir.path().join("archive"));
        if !is_killed {
            break;
        }
        ends += 1;
    }
    // Before the record, and after it.
    assert!(ends > 8 && outcomes.len() == 2, "{ends} {outcomes:?}");
}

#[test]
fn an_export_that_is_killed_is_there_whole_or_not_at_all() {
    let dir = TempDir::new().unwrap();
    let whole = &trace()[..120_000];
    let short = &with_damage(whole)[..];
    let lines = [short, whole].map(|trace| lines_of(trace).unwrap());
    fs::write(dir.path().join("app.pftrace"), short).unwrap();
    let begun = Instant::now();
    assert_eq!(exported(dir.path(), &["app.pftrace"]), lines[0]);
    let longest = begun.elapsed();
    // How long one takes depends on who else runs: some are killed early, some are done by then.
    let mut before = 0;
    for round in 0..30_u32 {
        let now = round as usize % 2;
        fs::write(dir.path().join("app.pftrace"), [whole, short][now]).unwrap();
        export_and_kill(dir.path(), longest * (20 + 6 * round) / 100);
        let left = lines_in(dir.path());
        let is = lines.iter().position(|lines| *lines == left);
        let is = is.unwrap_or_else(|| panic!("{round}: {} lines", left.lines().count()));
        assert!(is == before || is == 1 - now, "{round}");
        before = is;
    }
    // Another export leaves nothing of those that were killed.
    assert_eq!(exported(dir.path(), &["app.pftrace"]), lines[1 - 29 % 2]);
    assert_only_recorded(&dir.path().join("archive"));
}

/// Files of an archive are those of its records, but for templates.
fn assert_only_recorded(archive: &Path) {
    let mut recorded = BTreeSet::new();
    for entry in fs::read_dir(archive.join("exports")).unwrap() {
        let path = entry.unwrap().path();
        assert_ne!(path.extension().unwrap(), "intent");
        if path.extension().unwrap() == "json" {
            let record: serde_json::Value =
                serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            let files = record["files"].as_array().unwrap().iter();
            recorded.extend(files.map(|name| archive.join(name.as_str().unwrap())));
        }
    }
    for (path, _) in content(archive) {
        let is_of_export = !path.starts_with(archive.join("templates"))
            && path.extension().is_some_and(|extension| extension == "parquet");
        assert!(!is_of_export || recorded.contains(&path), "{}", path.display());
    }
    assert!(recorded.iter().all(|path| path.is_file()));
}

#[test]
fn segments_that_rotate_are_exported_meanwhile() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("logs")).unwrap();
    let mut rotation = Rotation::start(&dir.path().join("logs"));
    let args = ["parquet", "-o", "archive", "--host", "one", "logs"];
    for round in 0..20 {
        let output = fleet(&args, dir.path());
        let errors = String::from_utf8(output.stderr).unwrap();
        // The last segment may end in the middle of a packet.
        assert!(matches!(output.status.code(), Some(0 | 3)), "{round}: {errors}");
    }
    rotation.end();
    let lines = exported(dir.path(), &["logs"]);
    let rotated = lines.lines().filter(|line| line.contains("\"rotated "));
    let messages: Vec<&str> =
        rotated.map(|line| line.split_once("\"message\":").unwrap().1).collect();
    let different: BTreeSet<&&str> = messages.iter().collect();
    assert!(messages.len() > 500, "{}", messages.len());
    assert_eq!(different.len(), messages.len());
    assert_only_recorded(&dir.path().join("archive"));
}

#[test]
fn an_export_to_a_disk_that_is_full_leaves_nothing() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    let script = "mount -t tmpfs -o size=32k none disk
        $0 parquet -o disk/archive app.pftrace
        test $? = 2 && find disk -type f && mount -o remount,size=64m disk &&
        $0 parquet -o disk/archive app.pftrace && $0 read disk/archive > lines";
    let Some(mut command) = with_mounts(script, dir.path()) else { return };
    let output = command.output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    assert!(errors.starts_with("error: can't write `disk/archive/"), "{errors}");
    let said = String::from_utf8(output.stdout).unwrap();
    // No file was found before that.
    assert!(said.starts_with("app.pftrace: "), "{said}");
    let lines = fs::read_to_string(dir.path().join("lines")).unwrap();
    assert_same(&lines, &lines_of(trace()).unwrap(), "a full disk");
}

#[test]
fn exports_at_the_same_time_are_each_there_whole() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    let other = [&[0x0a, 2, 0x50, 7], trace()].concat();
    fs::write(dir.path().join("other.pftrace"), &other).unwrap();
    for round in 0..5 {
        // The same trace for two builds, and another one.
        let exports = [("a", "app.pftrace"), ("b", "app.pftrace"), ("a", "other.pftrace")];
        let start = |(build, trace): (&str, &str)| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool-fleet"));
            command.args(["parquet", "-o", "archive", "--build", build, trace]);
            command.current_dir(dir.path()).stdout(Stdio::null()).spawn().unwrap()
        };
        for mut export in exports.map(start) {
            assert!(export.wait().unwrap().success());
        }
        let (one, two) = (lines_of(trace()).unwrap(), lines_of(&other).unwrap());
        let count = one.lines().count() + two.lines().count();
        assert_eq!(lines_in(dir.path()).lines().count(), count, "{round}");
        assert_only_recorded(&dir.path().join("archive"));
    }
}

#[test]
fn a_reader_that_has_read_enough_is_no_failure() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let export: &[&str] = &["parquet", "-o", "archive", "app.pftrace"];
    for args in [export, &["read", "archive"], &["--help"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool-fleet"));
        command.args(args).current_dir(dir.path());
        // A pipe whose other end is closed.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command.stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.starts_with("error: can't write to standard output: "), "{errors}");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn a_wrong_command_line_is_explained() {
    let dir = TempDir::new().unwrap();
    for (args, expected) in [
        (&["parquet"][..], "error: missing `-o DIR`\nhelp: name the directory of the archive\n"),
        (
            &["parquet", "-o", "x"],
            "error: no trace is named\nhelp: give the file that a session writes\n",
        ),
        (
            &["csv"],
            "error: no export `csv`\nhelp: use one of `parquet`, `otlp`, `read`, `traces`, `check`\n",
        ),
        (
            &["read", "x"],
            "error: can't read `x/exports`: No such file or directory (os error 2)\nhelp: name the directory that `export` wrote\n",
        ),
    ] {
        let output = fleet(args, dir.path());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
    }
}

/// All files below a directory, by their paths.
fn content(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.extend(content(&entry.path()));
        } else {
            files.push((entry.path(), fs::read(entry.path()).unwrap()));
        }
    }
    files.sort();
    files
}

/// The records of an archive may come from others: none of them leads out of it.
#[test]
fn an_archive_of_others_removes_and_reads_nothing_outside_of_it() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("app.pftrace"), &trace()[..60_000]).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    fs::create_dir(at("home")).unwrap();
    let (victims, own) = (["victim", "home/victim-1"], at("archive/victim-own"));
    for name in victims {
        fs::write(at(name), "kept").unwrap();
    }
    std::os::unix::fs::symlink(at("home"), at("archive/link")).unwrap();
    fs::write(&own, "removed").unwrap();
    let absolute = at("victim").display().to_string();
    let named = ["../victim", &absolute, "../home/victim-1", "link/victim-1", "./../victim"];
    let export = |files: &[&str]| {
        let export = serde_json::json!({"trace": "t", "messages": 0, "files": files});
        export.to_string()
    };
    // Files of a killed export are removed, if it is its own and below the archive.
    for name in named {
        fs::write(at("archive/exports/victim.intent"), export(&[name, "victim-own"])).unwrap();
        fs::write(&own, "removed").unwrap();
        // Where a link leads out, the export may be refused.
        let output =
            fleet(&["parquet", "-o", "archive", "--host", "one", "app.pftrace"], dir.path());
        assert!(matches!(output.status.code(), Some(0 | 2 | 3)), "{output:?}");
        for victim in victims {
            assert_eq!(fs::read_to_string(at(victim)).unwrap(), "kept", "{name}: {victim}");
        }
        if !name.starts_with("link") {
            assert!(!own.exists(), "{name}");
        }
    }
    let _ = fs::remove_file(at("archive/exports/victim.intent"));
    // The record of the trace itself names files of others, which its next export would replace.
    let mut records =
        fs::read_dir(at("archive/exports")).unwrap().map(|entry| entry.unwrap().path());
    let record = records.find(|path| path.extension().is_some_and(|it| it == "json")).unwrap();
    let whole = fs::read_to_string(&record).unwrap();
    for name in named {
        fs::write(&record, export(&[name])).unwrap();
        let output = fleet(&["read", "archive"], dir.path());
        if !name.starts_with("link") {
            let errors = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{name}: {errors}");
            assert!(errors.contains(&format!("`{name}` is not below the archive")), "{errors}");
        }
        let output = fleet(&["parquet", "-o", "archive", "app.pftrace"], dir.path());
        assert!(matches!(output.status.code(), Some(0 | 2 | 3)), "{output:?}");
        for victim in victims {
            assert_eq!(fs::read_to_string(at(victim)).unwrap(), "kept", "{name}: {victim}");
        }
    }
    fs::write(&record, whole).unwrap();
}

/// Files of a killed export are removed, but not what another trace's export has, too: the
/// templates of the build, and files without rows.
#[test]
fn clearing_up_after_a_kill_leaves_what_is_shared() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.pftrace"), &trace()[..60_000]).unwrap();
    exported(dir.path(), &["a.pftrace"]);
    let archive = dir.path().join("archive");
    let tables =
        || -> BTreeSet<PathBuf> { content(&archive).into_iter().map(|(path, _)| path).collect() };
    let before = tables();
    let (lines, name) = (lines_in(dir.path()), |path: &PathBuf| {
        path.strip_prefix(&archive).unwrap().to_str().unwrap().to_owned()
    });
    let files: Vec<String> =
        before.iter().map(name).filter(|it| it.ends_with(".parquet")).collect();
    assert!(files.iter().any(|name| name.starts_with("templates/")), "{files:?}");
    // An export of another trace was killed when it had put in place what both have.
    let intent = serde_json::json!({"trace": "b", "messages": 0, "files": files});
    fs::write(archive.join("exports/0123456789abcdef.intent"), intent.to_string()).unwrap();
    fs::write(dir.path().join("c.pftrace"), [&[0x0a, 2, 0x50, 7], &trace()[..60_000]].concat())
        .unwrap();
    let output = fleet(&["parquet", "-o", "archive", "--host", "one", "c.pftrace"], dir.path());
    assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
    assert!(!archive.join("exports/0123456789abcdef.intent").exists());
    assert!(before.is_subset(&tables()), "{:?}", before.difference(&tables()));
    assert!(lines_in(dir.path()).lines().count() > lines.lines().count());
}

#[test]
fn a_file_that_says_wrong_blocks_is_named() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("app.pftrace"), &trace()[..60_000]).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let files = content(&dir.path().join("archive/messages"));
    let at_key = |bytes: &[u8]| bytes.windows(15).position(|it| it == b"protolog.blocks");
    let (path, mut bytes) = files.into_iter().find(|(_, bytes)| at_key(bytes).is_some()).unwrap();
    let key = at_key(&bytes).unwrap();
    let value = key + bytes[key..].windows(3).position(|it| it == b"[1]").unwrap();
    for wrong in [b"[9]", b"[0]", b"[] "] {
        bytes[value..value + 3].copy_from_slice(wrong);
        fs::write(&path, &bytes).unwrap();
        let output = fleet(&["read", "archive"], dir.path());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains("`protolog.blocks` is not that of its row groups"), "{errors}");
    }
}
