//! All that a service leaves on, in one process that is killed at any instant: triggers, a pinned
//! ring and sampling. Each error whose call has returned is in what is recovered, no file is half
//! written, and the numbers of what is there, was overwritten and was passed over are those of the
//! calls.
//!
//! The process is this program, run again.

#[path = "common/killed.rs"]
mod killed;

use killed::{recover, texts};
use protolog_reader::{Log as ReadLog, Trace};
use protolog_rt::{Level, Pinned, ProtoLogGroup, Session, Triggers, d, e};
use protolog_testkit::temp_dir;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// The directory of the process that ends.
const CHILD: &str = "PROTOLOG_TEST_ALWAYS_ON";

const THREADS: u64 = 3;

/// Calls of a thread for each error.
const CHATTER: u64 = 2_000;

/// Number of processes that are killed; `cargo xtask soak` sets a higher one.
fn rounds() -> u64 {
    env::var("PROTOLOG_KILL_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(12)
}

/// Logs without end. The file `returned` has the number of each thread's calls that have returned.
fn run_child(dir: &Path) -> ! {
    let triggers = Triggers::to(dir.join("app.pftrace")).on_level(Level::Error);
    let triggers = triggers.after(Duration::ZERO).interval(Duration::from_millis(30)).keep_files(4);
    let builder = Session::builder().enable_all().buffer_size(64 << 10).triggers(triggers);
    let builder = builder.pin(Pinned::new().level(Level::Error));
    let builder = builder.sample("Log::Work and debug", "1/10");
    let _session = builder.record_at(dir.join("ring.rec")).start().expect("start");
    let returned = &File::create(dir.join("returned")).expect("create a file");
    let work = |number: u64| {
        let note = |calls: u64| returned.write_all_at(&calls.to_ne_bytes(), number * 8);
        for error in 0.. {
            e!(Log::Work, "error %d of %d", error, number);
            let before = error * (CHATTER + 1) + 1;
            note(before).expect("note it");
            for call in 1..=CHATTER {
                d!(Log::Work, "chatter %d", call);
                note(before + call).expect("note it");
            }
        }
    };
    thread::scope(|scope| (0..THREADS).for_each(|number| _ = scope.spawn(move || work(number))));
    unreachable!("it is killed")
}

/// The number of calls that a trace accounts for.
fn accounted(log: &ReadLog) -> u64 {
    let stats = log.stats();
    log.entries().count() as u64
        + stats.lost.values().sum::<u64>()
        + stats.passed_over.values().sum::<u64>()
}

/// The calls of each thread that have returned.
fn returned(dir: &Path) -> Vec<u64> {
    let bytes = fs::read(dir.join("returned")).unwrap_or_default();
    bytes.chunks_exact(8).map(|it| u64::from_ne_bytes(it.try_into().expect("eight"))).collect()
}

#[test]
fn a_process_with_everything_on_is_killed_at_any_instant() {
    const TEST: &str = "a_process_with_everything_on_is_killed_at_any_instant";
    if let Some(dir) = env::var_os(CHILD) {
        run_child(&PathBuf::from(dir));
    }
    let (mut errors, mut files) = (0, 0);
    for round in 0..rounds() {
        let dir = temp_dir();
        let mut child = Command::new(env::current_exe().expect("this program"));
        child.args(["--exact", TEST, "--nocapture"]).env(CHILD, dir.path());
        let child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("start a process");
        let end = Instant::now() + Duration::from_secs(60);
        while returned(dir.path()).len() < THREADS as usize {
            assert!(Instant::now() < end, "it logs");
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_micros(round * 7_919 % 150_000));
        child.kill().expect("kill it");
        child.wait().expect("wait for it");
        let returned = returned(dir.path());
        let log = recover(&dir.path().join("ring.rec"));
        let texts = texts(&log);
        for (number, calls) in returned.iter().enumerate() {
            for error in 0..calls.div_ceil(CHATTER + 1) {
                let text = format!("error {error} of {number}");
                assert!(texts.contains(&text), "round {round}: {text} of {returned:?}");
                errors += 1;
            }
        }
        let (all, found) = (returned.iter().sum::<u64>(), accounted(&log));
        // Each thread may have been within a call.
        assert!((all..=all + THREADS).contains(&found), "round {round}: {found} of {all}");
        for entry in fs::read_dir(dir.path()).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.to_string_lossy().contains("app.error.") {
                let log = Trace::open(&path).expect("open").read().expect("read");
                assert!(log.is_complete(), "{}", path.display());
                files += 1;
            }
        }
    }
    assert!(errors > 0 && files > 0, "{errors} errors, {files} files");
}
