//! Stack traces of messages, and messages of panics.

mod common;

use common::record;
use protolog_reader::{Rendering, Trace as TraceFile};
use protolog_rt::{Level, ProtoLogGroup, Session, d, dynamic, i, log_panics};
use protolog_testkit::temp_dir;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(ProtoLogGroup)]
enum Log {
    Traced,
    Plain,
}

/// The text and stack trace of each message.
fn stacks(path: &Path) -> Vec<(String, Option<String>)> {
    let log = TraceFile::open(path).expect("open the trace").read().expect("read the trace");
    let stack = |entry: protolog_reader::Entry<'_>| {
        (entry.values().text(Rendering::Full), entry.stack_trace().map(str::to_owned))
    };
    log.entries().map(stack).collect()
}

/// The module and the address of each frame.
#[track_caller]
fn frames(stack: &str) -> Vec<(PathBuf, u64)> {
    let mut frames = Vec::new();
    for (number, line) in stack.lines().enumerate() {
        let rest = line.strip_prefix(&format!("#{number:02} pc ")).expect(line);
        let (address, image) = rest.split_once("  ").expect(line);
        let image = image.split(" (BuildId: ").next().expect(line);
        frames.push((image.into(), u64::from_str_radix(address, 16).expect(line)));
    }
    frames
}

#[inline(never)]
fn logs(number: u32) {
    i!(Log::Traced, "number %d for %s", number, "somebody");
    std::hint::black_box(number);
}

#[test]
fn messages_of_a_group_have_stack_traces() {
    let recording = record(|session| session.enable_all().collect_stacktrace("Traced"));
    for number in 0..3 {
        logs(number);
    }
    d!(Log::Plain, "plain");
    let deep: String = "x".repeat(2000);
    dynamic::log(&Log::Traced, Level::Warn, "%s", &[dynamic::Arg::Str(&deep)]);
    let trace = recording.stop();
    trace.check(&[
        "INFO Traced number 0 for somebody",
        "INFO Traced number 1 for somebody",
        "INFO Traced number 2 for somebody",
        "DEBUG Plain plain",
        &format!("WARN Traced {deep}"),
    ]);
    let stacks = stacks(&trace.path);
    let own = std::env::current_exe().expect("the test's own path");
    let of = |index: usize| frames(stacks[index].1.as_deref().expect("a stack trace"));
    let first = of(0);
    assert!(first.len() > 3 && first[0].0 == own, "{first:?}");
    let in_logs: Vec<_> = first.iter().zip(of(1)).map(|(a, b)| *a == b).collect();
    assert!(!in_logs.contains(&false), "the same stack twice: {first:?}");
    let start = logs as fn(u32) as usize as u64;
    let base = base_of(&own);
    let within = |(image, address): &(PathBuf, u64)| {
        *image == own && (start..start + 1000).contains(&(base + address))
    };
    assert!(first.iter().any(within), "{start:x} {base:x} {first:x?}");
    assert_eq!(stacks[3].1, None);
    assert!(of(4).len() > 3);
    if let Some(table) = trace.query("select stacktrace from protolog where tag = 'Traced' limit 1")
    {
        assert_eq!(Some(&table.texts("stacktrace")[0]), stacks[0].1.as_ref());
    }
}

/// The address at which a module starts in memory.
fn base_of(image: &Path) -> u64 {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the memory map");
    let line = maps.lines().find(|line| line.ends_with(&*image.to_string_lossy())).expect("mapped");
    u64::from_str_radix(line.split('-').next().expect(line), 16).expect(line)
}

const PANIC_LINE: u32 = line!() + 2;
fn panic_in_a_function() {
    panic!("out of {}", "eggs");
}

#[test]
fn panics_are_logged_with_their_stack() {
    log_panics();
    let recording = record(|session| session);
    let thread = std::thread::Builder::new().name("baker".into()).spawn(panic_in_a_function);
    thread.expect("a thread").join().expect_err("a panic");
    std::panic::catch_unwind(|| std::panic::panic_any(7)).expect_err("a panic");
    let trace = recording.stop();
    let lines = trace.messages();
    assert_eq!(lines[0], "WTF panic thread `baker` panicked: out of eggs");
    assert!(lines[1].ends_with("` panicked: a value that is not a string"), "{}", lines[1]);
    let stacks = stacks(&trace.path);
    assert!(stacks.iter().all(|(_, stack)| frames(stack.as_deref().expect("a stack")).len() > 3));
    let log = trace.log();
    let place = &log.entries().next().expect("an entry").message().expect("known").location;
    assert_eq!(*place, format!("{}:{PANIC_LINE}", file!()));
}

/// The process aborts while the session runs.
#[test]
fn the_message_of_an_aborting_panic_is_in_the_file() {
    const CHILD: &str = "PROTOLOG_TEST_ABORTS";
    if let Some(path) = std::env::var_os(CHILD) {
        log_panics();
        let session = Session::builder().file(path).log_from(Level::Info).start().expect("start");
        i!(Log::Plain, "before");
        extern "C" fn aborts() {
            panic!("no way out");
        }
        aborts();
        drop(session);
    }
    let dir = temp_dir();
    let path = dir.path().join("aborted.pftrace");
    let child = Command::new(std::env::current_exe().expect("the test's own path"))
        .args(["--exact", "the_message_of_an_aborting_panic_is_in_the_file", "--nocapture"])
        .env(CHILD, &path)
        .output()
        .expect("run the test again");
    assert_eq!(child.status.code(), None, "killed by a signal: {child:?}");
    let texts: Vec<String> = stacks(&path).into_iter().map(|(text, _)| text).collect();
    assert_eq!(texts[0], "before");
    assert!(texts[1].ends_with("panicked: no way out"), "{texts:?}");
}
