//! What the runtime does on every system. This file needs the standard library and the reader
//! alone, so it also runs on Windows and WASI: docs/guides/platforms.md says how.

use protolog_reader::{Rendering, Trace};
use protolog_rt::text::{RotatingFile, set_sink};
use protolog_rt::{Error, Level, ProtoLogGroup, Session, Triggers, d, init, print_group, span, w};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum AnyLog {
    Net,
    Disk,
}

/// A new directory; of WASI, in the working directory, which it was given.
fn new_directory() -> PathBuf {
    let base = if cfg!(target_os = "wasi") { PathBuf::from(".") } else { std::env::temp_dir() };
    let mut names = (0..).map(|number| base.join(format!("protolog-anywhere-{number}")));
    names.find(|path| fs::create_dir(path).is_ok()).expect("a directory")
}

/// One text four times: no address can count the bytes.
fn texts_of_a_span_may_be_more_than_all_memory(path: &Path) {
    let session = Session::builder().file(path).enable_all().start().unwrap();
    let large = "x".repeat(1 << 30);
    for text in ["a", &large] {
        let _span = span!(AnyLog::Net, "wide %s %s %s %s", text, text, text, text);
    }
    session.stop().unwrap();
    let bytes = fs::read(path).unwrap();
    assert!(bytes.len() < 8192, "{}", bytes.len());
    let log = Trace::from_bytes(bytes).with_slices().read().unwrap();
    assert_eq!(log.slices().len(), 2);
    assert!(log.slices()[1].args.iter().all(|arg| arg.value.ends_with("x…")));
}

fn texts(path: &Path) -> Vec<String> {
    let log = Trace::open(path).unwrap().read().unwrap();
    assert!(log.is_complete(), "{}", path.display());
    log.entries().map(|entry| entry.values().text(Rendering::default())).collect()
}

/// The names in a directory. A recording that some thread has mapped still has one on some of
/// Windows' file systems.
fn names(dir: &Path) -> Vec<String> {
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| name(entry.unwrap())).collect();
    names.retain(|name| !(cfg!(windows) && name.starts_with('.')));
    names.sort();
    names
}

/// One after the other, since a session records all of the process.
#[test]
fn all_that_every_system_has() {
    if let Some(dir) = std::env::var_os(KILLED) {
        be_killed(Path::new(&dir));
    }
    let dir = new_directory();
    a_session_writes_its_file(&dir.join("a b.pftrace"));
    rewritten_calls_have_their_texts(&dir.join("rewritten.pftrace"));
    a_ring_has_snapshots(&dir);
    if cfg!(target_pointer_width = "32") {
        texts_of_a_span_may_be_more_than_all_memory(&dir.join("wide.pftrace"));
    }
    settings_apply();
    if !cfg!(target_family = "wasm") {
        threads_have_their_own_names(&dir.join("threads.pftrace"));
        segments_rotate(&dir);
        events_have_files(&dir);
    }
    if cfg!(target_family = "wasm") {
        what_is_not_there_is_refused(&dir);
    } else {
        recordings_complete_traces(&dir);
        a_recording_s_name_is_free_while_threads_have_it(&dir);
        recordings_outlive_their_programs(&dir);
        protolog_rt::stop_on_signals().unwrap();
    }
    text_rotates(&dir);
    // The last text file is open until the process ends; on Windows its directory stays so long.
    let removed = fs::remove_dir_all(dir);
    assert!(removed.is_ok() || cfg!(windows), "{removed:?}");
}

fn a_session_writes_its_file(path: &Path) {
    for run in 1..=2 {
        let session = Session::builder().file(path).enable_all().start().unwrap();
        let in_use = Session::builder().file(path).start();
        assert!(matches!(in_use, Err(Error::FileInUse { .. })), "{in_use:?}");
        d!(AnyLog::Net, "sent %d bytes to %s in %.1f ms", 1500 + run, "example.org", 0.25);
        w!(AnyLog::Disk, "/var is %s", if run == 1 { "full" } else { "empty" });
        session.flush().unwrap();
        assert_eq!(session.stop().unwrap().messages, 2);
    }
    // Over the file of the first run.
    assert_eq!(texts(path), ["sent 1502 bytes to example.org in 0.2 ms", "/var is empty"]);
}

