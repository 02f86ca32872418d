//! Traces in several files: each segment reads alone, together they have every message, and limits
//! hold.
#![allow(unsafe_code)] // A limit of the process.

mod common;
#[path = "common/limit.rs"]
mod limit;

use common::{SetOnDrop, Trace, lock_sessions, wire};
use limit::{Limit, ran_in_child};
use protolog_core::schema::{packet, sequence_info, trace};
use protolog_reader::{MergeInput, merge};
use protolog_rt::{Builder, Error, Level, LossCause, ProtoLogGroup, Session, Summary, dynamic, i};
use protolog_testkit::{TempDir, temp_dir, trace_processor};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

fn start(dir: &TempDir, configure: impl FnOnce(Builder) -> Builder) -> Session {
    let session = Session::builder().file(dir.path().join("app.pftrace")).log_from(Level::Info);
    configure(session).start().expect("start a session")
}

/// The files in the directory, by name.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(dir).expect("list").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn names(dir: &Path) -> Vec<String> {
    files(dir).iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

/// The contents of one file, read alone.
struct Segment {
    lines: Vec<String>,
    lost: u64,
    size: u64,
}

/// Reads a file with our reader, and if `fully` with Perfetto's too, which is slow.
#[track_caller]
fn read_as(path: &Path, fully: bool) -> Segment {
    let mut summary = Summary::default();
    summary.bytes = std::fs::metadata(path).unwrap().len();
    let size = summary.bytes;
    // `path` is in the test's directory; this one is empty.
    let trace = Trace::of(path.to_path_buf(), summary, temp_dir());
    let log = trace.log();
    let lost = log.stats().lost.values().sum();
    let lines = if fully { trace.messages() } else { trace.lines() };
    Segment { lines, lost, size }
}

#[track_caller]
fn read(path: &Path) -> Segment {
    read_as(path, true)
}

/// Checks that the segments together have every message or its loss, each thread's in order.
/// Returns the segments.
#[track_caller]
fn check(dir: &TempDir, summary: &Summary, threads: usize, count: usize) -> Vec<Segment> {
    let files = files(dir.path());
    let fully = |index: usize| index < 2 || index + 1 == files.len() || index % 8 == 0;
    let segments = files.iter().enumerate().map(|(index, path)| read_as(path, fully(index)));
    let segments: Vec<Segment> = segments.collect();
    let lines: Vec<&String> = segments.iter().flat_map(|segment| &segment.lines).collect();
    let lost: u64 = segments.iter().map(|segment| segment.lost).sum();
    assert_eq!(lines.len() as u64, summary.messages);
    assert_eq!(lost, summary.lost());
    assert_eq!(summary.messages + lost, (threads * count) as u64);
    assert_eq!(segments.iter().map(|segment| segment.size).sum::<u64>(), summary.bytes);
    for thread in 0..threads {
        let mut before = None;
        let prefix = format!("INFO Work {thread}:");
        for rest in lines.iter().filter_map(|line| line.strip_prefix(&prefix)) {
            let (number, text) = rest.split_once(' ').expect("a text");
            let number: usize = number.parse().expect("a number");
            assert!(before < Some(number), "thread {thread}: {before:?} before {number}");
            assert_eq!(text, filler(number), "{number}");
            before = Some(number);
        }
    }
    segments
}

/// Filler of varying length, sometimes longer than a chunk.
fn filler(number: usize) -> String {
    let length = if number % 97 == 5 { 3_000 + number % 4_000 } else { number % 40 };
    "x".repeat(length)
}

fn log(thread: usize, number: usize) {
    i!(Log::Work, "%d:%d %s", thread, number, filler(number));
}

