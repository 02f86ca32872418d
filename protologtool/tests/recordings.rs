//! `recover --list` and `recover --prune`, by the real program on real files.

#[path = "../../protolog-reader/tests/common/recording.rs"]
mod recording;
#[path = "../../protolog-reader/tests/common/trace/mod.rs"]
mod trace;

use protolog_testkit::temp_dir;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

const APP: &str = r#"
@1 process(100, "/usr/bin/app\x1b[2J") group(1, "app::Log::Net", "Net") message(0x11, DEBUG, 1, "sent %d", "src/net.rs:12")
@2 cleared snapshot(64=2000000000, boot=2000000000, incremental=64) default_clock=64 info(100, 100, "main", 0)
@2 ts=1000000 log(0x11, 3)
@2 ts=1000000 log(0x11, 4)
"#;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Makes a recording that was written to `age` ago, of a process that started this long before.
/// (The message is two seconds later.)
fn make(path: &Path, age: Duration) {
    let mut bytes = recording::recording(APP, 0);
    let at = SystemTime::now() - age;
    let wall = (at - Duration::from_secs(1)).duration_since(SystemTime::UNIX_EPOCH).unwrap();
    bytes[48..56].copy_from_slice(&(wall.as_nanos() as u64).to_ne_bytes());
    fs::write(path, bytes).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
}

/// Runs `recover` with these arguments in a directory: exit code, output and errors.
fn run(dir: &Path, args: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    let output = command.current_dir(dir).arg("recover").args(args).output().unwrap();
    let all = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(all).unwrap())
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn recordings_are_listed_with_what_is_known_of_them() {
    let dir = temp_dir();
    let path = |name: &str| dir.path().join(name);
    assert_eq!(run(dir.path(), &["--list", "."]), (0, "no recordings\n".to_owned()));
    make(&path("a.rec"), 3 * DAY);
    make(&path("b.rec"), DAY);
    fs::write(path("c.rec"), "none").unwrap();
    symlink("a.rec", path("d.rec")).unwrap();
    fs::create_dir(path("e.rec")).unwrap();
    let held = File::open(path("b.rec")).unwrap();
    held.lock().unwrap();
    let (code, text) = run(dir.path(), &["--list", "."]);
    let lines: Vec<Vec<&str>> = text.lines().map(|it| it.split_whitespace().collect()).collect();
    assert_eq!((code, lines.len()), (0, 3), "{text}");
    assert_eq!(lines[1][..2], ["100", "dead"]);
    assert_eq!(lines[2][..2], ["100", "alive"]);
    assert_eq!(lines[1][lines[1].len() - 3..], ["2", "app\\u{1b}[2J", "./a.rec"]);
    // Files as well as directories; JSON.
    let (code, json) = run(dir.path(), &["--list", "--format", "json", "b.rec", "a.rec"]);
    let rows: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((code, rows.len()), (0, 2), "{json}");
    assert_eq!((&rows[0]["path"], &rows[0]["alive"]), (&"a.rec".into(), &false.into()));
    assert_eq!((&rows[1]["path"], &rows[1]["alive"]), (&"b.rec".into(), &true.into()));
    assert_eq!((&rows[0]["messages"], &rows[0]["pid"]), (&2.into(), &100.into()));
    assert_eq!(rows[0]["program"], "/usr/bin/app\u{1b}[2J");
    let idle = rows[0]["idle_seconds"].as_u64().unwrap();
    assert!((3 * 86_400 - 5..4 * 86_400).contains(&idle), "{idle}");
    assert!(rows[0]["started"].as_str().unwrap().ends_with('Z'));
    assert_eq!(names(dir.path()).len(), 5, "nothing is removed");
    assert_eq!(run(dir.path(), &["--list", "missing"]).0, 2);
}

#[test]
fn old_recordings_of_dead_processes_are_removed() {
    let dir = temp_dir();
    let path = |name: &str| dir.path().join(name);
    for (name, age) in [("new", DAY / 2), ("old", 2 * DAY), ("older", 9 * DAY), ("used", 9 * DAY)] {
        make(&path(name), age);
    }
    fs::write(path("other"), "none").unwrap();
    symlink("older", path("link")).unwrap();
    let held = File::open(path("used")).unwrap();
    held.lock_shared().unwrap();
    let all = names(dir.path());
    let expected = "would remove ./old\nwould remove ./older\n".to_owned();
    assert_eq!(run(dir.path(), &["--prune", "--dry-run", "."]), (0, expected));
    assert_eq!(names(dir.path()), all);
    let (code, text) = run(dir.path(), &["--prune", "--older-than", "7d", "."]);
    assert_eq!((code, text.as_str()), (0, "removed ./older\n"));
    let (code, json) = run(dir.path(), &["--prune", "--format", "json", "."]);
    let removed = |json: &str| {
        let rows =
            json.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        rows.map(|row| (row["path"].as_str().unwrap().to_owned(), row["removed"] == true))
            .collect::<Vec<_>>()
    };
    let expected = [("./new", false), ("./old", true), ("./used", false)];
    assert_eq!(
        (code, removed(&json)),
        (0, expected.map(|(name, is)| (name.to_owned(), is)).to_vec())
    );
    assert_eq!(names(dir.path()), ["link", "new", "other", "used"]);
    // The target of a link stays, and a file that a process uses, whatever the age.
    let outside = temp_dir();
    make(&outside.path().join("app.rec"), 9 * DAY);
    symlink(outside.path().join("app.rec"), path("out")).unwrap();
    let (code, text) = run(dir.path(), &["--prune", "--older-than", "0s", ".", "out"]);
    assert_eq!((code, text.as_str()), (0, "removed ./new\n"));
    assert_eq!(names(outside.path()), ["app.rec"]);
    // Not by closing it: a process that another test is about to start may have a copy for a
    // moment.
    held.unlock().unwrap();
    assert_eq!(run(dir.path(), &["--prune", "."]), (0, "removed ./used\n".to_owned()));
}

