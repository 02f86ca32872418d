//! Pinned rings of processes that are killed, crash or fork: each error whose call has returned is
//! in what is recovered, however much chatter came after it.
//!
//! The process is this program, run again.
#![allow(unsafe_code)] // fork.

#[path = "common/fork.rs"]
mod fork;
#[path = "common/killed.rs"]
mod killed;

use fork::{has_process_of_its_own, spawn, wait};
use killed::{recover, texts};
use protolog_reader::{Log as ReadLog, Recording, Tail, Trace};
use protolog_rt::{Builder, Level, Pinned, ProtoLogGroup, Session, Triggers, d, e};
use protolog_testkit::temp_dir;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// The directory of the process that ends.
const CHILD: &str = "PROTOLOG_TEST_PINNED";

const RING: usize = 64 << 10;

/// Messages of [`chatter`] in 100 rings.
const CHATTER: u64 = 100 * RING as u64 / 12;

/// Number of processes that are killed; `cargo xtask soak` sets a higher one.
fn rounds() -> u64 {
    env::var("PROTOLOG_KILL_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(12)
}

fn command(test: &str, dir: &Path) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--exact", test, "--nocapture"]).env(CHILD, dir).stderr(Stdio::null());
    command
}

fn child_directory() -> Option<PathBuf> {
    env::var_os(CHILD).map(PathBuf::from)
}

fn pinning() -> Builder {
    let builder = Session::builder().enable_all().buffer_size(RING);
    builder.pin(Pinned::new().level(Level::Error))
}

fn chatter(count: u64) {
    (0..count).for_each(|number| d!(Log::Work, "chatter %d", number));
}

/// Starts the process of a test, which says when it is ready.
fn ready(test: &str, dir: &Path) -> Child {
    let child = command(test, dir).stdout(Stdio::piped()).spawn();
    let mut child = child.expect("start a process");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    while lines.next().expect("it gets ready").expect("a line") != "ready" {}
    child
}

/// The number of messages that a trace has, and that it says are missing.
fn accounted(log: &ReadLog) -> u64 {
    log.entries().count() as u64 + log.stats().lost.values().sum::<u64>()
}

#[test]
fn a_killed_process_leaves_its_errors() {
    const TEST: &str = "a_killed_process_leaves_its_errors";
    if let Some(dir) = child_directory() {
        let _session = pinning().record_at(dir.join("ring.rec")).start().expect("start");
        e!(Log::Work, "disk %s is full", "sda");
        chatter(CHATTER);
        e!(Log::Work, "the last error");
        println!("ready");
        thread::sleep(Duration::from_secs(600));
    }
    let dir = temp_dir();
    let mut child = ready(TEST, dir.path());
    let path = dir.path().join("ring.rec");
    let follow = || {
        let (bytes, mut trace) = (fs::read(&path).expect("the recording"), Vec::new());
        let copies = [&*bytes, &*bytes, &*bytes];
        Tail::default().read(copies, &mut trace).expect("memory").expect("a recording");
        trace
    };
    // While it runs, as `read-log --follow` reads it.
    let followed = Trace::from_bytes(follow()).read().expect("read");
    child.kill().expect("kill it");
    child.wait().expect("wait for it");
    let bytes = fs::read(&path).expect("the recording");
    let report = Recording::parse(&bytes).expect("a recording").write(&mut Vec::new());
    assert_eq!(report.expect("write to memory").threads, 1, "it has a writer for each ring");
    for log in [followed, recover(&path)] {
        let texts = texts(&log);
        assert_eq!(texts[0], "disk sda is full");
        assert_eq!(texts.last().expect("messages"), "the last error");
        assert!(texts.len() > 100 && texts.len() < 20_000, "{}", texts.len());
        assert_eq!(accounted(&log), CHATTER + 2);
    }
}

/// Of threads that have chunks left in the pinned ring, that have none, and that share a counter.
#[test]
fn what_a_pinned_ring_overwrote_is_counted_after_a_kill() {
    const TEST: &str = "what_a_pinned_ring_overwrote_is_counted_after_a_kill";
    const THREADS: u64 = 700;
    const LATER: u64 = 20_000;
    if let Some(dir) = child_directory() {
        let pinned = Pinned::new().level(Level::Error).buffer_size(RING);
        let builder = pinning().pin(pinned).record_at(dir.join("ring.rec"));
        let _session = builder.start().expect("start");
        let begun: Vec<_> = (0..THREADS)
            .map(|number| {
                let (end, ended) = std::sync::mpsc::channel::<()>();
                let thread = thread::spawn(move || {
                    e!(Log::Work, "error of thread %d", number);
                    let _ = ended.recv();
                });
                (end, thread)
            })
            .collect();
        for (end, thread) in begun {
            drop(end);
            thread.join().expect("the thread ends");
        }
        (0..LATER).for_each(|number| e!(Log::Work, "error %d", number));
        println!("ready");
        thread::sleep(Duration::from_secs(600));
    }
    let dir = temp_dir();
    let mut child = ready(TEST, dir.path());
    child.kill().expect("kill it");
    child.wait().expect("wait for it");
    let log = recover(&dir.path().join("ring.rec"));
    let texts = texts(&log);
    assert_eq!(texts.last().expect("messages"), &format!("error {}", LATER - 1));
    assert!(texts.len() < 6_000, "{}", texts.len());
    assert_eq!(accounted(&log), THREADS + LATER);
}