#[test]
fn each_segment_reads_alone_and_together_they_are_complete() {
    const THREADS: usize = 4;
    const COUNT: usize = 6_000;
    const LIMIT: u64 = 400 << 10;
    let _lock = lock_sessions();
    let dir = temp_dir();
    let session = start(&dir, |session| {
        session
            .segment_bytes(LIMIT)
            .max_string_bytes(8_000)
            .buffer_size(1 << 20)
            .wait_at_most(Duration::from_secs(60))
    });
    let done = &AtomicBool::new(false);
    thread::scope(|scope| {
        let _end = SetOnDrop(done);
        // Flushes, so that chunks are copied in parts and continue in the next file.
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                session.flush().unwrap();
                thread::sleep(Duration::from_millis(1));
            }
        });
        let loggers: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn(move || {
                    for number in 0..COUNT {
                        log(thread, number);
                        if number % 50 == thread {
                            thread::sleep(Duration::from_micros(300));
                        }
                    }
                })
            })
            .collect();
        for logger in loggers {
            logger.join().unwrap();
        }
    });
    let summary = session.stop().unwrap();
    assert_eq!(summary.lost(), 0, "{summary:?}");
    let segments = check(&dir, &summary, THREADS, COUNT);
    assert!(segments.len() > 5, "{} segments", segments.len());
    for segment in &segments {
        assert!(segment.size <= LIMIT, "{} bytes", segment.size);
    }
    let full = segments.iter().filter(|segment| segment.size > LIMIT * 3 / 4).count();
    assert!(full >= segments.len() - 1, "{full} of {} are about full", segments.len());
    let expected: Vec<String> =
        (1..=segments.len()).map(|number| format!("app.{number:04}.pftrace")).collect();
    assert_eq!(names(dir.path()), expected);
}

#[test]
fn each_loss_is_reported_in_one_segment() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let session = start(&dir, |session| {
        session.segment_bytes(100 << 10).buffer_size(64 << 10).max_string_bytes(8_000)
    });
    // The session's thread may keep up for a while, so log until it did not a few times.
    let (mut rounds, mut lossy, mut lost) = (0, 0, 0);
    while rounds < 20 || lossy < 3 {
        assert!(rounds < 200, "64 KiB do not suffice");
        (0..5_000).for_each(|number| log(0, rounds * 5_000 + number));
        rounds += 1;
        let now = session.summary().lost();
        lossy += u32::from(now > lost);
        lost = now;
    }
    let so_far = session.summary();
    let summary = session.stop().unwrap();
    assert_eq!((&so_far.losses, &so_far.groups), (&summary.losses, &summary.groups));
    assert_eq!(summary.losses.len(), 1, "{:?}", summary.losses);
    assert_eq!(wire(summary.losses[0].cause), wire(LossCause::BufferFull));
    let segments = check(&dir, &summary, 1, rounds * 5_000);
    assert!(segments.iter().filter(|segment| segment.lost > 0).count() > 1, "in several segments");
    assert!(segments.iter().all(|segment| segment.size <= 100 << 10));
}

#[test]
fn a_segment_ends_by_age_without_new_messages() {
    const AGE: Duration = Duration::from_millis(150);
    let _lock = lock_sessions();
    let dir = temp_dir();
    let session = start(&dir, |session| session.segment_age(AGE));
    let expected = ["app.0001.pftrace", "app.0002.pftrace", "app.0003.pftrace.part"];
    let until = |names_then: &[&str]| {
        let begun = Instant::now();
        while names(dir.path()) != names_then {
            assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", names(dir.path()));
            thread::sleep(Duration::from_millis(5));
        }
    };
    log(0, 0);
    until(&[expected[0], "app.0002.pftrace.part"]);
    log(0, 1);
    until(&expected);
    // Without new messages there is no new file.
    thread::sleep(3 * AGE);
    assert_eq!(names(dir.path()), expected);
    log(0, 2);
    log(0, 3);
    let summary = session.stop().unwrap();
    let segments = check(&dir, &summary, 1, 4);
    assert_eq!(segments.iter().map(|segment| segment.lines.len()).sum::<usize>(), 4);
    assert_eq!(segments[0].lines.len(), 1);
}

