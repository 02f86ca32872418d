//! Triggers in rare situations: after the end of a session, beside another session, of threads that
//! end, with large messages. Each event makes one file or is counted, and nothing is counted twice.

mod common;

use common::{Trace, lock_sessions};
use protolog_rt::{Level, ProtoLogGroup, Session, Summary, TriggerCounts, Triggers, d, trigger};
use protolog_testkit::temp_dir;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// Longer than a test runs.
const NEVER: Duration = Duration::from_secs(3600);

/// Time for the session's thread to copy a ring.
const COPY: Duration = Duration::from_millis(300);

fn triggers(dir: &Path) -> Triggers {
    Triggers::to(dir.join("app.pftrace")).after(NEVER)
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("a directory");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// Fired, suppressed, written and failed, of all causes.
fn counts(session: &Session) -> [u64; 4] {
    session.trigger_counts().iter().fold([0; 4], |sum, counts| {
        let TriggerCounts { fired, suppressed, written, failed, .. } = counts;
        [sum[0] + fired, sum[1] + suppressed, sum[2] + written, sum[3] + failed]
    })
}

#[test]
fn a_logged_panic_fires_its_level() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    protolog_rt::log_panics();
    let triggers = triggers(dir.path()).on_level(Level::Error);
    let session = Session::builder().enable_all().triggers(triggers).start().expect("start");
    thread::spawn(|| panic!("out of cheese")).join().expect_err("a panic");
    assert_eq!(counts(&session), [1, 0, 0, 0], "a message of WTF");
    session.stop().expect("stop");
}

#[test]
fn nothing_fires_once_the_session_has_ended() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let builder = Session::builder().enable_all().triggers(triggers(dir.path()));
    let mut session = builder.start().expect("start");
    assert!(session.trigger("in time").expect("a session with triggers"));
    session.try_stop().expect("stop");
    for cause in ["in time", "late"] {
        assert!(!session.trigger(cause).expect("a session with triggers"), "{cause}: no file");
    }
    assert_eq!(counts(&session), [1, 2, 1, 0]);
    assert_eq!(files(dir.path()).len(), 1);
}

#[test]
fn sessions_that_fire_at_once_have_a_file_each() {
    const ROUNDS: usize = 30;
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let start = || {
        let triggers = triggers(dir.path()).after(Duration::ZERO).keep_files(ROUNDS);
        Session::builder().enable_all().triggers(triggers).start().expect("start")
    };
    let sessions = [start(), start()];
    for round in 0..ROUNDS {
        (0..100u64).for_each(|number| d!(Log::Work, "message %d", number));
        assert_eq!(trigger(&format!("cause {round}")), 2);
        thread::sleep(Duration::from_millis(2));
    }
    for mut session in sessions {
        session.try_stop().expect("stop");
        let [fired, _, written, failed] = counts(&session);
        assert_eq!([fired, written, failed], [ROUNDS as u64, ROUNDS as u64, 0]);
    }
    assert_eq!(files(dir.path()).len(), 2 * ROUNDS);
}

#[test]
fn a_name_that_is_too_long_is_an_error_of_the_start() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let start = |length: usize| {
        let path = dir.path().join("a".repeat(length)).with_extension("pftrace");
        Session::builder().enable_all().triggers(Triggers::to(path)).start()
    };
    let error = start(200).expect_err("with the cause it has more than 255 bytes").to_string();
    assert!(error.to_lowercase().contains("file name too long"), "{error}");
    let session = start(180).expect("start");
    session.trigger(&"c".repeat(100)).expect("a session with triggers");
    session.stop().expect("stop");
    assert_eq!(files(dir.path()).len(), 1);
}

/// They are in the first copy of the ring, and overwritten before the second one.
#[test]
fn messages_of_threads_that_ended_are_counted_once() {
    const THREADS: u64 = 100;
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let builder = Session::builder().enable_all().buffer_size(1 << 20);
    let session = builder.triggers(triggers(dir.path())).start().expect("start");
    let log = |threads: u64, count: u64| {
        for thread in 0..threads {
            let log = move || (0..count).for_each(|number| d!(Log::Work, "%d:%d", thread, number));
            thread::spawn(log).join().expect("the thread ends");
        }
    };
    log(THREADS, 20);
    session.trigger("event").expect("a session with triggers");
    thread::sleep(COPY);
    log(3 * THREADS, 1_000);
    session.stop().expect("stop");
    let file = files(dir.path()).remove(0);
    let log = Trace::of(file, Summary::default(), temp_dir()).log();
    let (there, lost) = (log.entries().count() as u64 - 1, log.stats().lost.values().sum::<u64>());
    assert!(there >= THREADS * 20, "what was before the event: {there}");
    assert_eq!(there + lost, THREADS * (20 + 3 * 1_000));
}

#[test]
fn a_window_counts_the_bytes_of_large_messages() {
    const WINDOW: u64 = 128 << 10;
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let settings = triggers(dir.path()).before_bytes(WINDOW as usize);
    let session = Session::builder().enable_all().triggers(settings).start().expect("start");
    // A message of 32 KB, of which most chunks have neither the beginning nor the end.
    let text = &*"large ".repeat(666);
    (0..30u64).for_each(|number| {
        let [a, b, c, d] = [text; 4];
        d!(Log::Work, "%d %s%s%s%s%s%s%s%s", number, a, b, c, d, a, b, c, d);
    });
    session.trigger("bytes").expect("a session with triggers");
    thread::sleep(COPY);
    session.stop().expect("stop");
    let file = files(dir.path()).remove(0);
    let bytes = file.metadata().expect("a file").len();
    assert!(bytes < WINDOW + 100_000, "a message more, and the dictionary: {bytes}");
    let lines = Trace::of(file, Summary::default(), temp_dir()).lines();
    assert!(lines.iter().any(|line| line.starts_with("DEBUG Work 29 large")), "the newest");
}
