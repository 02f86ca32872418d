//! Triggers: each event makes one file, with what came before and after it, and everything else of
//! the session is there or counted; limits on files hold, and errors end nothing.
#![allow(unsafe_code)] // setrlimit, fork.

mod common;
#[path = "common/fork.rs"]
mod fork;
#[path = "common/limit.rs"]
mod limit;

use common::{Trace, lock_sessions};
use fork::{has_process_of_its_own, spawn, wait};
use limit::{Limit, ran_in_child};
use protolog_rt::{
    Deadline, Error, LossCause, ProtoLogGroup, Session, Summary, TriggerCounts, Triggers, d,
    trigger,
};
use protolog_testkit::{TempDir, temp_dir};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
    Other,
}

/// Longer than a file takes.
const LONG: Duration = Duration::from_secs(60);

/// Longer than a test runs.
const NEVER: Duration = Duration::from_secs(3600);

fn triggers(dir: &Path) -> Triggers {
    Triggers::to(dir.join("app.pftrace")).after(Duration::ZERO)
}

fn start(triggers: Triggers) -> Session {
    Session::builder().enable_all().triggers(triggers).start().expect("start a session")
}

/// The complete files of triggers, the oldest first. Nothing else is in the directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("a directory");
    let mut all: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    // By time, whatever the cause.
    let time = |path: &PathBuf| path.to_string_lossy().split(".2").last().map(str::to_owned);
    all.sort_by_key(time);
    all
}

/// Waits for so many files to be there.
#[track_caller]
fn wait_for(dir: &Path, count: usize) -> Vec<PathBuf> {
    let end = Instant::now() + LONG;
    let is_whole = |path: &PathBuf| path.extension().is_some_and(|it| it == "pftrace");
    loop {
        let files = files(dir);
        if files.len() == count && files.iter().all(is_whole) {
            return files;
        }
        assert!(Instant::now() < end, "{count} files, not {files:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The lines of a trace, checked by trace_processor, too.
#[track_caller]
fn lines(path: &Path) -> Vec<String> {
    Trace::of(path.to_path_buf(), Summary::default(), temp_dir()).messages()
}

/// The number of messages that a trace has and that it says are missing, without that of its cause.
#[track_caller]
fn accounted(path: &Path) -> u64 {
    let log = Trace::of(path.to_path_buf(), Summary::default(), temp_dir()).log();
    log.entries().count() as u64 - 1 + log.stats().lost.values().sum::<u64>()
}

fn counts(session: &Session, cause: &str) -> [u64; 4] {
    let all = session.trigger_counts();
    let found = all.iter().find(|counts| counts.cause == cause);
    found.map_or([0; 4], |&TriggerCounts { fired, suppressed, written, failed, .. }| {
        [fired, suppressed, written, failed]
    })
}

/// Waits for a cause to have these counts: a file is there a moment before it is counted.
#[track_caller]
fn check_counts(session: &Session, cause: &str, expected: [u64; 4]) {
    let end = Instant::now() + LONG;
    while counts(session, cause) != expected && Instant::now() < end {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(counts(session, cause), expected, "{cause}: fired, suppressed, written, failed");
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("a name")
}

#[test]
fn a_call_of_the_api_writes_what_came_before() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()));
    d!(Log::Work, "before %d", 1);
    assert!(session.trigger("100% full!").expect("a session with triggers"));
    let file = wait_for(dir.path(), 1).remove(0);
    assert!(name(&file).starts_with("app.100-full.2"), "{file:?}");
    d!(Log::Work, "after");
    assert!(!session.trigger("100% full!").expect("a session with triggers"), "too soon");
    let lines = lines(&file);
    assert_eq!(lines[0], "DEBUG Work before 1");
    assert!(lines[1..] == ["WARN trigger trigger: 100% full!"], "{lines:?}");
    check_counts(&session, "100% full!", [1, 1, 1, 0]);
    session.stop().expect("stop");
    assert_eq!(files(dir.path()), [file], "what is suppressed makes no file");
    let session = start(triggers(dir.path()));
    assert!(session.trigger(" ").expect("a session with triggers"));
    let without_name = wait_for(dir.path(), 2);
    assert!(without_name.iter().any(|file| name(file).starts_with("app.trigger.2")));
    check_counts(&session, "trigger", [1, 0, 1, 0]);
    session.stop().expect("stop");
}

#[test]
fn the_time_after_an_event_is_in_the_file() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()).after(Duration::from_millis(300)));
    d!(Log::Work, "before");
    session.trigger("event").expect("a session with triggers");
    d!(Log::Work, "after");
    thread::spawn(|| d!(Log::Other, "of another thread")).join().expect("the thread ends");
    let file = wait_for(dir.path(), 1).remove(0);
    let expected = [
        "DEBUG Work before",
        "WARN trigger trigger: event",
        "DEBUG Work after",
        "DEBUG Other of another thread",
    ];
    assert_eq!(lines(&file), expected);
    drop(session);
}

