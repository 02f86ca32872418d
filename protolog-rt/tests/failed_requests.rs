//! The files of requests that failed: each has the messages of its requests, of all threads, and no
//! others; what is left out is counted, and is not lost. Compared with journals that the program
//! writes beside its messages.

mod common;

use common::{Trace, lock_sessions};
use protolog_reader::{Log as ReadLog, Recording, Rendering, Trace as TraceFile};
use protolog_rt::{
    Builder, Level, Pinned, ProtoLogGroup, Request, Session, Summary, Triggers, d, e,
    request_scope, span,
};
use protolog_testkit::temp_dir;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

#[derive(ProtoLogGroup)]
enum Log {
    Net,
    Db,
}

/// Longer than a file takes.
const LONG: Duration = Duration::from_secs(60);

/// Longer than a test runs.
const NEVER: Duration = Duration::from_secs(3600);

fn triggers(dir: &Path) -> Triggers {
    let triggers = Triggers::to(dir.join("app.pftrace")).on_failed_request();
    triggers.after(Duration::ZERO).interval(Duration::ZERO)
}

fn start(triggers: Triggers) -> Session {
    builder(triggers).start().expect("start a session")
}

fn builder(triggers: Triggers) -> Builder {
    Session::builder().enable_all().buffer_size(16 << 20).triggers(triggers)
}

/// The complete files, the oldest first.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("a directory");
    let all = entries.map(|entry| entry.expect("an entry").path());
    let mut all: Vec<_> =
        all.filter(|it| it.extension().is_some_and(|it| it == "pftrace")).collect();
    all.sort();
    all
}

#[track_caller]
fn wait_for(dir: &Path, count: usize) -> Vec<PathBuf> {
    let end = Instant::now() + LONG;
    while files(dir).len() != count {
        assert!(Instant::now() < end, "{count} files, not {:?}", files(dir));
        thread::sleep(Duration::from_millis(1));
    }
    files(dir)
}

/// A trace, read by trace_processor, too, if it is not large.
#[track_caller]
fn read(path: &Path) -> ReadLog {
    let trace = Trace::of(path.to_path_buf(), Summary::default(), temp_dir());
    if fs::metadata(path).expect("the file").len() < 1 << 20 {
        trace.messages();
    }
    trace.log()
}

/// The messages but for those about the trigger, sorted.
fn messages(log: &ReadLog) -> Vec<String> {
    let entries = log.entries().filter(|entry| tag(log, entry) != "trigger");
    let mut all: Vec<_> = entries.map(|entry| entry.values().text(Rendering::Bare)).collect();
    all.sort();
    all
}

fn tag(log: &ReadLog, entry: &protolog_reader::Entry<'_>) -> String {
    entry.values().group(log).map(|group| group.tag.clone()).unwrap_or_default()
}

/// The messages about the trigger.
fn notes(log: &ReadLog) -> Vec<String> {
    let entries = log.entries().filter(|entry| tag(log, entry) == "trigger");
    entries.map(|entry| entry.values().text(Rendering::Bare)).collect()
}

/// The messages that the trace has, leaves out, and has lost, without those about the trigger.
fn accounted(log: &ReadLog) -> u64 {
    let lost: u64 = log.stats().lost.values().sum();
    messages(log).len() as u64 + log.stats().left_out.expect("a filtered trace") + lost
}

/// What a program logs, by request.
#[derive(Default)]
struct Journal(Mutex<BTreeMap<String, Vec<String>>>);

impl Journal {
    /// Logs a message, and writes it down.
    fn log(&self, request: &str, number: u64) {
        d!(Log::Net, "%d for %s", number, request);
        let mut all = self.0.lock().expect("the journal");
        all.entry(request.to_owned()).or_default().push(format!("{number} for {request}"));
    }

    fn of<'a>(&self, requests: impl IntoIterator<Item = &'a String>) -> Vec<String> {
        let all = self.0.lock().expect("the journal");
        let of = requests.into_iter().flat_map(|it| all.get(it).into_iter().flatten().cloned());
        let mut of: Vec<_> = of.collect();
        of.sort();
        of
    }

    fn len(&self) -> u64 {
        self.0.lock().expect("the journal").values().map(Vec::len).sum::<usize>() as u64
    }
}