// What `protologtool` made of `d!(AnyLog::Net, "rewritten to %d bytes", …)` in another crate.
protolog_rt::dictionary!("fixtures/rewritten.pb");

/// Nothing refers to the dictionary in the program.
fn rewritten_calls_have_their_texts(path: &Path) {
    let session = Session::builder().file(path).enable_all().start().unwrap();
    d!(AnyLog::Net, @0x536cb237f5ad56a1 [d], 7);
    session.stop().unwrap();
    assert_eq!(texts(path), ["rewritten to 7 bytes"]);
}

fn a_ring_has_snapshots(dir: &Path) {
    let (snapshot, end) = (dir.join("snapshot.pftrace"), dir.join("ring.pftrace"));
    let ring = Session::builder().file(&end).enable_all().keep_newest().buffer_size(1 << 16);
    let session = ring.start().unwrap();
    (0..50_000).for_each(|number| d!(AnyLog::Net, "message %d", number));
    session.snapshot(&snapshot).unwrap();
    w!(AnyLog::Disk, "the last one");
    session.stop().unwrap();
    let (before, after) = (texts(&snapshot), texts(&end));
    assert_eq!(before.last().unwrap(), "message 49999");
    assert_eq!(after.last().unwrap(), "the last one");
    assert!(before.len() > 100 && before.len() < 50_000, "{}", before.len());
}

/// As a program begins. Where nobody can switch it, that is no error.
fn settings_apply() {
    init().unwrap();
    assert!(protolog_rt::producer::status().last_error.is_none());
}

fn threads_have_their_own_names(path: &Path) {
    let session = Session::builder().file(path).enable_all().start().unwrap();
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let named = std::thread::Builder::new().name(format!("worker {thread}"));
            let log = move || (0..2000).for_each(|it| d!(AnyLog::Net, "%d of %d", it, thread));
            named.spawn(log).unwrap()
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    session.stop().unwrap();
    let log = Trace::open(path).unwrap().read().unwrap();
    assert!(log.is_complete());
    for thread in 0..8 {
        let name = format!("worker {thread}");
        let of = log.entries().filter(|entry| entry.thread().name.as_deref() == Some(&*name));
        let seen: Vec<_> = of.map(|entry| entry.values().text(Rendering::default())).collect();
        let all: Vec<_> = (0..2000).map(|it| format!("{it} of {thread}")).collect();
        assert!(seen == all, "{} messages of {name}", seen.len());
    }
}

fn segments_rotate(dir: &Path) {
    let segments = dir.join("segments");
    fs::create_dir(&segments).unwrap();
    let path = segments.join("app.pftrace");
    let session = Session::builder().file(&path).enable_all();
    let session = session.segment_bytes(100_000).keep_segments(3).start().unwrap();
    for number in 0..40_000 {
        d!(AnyLog::Net, "message %d of many", number);
        if number % 1000 == 0 {
            session.flush().unwrap();
        }
    }
    session.stop().unwrap();
    let names = names(&segments);
    assert_eq!(names.len(), 4, "three, and the one that was written: {names:?}");
    assert_eq!(texts(&segments.join(&names[3])).last().unwrap(), "message 39999 of many");
}

fn events_have_files(dir: &Path) {
    let events = dir.join("events");
    fs::create_dir(&events).unwrap();
    let triggers = Triggers::to(events.join("app.pftrace"));
    let session = Session::builder().enable_all().triggers(triggers).start().unwrap();
    d!(AnyLog::Net, "connection %d is slow", 7);
    session.trigger("slow connection").unwrap();
    session.stop().unwrap();
    let names = names(&events);
    assert!(names.len() == 1 && names[0].starts_with("app.slow-connection.2"), "{names:?}");
    assert!(texts(&events.join(&names[0])).contains(&"connection 7 is slow".to_owned()));
}