#[test]
fn a_chunk_that_continues_in_the_next_segment_keeps_its_timestamps() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let session = start(&dir, |session| session.segment_age(Duration::from_millis(50)));
    const NAMED: &str = "select count(*) from thread where name glob 'a_chunk_that_co*'";
    let clock = || {
        let boottime = std::fs::read_to_string("/proc/uptime").unwrap();
        boottime.split(' ').next().unwrap().parse::<f64>().unwrap()
    };
    let mut times = Vec::new();
    while times.len() < 30 || files(dir.path()).len() < 3 {
        assert!(times.len() < 10_000, "no segment ends by age");
        let before = clock();
        log(0, times.len());
        times.push(before..=clock());
        thread::sleep(Duration::from_millis(7));
    }
    let summary = session.stop().unwrap();
    check(&dir, &summary, 1, times.len());
    let mut found = Vec::new();
    for path in files(dir.path()) {
        let log = protolog_reader::Trace::open(&path).unwrap().read().unwrap();
        // trace_processor finds the name of the thread in the first file too, though its sequence
        // continues.
        let tables = found.is_empty().then(|| trace_processor(&path, &[NAMED])).flatten();
        if let Some(tables) = tables {
            assert_eq!(tables[0].to_string(), "1\n", "{}", path.display());
        }
        for entry in log.entries() {
            assert_eq!(entry.values().group(&log).unwrap().tag, "Work");
            assert_eq!(entry.thread().pid, Some(std::process::id()));
            found.push(entry.time() as f64 / 1e9);
        }
    }
    assert_eq!(found.len(), times.len());
    for (found, time) in found.iter().zip(&times) {
        // `/proc/uptime` counts hundredths of a second.
        let (start, end) = (time.start() - 0.05, time.end() + 0.05);
        assert!((start..=end).contains(found), "{found} for {time:?}");
    }
    assert!(found.is_sorted());
}

/// The begin of a segment of this trace: nothing else with such a name is removed.
fn begin(set: &str) -> Vec<u8> {
    let mut writer = protozero::Writer::new(protozero::Heap::new());
    let mut trace = writer.message();
    let mut packet = trace.nested(trace::PACKET);
    let mut info = packet.nested(packet::SEQUENCE_INFO);
    info.bytes(sequence_info::SESSION_ID, &[7; 16]);
    info.string(sequence_info::SEGMENTS_OF, set);
    drop(info);
    drop(packet);
    writer.into_vec().unwrap()
}

#[test]
fn old_segments_are_deleted_and_numbering_continues() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let left = dir.path().join("app.0003.pftrace.part");
    std::fs::write(&left, begin("app.pftrace")).unwrap();
    for other in ["app.pftrace", "app.0002.pftrace", "application.0001.pftrace", "app.0001.txt"] {
        std::fs::write(dir.path().join(other), "of another program").unwrap();
    }
    let session = start(&dir, |session| session.keep_segments(2));
    assert!(left.exists());
    log(0, 0);
    session.stop().unwrap();
    let session = start(&dir, |session| session.keep_segments(2).segment_bytes(64 << 10));
    for number in 0..40_000 {
        log(0, number);
        if number % 1_000 == 0 {
            session.flush().unwrap();
        }
    }
    let summary = session.stop().unwrap();
    assert!(summary.bytes > 5 * (64 << 10));
    let names = names(dir.path());
    let (others, ours): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| {
        let is_other = ["app.pftrace", "app.0002.pftrace"].contains(&&***name);
        is_other || name.contains("application") || !name.contains(".pftrace")
    });
    assert_eq!(others.len(), 4, "{names:?}");
    assert_eq!(ours.len(), 3, "two, and the last: {names:?}");
    let number = |name: &str| name[4..8].parse::<u32>().unwrap();
    assert!(number(ours[0]) > 5, "{names:?}");
    assert!(ours.windows(2).all(|pair| number(pair[0]) + 1 == number(pair[1])), "{names:?}");
    for name in ours {
        assert!(!read(&dir.path().join(name)).lines.is_empty());
    }
}

