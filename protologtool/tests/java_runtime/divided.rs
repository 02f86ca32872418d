//! Traces of Java programs in several files and compressed ones, buffers that keep the first
//! messages, and calls that wait for room: all messages are there, or counted; also of a program
//! that is killed.

use super::{classes, messages, run_java, tool};
use protolog_testkit::{java, run_any, skip, temp_dir, trace_processor};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const THREADS: u64 = 4;
const LIMIT: u64 = 100_000;

/// Runs the program, and returns the numbers of recorded and lost messages.
fn run(classes: &Path, dir: &Path, options: &str) -> (u64, u64) {
    let options = [dir.to_str().unwrap()].into_iter().chain(options.split(' '));
    let options: Vec<&str> = options.collect();
    let output = run_java(&[classes.to_path_buf()], "app.Divided", &options).unwrap();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let mut words = output.stdout.split_whitespace();
    let mut number = || words.next().unwrap().parse().unwrap();
    (number(), number())
}

/// A trace without segments, in this directory.
fn run_of_another(classes: &Path, dir: &Path) -> PathBuf {
    let own = temp_dir();
    run(classes, own.path(), "small");
    let trace = dir.join("another.trace");
    std::fs::copy(&files(own.path())[0], &trace).unwrap();
    trace
}

/// The files of a trace, in their order.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The numbers of each thread's messages, in the order of the files.
fn numbers(files: &[PathBuf]) -> BTreeMap<u64, Vec<u64>> {
    let mut threads = BTreeMap::<u64, Vec<u64>>::new();
    for message in files.iter().flat_map(|file| messages(file)) {
        let text = message.strip_prefix("INFO Disk: ").unwrap_or_else(|| panic!("{message}"));
        let (number, rest) = text.split_once(" of ").unwrap();
        let (thread, text) = rest.split_once(": ").unwrap();
        let number: u64 = number.parse().unwrap();
        let long = format!("{}{number}", "x".repeat(4000));
        let is_expected =
            text == format!("text {}", number % 50) || number % 1000 == 999 && text == long;
        assert!(is_expected, "{number} of {thread}: {text}");
        threads.entry(thread.parse().unwrap()).or_default().push(number);
    }
    threads
}

/// Checks that each thread has its first messages, all of them from 0 on.
#[track_caller]
fn check_whole(threads: &BTreeMap<u64, Vec<u64>>) {
    for (thread, numbers) in threads {
        let is_whole = numbers.iter().copied().eq(0..numbers.len() as u64);
        assert!(is_whole, "thread {thread}: {numbers:?}");
    }
}

#[test]
fn segments_have_all_messages_and_each_is_read_alone() {
    let Some(classes) = classes() else { return };
    for options in ["segments", "segments compress"] {
        let dir = temp_dir();
        assert_eq!(run(classes, dir.path(), options), (20_000, 0));
        let files = files(dir.path());
        let name = |number: usize| format!("app.{number:04}.pftrace");
        assert!(files.len() > 2, "{files:?}");
        for (file, number) in files.iter().zip(1..) {
            assert_eq!(file.file_name().unwrap().to_str(), Some(&*name(number)), "{options}");
            assert!(std::fs::metadata(file).unwrap().len() <= LIMIT, "{file:?}");
            let output = tool(&["read-log", file.to_str().unwrap()]);
            assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{file:?}");
        }
        let threads = numbers(&files);
        check_whole(&threads);
        assert_eq!(threads.values().map(Vec::len).sum::<usize>(), 20_000);
        let query = "SELECT COUNT(*) AS n FROM protolog";
        if let Some(tables) = trace_processor(&files[1], &[query]) {
            assert_eq!(tables[0].texts("n"), [messages(&files[1]).len().to_string()]);
        }
        // The next run continues the numbers, and keeps two complete files beside its own.
        // A file whose name has a number of another kind is no segment.
        let foreign = ["app.4711.pftrace", "app.20261126.pftrace"].map(|it| dir.path().join(it));
        let other = run_of_another(classes, dir.path());
        for path in &foreign {
            std::fs::copy(&other, path).unwrap();
        }
        run(classes, dir.path(), "segments age keep");
        for path in foreign.iter().chain([&other]) {
            std::fs::remove_file(path).unwrap();
        }
        let later = self::files(dir.path());
        assert_eq!(later.len(), 3);
        assert!(later[0] > files[files.len() - 1], "{later:?}");
    }
}