#[test]
fn the_file_has_the_request_and_no_other() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()));
    let journal = Journal::default();
    let failing = Request::new("GET /cart/17");
    for number in 0..100 {
        journal.log("none", number);
        let request = if number % 2 == 0 { failing.clone() } else { Request::new(number) };
        let of_thread = request.clone();
        let _scope = request.enter();
        journal.log(request.id(), number);
        thread::scope(|scope| {
            scope.spawn(|| {
                journal.log("none", number);
                let _scope = of_thread.enter();
                journal.log(of_thread.id(), number);
                let _span = span!(Log::Db, "query %d", number);
                journal.log(of_thread.id(), number);
            });
        });
    }
    failing.keep_if_failed(&Err::<(), _>("no answer"));
    failing.fail("again");
    let log = read(&wait_for(dir.path(), 1)[0]);
    assert_eq!(messages(&log), journal.of([&"GET /cart/17".to_owned()]));
    assert_eq!(accounted(&log), journal.len());
    let left_out = log.stats().left_out.expect("a filtered trace");
    let expected = [
        "trigger: request GET /cart/17 failed: no answer".to_owned(),
        "trigger: failed request".to_owned(),
        format!("trigger: {left_out} messages of other requests are left out"),
    ];
    assert_eq!(notes(&log).into_iter().collect::<BTreeSet<_>>(), BTreeSet::from(expected));
    let is_of = |entry: protolog_reader::Entry<'_>| {
        tag(&log, &entry) == "trigger" || entry.request() == Some("GET /cart/17")
    };
    assert!(log.entries().all(is_of));
    session.stop().expect("stop");
    assert_eq!(files(dir.path()).len(), 1, "a request fails once");
}

/// Numbers that look random, the same in each run.
fn random(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ (x >> 27)
}

#[test]
fn of_a_thousand_requests_those_that_failed_are_there() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()).interval(NEVER).after(NEVER));
    let (journal, failed) = (Journal::default(), Mutex::new(BTreeSet::new()));
    thread::scope(|scope| {
        for thread in 0..8u64 {
            let (journal, failed) = (&journal, &failed);
            scope.spawn(move || {
                for number in (thread..1000).step_by(8) {
                    let request = request_scope(format!("request {number}"));
                    for step in 0..random(number) % 20 {
                        journal.log(request.id(), step);
                        if step % 5 == 3 {
                            let inner = request_scope(format!("part of {number}"));
                            journal.log(inner.id(), step);
                        }
                    }
                    if random(number ^ 0xfa11) % 10 == 0 {
                        request.fail(format!("code {number}"));
                        failed.lock().expect("failed").insert(request.id().to_owned());
                    }
                    // Still of the request.
                    journal.log(request.id(), 100);
                    drop(request);
                    journal.log("none", number);
                }
            });
        }
    });
    session.stop().expect("stop");
    let failed = failed.into_inner().expect("failed");
    assert!(failed.len() > 50);
    let files = files(dir.path());
    assert_eq!(files.len(), 1, "all failed before its file was written");
    let log = read(&files[0]);
    assert_eq!(messages(&log), journal.of(&failed));
    assert_eq!(accounted(&log), journal.len());
    let reported = notes(&log).len();
    assert_eq!(reported, failed.len() + 2, "one for each, the cause, and what is left out");
}

/// Strings are defined by the first message of a chunk that has them, whose request is another one.
#[test]
fn strings_of_messages_that_are_left_out_are_there() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()));
    let failing = Request::new("failing");
    let hosts: Vec<String> = (0..40).map(|number| format!("host-{number}.example")).collect();
    let mut expected = Vec::new();
    for turn in 0..50 {
        for (number, host) in hosts.iter().enumerate() {
            let is_failing = turn > 0 && (turn + number) % 7 == 0;
            let _scope = is_failing.then(|| failing.enter());
            d!(Log::Net, "%s after %d", host, turn);
            expected.extend(is_failing.then(|| format!("{host} after {turn}")));
        }
    }
    failing.fail("no answer");
    let log = read(&wait_for(dir.path(), 1)[0]);
    expected.sort();
    assert_eq!(messages(&log), expected);
    assert_eq!(log.stats().missing_strings, 0);
    // Times go on as in the whole trace.
    session.snapshot(dir.path().join("whole")).expect("a snapshot");
    let whole = TraceFile::open(dir.path().join("whole")).expect("open").read().expect("read");
    let times = |log: &ReadLog| {
        let of = log.entries().filter(|entry| entry.request() == Some("failing"));
        of.map(|entry| (entry.time(), entry.values().text(Rendering::Bare))).collect::<Vec<_>>()
    };
    assert_eq!(times(&log), times(&whole));
    session.stop().expect("stop");
}

