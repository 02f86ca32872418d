//! Directories as they are: with entries that can't be read or are no traces, with names that are
//! no text, with more files than may be open, and beside a program that renames and removes
//! segments.

use super::description;
use protolog_rt::{ProtoLogGroup, Session, i};
use protolog_testkit::{TempDir, temp_dir};
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A trace of a process with one message.
fn trace(pid: u32) -> Vec<u8> {
    description::trace(&format!(
        "message(0x11, INFO, 1, \"from %d\", \"a\") @1 cleared info({pid}, {pid}, \"main\") @1 needs ts={pid} log(0x11, {pid})"
    ))
}

fn command(args: &[&str], paths: &[&Path]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_protologtool")]);
    command.args(args).args(paths);
    command
}

fn run(args: &[&str], paths: &[&Path]) -> Output {
    command(args, paths).output().unwrap()
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

struct Traces(TempDir);

impl Traces {
    fn new(count: u32) -> Self {
        let dir = temp_dir();
        for pid in 1..=count {
            fs::write(dir.path().join(format!("{pid:05}.pftrace")), trace(pid)).unwrap();
        }
        Self(dir)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Shows the directory in each way, and expects so many messages and this warning.
    fn expect(&self, messages: usize, warning: &str) {
        let output = run(&["read-log", "--columns", "message"], &[self.0.path()]);
        let (out, errors) = texts(&output);
        assert_eq!(out.lines().count(), messages, "{errors}");
        assert!(errors.contains(warning) && errors.is_empty() == warning.is_empty(), "{errors}");
        assert_eq!(output.status.code(), Some(if warning.is_empty() { 0 } else { 3 }), "{errors}");
        let page = temp_dir();
        let output = page.path().join("page.html");
        let output = run(&["view", "-o", output.to_str().unwrap()], &[self.0.path()]);
        assert_eq!(output.status.code(), Some(if warning.is_empty() { 0 } else { 3 }), "{errors}");
    }
}

#[test]
fn one_bad_entry_does_not_hide_the_others() {
    let traces = Traces::new(3);
    traces.expect(3, "");
    let bad = traces.at("bad.pftrace");
    let left_out = |reason: &str| format!("bad.pftrace`{reason}");
    symlink("gone", &bad).unwrap();
    traces.expect(3, &left_out(": no such file or directory: it is left out"));
    fs::remove_file(&bad).unwrap();
    for (content, looks) in [
        (&b"\x93\xfe\x01\x88 other bytes \xff\x90\x07\x01\x80\x81\x9a"[..], ""),
        (b"some text\n", ", but text"),
        (b"{\"version\": \"2.0.0\", \"messages\": {}, \"groups\": {}}", ", but a dictionary"),
    ] {
        fs::write(&bad, content).unwrap();
        traces.expect(3, &left_out(&format!(" is not a trace{looks}")));
        let named = run(&["read-log"], &[&traces.at("00001.pftrace"), &bad]);
        assert_eq!(named.status.code(), Some(2), "it is named: {:?}", texts(&named));
    }
    // Nothing else is there.
    (1..=3).for_each(|pid| fs::remove_file(traces.at(&format!("{pid:05}.pftrace"))).unwrap());
    symlink("gone", traces.at("also.pftrace")).unwrap();
    let output = run(&["read-log"], &[traces.0.path()]);
    assert_eq!(output.status.code(), Some(2), "{:?}", texts(&output));
}

#[test]
fn names_that_are_no_text_are_names() {
    let traces = Traces::new(1);
    let name = OsStr::from_bytes(b"caf\xe9.pftrace");
    fs::rename(traces.at("00001.pftrace"), traces.0.path().join(name)).unwrap();
    traces.expect(1, "");
    fs::write(traces.at("2.pftrace"), trace(2)).unwrap();
    traces.expect(2, "");
}

#[test]
fn there_may_be_more_traces_than_files_may_be_open() {
    Traces::new(400).expect(400, "");
    let traces = Traces::new(600);
    let merged = temp_dir();
    let merged = merged.path().join("merged.pftrace");
    let output = run(&["merge", "-o", merged.to_str().unwrap()], &[traces.0.path()]);
    assert_eq!(output.status.code(), Some(0), "{:?}", texts(&output));
    let (out, _) = texts(&run(&["read-log"], &[&merged]));
    assert_eq!(out.lines().count(), 600);
    // Followed, each is read until one ends it.
    let mut command =
        command(&["read-log", "--follow", "--columns", "message"], &[traces.0.path()]);
    let mut following = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(following.stdout.take().unwrap()).lines();
    let lines: Vec<String> = lines.take(600).map(Result::unwrap).collect();
    following.kill().unwrap();
    following.wait().unwrap();
    assert!(lines.len() == 600 && lines.iter().all(|line| line.starts_with("from ")));
}

/// As a session does that keeps so many segments, until it is done: the newest is `.part`, the
/// oldest is removed.
fn rotate(traces: &Traces, kept: u32, is_done: &AtomicBool) {
    for number in kept + 1.. {
        std::thread::sleep(Duration::from_millis(1));
        if is_done.load(Ordering::Relaxed) {
            break;
        }
        let name = format!("{number:05}.pftrace");
        let part = traces.at(&format!("{name}.part"));
        fs::write(&part, trace(number)).unwrap();
        fs::rename(&part, traces.at(&name)).unwrap();
        fs::remove_file(traces.at(&format!("{:05}.pftrace", number - kept))).unwrap();
    }
}

#[test]
fn a_program_may_rename_and_remove_segments_meanwhile() {
    let traces = Traces::new(20);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| rotate(&traces, 20, &is_done));
        let read = || run(&["read-log", "--columns", "message"], &[traces.0.path()]);
        let outputs: Vec<Output> = (0..30).map(|_| read()).collect();
        is_done.store(true, Ordering::Relaxed);
        for output in &outputs {
            let (out, errors) = texts(output);
            assert_eq!(output.status.code(), Some(0), "{errors}");
            assert!(out.lines().all(|line| line.starts_with("from ")), "{out}");
        }
    });
}

