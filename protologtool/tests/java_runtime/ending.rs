//! The end of a JVM: shutdown hooks and threads that go on are recorded as long as possible, and
//! counted from there on.

use super::{classes, messages, tool};
use protolog_testkit::{Output, run_any, run_java, temp_dir};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Threads that log until the JVM is gone.
const THREADS: u64 = 4;

fn run_ending(kind: &str, trace: &Path) -> Option<Output> {
    let args = [kind, trace.to_str().unwrap()];
    let output = run_java(&[classes()?.to_path_buf()], "app.Ending", &args)?;
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""));
    Some(output)
}

/// The messages that a trace counts as lost.
fn lost(trace: &Path) -> u64 {
    let output = tool(&["read-log", "--format", "json", trace.to_str().unwrap()]);
    let rows = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let lost = rows.filter(|row: &serde_json::Value| row["type"] == "loss");
    lost.map(|row| row["count"].as_u64().unwrap()).sum()
}

#[test]
fn messages_of_other_hooks_are_recorded() {
    let dir = temp_dir();
    let expected: Vec<_> = (1..=3).map(|n| format!("INFO Work: the end of hook {n}")).collect();
    let trace = dir.path().join("a.pftrace");
    let Some(output) = run_ending("hooks", &trace) else { return };
    assert_eq!(output.stderr, "");
    let sorted = |trace: &Path| {
        let mut messages = messages(trace);
        messages.sort();
        messages
    };
    assert_eq!(sorted(&trace), expected);
    assert_eq!(lost(&trace), 0);
    let (recording, recovered) = (dir.path().join("a.rec"), dir.path().join("b.pftrace"));
    run_ending("recorded", &recording);
    tool(&["recover", recording.to_str().unwrap(), "-o", recovered.to_str().unwrap()]);
    assert_eq!(sorted(&recovered), expected);
}

#[test]
fn messages_after_the_end_are_counted_until_the_jvm_is_gone() {
    for kind in ["busy", "kept"] {
        let dir = temp_dir();
        let trace = dir.path().join("a.pftrace");
        let Some(output) = run_ending(kind, &trace) else { return };
        assert_eq!(output.stderr, "");
        let calls = fs::read(dir.path().join("a.pftrace.calls")).unwrap();
        let calls: u64 =
            calls.chunks(8).map(|word| u64::from_be_bytes(word.try_into().unwrap())).sum();
        let (recorded, lost) = (messages(&trace).len() as u64, lost(&trace));
        // A thread is gone between the two, or in a call that has begun.
        let missing = calls.checked_sub(recorded + lost).unwrap();
        assert!(missing <= THREADS, "{kind}: {missing} of {calls}, {lost} counted");
        assert!(recorded > 0 && lost > 0, "{kind}: {recorded} and {lost}");
    }
}

#[test]
fn a_hook_may_start_a_session() {
    let dir = temp_dir();
    let trace = dir.path().join("a.pftrace");
    let Some(output) = run_ending("start", &trace) else { return };
    assert_eq!(output.stderr, "");
    assert_eq!(messages(&trace), ["INFO Work: in a session of a hook"]);
}

#[test]
fn what_another_thread_has_begun_is_waited_for() {
    let Some(classes) = classes() else { return };
    for kind in ["closing", "copying"] {
        let dir = temp_dir();
        let [pipe, copy] = ["pipe", "copy.pftrace"].map(|name| dir.path().join(name));
        assert_eq!(run_any(Command::new("mkfifo").arg(&pipe)).code, Some(0));
        // It takes nothing before the program has begun to end.
        let mut reader = Command::new("sh");
        reader.args(["-c", "exec 3<$0; sleep 1; exec cat <&3 >$1"]).args([&pipe, &copy]);
        let mut reader = reader.spawn().unwrap();
        let args = [kind, pipe.to_str().unwrap()];
        let output = run_java(&[classes.to_path_buf()], "app.Ending", &args).unwrap();
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{kind}");
        reader.wait().unwrap();
        assert_eq!((messages(&copy).len(), lost(&copy)), (20_000, 0), "{kind}");
    }
}

#[test]
fn a_pipe_whose_reader_stands_still_does_not_keep_the_jvm() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let pipe = dir.path().join("pipe");
    assert_eq!(run_any(Command::new("mkfifo").arg(&pipe)).code, Some(0));
    let mut reader = Command::new("sh");
    reader.args(["-c", "exec 3<$0; read wait", pipe.to_str().unwrap()]).stdin(Stdio::piped());
    let mut reader = reader.spawn().unwrap();
    let args = ["pipe", pipe.to_str().unwrap()];
    let output = run_java(&[classes.to_path_buf()], "app.Ending", &args).unwrap();
    let expected = format!(
        "protolog: can't complete the trace `{}`, which takes nothing any more\n  help: run `protologtool recover`\n",
        pipe.display()
    );
    assert_eq!((output.code, output.stderr), (Some(0), expected));
    drop(reader.stdin.take());
    reader.wait().unwrap();
}
