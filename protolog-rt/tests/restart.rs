//! A program that starts again at the path of its last run, which ended or crashed: each run is a
//! process of its own.

use protolog_reader::{Rendering, Trace};
use protolog_rt::{ProtoLogGroup, Session, i, recover_previous};
use protolog_testkit::{skip, temp_dir};
use std::env;
use std::fs::{self, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, abort};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// A user other than root.
const NOBODY: u32 = 65534;

/// The name of the variable that makes a process one that is run, with what it does.
const RUN: &str = "PROTOLOG_TEST_RUN";

/// One run, by words that say its parts: `crash` or `end`, `ring`, `recover`, `truncate`,
/// `without`, `keep=N`, `segments=N`; and the number that it logs.
#[test]
fn run() {
    let Ok(words) = env::var(RUN) else { return };
    let has = |word: &str| words.split(' ').any(|it| it == word);
    let number = |name: &str| words.split(' ').find_map(|it| it.strip_prefix(name)?.parse().ok());
    if has("recover") {
        recover_previous("app.pftrace").expect("recover");
    }
    let mut builder = Session::builder().file("app.pftrace").enable_all();
    if let Some(count) = number("keep=") {
        builder = builder.keep_previous(count);
    }
    if has("truncate") {
        builder = builder.truncate();
    }
    if has("ring") {
        builder = builder.keep_newest();
    }
    if let Some(count) = number("segments=") {
        builder = builder.segment_bytes(1 << 20).keep_segments(count);
    }
    if has("without") {
        builder = builder.without_recording();
    }
    let session = builder.start().expect("a session");
    let run = number("run=").unwrap_or(0);
    (0..5).for_each(|line| i!(Log::Work, "line %d of run %d", line, run));
    if has("crash") {
        abort();
    }
    session.stop().expect("stop");
}

/// Runs the program in `dir`. Returns what it writes to standard error.
fn start(dir: &Path, words: &str) -> String {
    let mut program = Command::new(env::current_exe().expect("this program"));
    program.args(["--exact", "run", "--nocapture"]).current_dir(dir).env(RUN, words);
    let Output { status, stderr, .. } = program.output().expect("it runs");
    let stderr = String::from_utf8(stderr).expect("UTF-8");
    assert_eq!(status.success(), !words.contains("crash"), "{stderr}");
    stderr
}

/// The traces in `dir`: `app 7` is one with all messages of run 7, `app.1 7!` one that is
/// read-only.
fn traces(dir: &Path) -> Vec<String> {
    let files = fs::read_dir(dir).expect("list").map(|file| file.expect("a file").path());
    let mut all: Vec<_> = files.map(|file| describe(&file)).collect();
    all.sort();
    all
}

fn describe(file: &Path) -> String {
    let name = file.file_stem().expect("a name").to_str().expect("UTF-8");
    let mode = fs::metadata(file).expect("metadata").permissions().mode() & 0o777;
    let mark = match mode {
        0o600 => "",
        0o400 => "!",
        _ => "?",
    };
    let trace = Trace::open(file).expect("open");
    let log = trace.read().expect("a trace");
    let texts: Vec<String> =
        log.entries().map(|entry| entry.values().text(Rendering::Full)).collect();
    let run = texts[0].rsplit(' ').next().expect("a run");
    let expected: Vec<_> = (0..5).map(|line| format!("line {line} of run {run}")).collect();
    assert_eq!(texts, expected, "{}", file.display());
    format!("{name} {run}{mark}")
}

/// Runs, one after the other, and the traces that are there after the last one.
fn check(runs: &[&str], expected: &[&str]) {
    let dir = temp_dir();
    for (number, words) in (1..).zip(runs) {
        start(dir.path(), &format!("{words} run={number}"));
    }
    assert_eq!(traces(dir.path()), expected, "{runs:?}");
}

#[test]
fn the_trace_of_the_last_run_stays() {
    check(&["end"], &["app 1"]);
    check(&["end", "end"], &["app 2", "app.1 1"]);
    check(&["end", "end", "end", "end"], &["app 4", "app.1 3"]);
    check(&["end"; 5].map(|_| "end keep=2"), &["app 5", "app.1 4", "app.2 3"]);
    check(&["end", "end", "end keep=0"], &["app 3", "app.1 1"]);
    check(&["end", "end truncate"], &["app 2"]);
    check(&["ring", "ring", "ring"], &["app 3", "app.1 2"]);
    check(&["ring", "end", "ring keep=3"], &["app 3", "app.1 2", "app.2 1"]);
}