/// The ring is overwritten many times before the file is written.
#[test]
fn what_came_before_stays_though_the_ring_goes_on() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let settings = triggers(dir.path()).after(NEVER);
    let builder = Session::builder().enable_all().buffer_size(64 << 10);
    let session = builder.triggers(settings).start().expect("start");
    d!(Log::Work, "before");
    session.trigger("event").expect("a session with triggers");
    // The thread of the session copies the ring.
    thread::sleep(Duration::from_millis(300));
    for number in 0..100_000u64 {
        d!(Log::Work, "after %d", number);
    }
    session.stop().expect("stop");
    let file = wait_for(dir.path(), 1).remove(0);
    let lines = lines(&file);
    assert_eq!(lines[..2], ["DEBUG Work before", "WARN trigger trigger: event"]);
    assert_eq!(lines.last().expect("messages"), "DEBUG Work after 99999");
    assert!(lines.len() < 50_000, "{}", lines.len());
    assert_eq!(accounted(&file), 100_001, "the hole is counted");
}

#[test]
fn a_window_leaves_out_what_is_too_old() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let settings = triggers(dir.path()).before(Duration::from_millis(500));
    let session = start(settings);
    let log = |count: u64| (0..count).for_each(|number| d!(Log::Work, "%d", number));
    log(10_000);
    thread::sleep(Duration::from_millis(600));
    log(1_000);
    session.trigger("time").expect("a session with triggers");
    let file = wait_for(dir.path(), 1).remove(0);
    let there = lines(&file).len();
    assert!((1_001..1_700).contains(&there), "{there} and not a chunk more");
    assert_eq!(accounted(&file), 11_000);
    drop(session);
}

#[test]
fn a_window_has_so_many_bytes() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()).before_bytes(16 << 10));
    (0..20_000u64).for_each(|number| d!(Log::Work, "%d", number));
    session.trigger("bytes").expect("a session with triggers");
    let file = wait_for(dir.path(), 1).remove(0);
    let lines = lines(&file);
    assert!((400..1_500).contains(&lines.len()), "{}", lines.len());
    assert!(lines.contains(&"DEBUG Work 19999".to_owned()), "the newest");
    assert_eq!(accounted(&file), 20_000);
    drop(session);
}

#[test]
fn suppressed_events_are_counted_and_shown_by_the_next_file() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()).interval(Duration::from_millis(400)));
    for _ in 0..8 {
        session.trigger("flood").expect("a session with triggers");
    }
    wait_for(dir.path(), 1);
    let end = Instant::now() + LONG;
    while !session.trigger("flood").expect("a session with triggers") {
        assert!(Instant::now() < end, "it fires again after a while");
        thread::sleep(Duration::from_millis(20));
    }
    let files = wait_for(dir.path(), 2);
    let [_, suppressed, ..] = counts(&session, "flood");
    let shown = |file: &PathBuf| {
        let line = lines(file).pop().expect("a message");
        let number = line.strip_prefix("WARN trigger trigger: flood; ").unwrap_or("0 ");
        let (number, _) = number.split_once(' ').expect("a number");
        number.parse::<u64>().expect("a number")
    };
    assert_eq!(files.iter().map(shown).sum::<u64>(), suppressed);
    assert!(suppressed >= 7);
    drop(session);
}

