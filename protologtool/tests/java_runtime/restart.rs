//! A program that starts again at the path of its last run, which ended or crashed: the names and
//! rules are those of Rust, whose tests are `protolog-rt/tests/restart.rs`.

use super::{classes, messages, tool};
use protolog_testkit::{run_java, temp_dir};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

/// A user other than root.
const NOBODY: u32 = 65534;

/// Runs the program in `dir`. Returns what it writes to standard error; none without a JDK.
fn start(dir: &Path, run: usize, words: &str) -> Option<String> {
    let (trace, run) = (dir.join("app.pftrace"), run.to_string());
    let mut args = vec![trace.to_str().unwrap(), &run];
    args.extend(words.split(' '));
    let output = run_java(&[classes()?.to_path_buf()], "app.Restart", &args)?;
    let expected = if words.contains("crash") { 3 } else { 0 };
    assert_eq!((output.code, output.stdout.as_str()), (Some(expected), ""), "{}", output.stderr);
    Some(output.stderr)
}

/// The traces in `dir`: `app 7` is one with all messages of run 7, `app.1 7!` one that is
/// read-only. Those of runs that crashed are completed first.
fn traces(dir: &Path) -> Vec<String> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    let mut all: Vec<_> = files.map(|file| describe(&file)).collect();
    all.sort();
    all
}

fn describe(file: &Path) -> String {
    let name = file.file_stem().unwrap().to_str().unwrap();
    let mode = || fs::metadata(file).unwrap().permissions().mode() & 0o777;
    let before = mode();
    if before == 0o400 {
        protolog_testkit::run_any(
            std::process::Command::new(env!("CARGO_BIN_EXE_protologtool")).arg("recover").arg(file),
        );
    }
    assert_eq!(mode(), before);
    let mark = match before {
        0o600 => "",
        0o400 => "!",
        _ => "?",
    };
    let texts = messages(file);
    let run = texts[0].rsplit(' ').next().unwrap();
    let expected: Vec<_> =
        (0..5).map(|line| format!("INFO Work: line {line} of run {run}")).collect();
    assert_eq!(texts, expected, "{}", file.display());
    format!("{name} {run}{mark}")
}

/// Runs, one after the other, and the traces that are there after the last one.
fn check(runs: &[&str], expected: &[&str]) {
    let dir = temp_dir();
    for (number, words) in (1..).zip(runs) {
        if start(dir.path(), number, words).is_none() {
            return;
        }
    }
    assert_eq!(traces(dir.path()), expected, "{runs:?}");
}

#[test]
fn the_trace_of_the_last_run_stays() {
    check(&["end", "end", "end"], &["app 3", "app.1 2"]);
    check(&["end keep=2"; 4], &["app 4", "app.1 3", "app.2 2"]);
    check(&["end", "end", "end keep=0"], &["app 3", "app.1 1"]);
    check(&["end zip", "end zip", "end truncate"], &["app 3", "app.1 1"]);
    check(&["ring", "end", "ring keep=3"], &["app 3", "app.1 2", "app.2 1"]);
}

#[test]
fn traces_of_runs_that_crashed_stay() {
    check(&["crash", "end keep=0"], &["app 2", "app.1 1!"]);
    check(&["crash zip", "crash", "end"], &["app 3", "app.1 2!", "app.2 1!"]);
    // Those that ended go, the others don't.
    check(&["crash", "end", "end", "end"], &["app 4", "app.1 3", "app.3 1!"]);
    check(&["crash", "end truncate"], &["app 2"]);
    check(&["crash", "ring"], &["app 2", "app.1 1!"]);
}

#[test]
fn a_program_that_crashes_again_and_again_does_not_fill_the_disk() {
    let dir = temp_dir();
    if start(dir.path(), 1, "crash").is_none() {
        return;
    }
    start(dir.path(), 2, "end");
    let first = dir.path().join("app.1.pftrace");
    for number in 2..=100 {
        // With its permissions, which mark it.
        let path = first.with_file_name(format!("app.{number}.pftrace"));
        fs::copy(&first, path).unwrap();
    }
    start(dir.path(), 3, "crash truncate");
    start(dir.path(), 4, "end");
    let entries = fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().path());
    let mut numbers: Vec<usize> = entries
        .filter_map(|path| path.file_stem()?.to_str()?.strip_prefix("app.")?.parse().ok())
        .collect();
    numbers.sort_unstable();
    // Those of runs 3 and 1; run 2 has gone.
    assert_eq!(numbers.len(), 64, "{numbers:?}");
    assert_eq!(numbers[0], 1);
}