#[test]
fn traces_of_runs_that_crashed_stay_and_are_complete() {
    check(&["crash", "end"], &["app 2", "app.1 1!"]);
    check(&["crash", "end keep=0"], &["app 2", "app.1 1!"]);
    check(&["crash", "crash", "crash", "end"], &["app 4", "app.1 3!", "app.2 2!", "app.3 1!"]);
    // Those that ended go, the others don't.
    check(&["crash", "end", "end", "end", "end"], &["app 5", "app.1 4", "app.3 1!"]);
    check(&["crash", "end truncate"], &["app 2"]);
    check(&["crash", "ring"], &["app 2", "app.1 1!"]);
    // The program has completed it itself.
    check(&["crash", "end recover", "end", "end"], &["app 4", "app.1 3", "app.3 1!"]);
}

#[test]
fn a_program_that_crashes_again_and_again_does_not_fill_the_disk() {
    let dir = temp_dir();
    start(dir.path(), "crash run=1");
    start(dir.path(), "end run=2");
    let first = dir.path().join("app.1.pftrace");
    for number in 2..=100 {
        // With its permissions, which mark it.
        let path = first.with_file_name(format!("app.{number}.pftrace"));
        fs::copy(&first, path).expect("copy");
    }
    start(dir.path(), "crash run=3 truncate");
    start(dir.path(), "end run=4");
    let names = traces(dir.path());
    assert_eq!(names[..2], ["app 4", "app.1 3!"]);
    assert_eq!(names.len(), 1 + 64, "{names:?}");
}

#[test]
fn a_line_says_that_the_last_run_crashed() {
    let dir = temp_dir();
    assert_eq!(start(dir.path(), "end"), "");
    assert_eq!(start(dir.path(), "crash"), "");
    let said = start(dir.path(), "end");
    let path = dir.path().canonicalize().expect("a path").join("app.1.pftrace");
    let begin = format!("protolog: the last run crashed; its trace is `{}`, with ", path.display());
    assert!(said.starts_with(&begin) && said.ends_with(" messages from its recording\n"), "{said}");
    assert_eq!(start(dir.path(), "end"), "");
}

#[test]
fn segments_of_runs_that_crashed_are_completed() {
    check(
        &["end segments=3", "crash segments=3", "end segments=3"],
        &["app.0001 1", "app.0002 2!", "app.0003 3"],
    );
    let dir = temp_dir();
    assert_eq!(start(dir.path(), "crash segments=3"), "");
    let said = start(dir.path(), "end segments=3");
    let path = dir.path().canonicalize().expect("a path").join("app.0001.pftrace");
    let begin = format!("protolog: the last run crashed; its trace is `{}`, with ", path.display());
    assert!(said.starts_with(&begin) && said.ends_with(" messages from its recording\n"), "{said}");
    assert_eq!(start(dir.path(), "end segments=3"), "");
}

#[test]
fn runs_that_crash_again_and_again_take_no_segment_of_another_run() {
    let crash = "crash segments=2";
    check(
        &["end segments=2", crash, crash, crash, crash, "end segments=2"],
        &["app.0001 1", "app.0004 4!", "app.0005 5!", "app.0006 6"],
    );
}

#[test]
fn without_a_recording_a_crash_is_known_by_the_missing_end() {
    let dir = temp_dir();
    start(dir.path(), "end run=1");
    // As if it had been killed before it wrote the last packets.
    let path = dir.path().join("app.pftrace");
    let length = fs::metadata(&path).expect("a file").len();
    File::options().write(true).open(&path).expect("open").set_len(length - 20).expect("cut");
    for run in 2..5 {
        start(dir.path(), &format!("end without run={run}"));
    }
    assert_eq!(traces(dir.path()), ["app 4", "app.1 3", "app.3 1!"]);
}

#[test]
fn files_of_others_keep_their_names() {
    let dir = temp_dir();
    let write = |name: &str| fs::write(dir.path().join(name), "no trace").expect("write");
    write("app.1.pftrace");
    write("app.3.pftrace");
    write("app.0002.pftrace");
    write("app.2.pftrace.gz");
    for run in 1..5 {
        start(dir.path(), &format!("end keep=2 run={run}"));
    }
    for name in ["app.1.pftrace", "app.3.pftrace", "app.0002.pftrace", "app.2.pftrace.gz"] {
        let path = dir.path().join(name);
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "no trace", "{name}");
        fs::remove_file(path).expect("remove");
    }
    assert_eq!(traces(dir.path()), ["app 4", "app.2 3", "app.4 2"]);
}

#[test]
fn a_file_that_is_no_trace_is_not_emptied() {
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    fs::write(&path, "somebody's notes").expect("write");
    fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("chmod");
    start(dir.path(), "end run=1");
    start(dir.path(), "end run=2");
    start(dir.path(), "end run=3");
    let notes = dir.path().join("app.1.pftrace");
    assert_eq!(fs::read_to_string(&notes).expect("it is there"), "somebody's notes");
    fs::remove_file(notes).expect("remove");
    assert_eq!(traces(dir.path()), ["app 3", "app.2 2"]);
}