/// A recording is a mapped file, which is removed when its session ends.
fn recordings_complete_traces(dir: &Path) {
    let (path, recording) = (dir.join("recorded.pftrace"), dir.join("recorded.rec"));
    let session = Session::builder().file(&path).enable_all().keep_newest();
    let session = session.record_at(&recording).start().unwrap();
    d!(AnyLog::Net, "message %d", 1);
    let bytes = fs::read(&recording).unwrap();
    let mut trace = Vec::new();
    protolog_reader::Recording::parse(&bytes).unwrap().write(&mut trace).unwrap();
    let log = Trace::from_bytes(trace).read().unwrap();
    assert_eq!(log.entries().len(), 1, "it is there before the session ends");
    session.stop().unwrap();
    assert_eq!(texts(&path), ["message 1"]);
    assert!(!recording.exists());
}

/// A thread that logs no more has the recording mapped until it ends.
fn a_recording_s_name_is_free_while_threads_have_it(dir: &Path) {
    let recording = dir.join("again.rec");
    let (logged, stopped) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|scope| {
        for number in 0..3 {
            let session = Session::builder().enable_all().record_at(&recording).start().unwrap();
            scope.spawn(|| {
                d!(AnyLog::Net, "recorded by another thread");
                logged.wait();
                stopped.wait();
            });
            logged.wait();
            if cfg!(windows) {
                // Elsewhere that ends the program.
                let cut = fs::File::create(&recording).map(drop).unwrap_err();
                assert_eq!(cut.raw_os_error(), Some(1224), "it is mapped: {cut}");
            }
            session.flush().unwrap();
            session.stop().unwrap();
            assert!(!recording.exists(), "{number}");
            stopped.wait();
        }
    });
}

/// The directory in which a program is to record until it is killed.
const KILLED: &str = "PROTOLOG_ANYWHERE_KILLED";
/// The number of messages that each of its threads logs.
const BY_EACH: usize = 300;

/// Records in three ways, of which the first one may be with others in the same program.
fn be_killed(dir: &Path) -> ! {
    let stream = Session::builder().file(dir.join("stream.pftrace")).enable_all().start().unwrap();
    let ring = Session::builder().enable_all().record_at(dir.join("ring.rec")).start().unwrap();
    let segments = Session::builder().file(dir.join("segments/app.pftrace")).enable_all();
    let segments = segments.segment_bytes(10_000).start().unwrap();
    let recording = stream.recording().expect("a recording").to_path_buf();
    let logged = Arc::new(Barrier::new(4));
    for thread in 0..3 {
        let logged = Arc::clone(&logged);
        std::thread::spawn(move || {
            (0..BY_EACH).for_each(|it| d!(AnyLog::Net, "%d of %d", it, thread));
            logged.wait();
            std::thread::sleep(Duration::from_secs(600));
        });
    }
    (0..BY_EACH / 2).for_each(|it| d!(AnyLog::Net, "%d of %d", it, 3));
    stream.flush().unwrap();
    segments.flush().unwrap();
    (BY_EACH / 2..BY_EACH).for_each(|it| d!(AnyLog::Net, "%d of %d", it, 3));
    logged.wait();
    if std::env::var_os("PROTOLOG_ANYWHERE_SIGNALS").is_some() {
        // By hand: Ctrl-C.
        protolog_rt::stop_on_signals().unwrap();
    }
    fs::write(dir.join("part"), recording.to_str().unwrap()).unwrap();
    fs::rename(dir.join("part"), dir.join("recorded")).unwrap();
    std::thread::sleep(Duration::from_secs(600));
    drop(ring);
    panic!("nobody killed it");
}

/// Runs this program until it has recorded, and kills it.
fn killed(dir: &Path) -> Option<PathBuf> {
    let mut program = Command::new(std::env::current_exe().unwrap());
    let child: Result<Child, _> =
        program.args(["all_that_every_system_has", "--nocapture"]).env(KILLED, dir).spawn();
    let mut child = match child {
        // This program is run by an emulator, which is none of its children's.
        Err(error) if cfg!(unix) && error.raw_os_error() == Some(8) => {
            eprintln!("skipped: programs that are killed ({error})");
            return None;
        }
        child => child.unwrap(),
    };
    let (recorded, begun) = (dir.join("recorded"), Instant::now());
    while !recorded.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        assert!(begun.elapsed() < Duration::from_secs(60), "it takes long");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    Some(fs::read_to_string(recorded).unwrap().into())
}