#[test]
fn what_the_ring_has_overwritten_is_counted() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = builder(triggers(dir.path())).buffer_size(64 << 10).start().expect("start");
    let (journal, failing) = (Journal::default(), Request::new("failing"));
    for number in 0..20_000 {
        let _scope = (number / 10 % 3 == 0).then(|| failing.enter());
        journal.log(if number / 10 % 3 == 0 { "failing" } else { "none" }, number);
    }
    failing.fail("no answer");
    let log = read(&wait_for(dir.path(), 1)[0]);
    let (found, all) = (messages(&log), journal.of([&"failing".to_owned()]));
    assert!(found.len() > 100 && found.len() < all.len());
    assert!(found.iter().all(|message| message.ends_with(" for failing")), "{found:?}");
    // The newest ones, without a hole.
    let number = |text: &String| text.split(' ').next().and_then(|it| it.parse::<u64>().ok());
    let mut numbers: Vec<_> = found.iter().filter_map(number).collect();
    numbers.sort_unstable();
    let mut expected: Vec<_> = all.iter().filter_map(number).collect();
    expected.sort_unstable();
    assert_eq!(numbers, expected[expected.len() - numbers.len()..]);
    assert_eq!(accounted(&log), 20_000);
    session.stop().expect("stop");
}

#[test]
fn pinned_messages_of_the_request_are_there() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let pinned = Pinned::new().level(Level::Error).buffer_size(64 << 10);
    let builder = builder(triggers(dir.path())).buffer_size(64 << 10).pin(pinned);
    let session = builder.start().expect("start");
    let failing = Request::new("failing");
    {
        let _scope = failing.enter();
        e!(Log::Db, "long ago");
    }
    e!(Log::Db, "of nobody");
    for number in 0..20_000u64 {
        let _scope = request_scope(number);
        d!(Log::Net, "chatter %d", number);
    }
    {
        let _scope = failing.enter();
        d!(Log::Net, "just now");
    }
    failing.fail("no answer");
    let log = read(&wait_for(dir.path(), 1)[0]);
    assert_eq!(messages(&log), ["just now", "long ago"]);
    assert_eq!(accounted(&log), 20_003);
    session.stop().expect("stop");
}

#[test]
fn messages_of_several_chunks_are_taken_or_left_out() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = builder(triggers(dir.path())).max_string_bytes(64 << 10).start().expect("start");
    let failing = Request::new("failing");
    let (ours, others) = ("o".repeat(20_000), "x".repeat(20_000));
    for _ in 0..20 {
        d!(Log::Net, "%s", &others);
        let _scope = failing.enter();
        d!(Log::Net, "%s", &ours);
        d!(Log::Net, "short");
    }
    failing.fail("too long");
    let log = read(&wait_for(dir.path(), 1)[0]);
    let mut expected = vec![ours.clone(); 20];
    expected.extend(vec!["short".to_owned(); 20]);
    expected.sort();
    assert_eq!(messages(&log), expected);
    assert_eq!(log.stats().left_out, Some(20));
    session.stop().expect("stop");
}

#[test]
fn those_that_fail_too_soon_are_in_the_next_file() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()).interval(Duration::from_millis(400)));
    let fail = |id: &str| {
        let request = request_scope(id);
        d!(Log::Net, "of %s", id);
        request.fail("no answer");
    };
    fail("one");
    wait_for(dir.path(), 1);
    fail("two");
    fail("three");
    // Without another failure.
    let files = wait_for(dir.path(), 2);
    assert_eq!(messages(&read(&files[0])), ["of one"]);
    assert_eq!(messages(&read(&files[1])), ["of three", "of two"]);
    fail("four");
    session.stop().expect("stop");
    let files = self::files(dir.path());
    assert_eq!(files.len(), 3);
    assert_eq!(messages(&read(&files[2])), ["of four"], "at the stop");
}

/// Other threads go on with a request that has failed: what they log until the file is written is
/// in it, and later messages are in no file, also if they say once more that it failed.
#[test]
fn threads_that_go_on_are_in_the_file_until_it_is_written() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()).after(Duration::from_millis(500)));
    let request = Request::new("long");
    request.fail("no answer");
    let of_thread = request.clone();
    thread::spawn(move || {
        let _scope = of_thread.enter();
        d!(Log::Net, "a moment later");
    });
    let log = read(&wait_for(dir.path(), 1)[0]);
    assert_eq!(messages(&log), ["a moment later"]);
    {
        let _scope = request.enter();
        d!(Log::Net, "too late");
        request.fail("again");
    }
    let other = request_scope("other");
    d!(Log::Net, "of another one");
    other.fail("no answer");
    session.stop().expect("stop");
    let files = files(dir.path());
    assert_eq!(files.len(), 2);
    assert_eq!(messages(&read(&files[1])), ["of another one"]);
}

