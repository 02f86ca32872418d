//! Requests of Java programs that fail: each file has the messages of its requests, of all threads,
//! and no others; what is left out is counted, and is not lost. Compared with what the program says
//! that it has logged. `protolog-rt/tests/failed_requests.rs` has those of Rust.

use super::requests::read;
use super::{classes, tool};
use protolog_reader::{Entry, Log, Rendering};
use protolog_testkit::{java_25, run_any, temp_dir, trace_processor};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What the program logged: all messages, and those of each file, sorted.
struct Said {
    logged: u64,
    files: Vec<Vec<String>>,
}

fn run(java: &Path, dir: &Path, way: &str) -> Option<Said> {
    let mut java = Command::new(java);
    java.arg("-Dprotolog.level=off").arg("-cp").arg(classes()?);
    let output = run_any(java.arg("app.Failing").arg(dir).arg(way));
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let mut lines = output.stdout.lines();
    let logged = lines.next().unwrap().parse().unwrap();
    let mut files = Vec::<Vec<String>>::new();
    for line in lines {
        let (file, text) = line.split_once(' ').unwrap();
        let file: usize = file.parse().unwrap();
        files.resize(files.len().max(file), Vec::new());
        files[file - 1].push(text.to_owned());
    }
    for all in &mut files {
        all.sort();
    }
    Some(Said { logged, files })
}

impl Said {
    /// True of a request of which a file has messages.
    fn failed(&self, request: &str) -> bool {
        let end = format!(" for {request}");
        self.files.iter().flatten().any(|message| message.ends_with(&end))
    }
}

/// The messages of requests, each with its time, thread and request, sorted.
fn timed(log: &Log, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let of_requests = log.entries().filter(|entry| entry.request().is_some_and(&is_wanted));
    let shown = of_requests.map(|entry| {
        let (text, thread) = (entry.values().text(Rendering::Bare), entry.thread());
        format!("{} {:?} {:?} {text}", entry.time(), thread.tid, entry.request())
    });
    let mut all: Vec<_> = shown.collect();
    all.sort();
    all
}

/// The files of failed requests, the oldest first.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("a directory");
    let all = entries.map(|entry| entry.expect("an entry").path());
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut all: Vec<_> = all.filter(|it| name(it).starts_with("app.failed-request.2")).collect();
    all.sort();
    all
}

fn tag(log: &Log, entry: &Entry<'_>) -> String {
    entry.values().group(log).map(|group| group.tag.clone()).unwrap_or_default()
}

fn texts(log: &Log, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let entries = log.entries().filter(|entry| is_wanted(&tag(log, entry)));
    entries.map(|entry| entry.values().text(Rendering::Bare)).collect()
}

/// The messages of a file but for those about the trigger, sorted. Perfetto reads it, too.
#[track_caller]
fn messages(file: &Path, log: &Log) -> Vec<String> {
    let stats =
        "select name, value from stats where severity in ('error', 'data_loss') and value > 0
        and name != 'traced_buf_chunks_overwritten'";
    let count = "SELECT count(*) AS count FROM protolog";
    if let Some(tables) = trace_processor(file, &[count, stats]) {
        assert_eq!(tables[0].texts("count"), [log.entries().count().to_string()]);
        assert_eq!(tables[1].texts("name"), [""; 0]);
    }
    let mut all = texts(log, |tag| tag != "trigger");
    all.sort();
    all
}

fn notes(log: &Log) -> Vec<String> {
    texts(log, |tag| tag == "trigger")
}

/// Each file has its messages, and counts all others.
#[track_caller]
fn check(dir: &Path, said: &Said) -> Vec<Log> {
    let files = files(dir);
    assert_eq!(files.len(), said.files.len());
    let logs: Vec<Log> = files.iter().map(|file| read(file)).collect();
    for ((file, log), expected) in files.iter().zip(&logs).zip(&said.files) {
        assert_eq!(messages(file, log), *expected);
        assert!(log.is_complete(), "{}", file.display());
    }
    logs
}