/// More than are held open, so that each is opened when it is read: by then it may be gone, or be
/// another one.
#[test]
fn of_many_traces_some_may_be_removed_while_they_are_read() {
    let traces = Traces::new(300);
    let out = temp_dir();
    let out = |name: &str| out.path().join(name).to_str().unwrap().to_owned();
    let (page, merged) = (out("page.html"), out("merged.pftrace"));
    let commands: [&[&str]; 5] = [
        &["read-log", "--columns", "message"],
        &["read-log", "--columns", "message", "--reverse"],
        &["view", "-o", &page],
        &["merge", "-o", &merged],
        &["merge", "--perfetto-ui", "-o", &merged],
    ];
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| rotate(&traces, 300, &is_done));
        let repeated = commands.iter().flat_map(|args| [args; 6]);
        let outputs: Vec<Output> = repeated.map(|args| run(args, &[traces.0.path()])).collect();
        let same = run(&["diff", "--ignore-counts"], &[traces.0.path(), traces.0.path()]);
        is_done.store(true, Ordering::Relaxed);
        for (index, output) in outputs.iter().chain([&same]).enumerate() {
            let (out, errors) = texts(output);
            assert!([Some(0), Some(1), Some(3)].contains(&output.status.code()), "{errors}");
            let is_known = |line: &str| {
                [
                    "removed meanwhile",
                    "it is left out",
                    "was removed or cut off",
                    "the table of logs",
                ]
                .iter()
                .any(|known| line.contains(known))
            };
            assert_eq!(errors.lines().find(|line| !is_known(line)), None, "{errors}");
            assert!(
                out.lines().all(|line| line.starts_with("from ")) || index == outputs.len(),
                "{out}"
            );
        }
    });
}

#[derive(ProtoLogGroup)]
enum Log {
    Parts,
}

/// The segments of a session that logs so many messages.
fn segments(dir: &Path, messages: u32) -> Vec<PathBuf> {
    let session = Session::builder().file(dir.join("s.pftrace")).segment_bytes(1 << 20);
    let session = session.enable_all().wait_at_most(Duration::from_secs(60)).start().unwrap();
    for number in 0..messages {
        i!(
            Log::Parts,
            "part %d of %s",
            number,
            format!("a text that fills the file, as no other does {number:060}")
        );
    }
    session.stop().unwrap();
    let mut paths: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 3, "{paths:?}");
    paths
}

#[test]
fn segments_of_a_session_are_read_as_one_trace() {
    let traces = Traces(temp_dir());
    let paths = segments(traces.0.path(), 40_000);
    let merged = temp_dir();
    let merged = merged.path().join("merged.pftrace");
    let inputs: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let made = run(&["merge", "-o", merged.to_str().unwrap()], &inputs);
    assert_eq!(made.status.code(), Some(0), "{:?}", texts(&made));
    let of = |path: &Path, more: &[&str]| run(&[&["read-log"], more].concat(), &[path]);
    for more in [&["--format", "json"][..], &["-n", "5"], &["--grep", "part 3000[0-9] "]] {
        let [(one, _), (all, errors)] = [&*merged, traces.0.path()].map(|it| texts(&of(it, more)));
        assert!(one == all, "{more:?}: {errors}");
        assert_eq!(errors, "");
    }
    traces.expect(40_000, "");

    let second = fs::read(&paths[1]).unwrap();
    fs::write(&paths[1], &second[..second.len() / 2]).unwrap();
    let output = of(traces.0.path(), &["--columns", "message"]);
    let (out, errors) = texts(&output);
    assert!(errors.contains("ends within a packet"), "{errors}");
    assert_eq!(output.status.code(), Some(3));
    let last = out.lines().last().unwrap_or_default();
    assert!(last.starts_with("part 39999 of") && out.lines().count() > 20_000, "{last}");

    fs::remove_file(&paths[1]).unwrap();
    let output = of(traces.0.path(), &["--columns", "message"]);
    let (out, errors) = texts(&output);
    let warning = "warning: segment 2, which is before";
    assert!(errors.contains(warning), "{errors}");
    assert_eq!(output.status.code(), Some(3));
    assert!(out.lines().count() > 20_000);
}

#[test]
fn merge_takes_a_directory_but_not_its_own_output() {
    let dir = temp_dir();
    for (name, pid) in [("a.pftrace", 100), ("b.pftrace", 200)] {
        fs::write(dir.path().join(name), trace(pid)).unwrap();
    }
    fs::write(dir.path().join("text.pftrace"), "no trace\n").unwrap();
    let merge = || {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        let output = tool.args(["merge", ".", "-o", "all.pftrace"]).current_dir(&dir).output();
        let output = output.unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), &*errors),
            (Some(3), "warning: `./text.pftrace` is not a trace, but text: it is left out\n")
        );
        fs::read(dir.path().join("all.pftrace")).unwrap()
    };
    let once = merge();
    assert_eq!(merge(), once);
}