#[test]
fn the_oldest_files_of_the_session_go() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let foreign = dir.path().join("app.cause-0.20000101T000000.000Z.pftrace");
    std::fs::write(&foreign, "somebody else's").expect("a file");
    let session = start(triggers(dir.path()).keep_files(3));
    for number in 0..8 {
        let cause = format!("cause {number}");
        session.trigger(&cause).expect("a session with triggers");
        check_counts(&session, &cause, [1, 0, 1, 0]);
    }
    let mut left: Vec<_> =
        files(dir.path()).iter().map(|path| name(path)[..11].to_owned()).collect();
    left.sort();
    assert_eq!(left, ["app.cause-0", "app.cause-5", "app.cause-6", "app.cause-7"]);
    assert!(foreign.exists(), "that of nobody of this session");
    session.stop().expect("stop");
}

#[test]
fn the_bytes_of_all_files_are_limited() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()).keep_bytes(200_000));
    for number in 0..6 {
        (0..2_000u64).for_each(|number| d!(Log::Work, "%d", number));
        let cause = format!("cause {number}");
        session.trigger(&cause).expect("a session with triggers");
        check_counts(&session, &cause, [1, 0, 1, 0]);
        let sizes = files(dir.path())
            .iter()
            .map(|path| path.metadata().expect("a file").len())
            .collect::<Vec<_>>();
        assert!(sizes.len() == 1 || sizes.iter().sum::<u64>() <= 200_000, "{sizes:?}");
    }
    session.stop().expect("stop");
}

#[test]
fn a_full_disk_is_counted_and_ends_nothing() {
    if ran_in_child("a_full_disk_is_counted_and_ends_nothing") {
        return;
    }
    let dir = temp_dir();
    let builder = Session::builder().enable_all().report_losses(false);
    let session = builder.triggers(triggers(dir.path())).start().expect("start");
    (0..30_000u64).for_each(|number| d!(Log::Work, "%d", number));
    let limit = Limit::new(libc::RLIMIT_FSIZE, 100_000);
    session.trigger("full").expect("a session with triggers");
    check_counts(&session, "full", [1, 0, 0, 1]);
    assert_eq!(files(dir.path()), Vec::<PathBuf>::new(), "not half a file");
    drop(limit);
    session.trigger("not full").expect("a session with triggers");
    wait_for(dir.path(), 1);
    session.stop().expect("stop");
}

#[test]
fn a_stop_writes_what_is_not_written_yet() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()).after(NEVER));
    d!(Log::Work, "before");
    session.trigger("one").expect("a session with triggers");
    // A trigger within the time after another one.
    session.trigger("two").expect("a session with triggers");
    d!(Log::Work, "after");
    assert_eq!(files(dir.path()), Vec::<PathBuf>::new());
    session.stop().expect("stop");
    let mut files = files(dir.path());
    files.sort();
    assert_eq!(files.len(), 2);
    for (file, cause) in files.iter().zip(["one", "two"]) {
        let expected =
            ["DEBUG Work before", &format!("WARN trigger trigger: {cause}"), "DEBUG Work after"];
        assert_eq!(lines(file), expected);
    }
}

#[test]
fn threads_that_fire_at_once_make_one_file() {
    const THREADS: u64 = 8;
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(triggers(dir.path()));
    let fired: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn(move || {
                    (0..500u64).for_each(|number| d!(Log::Work, "%d:%d", thread, number));
                    (0..100).map(|_| trigger("all at once")).sum::<usize>()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("the thread ends")).sum()
    });
    assert_eq!(fired, 1);
    wait_for(dir.path(), 1);
    check_counts(&session, "all at once", [1, THREADS * 100 - 1, 1, 0]);
    session.stop().expect("stop");
}