/// The messages that the trace has, leaves out, and has lost, without those about the trigger.
fn accounted(log: &Log) -> u64 {
    let lost: u64 = log.stats().lost.values().sum();
    let count = texts(log, |tag| tag != "trigger").len() as u64;
    count + log.stats().left_out.expect("a filtered trace") + lost
}

#[test]
fn the_file_has_the_request_and_no_other() {
    let dir = temp_dir();
    let Some(said) = run("java".as_ref(), dir.path(), "one") else { return };
    let logs = check(dir.path(), &said);
    assert_eq!(accounted(&logs[0]), said.logged);
    assert_eq!(logs[0].slices().len(), 50);
    let expected = [
        "trigger: failed request",
        "trigger: request GET /cart/17 failed: java.io.IOException: no answer",
        "trigger: 400 messages of other requests are left out",
    ];
    let mut notes = notes(&logs[0]);
    notes.sort_unstable_by_key(|note| expected.iter().position(|it| it == note));
    assert_eq!(notes, expected);
    let shown = tool(&["read-log", files(dir.path())[0].to_str().unwrap()]);
    let note = "note: the trace leaves out 400 messages of other requests";
    assert!(shown.stderr.contains(note), "{}", shown.stderr);
}

fn threads(java: &Path, way: &str) {
    let dir = temp_dir();
    let Some(said) = run(java, dir.path(), way) else { return };
    let logs = check(dir.path(), &said);
    assert_eq!(accounted(&logs[0]), said.logged);
    assert!(said.files[0].len() > 1000);
    let all = read(&dir.path().join("all.pftrace"));
    assert_eq!(timed(&logs[0], |_| true), timed(&all, |request| said.failed(request)));
    let slices = logs[0].slices();
    assert!(slices.len() > 50 && slices.iter().all(|slice| slice.end.is_some()), "{way}");
    // Each slice has a track that is described.
    let sql =
        "select count(*) as count from slice join thread_track on slice.track_id = thread_track.id
        join thread using (utid) where thread.tid is not null";
    if let Some(tables) = trace_processor(&files(dir.path())[0], &[sql]) {
        assert_eq!(tables[0].texts("count"), [slices.len().to_string()]);
    }
}

#[test]
fn texts_and_times_of_threads_are_right() {
    threads("java".as_ref(), "platform");
}

#[test]
fn virtual_threads_take_turns() {
    let Some(java) = java_25() else { return };
    threads(&java, "virtual");
}

#[test]
fn a_ring_that_wraps_counts_what_it_overwrote() {
    let dir = temp_dir();
    let Some(said) = run("java".as_ref(), dir.path(), "ring") else { return };
    let file = &files(dir.path())[0];
    let log = read(file);
    let found = messages(file, &log);
    assert!(found.len() > 100 && found.len() < said.files[0].len(), "{}", found.len());
    // The newest ones, without a hole.
    let number = |text: &String| text.split(' ').next().and_then(|it| it.parse::<u64>().ok());
    let numbers = |all: &[String]| {
        let mut numbers: Vec<_> = all.iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    };
    let (numbers, expected) = (numbers(&found), numbers(&said.files[0]));
    assert_eq!(numbers, expected[expected.len() - numbers.len()..]);
    assert_eq!(accounted(&log), said.logged);
}

#[test]
fn pinned_large_and_passed_on_messages_are_there() {
    for way in ["pinned", "large", "bridged"] {
        let dir = temp_dir();
        let Some(said) = run("java".as_ref(), dir.path(), way) else { return };
        let logs = check(dir.path(), &said);
        assert_eq!(accounted(&logs[0]), said.logged, "{way}");
    }
}

#[test]
fn those_that_fail_too_soon_are_in_the_next_file() {
    let dir = temp_dir();
    let Some(said) = run("java".as_ref(), dir.path(), "soon") else { return };
    check(dir.path(), &said);
}

