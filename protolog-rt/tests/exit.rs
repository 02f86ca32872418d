//! Messages while the process exits: those of exit handlers, registered before and after the
//! session, and of destructors of the values of the thread that exits.
#![allow(unsafe_code)] // Exit handlers.

use protolog_reader::{Recording, Rendering, Trace};
use protolog_rt::{Builder, ProtoLogGroup, Session, i};
use protolog_testkit::{run, temp_dir, trace_stats};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{env, fs};

#[derive(ProtoLogGroup)]
enum ExitLog {
    Work,
}

/// Names the directory in the process that exits.
const CHILD: &str = "PROTOLOG_TEST_EXIT";

static SESSION: Mutex<Option<Session>> = Mutex::new(None);

struct LogOnDrop;

impl Drop for LogOnDrop {
    fn drop(&mut self) {
        i!(ExitLog::Work, "destructor");
    }
}

thread_local! {
    static EARLY: RefCell<Option<LogOnDrop>> = const { RefCell::new(None) };
    static LATE: RefCell<Option<LogOnDrop>> = const { RefCell::new(None) };
}

extern "C" fn first_handler() {
    i!(ExitLog::Work, "first handler");
}

extern "C" fn last_handler() {
    i!(ExitLog::Work, "last handler");
}

/// Runs the test `name` in a process that exits while a session runs; returns the directory of that
/// process in it.
fn exits(name: &str, dir: &Path) -> Option<PathBuf> {
    if let Some(dir) = env::var_os(CHILD) {
        return Some(dir.into());
    }
    let mut child = Command::new(env::current_exe().expect("the test itself"));
    let output = run(child.args(["--exact", name]).env(CHILD, dir));
    assert_eq!(output.stderr, "", "nothing is lost");
    None
}

fn log_and_exit(builder: Builder) -> ! {
    EARLY.set(Some(LogOnDrop));
    // SAFETY: the function is this program's. The first that is registered is the last that runs.
    assert_eq!(unsafe { libc::atexit(last_handler) }, 0);
    *SESSION.lock().expect("the lock") = Some(builder.enable_all().start().expect("start"));
    i!(ExitLog::Work, "before");
    LATE.set(Some(LogOnDrop));
    // SAFETY: as above.
    assert_eq!(unsafe { libc::atexit(first_handler) }, 0);
    std::process::exit(0);
}

const EXPECTED: [&str; 5] = ["before", "destructor", "destructor", "first handler", "last handler"];

fn texts(trace: Trace) -> Vec<String> {
    let log = trace.read().expect("read it");
    assert!(log.is_complete(), "{:?}", log.stats());
    log.entries().map(|entry| entry.values().text(Rendering::Bare)).collect()
}

#[test]
fn a_stream_has_what_is_logged_while_the_process_exits() {
    let dir = temp_dir();
    if let Some(dir) = exits("a_stream_has_what_is_logged_while_the_process_exits", dir.path()) {
        log_and_exit(Session::builder().file(dir.join("trace")));
    }
    let path = dir.path().join("trace");
    assert_eq!(texts(Trace::open(&path).expect("open it")), EXPECTED);
    if let Some(stats) = trace_stats(&path) {
        assert_eq!(stats.to_string(), "", "counters of trace_processor");
    }
}

#[test]
fn a_kept_trace_has_what_is_logged_while_the_process_exits() {
    let dir = temp_dir();
    if let Some(dir) = exits("a_kept_trace_has_what_is_logged_while_the_process_exits", dir.path())
    {
        log_and_exit(Session::builder().keep_newest().file(dir.join("trace")));
    }
    assert_eq!(texts(Trace::open(dir.path().join("trace")).expect("open it")), EXPECTED);
}

#[test]
fn a_recorder_goes_on_until_the_last_handler() {
    let dir = temp_dir();
    if let Some(dir) = exits("a_recorder_goes_on_until_the_last_handler", dir.path()) {
        log_and_exit(Session::builder().record_at(dir.join("recording")));
    }
    let bytes = fs::read(dir.path().join("recording")).expect("read the recording");
    let mut trace = Vec::new();
    let report = Recording::parse(&bytes).expect("a recording").write(&mut trace).expect("write");
    assert_eq!((report.flaws, report.lost), (vec![], 0));
    assert_eq!(texts(Trace::from_bytes(trace)), EXPECTED);
}
