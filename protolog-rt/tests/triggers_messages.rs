//! Triggers that wait for messages: each fires at its messages and at no others, whatever else is
//! switched, and the message that fired it is in its file.

mod common;

use common::{Trace, lock_sessions};
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{Error, Level, ProtoLogGroup, Session, Summary, Triggers, d, e, i, v, w, wtf};
use protolog_testkit::temp_dir;
use std::path::Path;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Net,
    Disk,
    #[protolog(log_to_text = true)]
    Shown,
}

/// Registers after the session has started.
#[derive(ProtoLogGroup)]
enum Late {
    Group,
}

/// A session whose triggers write their files when it stops.
fn start(dir: &Path, set: impl FnOnce(Triggers) -> Triggers) -> Session {
    let triggers = set(Triggers::to(dir.join("app.pftrace")).after(Duration::from_secs(3600)));
    Session::builder().enable_all().triggers(triggers).start().expect("start a session")
}

/// The causes that have fired, with the number of all their events.
fn fired(session: &Session) -> Vec<(String, u64)> {
    let counts = session.trigger_counts().into_iter().filter(|counts| counts.fired > 0);
    counts.map(|counts| (counts.cause, counts.fired + counts.suppressed)).collect()
}

fn all_levels() {
    v!(Log::Net, "verbose");
    d!(Log::Net, "debug");
    i!(Log::Net, "info");
    w!(Log::Net, "warn");
    e!(Log::Net, "error");
    wtf!(Log::Net, "wtf");
}

#[test]
fn a_level_fires_at_itself_and_worse() {
    let levels = [
        ("wtf", Level::Wtf, 1),
        ("error", Level::Error, 2),
        ("warn", Level::Warn, 3),
        ("info", Level::Info, 4),
        ("debug", Level::Debug, 5),
        ("verbose", Level::Verbose, 6),
    ];
    for (name, level, count) in levels {
        let (_lock, dir) = (lock_sessions(), temp_dir());
        let session = start(dir.path(), |triggers| triggers.on_level(level));
        all_levels();
        assert_eq!(fired(&session), [(name.to_owned(), count)]);
        session.stop().expect("stop");
        all_levels();
        let files: Vec<_> = std::fs::read_dir(dir.path()).expect("a directory").collect();
        assert_eq!(files.len(), 1, "one file");
    }
}

#[test]
fn the_message_that_fires_is_in_the_file() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(dir.path(), |triggers| triggers.on_level(Level::Error));
    d!(Log::Net, "before %d", 1);
    e!(Log::Disk, "disk %s is full", "sda");
    d!(Log::Net, "after %d", 2);
    session.stop().expect("stop");
    let file = std::fs::read_dir(dir.path()).expect("a directory").next().expect("a file");
    let path = file.expect("a file").path();
    let trace = Trace::of(path, Summary::default(), temp_dir());
    let expected = [
        "DEBUG Net before 1",
        "ERROR Disk disk sda is full",
        "WARN trigger trigger: error",
        "DEBUG Net after 2",
    ];
    assert_eq!(trace.messages(), expected);
    let thread = |tag: &str| {
        let log = trace.log();
        let is_it = |entry: &protolog_reader::Entry<'_>| {
            entry.values().group(&log).expect("a group").tag == tag
        };
        log.entries().find(is_it).expect("the message").thread().tid
    };
    assert_eq!(thread("trigger"), thread("Disk"), "that of the message that fired");
}

#[test]
fn groups_and_messages_fire_for_themselves() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let line = line!() + 9;
    let session = start(dir.path(), |triggers| {
        triggers
            .on_group("Disk", Level::Info)
            .on_group("Late::Group", Level::Verbose)
            .on_message("needle %d")
            .on_message(format!("triggers_messages.rs:{line}"))
    });
    d!(Log::Disk, "not at this level");
    i!(Log::Net, "by its line, of another group");
    for number in 0..3u64 {
        d!(Log::Net, "hay %d", number);
        d!(Log::Net, "needle %d", number);
    }
    w!(Log::Disk, "at this level");
    v!(Late::Group, "of a group that comes later");
    let expected = [("Disk", 1), ("Late::Group", 1), ("needle %d", 3)];
    let mut expected: Vec<_> = expected.map(|(name, count)| (name.to_owned(), count)).into();
    expected.push((format!("triggers_messages.rs:{line}"), 1));
    assert_eq!(fired(&session), expected);
    session.stop().expect("stop");
}

#[test]
fn messages_of_other_kinds_fire_as_well() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(dir.path(), |triggers| triggers.on_level(Level::Error));
    dynamic::log(&Log::Net, Level::Error, "dynamic %d", &[Arg::Int(1)]);
    dynamic::log(&Log::Net, Level::Warn, "dynamic %d", &[Arg::Int(1)]);
    e!(Log::Shown, "printed, too");
    w!(Log::Shown, "printed, too");
    e!(Log::Net, "%s", "a long text ".repeat(1000));
    std::thread::spawn(|| e!(Log::Net, "of a new thread")).join().expect("the thread ends");
    assert_eq!(fired(&session), [("error".to_owned(), 4)]);
    session.stop().expect("stop");
}

#[test]
fn what_a_session_does_not_record_does_not_fire() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let path = |name: &str| dir.path().join(name);
    let triggers = Triggers::to(path("app.pftrace")).on_level(Level::Warn);
    let builder = Session::builder().log_from(Level::Error).group("Disk", None);
    let session = builder.triggers(triggers).start().expect("start");
    let other = Session::builder().file(path("other")).enable_all().start().expect("start");
    w!(Log::Net, "for the other session only");
    e!(Log::Disk, "for the other session only");
    assert_eq!(fired(&session), []);
    e!(Log::Net, "for both");
    assert_eq!(fired(&session), [("warn".to_owned(), 1)]);
    assert_eq!(other.stop().expect("stop").messages, 3);
    e!(Log::Net, "for one");
    session.stop().expect("stop");
}

#[test]
fn a_message_that_is_not_there_is_an_error() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let triggers = Triggers::to(dir.path().join("app.pftrace")).on_message("no such %d");
    let error = Session::builder().enable_all().triggers(triggers).start().expect_err("refused");
    assert!(matches!(&error, Error::NoMessage { text } if text == "no such %d"));
    assert_eq!(error.to_string(), "no message of the program is `no such %d`");
}

/// The level of a group is watched for as long as a session with such a trigger runs.
#[test]
fn calls_are_fast_again_when_the_session_has_stopped() {
    let (_lock, dir) = (lock_sessions(), temp_dir());
    let session = start(dir.path(), |triggers| triggers.on_level(Level::Debug));
    d!(Log::Net, "slow");
    session.stop().expect("stop");
    let session = start(dir.path(), |triggers| triggers);
    all_levels();
    assert_eq!(fired(&session), []);
    session.stop().expect("stop");
}