#[test]
fn a_recording_of_a_running_session_stays() {
    use protolog_rt::{Level, Session};
    let dir = temp_dir();
    let session = Session::builder().group("None", Level::Debug);
    let session = session.record_at(dir.path().join("live")).start().unwrap();
    assert_eq!(run(dir.path(), &["--prune", "--older-than", "0s", "."]), (0, String::new()));
    let (_, json) = run(dir.path(), &["--list", "--format", "json", "."]);
    let row: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&row["alive"], &row["pid"]), (&true.into(), &std::process::id().into()));
    drop(session);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let dir = temp_dir();
    for args in [
        &["--list", "-o", "out", "."][..],
        &["--list", "--prune", "."],
        &["--dry-run", "a.rec", "-o", "out"],
        &["--older-than", "1d", "--list", "."],
        &["--prune", "--older-than", "soon", "."],
        &["a.rec"],
        &["-o", "out"],
    ] {
        assert_eq!(run(dir.path(), args).0, 2, "{args:?}");
    }
}

/// The environment variable with the directory in which a child of a test logs until it dies.
const CHILD: &str = "PROTOLOG_TEST_SEGMENTS";

#[test]
fn the_last_segment_of_a_dead_process_is_completed() {
    use protolog_rt::{Level, ProtoLogGroup, Session, i};
    #[derive(ProtoLogGroup)]
    enum Log {
        Dead,
    }
    if let Some(dir) = std::env::var_os(CHILD) {
        let path = Path::new(&dir).join("app.pftrace");
        let session = Session::builder().file(path).group("Dead", Level::Debug);
        let session = session.segment_bytes(20_000).start().unwrap();
        for number in 0..4000 {
            i!(Log::Dead, "number %d of many", number);
            // The segments before the last one are complete.
            if number % 1000 == 500 {
                session.flush().unwrap();
            }
        }
        std::process::abort();
    }
    let die = |dir: &Path| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let name = "the_last_segment_of_a_dead_process_is_completed";
        child.args(["--exact", name]).env(CHILD, dir).current_dir(dir);
        assert!(!child.output().unwrap().status.success());
        let names = names(dir);
        let parts = names.iter().filter(|name| name.contains(".pftrace.part")).count();
        (parts, names.iter().any(|name| name.ends_with(".pftrace")))
    };
    // It may die while it completes a segment, and leave two: that is not the case here.
    let died = || {
        let dirs = (0..50).map(|_| temp_dir());
        dirs.into_iter()
            .find(|dir| die(dir.path()) == (1, true))
            .expect("one segment that is not complete")
    };
    let read = |dir: &Path| {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        let output = tool.args(["read-log", "."]).current_dir(dir).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().count()
    };
    for named in ["app.pftrace", "."] {
        let dir = died();
        let (code, text) = run(dir.path(), &[named]);
        assert!(code == 0 && text.contains(": it is complete, and `"), "{code} {text}");
        assert!(!names(dir.path()).iter().any(|name| name.contains(".pftrace.part")), "{text}");
        assert_eq!(read(dir.path()), 4000);
        let (code, text) = run(dir.path(), &[named]);
        let expected = if named == "." {
            "error: nothing in `.` is of a process that died\n"
        } else {
            "error: all segments of `app.pftrace` are complete\n"
        };
        assert!(code == 2 && text.starts_with(expected), "{code} {text}");
    }
}

/// The environment variable with the directory in which a child of a test dies of a signal.
const SIGNAL: &str = "PROTOLOG_TEST_SIGNAL";

#[test]
fn a_session_that_a_signal_ended_has_the_file_of_its_trigger() {
    use protolog_rt::{ProtoLogGroup, Session, Triggers, i};
    #[derive(ProtoLogGroup)]
    enum Log {
        Dead,
    }
    if let Some(dir) = std::env::var_os(SIGNAL) {
        let dir = Path::new(&dir);
        let triggers = Triggers::to(dir.join("app.pftrace")).on_fatal_signals();
        let builder = Session::builder().enable_all().triggers(triggers);
        let session = builder.record_at(dir.join("ring.rec")).start().unwrap();
        i!(Log::Dead, "last words");
        std::mem::forget(session);
        std::process::abort();
    }
    let dir = temp_dir();
    let mut child = Command::new(std::env::current_exe().unwrap());
    let name = "a_session_that_a_signal_ended_has_the_file_of_its_trigger";
    child.args(["--exact", name]).env(SIGNAL, dir.path()).current_dir(dir.path());
    assert!(!child.output().unwrap().status.success());
    let (code, text) = run(dir.path(), &["ring.rec", "-o", "crash.pftrace"]);
    assert!(code == 0 && text.contains("; ended by SIGABRT\n"), "{code} {text}");
    assert!(dir.path().join("ring.rec").exists(), "{text}");
    let (code, text) = run(dir.path(), &["ring.rec"]);
    assert!(code == 0 && text.contains("ring.rec: it is complete, and `"), "{code} {text}");
    let names = names(dir.path());
    let file = names.iter().find(|name| name.starts_with("app.sigabrt.")).expect("the file");
    assert!(!names.contains(&"ring.rec".to_owned()), "{names:?}");
    for file in [file, "crash.pftrace"] {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        let output = tool.args(["read-log", file]).current_dir(dir.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<_> = text.lines().filter_map(|line| line.split_once(": ")).collect();
        let texts: Vec<_> = lines.iter().map(|(_, text)| *text).collect();
        assert_eq!(texts, ["last words", "trigger: SIGABRT"], "{text}");
    }
}