#[test]
fn every_segment_has_its_dynamic_templates() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let session = start(&dir, |session| session.segment_age(Duration::from_millis(30)));
    let mut count = 0i64;
    while count < 20 || files(dir.path()).len() < 3 {
        assert!(count < 10_000, "no segment ends by age");
        let template = format!("template {} of %d", count % 3);
        dynamic::log(&Log::Work, Level::Info, &template, &[dynamic::Arg::Int(count)]);
        count += 1;
        thread::sleep(Duration::from_millis(5));
    }
    session.stop().unwrap();
    let segments: Vec<Segment> = files(dir.path()).iter().map(|path| read(path)).collect();
    let lines: Vec<&String> = segments.iter().flat_map(|segment| &segment.lines).collect();
    let expected: Vec<String> =
        (0..count).map(|number| format!("INFO Work template {} of {number}", number % 3)).collect();
    assert_eq!(lines, expected.iter().collect::<Vec<_>>());
}

#[test]
fn a_message_larger_than_a_segment_has_its_own() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let session = start(&dir, |session| {
        session.segment_bytes(64 << 10).max_string_bytes(200_000).buffer_size(16 << 20)
    });
    for round in 0..3u64 {
        i!(Log::Work, "small %d", round);
        i!(Log::Work, "%s", "y".repeat(150_000));
    }
    session.stop().unwrap();
    let segments: Vec<Segment> = files(dir.path()).iter().map(|path| read(path)).collect();
    let lines: Vec<&String> = segments.iter().flat_map(|segment| &segment.lines).collect();
    assert_eq!(lines.len(), 6);
    assert!(segments.len() >= 3, "{}", segments.len());
}

#[test]
fn a_second_session_with_the_same_name_is_refused() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let first = start(&dir, |session| session.keep_segments(1));
    let again = Session::builder().file(dir.path().join("app.pftrace")).segment_bytes(1).start();
    assert!(matches!(again.unwrap_err(), Error::FileInUse { .. }));
    start(&dir, |session| session.file(dir.path().join("other.pftrace")).keep_segments(1))
        .stop()
        .unwrap();
    first.stop().unwrap();
    start(&dir, |session| session.keep_segments(1)).stop().unwrap();
    let missing = Session::builder().file(dir.path().join("no/app")).segment_bytes(1).start();
    assert!(matches!(missing.unwrap_err(), Error::File { .. }));
    let kept = Session::builder().file("a").keep_first().segment_age(Duration::ZERO).start();
    assert!(matches!(kept.unwrap_err(), Error::OnlyStreams { option: "segment_age" }));
}

/// A segment, as `protologtool merge` opens it.
struct Input(PathBuf);

impl MergeInput for Input {
    fn name(&self) -> &str {
        self.0.to_str().expect("a path in UTF-8")
    }

    fn open(&self) -> std::io::Result<Box<dyn std::io::Read + '_>> {
        Ok(Box::new(std::fs::File::open(&self.0)?))
    }
}

#[test]
fn merged_segments_have_every_message() {
    const COUNT: usize = 3_000;
    let _lock = lock_sessions();
    let dir = temp_dir();
    let roomy = |session: Builder| session.buffer_size(8 << 20).segment_bytes(48 << 10);
    let session = start(&dir, roomy);
    thread::scope(|scope| {
        for thread in 0..3 {
            scope.spawn(move || {
                (0..COUNT).for_each(|number| log(thread, number));
            });
        }
    });
    // A template that only the last segment has.
    dynamic::log(&Log::Work, Level::Info, "and %s", &[dynamic::Arg::Str("the end")]);
    let summary = session.stop().unwrap();
    assert_eq!(summary.lost(), 0);
    let inputs: Vec<Input> = files(dir.path()).into_iter().map(Input).collect();
    assert!(inputs.len() > 4, "{} segments", inputs.len());
    let inputs: Vec<&dyn MergeInput> = inputs.iter().map(|one| one as &dyn MergeInput).collect();
    let path = dir.path().join("whole.pftrace");
    let report = merge(&inputs, &mut std::fs::File::create(&path).unwrap()).unwrap();
    assert_eq!((report.malformed, report.truncated.len()), (0, 0));
    let mut of_segments = inputs
        .iter()
        .flat_map(|input| read_as(Path::new(input.name()), false).lines)
        .collect::<Vec<_>>();
    let mut of_whole = Trace::of(path, summary, temp_dir()).messages();
    assert_eq!(of_whole.len(), 3 * COUNT + 1);
    assert_eq!(of_whole.last().map(String::as_str), Some("INFO Work and the end"));
    of_segments.sort();
    of_whole.sort();
    assert_eq!(of_whole, of_segments);
}