#[test]
fn the_limits_of_files_hold() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()).keep_files(3));
    for number in 0..10u64 {
        let request = request_scope(number);
        d!(Log::Net, "of %d", number);
        request.fail("no answer");
        let end = Instant::now() + LONG;
        let written = || session.trigger_counts().iter().map(|it| it.written).sum::<u64>();
        while written() <= number && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
    }
    let counts = session.trigger_counts();
    assert_eq!((&*counts[0].cause, counts[0].fired), ("failed request", 10));
    let files = wait_for(dir.path(), 3);
    let texts: Vec<_> = files.iter().map(|file| messages(&read(file)).concat()).collect();
    assert_eq!(texts, ["of 7", "of 8", "of 9"]);
    session.stop().expect("stop");
}

#[test]
fn a_panic_fails_the_request() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()));
    let thread = thread::spawn(|| {
        let _scope = request_scope("broken");
        d!(Log::Net, "about to panic");
        panic!("as planned");
    });
    assert!(thread.join().is_err());
    let log = read(&wait_for(dir.path(), 1)[0]);
    assert_eq!(messages(&log), ["about to panic"]);
    assert!(notes(&log).contains(&"trigger: request broken failed: panic".to_owned()));
    session.stop().expect("stop");
}

/// Whoever fires it by name has no request: all messages are wanted.
#[test]
fn a_trigger_by_the_name_of_the_cause_has_all_messages() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()));
    d!(Log::Net, "of nobody");
    session.trigger("failed request").expect("fire");
    assert_eq!(messages(&read(&wait_for(dir.path(), 1)[0])), ["of nobody"]);
    session.stop().expect("stop");
}

/// The directory of the process that is killed.
const CHILD: &str = "PROTOLOG_TEST_REQUESTS";

/// Number of processes that are killed; `cargo xtask soak` sets a higher one.
fn rounds() -> u64 {
    env::var("PROTOLOG_KILL_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(8)
}

fn fail_all_the_time(dir: &Path) -> ! {
    let builder = builder(triggers(dir).keep_files(4)).buffer_size(1 << 20);
    let _session = builder.record_at(dir.join("ring.rec")).start().expect("start a session");
    for number in 0u64.. {
        let request = request_scope(format!("request {number}"));
        for step in 0..10 {
            d!(Log::Net, "%d for %s", step, request.id());
        }
        if number % 100 == 99 {
            request.fail("no answer");
        }
        drop(request);
        d!(Log::Net, "%d for %s", number, "none");
    }
    unreachable!("it is killed")
}

#[track_caller]
fn check_requests(log: &ReadLog) {
    for entry in log.entries().filter(|entry| tag(log, entry) != "trigger") {
        let text = entry.values().text(Rendering::Bare);
        let request = text.split_once(" for ").expect("a request").1;
        assert_eq!(entry.request().unwrap_or("none"), request, "{text}");
    }
}

#[test]
fn a_killed_process_leaves_whole_files_and_its_requests() {
    if let Some(dir) = env::var_os(CHILD) {
        fail_all_the_time(Path::new(&dir));
    }
    for round in 0..rounds() {
        let dir = temp_dir();
        let mut command = Command::new(env::current_exe().expect("this program"));
        command.args(["--exact", "a_killed_process_leaves_whole_files_and_its_requests"]);
        let command = command.env(CHILD, dir.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("start a process");
        let end = Instant::now() + LONG;
        while files(dir.path()).is_empty() && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_micros(random(round) % 30_000));
        child.kill().expect("kill it");
        child.wait().expect("it ends");
        for file in files(dir.path()) {
            let log = TraceFile::open(&file).expect("open").read().expect("read");
            assert!(log.is_complete() && log.stats().left_out.is_some(), "{file:?}");
            check_requests(&log);
        }
        let bytes = fs::read(dir.path().join("ring.rec")).expect("the recording");
        let mut trace = Vec::new();
        let report = Recording::parse(&bytes).expect("a recording").write(&mut trace);
        assert_eq!(report.expect("write to memory").flaws, []);
        let log = TraceFile::from_bytes(trace).read().expect("read");
        assert!(log.entries().count() > 1000);
        check_requests(&log);
    }
}