#[test]
fn requests_fail_in_several_ways() {
    let dir = temp_dir();
    let Some(said) = run("java".as_ref(), dir.path(), "ways") else { return };
    let logs = check(dir.path(), &said);
    let has = |log: &Log, note: &str| notes(log).iter().any(|it| it == note);
    let note = "trigger: request task failed: java.lang.IllegalStateException: in a task";
    assert!(has(&logs[0], note), "{:?}", notes(&logs[0]));
    let note = "trigger: request thrown failed: java.io.IOException: no rows";
    assert!(has(&logs[1], note), "{:?}", notes(&logs[1]));
}

#[test]
fn a_trigger_by_the_name_of_the_cause_has_all_messages() {
    let dir = temp_dir();
    let Some(said) = run("java".as_ref(), dir.path(), "named") else { return };
    assert_eq!(check(dir.path(), &said)[0].stats().left_out, None);
}

#[test]
fn sessions_have_files_of_their_own() {
    let dir = temp_dir();
    let Some(said) = run("java".as_ref(), dir.path(), "sessions") else { return };
    // One message may come after the file.
    let accounted = accounted(&check(dir.path(), &said)[0]);
    assert!((said.logged - 1..=said.logged).contains(&accounted), "{accounted}");
    let others = files(&dir.path().join("other"));
    let log = read(&others[0]);
    assert_eq!((others.len(), messages(&others[0], &log)), (1, vec!["a warning".to_owned()]));
    let all = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(all, 2, "a file, and the directory of the other session");
}

#[test]
fn a_name_that_is_taken_meanwhile_changes_no_count() {
    let dir = temp_dir();
    let Some(said) = run("java".as_ref(), dir.path(), "taken") else { return };
    let files = files(dir.path());
    let [file, taken] = &files[..] else { panic!("{files:?}") };
    assert_eq!(std::fs::metadata(taken).unwrap().len(), 0, "it was there");
    let log = read(file);
    assert_eq!((messages(file, &log), accounted(&log)), (said.files[0].clone(), said.logged));
}

#[track_caller]
fn check_requests(log: &Log) {
    for entry in log.entries().filter(|entry| tag(log, entry) != "trigger") {
        let text = entry.values().text(Rendering::Bare);
        let request = text.split_once(" for ").expect("a request").1;
        assert_eq!(entry.request().unwrap_or("none"), request, "{text}");
    }
}

#[test]
fn a_killed_program_leaves_whole_files_and_its_requests() {
    let Some(classes) = classes() else { return };
    // `cargo xtask soak kill` has more of them.
    let rounds = std::env::var("PROTOLOG_KILL_ROUNDS").map_or(3, |rounds| rounds.parse().unwrap());
    for round in 0..rounds {
        let dir = temp_dir();
        let mut java = Command::new("java");
        java.arg("-Dprotolog.level=off").arg("-cp").arg(classes).arg("app.Failing");
        java.arg(dir.path()).arg("killed").stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = java.spawn().expect("start java");
        let end = Instant::now() + Duration::from_secs(60);
        while files(dir.path()).is_empty() && Instant::now() < end {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_micros(round * 7_919 % 60_000));
        child.kill().expect("kill it");
        child.wait().expect("it ends");
        let all = files(dir.path());
        assert!(!all.is_empty());
        for file in all {
            let log = read(&file);
            assert!(log.is_complete() && log.stats().left_out.is_some(), "{}", file.display());
            check_requests(&log);
        }
        let (recording, trace) = (dir.path().join("ring.rec"), dir.path().join("ring.pftrace"));
        tool(&["recover", recording.to_str().unwrap(), "-o", trace.to_str().unwrap()]);
        let log = read(&trace);
        assert!(log.entries().count() > 1000, "round {round}");
        // The first error is there, in its request, however many messages came after it.
        let errors = texts(&log, |tag| tag == "Disk");
        assert!(errors.iter().any(|text| text == "99 for request 99"), "round {round}");
        check_requests(&log);
    }
}