#[test]
fn stop_fails_if_a_segment_can_not_be_created() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let inner = dir.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let session =
        start(&dir, |session| session.file(inner.join("app.pftrace")).segment_bytes(64 << 10));
    let moved = dir.path().join("moved");
    std::fs::create_dir(&moved).unwrap();
    let part = "app.0001.pftrace.part";
    std::fs::hard_link(inner.join(part), moved.join(part)).unwrap();
    std::fs::remove_dir_all(&inner).unwrap();
    (0..20_000).for_each(|number| log(0, number));
    assert!(session.flush().is_err());
    assert!(matches!(session.stop().unwrap_err(), Error::File { .. }));
    assert_eq!(names(&moved), [part], "it is not deleted");
    let part = protolog_reader::Trace::open(moved.join(part));
    let log = part.expect("open the segment").read().expect("read it");
    assert!(log.entries().next().is_some());
    assert!(log.summary().to_string().contains("has no end"), "{}", log.summary());
}

#[test]
fn segments_continue_once_they_can_be_created_again() {
    if ran_in_child("segments_continue_once_they_can_be_created_again") {
        return;
    }
    let dir = temp_dir();
    let session = start(&dir, |session| session.segment_bytes(64 << 10));
    let limit = Limit::new(libc::RLIMIT_NOFILE, 0);
    // No message with a string that would be truncated.
    (10..90).cycle().take(3_000).for_each(|number| log(0, number));
    for _ in 0..3 {
        let error = session.flush().unwrap_err().to_string();
        assert!(error.ends_with("app.pftrace`: too many open files"), "{error}");
    }
    drop(limit);
    session.flush().unwrap();
    (0..100).for_each(|number| log(0, number % 5));
    let summary = session.stop().unwrap();
    assert!(summary.messages > 100 && summary.lost() > 0, "{summary:?}");
    assert_eq!(names(dir.path()), ["app.0001.pftrace", "app.0002.pftrace"]);
    let segments = files(dir.path()).iter().map(|path| read(path)).collect::<Vec<_>>();
    assert_eq!(segments[0].lost, summary.lost(), "reported where the messages are missing");
    assert_eq!(segments[1].lines.len(), 100);
    assert_eq!(segments.iter().map(|one| one.lines.len() as u64).sum::<u64>(), summary.messages);
}

#[test]
fn a_deleted_segment_is_counted_and_the_others_are_kept() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let room = |session: Builder| {
        session.segment_bytes(64 << 10).buffer_size(16 << 20).max_string_bytes(8_000)
    };
    let session = start(&dir, room);
    log(0, 0);
    session.flush().unwrap();
    std::fs::remove_file(dir.path().join("app.0001.pftrace.part")).unwrap();
    (1..5_000).for_each(|number| log(0, number));
    session.flush().unwrap();
    let so_far = session.summary();
    assert_eq!((so_far.messages, so_far.lost()), (4_999, 1));
    let summary = session.stop().unwrap();
    assert_eq!((summary.messages, summary.lost()), (4_999, 1), "{summary:?}");
    let files = files(dir.path());
    assert!(files.len() > 2 && files[0].ends_with("app.0002.pftrace"), "{files:?}");
    let lines = files.iter().flat_map(|path| read_as(path, false).lines).collect::<Vec<_>>();
    assert!(lines.len() > 2_500, "{}", lines.len());
    let line = |number| format!("INFO Work 0:{number} {}", filler(number));
    assert!((5_000 - lines.len()..5_000).map(line).eq(lines), "the last ones, without a gap");
}
