//! Sessions from start to stop, as Perfetto reads them.

mod common;

use common::{lock_sessions, record, record_concurrently};
use protolog_rt::{Builder, Error, Level, ProtoLogGroup, Session, d, e, i, v, w, wtf};
use protolog_testkit::{check_trace, temp_dir};
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Net,
    #[protolog(tag = "DSK")]
    Disk,
}

/// A second enum with a group of the same short name.
#[derive(ProtoLogGroup)]
enum Other {
    Net,
}

/// Logs one message of each level and group.
fn log_all(text: &str) {
    v!(Log::Net, "v %s", text);
    d!(Log::Net, "d %s", text);
    i!(Log::Net, "i %s", text);
    w!(Log::Net, "w %s", text);
    e!(Log::Net, "e %s", text);
    wtf!(Log::Net, "wtf %s", text);
    v!(Log::Disk, "v %s", text);
    d!(Log::Disk, "d %s", text);
    i!(Log::Disk, "i %s", text);
    w!(Log::Disk, "w %s", text);
    e!(Log::Disk, "e %s", text);
    wtf!(Log::Disk, "wtf %s", text);
}

#[test]
fn every_type_of_argument_is_logged() {
    let recording = record(Builder::enable_all);
    v!(Log::Net, "nothing");
    d!(Log::Net, "%d %d %d", 0, -1, i64::MIN);
    i!(Log::Disk, "%x %o", 255, 8);
    w!(Log::Disk, "%f %e %g", 0.5, 1500.0, 2.25);
    e!(Log::Net, "%b %b", true, false);
    wtf!(Log::Net, "%s and %s, %d%%", "text", String::from("owned"), 100);
    i!(Log::Net, "%s %d %f %b %s", "", 1, 2.0, true, "é");
    recording.stop().check(&[
        "VERBOSE Net nothing",
        "DEBUG Net 0 -1 -9223372036854775808",
        "INFO DSK ff 10",
        "WARN DSK 0.500000 1.500000e+03 2.25",
        "ERROR Net true false",
        "WTF Net text and owned, 100%",
        "INFO Net  1 2.000000 true é",
    ]);
}