#[test]
fn panics_and_late_operations_fire() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    protolog_rt::log_panics();
    let session = start(triggers(dir.path()).on_panic().after(Duration::from_millis(200)));
    drop(Deadline::new("in time", NEVER));
    thread::spawn(|| panic!("out of cheese")).join().expect_err("a panic");
    let deadline = Deadline::new("slow", Duration::from_millis(1));
    thread::sleep(Duration::from_millis(3));
    drop(deadline);
    let files = wait_for(dir.path(), 2);
    assert!(name(&files[0]).starts_with("app.panic.") && name(&files[1]).starts_with("app.slow."));
    let lines = Trace::of(files[0].clone(), Summary::default(), temp_dir()).lines();
    assert!(lines.iter().any(|line| line.ends_with("panicked: out of cheese")), "{lines:?}");
    assert_eq!(counts(&session, "in time"), [0; 4]);
    session.stop().expect("stop");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let start = |builder: protolog_rt::Builder| builder.start().expect_err("refused").to_string();
    let with = |triggers| Session::builder().enable_all().triggers(triggers);
    let expected = "`keep_first` is not for a session with triggers";
    assert_eq!(start(with(triggers(dir.path())).keep_first()), expected);
    let expected = "`this_thread` is not for a session with triggers";
    assert_eq!(start(with(triggers(dir.path())).this_thread()), expected);
    let missing = dir.path().join("missing");
    assert!(start(with(triggers(&missing))).contains("no such file or directory"));
    let session = Session::builder().file(dir.path().join("app.pftrace")).start().expect("start");
    assert!(matches!(session.trigger("cause"), Err(Error::NoTriggers)));
    assert_eq!(session.trigger_counts(), []);
}

#[test]
fn a_forked_child_has_no_triggers_unless_it_goes_on() {
    if !has_process_of_its_own("a_forked_child_has_no_triggers_unless_it_goes_on") {
        return;
    }
    let dir = temp_dir();
    let run = |follows: bool| -> Session {
        let builder = Session::builder().enable_all().triggers(triggers(dir.path()));
        let builder = if follows { builder.follow_forks() } else { builder };
        let session = builder.start().expect("start");
        d!(Log::Work, "of the parent");
        let child = || {
            d!(Log::Work, "of the child");
            let fired = session.trigger("child");
            let good = if follows {
                matches!(fired, Ok(true))
            } else {
                matches!(fired, Err(Error::Forked))
            };
            good && (!follows || wait_for_name(dir.path(), "app-"))
        };
        let pid = spawn(fork::fork, child);
        wait(pid);
        session
    };
    let session = run(false);
    assert!(session.trigger("parent").expect("the parent's go on"));
    session.stop().expect("stop");
    let parents = files(dir.path());
    assert_eq!(parents.len(), 1);
    let session = run(true);
    session.stop().expect("stop");
    assert_eq!(files(dir.path()).len(), 2, "one of the parent's, one of the child's");
}

/// Waits for a file whose name begins so.
fn wait_for_name(dir: &Path, begin: &str) -> bool {
    let end = Instant::now() + LONG;
    while Instant::now() < end {
        let is_it =
            |path: &PathBuf| name(path).starts_with(begin) && name(path).ends_with(".pftrace");
        if files(dir).iter().any(is_it) {
            return true;
        }
        thread::sleep(Duration::from_millis(1));
    }
    false
}

#[test]
fn nothing_of_a_ring_is_uncounted_whatever_the_cause() {
    let (_lock, dir): (_, TempDir) = (lock_sessions(), temp_dir());
    let builder = Session::builder().enable_all().buffer_size(256 << 10);
    let settings = triggers(dir.path()).after(Duration::from_millis(50)).interval(Duration::ZERO);
    let session = builder.triggers(settings).start().expect("start");
    thread::scope(|scope| {
        for thread in 0..4u64 {
            scope.spawn(move || {
                for number in 0..40_000u64 {
                    d!(Log::Work, "%d:%d", thread, number);
                    if number % 10_000 == 0 {
                        trigger("often");
                    }
                }
            });
        }
    });
    session.trigger("last").expect("a session with triggers");
    session.stop().expect("stop");
    let files = files(dir.path());
    let last = files.iter().find(|path| name(path).starts_with("app.last")).expect("a file");
    assert_eq!(accounted(last), 160_000);
    let log = Trace::of(last.clone(), Summary::default(), temp_dir()).log();
    assert!(
        log.stats().lost.keys().all(|(cause, _)| cause.name() == LossCause::Overwritten.name())
    );
    for file in &files {
        assert!(accounted(file) <= 160_000);
    }
}