fn assert_all(mut texts: Vec<String>, what: &str) {
    let text = |it: usize| format!("{} of {}", it % BY_EACH, it / BY_EACH);
    let mut expected: Vec<_> = (0..4 * BY_EACH).map(text).collect();
    texts.sort();
    expected.sort();
    assert!(texts == expected, "{} of {} messages of {what}", texts.len(), expected.len());
}

/// As `kill -9` and `TerminateProcess` end one.
fn recordings_outlive_their_programs(dir: &Path) {
    let dir = dir.join("killed");
    fs::create_dir_all(dir.join("segments")).unwrap();
    let Some(recording) = killed(&dir) else { return };
    let trace = dir.join("stream.pftrace");
    // What the next start does with the trace that it finds.
    let session = Session::builder().file(&trace).enable_all().report_losses(false);
    session.start().unwrap().stop().unwrap();
    assert!(!recording.exists() && texts(&trace).is_empty());
    assert_all(texts(&dir.join("stream.1.pftrace")), "the stream");
    // What a program does that wants to know.
    let segments = dir.join("segments/app.pftrace");
    let found = protolog_rt::recover_previous(&segments).unwrap();
    assert_eq!((found.len(), found[0].missing_bytes), (1, 0), "{found:?}");
    let names = names(segments.parent().unwrap());
    assert!(names.iter().all(|name| name.ends_with(".pftrace")), "{names:?}");
    let of = |name: &String| texts(&segments.with_file_name(name));
    assert_all(names.iter().flat_map(of).collect(), "the segments");
    // What the tool does with a ring that a later session has given another name.
    let ring = dir.join("ring.rec");
    let next = Session::builder().enable_all().record_at(&ring).start().unwrap();
    let old = dir.join("ring.rec.old");
    let bytes = fs::read(&old).unwrap();
    let mut log = Vec::new();
    protolog_reader::Recording::parse(&bytes).unwrap().write(&mut log).unwrap();
    let log = Trace::from_bytes(log).read().unwrap();
    let texts = log.entries().map(|entry| entry.values().text(Rendering::default()));
    assert_all(texts.collect(), "the ring");
    next.stop().unwrap();
}

fn what_is_not_there_is_refused(dir: &Path) {
    let builder = || Session::builder().file(dir.join("refused.pftrace")).enable_all();
    let triggers = Triggers::to(dir.join("event.pftrace"));
    assert!(matches!(protolog_rt::stop_on_signals(), Err(Error::Unsupported { .. })));
    let all = [
        ("record", builder().record()),
        ("triggers", Session::builder().enable_all().triggers(triggers)),
        ("segment_bytes", builder().segment_bytes(1 << 20)),
    ];
    for (option, refused) in all {
        let error = refused.start().unwrap_err();
        assert_eq!(error.to_string(), format!("this system has no way to do `{option}`"));
        assert!(error.help().starts_with("leave it out"));
    }
}

/// The file is open when it gets another name.
fn text_rotates(dir: &Path) {
    let path = dir.join("text.log");
    let file = Arc::new(RotatingFile::open(&path, 2000, 2).unwrap());
    set_sink(Arc::clone(&file)).unwrap();
    print_group(&AnyLog::Net, Some(Level::Debug));
    (0..100).for_each(|number| d!(AnyLog::Net, "line %d", number));
    assert!(protolog_rt::text::flush(Duration::from_secs(10)));
    assert!(file.problem().is_none(), "{:?}", file.problem());
    let newest = fs::read_to_string(&path).unwrap();
    assert!(newest.ends_with("D Net     : line 99\n"), "{newest}");
    assert!(names(dir).contains(&"text.log.1".to_owned()), "{:?}", names(dir));
}