#[test]
fn every_level_of_every_group_can_be_enabled() {
    let choices = || [None].into_iter().chain(Level::ALL.map(Some));
    // The minimum level of one group rises while that of the other falls.
    for (net, disk) in choices().zip(choices().rev()) {
        let recording = record(|session| session.group("Log::Net", net).group("Log::Disk", disk));
        log_all("x");
        let names = |tag: &str, from: Option<Level>| {
            let on = Level::ALL.into_iter().filter(|level| from.is_some_and(|from| *level >= from));
            on.map(|level| format!("{level} {tag} {} x", level.method())).collect::<Vec<_>>()
        };
        let expected = [names("Net", net), names("DSK", disk)].concat();
        recording.stop().check(&expected.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn defaults_are_wtf_and_overrides_go_both_ways() {
    let recording = record(|session| session);
    log_all("a");
    recording.stop().check(&["WTF Net wtf a", "WTF DSK wtf a"]);

    let recording =
        record(|session| session.enable_all().log_from(Level::Error).group("Disk", Level::Warn));
    log_all("b");
    recording.stop().check(&[
        "ERROR Net e b",
        "WTF Net wtf b",
        "WARN DSK w b",
        "ERROR DSK e b",
        "WTF DSK wtf b",
    ]);
}

#[test]
fn a_session_has_the_messages_between_start_and_stop() {
    let _lock = lock_sessions();
    log_all("before");
    let recording = record_concurrently(|session| session.log_from(Level::Wtf));
    log_all("during");
    let trace = recording.stop();
    log_all("after");
    trace.check(&["WTF Net wtf during", "WTF DSK wtf during"]);
}

#[test]
fn a_thread_logs_to_one_session_after_the_other() {
    for round in ["first", "second", "third"] {
        let recording = record(|session| session.log_from(Level::Error).group("Disk", None));
        log_all(round);
        recording.stop().check(&[&format!("ERROR Net e {round}"), &format!("WTF Net wtf {round}")]);
    }
}

#[test]
fn the_trace_of_an_empty_session_is_valid() {
    let trace = record(Builder::enable_all).stop();
    trace.check(&[]);
    assert_eq!(trace.summary.bytes, std::fs::metadata(&trace.path).unwrap().len());
    let bounds =
        trace.query("select start_ts > 0 as ok, end_ts > start_ts as long from trace_bounds");
    if let Some(bounds) = bounds {
        assert_eq!(bounds.to_string(), "1 | 1\n");
    }
}

#[test]
fn a_dropped_session_is_stopped() {
    let recording = record(|session| session);
    wtf!(Log::Net, "dropped");
    let trace = recording.drop_session();
    wtf!(Log::Net, "too late");
    assert_eq!(trace.messages(), ["WTF Net dropped"]);
}

#[test]
fn a_flushed_trace_can_be_read_while_the_session_runs() {
    let recording = record(|session| session);
    wtf!(Log::Net, "one");
    wtf!(Log::Net, "two");
    recording.session().flush().unwrap();
    let early = recording.path.with_extension("early");
    std::fs::copy(&recording.path, &early).unwrap();
    wtf!(Log::Net, "three");
    recording.session().flush().unwrap();
    recording.session().flush().unwrap();
    wtf!(Log::Net, "four");
    if let Some(mut tables) =
        protolog_testkit::trace_processor(&early, &["select message from protolog"])
    {
        assert_eq!(tables.remove(0).texts("message"), ["one", "two"], "with its dictionary");
    }
    recording.stop().check(&["WTF Net one", "WTF Net two", "WTF Net three", "WTF Net four"]);
}

/// True if the session's thread sleeps, and the number of times that it went to sleep.
fn sleeps() -> (bool, u64) {
    let tasks = std::fs::read_dir("/proc/self/task").expect("list the threads");
    let mut all =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("status")).ok());
    let status = all.find(|status| status.starts_with("Name:\tprotolog\n")).expect("the thread");
    let line = |name| status.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
    let count = line("voluntary_ctxt_switches:").trim().parse().expect("a number");
    (line("State:").trim().starts_with('S'), count)
}

#[test]
fn the_sessions_thread_sleeps_until_half_of_the_buffer_is_full() {
    let recording = record(|session| session.buffer_size(1 << 20));
    let log = |numbers: std::ops::Range<u64>| {
        numbers.for_each(|number| wtf!(Log::Net, "%s", format!("{number:x>1000}")));
    };
    log(0..10);
    recording.session().flush().unwrap();
    let size = || std::fs::metadata(&recording.path).expect("the file").len();
    let wait = |mut done: Box<dyn FnMut() -> bool>| {
        let end = Instant::now() + Duration::from_secs(60);
        while !done() {
            assert!(Instant::now() < end, "timed out");
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    // The thread falls asleep soon after the flush, and nothing wakes it from then on.
    wait(Box::new(|| sleeps().0));
    let (slept, written) = (sleeps(), size());
    // A quarter of the buffer.
    log(10..260);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!((sleeps(), size()), (slept, written), "it does not poll");
    // Half of the buffer is full now, which wakes the thread.
    log(260..610);
    wait(Box::new(|| size() > written));
    assert_eq!(recording.stop().summary.messages, 610);
}

#[test]
fn a_second_session_with_the_same_file_is_refused() {
    let recording = record(|session| session);
    wtf!(Log::Net, "still here");
    recording.session().flush().unwrap();
    let error = Session::builder().file(&recording.path).start().unwrap_err();
    assert!(matches!(error, Error::FileInUse { .. }), "{error}");
    let link = recording.path.with_extension("link");
    std::os::unix::fs::symlink(&recording.path, &link).unwrap();
    let error = Session::builder().file(&link).start().unwrap_err();
    let expected =
        format!("can't write `{}`: it is a link to `{}`", link.display(), recording.path.display());
    assert_eq!(error.to_string(), expected);
    recording.stop().check(&["WTF Net still here"]);
}

#[test]
fn errors_of_start_name_the_cause() {
    let _lock = lock_sessions();
    assert!(matches!(Session::builder().start(), Err(Error::NoFile)));
    let dir = temp_dir();
    let missing = dir.path().join("no/such/dir.pftrace");
    let error = Session::builder().file(&missing).start().unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("can't write `") && text.contains("dir.pftrace"), "{text}");
    let twice = Session::builder().file(dir.path().join("a")).group("Net", Level::Info).start();
    let text = twice.unwrap_err().to_string();
    let names = "`session::Log::Net`, `session::Other::Net`";
    assert_eq!(text, format!("group `Net` is ambiguous: {names}"));
    wtf!(Other::Net, "so that the group has a message");
    // The failed starts leave nothing behind.
    let session = Session::builder().file(dir.path().join("b.pftrace")).start().unwrap();
    assert_eq!(session.stop().unwrap().messages, 0);
}

#[test]
fn stop_fails_on_a_full_disk() {
    let _lock = lock_sessions();
    let session = Session::builder().file("/dev/full").start().unwrap();
    wtf!(Log::Net, "to a full disk");
    assert!(session.flush().is_err());
    let error = session.stop().unwrap_err();
    assert!(error.to_string().starts_with("can't write `/dev/full`: "), "{error}");
}

#[test]
fn a_stop_that_fails_has_the_counts() {
    let _lock = lock_sessions();
    let mut session = Session::builder().file("/dev/full").start().unwrap();
    let refused = session.try_stop_at("/dev/null").unwrap_err();
    assert!(matches!(refused.error(), Error::NotKept), "{refused}");
    wtf!(Log::Net, "to a full disk");
    let error = session.try_stop().unwrap_err();
    assert_eq!((error.summary().messages, error.summary().lost()), (0, 1), "{error}");
    assert_eq!(format!("{:?}", Error::from(error)).lines().count(), 2, "with a line of help");
    assert_eq!(session.try_stop().unwrap().messages, 0, "it has ended");
}

#[test]
fn the_official_descriptors_know_every_field_but_ours() {
    let recording = record(Builder::enable_all);
    log_all("descriptors");
    i!(Log::Net, "%d %d", u64::MAX, 1u64);
    let trace = recording.stop();
    let Some(packets) = check_trace(&trace.path) else { return };
    let mut unknown: Vec<String> = packets
        .iter()
        .flat_map(|packet| packet["unknown"].as_array().cloned().unwrap_or_default())
        .map(|path| path.as_str().unwrap_or_default().to_owned())
        .collect();
    unknown.sort();
    unknown.dedup();
    let ours = [
        "1000",
        "protolog_message.1000",
        "protolog_viewer_config.messages.1000",
        "trace_stats.buffer_stats.1000",
    ];
    assert_eq!(unknown, ours);
}

#[test]
fn the_trace_names_process_and_thread() {
    let thread = std::thread::Builder::new().name("worker".into());
    let recording = record(|session| session);
    thread.spawn(|| wtf!(Log::Net, "from a thread")).unwrap().join().unwrap();
    let trace = recording.stop();
    let (log, now) = (trace.log(), std::time::SystemTime::now());
    let wall = log.entries().next().and_then(|entry| log.wall_time(entry.time()));
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
    assert!(wall.is_some_and(|wall| wall.abs_diff(since) < 3_600_000_000_000), "{wall:?} {since}");
    let infos: Vec<_> = trace.packets().into_iter().filter_map(|packet| packet.info).collect();
    assert!(infos.iter().any(|(pid, tid, name)| {
        *pid == std::process::id() && *tid != *pid && name == "worker"
    }));
    let name = std::env::args().next();
    assert_eq!(trace.log().name_of_pid(std::process::id()), name.as_deref());
    let sql = "select thread.name as name, pid from thread join process using (upid) \
               where thread.name = 'worker'";
    if let Some(table) = trace.query(sql) {
        assert_eq!(table.to_string(), format!("worker | {}\n", std::process::id()));
    }
    let sql = "select distinct location from protolog";
    if let Some(table) = trace.query(sql) {
        let location = table.texts("location").remove(0);
        assert!(location.contains("session.rs:"), "{location}");
    }
}

/// Without `AssertUnwindSafe`: servers and test harnesses catch panics with a session at hand.
#[test]
fn a_session_goes_on_after_a_panic_with_it() {
    let recording = record(Builder::enable_all);
    let session = recording.session();
    let scope = session.thread_scope();
    let caught = std::panic::catch_unwind(|| {
        scope.enter();
        session.flush().expect("flush");
        i!(Log::Net, "before");
        let _ = session.summary();
        std::panic::resume_unwind(Box::new("caught"));
    });
    assert!(caught.is_err());
    i!(Log::Net, "after");
    recording.stop().check(&["INFO Net before", "INFO Net after"]);
}