/// Killed at any instant, with the pinned ring overwritten or not.
#[test]
fn a_process_that_is_killed_at_any_instant_loses_no_error() {
    const TEST: &str = "a_process_that_is_killed_at_any_instant_loses_no_error";
    if let Some(dir) = child_directory() {
        let _session = pinning().record_at(dir.join("ring.rec")).start().expect("start");
        let work = |number: u64| {
            thread::spawn(move || {
                for error in 0.. {
                    e!(Log::Work, "error %d of %d", error, number);
                    // The call has returned: from here on it has to be there.
                    let line = format!("{error} {number}\n");
                    std::io::stdout().write_all(line.as_bytes()).expect("write to the pipe");
                    chatter(2_000);
                }
            })
        };
        let threads = [0, 1, 2].map(work);
        for thread in threads {
            thread.join().expect("it is killed");
        }
    }
    let mut count = 0;
    for round in 0..rounds() {
        let dir = temp_dir();
        let child = command(TEST, dir.path()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("start a process");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let reader =
            thread::spawn(move || output.lines().map_while(Result::ok).collect::<Vec<_>>());
        thread::sleep(Duration::from_millis(150) + Duration::from_micros(round * 7_919 % 90_000));
        child.kill().expect("kill it");
        child.wait().expect("wait for it");
        let returned = reader.join().expect("the thread ends");
        let log = recover(&dir.path().join("ring.rec"));
        let texts = texts(&log);
        let said = returned.iter().filter_map(|line| line.split_once(' '));
        let said: Vec<_> = said.filter(|(error, _)| error.parse::<u64>().is_ok()).collect();
        for (error, number) in &said {
            let text = format!("error {error} of {number}");
            assert!(texts.contains(&text), "{text} of {}", said.len());
        }
        count += said.len();
    }
    assert!(count > 0, "errors were logged before a kill");
}

/// The next start makes the file of a fault from both rings.
#[test]
fn the_next_start_has_the_errors_of_a_process_that_crashed() {
    const TEST: &str = "the_next_start_has_the_errors_of_a_process_that_crashed";
    let start = |dir: &Path| {
        let triggers = Triggers::to(dir.join("app.pftrace")).on_fatal_signals();
        let builder = pinning().triggers(triggers).report_losses(false);
        builder.record_at(dir.join("ring.rec")).start().expect("start a session")
    };
    if let Some(dir) = child_directory() {
        let _session = start(&dir);
        e!(Log::Work, "disk %s is full", "sda");
        chatter(CHATTER);
        std::process::abort();
    }
    let dir = temp_dir();
    let status = command(TEST, dir.path()).stdout(Stdio::null()).status().expect("a process");
    assert_eq!(status.signal(), Some(libc::SIGABRT));
    start(dir.path()).stop().expect("stop");
    let names = fs::read_dir(dir.path()).expect("a directory");
    let mut paths = names.map(|it| it.expect("an entry").path());
    let path = paths.find(|path| path.to_string_lossy().contains("app.sigabrt."));
    let log = Trace::open(path.expect("a file")).expect("open").read().expect("read");
    let texts = texts(&log);
    assert_eq!(texts[0], "disk sda is full");
    assert!(texts.last().expect("messages").starts_with("trigger: SIGABRT"));
}

/// A call that a rule switches on is in one ring of a session that records nothing else of it.
#[test]
fn a_call_that_a_rule_switches_on_is_in_one_ring() {
    const TEST: &str = "a_call_that_a_rule_switches_on_is_in_one_ring";
    if let Some(dir) = child_directory() {
        protolog_rt::init().expect("init");
        let builder = Session::builder().file(dir.join("app.pftrace")).log_from(Level::Wtf);
        let builder = builder.buffer_size(RING).pin(Pinned::new().level(Level::Error));
        let session = builder.start().expect("start");
        for number in 0..CHATTER {
            if number % 1_000 == 0 {
                e!(Log::Work, "error by rule %d", number);
            }
            e!(Log::Work, "not recorded");
            d!(Log::Work, "debug by rule %d", number);
        }
        session.stop().expect("stop");
        return;
    }
    let dir = temp_dir();
    let mut command = command(TEST, dir.path());
    command.env("PROTOLOG", r#"site "error by rule %d"=on;site "debug by rule %d"=on"#);
    assert!(command.stdout(Stdio::null()).status().expect("a process").success());
    let path = dir.path().join("app.pftrace");
    let log = Trace::open(path).expect("open").read().expect("read");
    let errors = CHATTER.div_ceil(1_000);
    let texts = texts(&log);
    let is_error = |text: &&String| text.starts_with("error by rule");
    assert_eq!(texts.iter().filter(is_error).count() as u64, errors);
    assert_eq!(accounted(&log), CHATTER + errors);
}

/// A child of a fork pins, too, in rings of its own.
#[test]
fn forked_children_have_their_own_pinned_rings() {
    if !has_process_of_its_own("forked_children_have_their_own_pinned_rings") {
        return;
    }
    let dir = temp_dir();
    let session = pinning().file(dir.path().join("app.pftrace")).follow_forks().start();
    let session = session.expect("start");
    e!(Log::Work, "of the parent");
    // SAFETY: the child does what the runtime promises to work, and ends.
    let fork = || unsafe { libc::fork() };
    let pid = spawn(fork, || {
        e!(Log::Work, "of the child");
        chatter(CHATTER);
        session.flush().is_ok() && session.summary().pinned_buffer.is_some() && {
            session.snapshot(dir.path().join("child.pftrace")).is_ok()
        }
    });
    wait(pid);
    chatter(CHATTER);
    session.stop().expect("stop");
    for (name, text) in [("app.pftrace", "of the parent"), ("child.pftrace", "of the child")] {
        let log = Trace::open(dir.path().join(name)).expect("open").read().expect("read");
        let texts = texts(&log);
        assert_eq!(texts[0], text);
        assert!(texts[1..].iter().all(|it| it.starts_with("chatter")), "{name}");
        assert_eq!(accounted(&log), CHATTER + 1, "{name}");
    }
}