#[test]
fn a_line_says_that_the_last_run_crashed_and_how_to_complete_its_trace() {
    let dir = temp_dir();
    let Some(said) = start(dir.path(), 1, "crash") else { return };
    assert_eq!(said, "");
    let path = dir.path().join("app.1.pftrace");
    let path = path.display();
    let line = format!(
        "protolog: the last run crashed; its trace is `{path}`, and `protologtool recover {path}` adds what its recording has\n"
    );
    assert_eq!(start(dir.path(), 2, "end"), Some(line));
    assert_eq!(start(dir.path(), 3, "end"), Some(String::new()));
    assert_eq!(traces(dir.path()), ["app 3", "app.1 2", "app.2 1!"]);
}

#[test]
fn without_a_recording_a_crash_is_known_by_the_missing_end() {
    let dir = temp_dir();
    if start(dir.path(), 1, "end").is_none() {
        return;
    }
    // As if it had been killed before it wrote the last packets.
    let path = dir.path().join("app.pftrace");
    let length = fs::metadata(&path).unwrap().len();
    File::options().write(true).open(&path).unwrap().set_len(length - 20).unwrap();
    let said = start(dir.path(), 2, "end").unwrap();
    assert!(said.ends_with("app.1.pftrace`\n"), "{said}");
    start(dir.path(), 3, "end");
    let cut = dir.path().join("app.2.pftrace");
    assert_eq!(fs::metadata(&cut).unwrap().permissions().mode() & 0o777, 0o400);
    fs::remove_file(cut).unwrap();
    assert_eq!(traces(dir.path()), ["app 3", "app.1 2"]);
}

#[test]
fn files_of_others_keep_their_names() {
    let dir = temp_dir();
    let others = [
        "app.1.pftrace",
        "app.3.pftrace",
        "app.0002.pftrace",
        "app.2.pftrace.gz",
        "app.02.pftrace",
    ];
    for name in others {
        fs::write(dir.path().join(name), "no trace").unwrap();
    }
    for run in 1..5 {
        if start(dir.path(), run, "end keep=2").is_none() {
            return;
        }
    }
    for name in others {
        let path = dir.path().join(name);
        assert_eq!(fs::read_to_string(&path).unwrap(), "no trace", "{name}");
        fs::remove_file(path).unwrap();
    }
    assert_eq!(traces(dir.path()), ["app 4", "app.2 3", "app.4 2"]);
}

#[test]
fn a_file_that_is_no_trace_is_not_emptied() {
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    fs::write(&path, "somebody's notes").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    for run in 1..3 {
        if start(dir.path(), run, "end").is_none() {
            return;
        }
    }
    let notes = dir.path().join("app.1.pftrace");
    assert_eq!(fs::read_to_string(&notes).unwrap(), "somebody's notes");
    fs::remove_file(notes).unwrap();
    assert_eq!(traces(dir.path()), ["app 2", "app.2 1"]);
}

#[test]
fn traces_of_another_user_keep_their_names() {
    let dir = temp_dir();
    if start(dir.path(), 1, "end").is_none() {
        return;
    }
    let other = dir.path().join("app.1.pftrace");
    let trace = fs::read(dir.path().join("app.pftrace")).unwrap();
    fs::write(&other, &trace).unwrap();
    if chown(&other, Some(NOBODY), None).is_err() {
        return;
    }
    start(dir.path(), 2, "end");
    assert!(fs::read(&other).unwrap() == trace);
    fs::remove_file(other).unwrap();
    assert_eq!(traces(dir.path()), ["app 2", "app.2 1"]);
}

#[test]
fn traces_do_not_pile_up_where_others_have_all_numbers() {
    let dir = temp_dir();
    let others: Vec<_> =
        (1..1000).map(|number| dir.path().join(format!("app.{number}.pftrace"))).collect();
    for path in &others {
        fs::write(path, "no trace").unwrap();
    }
    for (run, words) in (1..).zip(["end", "end", "end keep=2", "end keep=2"]) {
        if start(dir.path(), run, words).is_none() {
            return;
        }
    }
    for path in &others {
        fs::remove_file(path).unwrap();
    }
    let names = traces(dir.path());
    let mut runs: Vec<_> = names.iter().map(|it| it.split(' ').next_back().unwrap()).collect();
    runs.sort_unstable();
    assert_eq!(runs, ["2", "3", "4"], "{names:?}");
    // Those with a number are newer.
    start(dir.path(), 5, "end");
    assert_eq!(traces(dir.path()), ["app 5", "app.1 4"]);
}

/// A trace that is read-only is completed by its owner as well.
#[test]
fn recover_completes_a_trace_that_is_marked() {
    let dir = temp_dir();
    if start(dir.path(), 1, "crash").is_none() {
        return;
    }
    start(dir.path(), 2, "end");
    let path = dir.path().join("app.1.pftrace");
    let output = tool(&["recover", path.to_str().unwrap()]);
    assert!(output.stdout.contains("5 messages"), "{}", output.stdout);
}