#[test]
fn files_of_other_users_say_nothing_of_the_next_number() {
    let Some(classes) = classes() else { return };
    let dir = temp_dir();
    run(classes, dir.path(), "segments");
    let own = files(dir.path());
    let other = own[0].with_file_name("app.999999999999999998.pftrace");
    std::fs::copy(&own[0], &other).unwrap();
    let part = other.with_file_name("app.999999999999999999.pftrace.part");
    std::fs::write(&part, "").unwrap();
    for path in [&other, &part] {
        if chown(path, Some(65534), None).is_err() {
            return skip("files of another user", "only root can make them");
        }
    }
    run(classes, dir.path(), "segments");
    assert!(other.exists() && part.exists());
    let next = format!("app.{:04}.pftrace", own.len() + 1);
    assert!(own[0].with_file_name(next).exists(), "{:?}", files(dir.path()));
}

#[test]
fn a_full_buffer_keeps_the_first_messages() {
    let Some(classes) = classes() else { return };
    let dir = temp_dir();
    let (recorded, lost) = run(classes, dir.path(), "small first compress");
    assert_eq!(recorded + lost, 20_000);
    let threads = numbers(&files(dir.path()));
    assert_eq!(threads.values().map(|it| it.len() as u64).sum::<u64>(), recorded);
    for numbers in threads.values() {
        // At its end a buffer may have room for a short message and none for a long one.
        assert_eq!(numbers[..200], (0..200).collect::<Vec<u64>>());
    }
    let shown = tool(&["read-log", dir.path().join("app.pftrace").to_str().unwrap()]);
    let counted = format!("lost: {lost} messages of app.AppLog.DISK: the buffer was full");
    assert!(shown.stderr.contains(&counted), "{}", shown.stderr);
}

#[test]
fn calls_that_wait_lose_nothing() {
    let Some(classes) = classes() else { return };
    let dir = temp_dir();
    assert_eq!(run(classes, dir.path(), "small wait many"), (THREADS * 20_000, 0));
    check_whole(&numbers(&files(dir.path())));
}

#[test]
fn what_a_killed_program_has_logged_is_in_its_segments() {
    let Some(classes) = classes() else { return };
    for (options, lines) in [("segments", 40), ("segments compress", 900), ("compress", 300)] {
        let dir = temp_dir();
        let mut java = java().expect("java");
        java.arg("-Dprotolog.level=off").arg("-cp").arg(classes).arg("app.Divided");
        // Messages that a full buffer drops are no matter of the kill.
        java.arg(dir.path()).args(options.split(' ')).args(["wait", "kill"]);
        let mut child = java.stdout(Stdio::piped()).spawn().expect("start java");
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut said: Vec<String> = out.by_ref().take(lines).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        said.extend(out);
        // Between two segments it is the older one that the recording knows.
        let is_recovered = |file: &PathBuf| {
            let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
            run_any(tool.arg("recover").arg(file)).code == Some(0)
        };
        let written = files(dir.path());
        let recovered = written.iter().filter(|file| is_recovered(file)).count();
        assert_eq!(recovered, 1, "{written:?}");
        let threads = numbers(&files(dir.path()));
        check_whole(&threads);
        for line in said {
            // The last line may be half of one.
            let Some((thread, number)) = line.split_once(' ') else { continue };
            let logged = threads.get(&thread.parse().unwrap()).map_or(0, Vec::len);
            assert!(logged > number.parse().unwrap_or(0), "{options}: {line}, {logged}");
        }
    }
}