#[test]
fn a_file_has_the_permissions_that_the_session_asks_for() {
    let dir = temp_dir();
    start(dir.path(), "end run=1");
    let path = dir.path().join("app.pftrace");
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    fs::set_permissions(&path, Permissions::from_mode(0o660)).expect("chmod");
    start(dir.path(), "crash run=2");
    assert_eq!((mode(&path), mode(&dir.path().join("app.1.pftrace"))), (0o600, 0o660));
    start(dir.path(), "end run=3");
    assert_eq!((mode(&path), mode(&dir.path().join("app.1.pftrace"))), (0o600, 0o400));
}

#[test]
fn files_of_another_user_do_not_keep_a_program_from_starting() {
    let dir = temp_dir();
    start(dir.path(), "end run=1");
    let trace = fs::read(dir.path().join("app.pftrace")).expect("a trace");
    for number in 1..1000 {
        let path = dir.path().join(format!("app.{number}.pftrace"));
        fs::write(&path, &trace).expect("write");
        if chown(&path, Some(NOBODY), None).is_err() {
            return skip("files of another user", "only root can make them");
        }
    }
    assert_eq!(start(dir.path(), "end run=2"), "");
    for number in 1..1000 {
        let path = dir.path().join(format!("app.{number}.pftrace"));
        assert!(fs::read(&path).expect("it is there") == trace);
        fs::remove_file(path).expect("remove");
    }
    let [new, old] = traces(dir.path()).try_into().expect("two traces");
    assert_eq!(new, "app 2");
    assert!(old.starts_with("app.run-") && old.ends_with(" 1"), "{old}");
}

#[test]
fn traces_do_not_pile_up_where_others_have_all_numbers() {
    let dir = temp_dir();
    let others: Vec<_> =
        (1..1000).map(|number| dir.path().join(format!("app.{number}.pftrace"))).collect();
    for path in &others {
        fs::write(path, "no trace").expect("write");
    }
    fs::write(dir.path().join("app.run-0.pftrace"), "no trace").expect("write");
    for run in 1..6 {
        start(dir.path(), &format!("end keep=2 run={run}"));
    }
    let crashed = start(dir.path(), "crash keep=2 run=6");
    assert_eq!(crashed.matches("overwritten").count(), 0, "{crashed}");
    for run in 7..9 {
        start(dir.path(), &format!("end keep=1 run={run}"));
    }
    for path in &others {
        fs::remove_file(path).expect("it is there");
    }
    fs::remove_file(dir.path().join("app.run-0.pftrace")).expect("it is there");
    let runs = |traces: Vec<String>| {
        let mut runs: Vec<_> =
            traces.iter().map(|it| it.split(' ').next_back().expect("a run").to_owned()).collect();
        runs.sort();
        runs
    };
    assert_eq!(runs(traces(dir.path())), ["6!", "7", "8"]);
    // Those with a number are newer.
    start(dir.path(), "end run=9");
    assert_eq!(traces(dir.path())[..2], ["app 9", "app.1 8"]);
    assert_eq!(runs(traces(dir.path())), ["6!", "8", "9"]);
}

#[test]
fn more_traces_can_be_kept_than_files_be_open() {
    let dir = temp_dir();
    for run in 1..=2 {
        start(dir.path(), &format!("end run={run}"));
    }
    let first = dir.path().join("app.1.pftrace");
    for number in 2..=200 {
        fs::copy(&first, first.with_file_name(format!("app.{number}.pftrace"))).expect("copy");
    }
    let mut program = Command::new("sh");
    program.args(["-c", "ulimit -n 40; exec \"$0\" --exact run --nocapture"]);
    program.arg(env::current_exe().expect("this program")).current_dir(dir.path());
    let output = program.env(RUN, "end keep=150 run=3").output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let names = traces(dir.path());
    assert_eq!((names.len(), &names[0], &names[1]), (151, &"app 3".into(), &"app.1 2".into()));
}

#[test]
fn what_cannot_be_renamed_is_overwritten_with_a_line() {
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    start(dir.path(), "end run=1");
    if chown(&path, Some(NOBODY), None).is_err() {
        return skip("a directory of another user", "only root can make one");
    }
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).expect("chmod");
    // Where that user can start it.
    let program = dir.path().join("program");
    fs::copy(env::current_exe().expect("this program"), &program).expect("copy");
    fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("chmod");
    let mut program = Command::new(program);
    program.args(["--exact", "run", "--nocapture"]).current_dir(dir.path());
    program.env(RUN, "end run=2").uid(NOBODY).gid(NOBODY);
    // While another test starts a program, that has a copy of the descriptor which this one was
    // written by.
    let output = (0..).find_map(|_| match program.output() {
        Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
            thread::sleep(Duration::from_millis(10));
            None
        }
        output => Some(output.expect("it runs")),
    });
    let output = output.expect("it is started again and again");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("app.pftrace`, is overwritten: it can't be renamed: "), "{stderr}");
    fs::remove_file(dir.path().join("program")).expect("remove");
    assert_eq!(traces(dir.path()), ["app 2"]);
}
