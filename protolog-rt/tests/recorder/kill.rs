//! Processes that are killed while they log: every message that was committed and not overwritten
//! is recovered.

use crate::child::{self, Death, PERIOD, THREADS};
use crate::{Recovery, check_stats};
use protolog_reader::{LossCause, LossReason};
use protolog_testkit::temp_dir;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::ChildStderr;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// Number of messages that fills the ring several times.
const MIN_MESSAGES: u64 = 60_000;

/// Number of processes that are killed: `few`, unless `cargo xtask soak` sets a higher one.
pub(crate) fn rounds_or(few: u32) -> u32 {
    env::var("PROTOLOG_KILL_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(few)
}

/// The last committed number that each thread reported.
#[derive(Debug, Default)]
struct Reports {
    last: BTreeMap<u32, u64>,
    total: u64,
}

impl Reports {
    /// Reads frames until `enough` returns true or the pipe ends.
    fn read(&mut self, pipe: &mut ChildStderr, enough: impl Fn(&Self) -> bool) {
        let mut frame = [0; 12];
        while !enough(self) && pipe.read_exact(&mut frame).is_ok() {
            let (thread, number) = frame.split_at(4);
            let thread = u32::from_ne_bytes(thread.try_into().unwrap());
            let number = u64::from_ne_bytes(number.try_into().unwrap());
            assert!(thread < THREADS, "not a frame: {}", String::from_utf8_lossy(&frame));
            let before = self.last.insert(thread, number).map_or(0, |number| number + 1);
            self.total += number + 1 - before;
        }
    }
}

/// A random number.
pub(crate) fn random_below(below: u64) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0) % below
}

/// Starts a child, kills it, and checks what is left.
fn kill_one(round: u32, dir: &Path) {
    let path = dir.join("killed.rec");
    let mut running = child::start("work", &path);
    let mut pipe = running.child.stderr.take().expect("a pipe");
    let mut reports = Reports::default();
    // On a busy machine some threads fill the ring before others start.
    reports.read(&mut pipe, |reports| {
        reports.total > MIN_MESSAGES && reports.last.len() == THREADS as usize
    });
    let moment = Duration::from_micros(random_below(5_000));
    let reader = thread::spawn(move || {
        reports.read(&mut pipe, |_| false);
        reports
    });
    thread::sleep(moment);
    let death = [Death::Kill, Death::Abort, Death::BadAddress][round as usize % 3];
    running.die(death);
    let reports = reader.join().expect("the thread that reads the pipe");
    check(&reports, &path, &format!("round {round}, {death:?} after {moment:?}"));
    if round < 3 {
        check_stats(&path, dir);
    }
    fs::remove_file(path).expect("remove the recording");
}

#[track_caller]
fn check(reports: &Reports, path: &Path, what: &str) {
    let found = Recovery::read_without_perfetto(path);
    let numbers = found.numbers();
    let messages = found.report.messages;
    assert!(reports.total > 5 * messages, "{what}: {} of {messages}", reports.total);
    let mut late = 0;
    for (thread, numbers) in &numbers {
        let last = numbers[numbers.len() - 1];
        assert!(numbers.is_sorted_by(|a, b| a < b), "{what}: thread {thread}: {numbers:?}");
        // A chunk may outlive the others of its thread if a slow thread shares its page; the gap
        // after it is reported.
        let accounted = numbers.len() as u64 + overwritten(&found, *thread);
        assert!(accounted > last, "{what}: an unreported gap of thread {thread}");
        let gaps = numbers.windows(2).filter(|pair| pair[0] + 1 != pair[1]).count();
        assert!(gaps <= 2, "{what}: thread {thread}: {numbers:?}");
        let reports = reports.last.get(thread).copied().unwrap_or(0);
        // Its last chunks may be overwritten too, if it was preempted between two chunks.
        assert!(
            accounted <= reports + PERIOD + 2,
            "{what}: thread {thread} reported {reports}, recovered {accounted}"
        );
        late += u64::from(last < reports);
    }
    // A thread that was preempted between two chunks may have no message left: all of them were
    // overwritten meanwhile, and are counted below.
    assert!(numbers.len() as u32 >= THREADS / 2, "{what}: threads {:?}", numbers.keys());
    assert!(late <= 2, "{what}: {late} threads have only older messages");
    let accounted = messages + found.report.overwritten;
    let limit = reports.total + u64::from(THREADS) * (PERIOD + 1);
    assert!(
        reports.total <= accounted && accounted <= limit,
        "{what}: reported {}, recovered {accounted}",
        reports.total
    );
    assert_eq!(found.report.lost, 0, "{what}");
}

/// Number of messages of a thread that are reported as overwritten before its last one.
fn overwritten(found: &Recovery, thread: u32) -> u64 {
    let name = format!("worker {thread}");
    let of_thread = found.log.losses().iter().filter(|loss| {
        loss.reason == LossReason::Reported(LossCause::Overwritten)
            && found.log.thread_of(loss).name.as_ref() == Some(&name)
    });
    of_thread.filter_map(|loss| loss.count).sum()
}

#[test]
fn committed_messages_survive_every_death() {
    let dir = temp_dir();
    let begun = Instant::now();
    let rounds = rounds_or(40);
    (0..rounds).for_each(|round| kill_one(round, dir.path()));
    println!("{rounds} processes died in {:.1} s", begun.elapsed().as_secs_f64());
}

#[test]
fn ten_thousand_fresh_messages_are_all_recovered() {
    let found = kill_after_first_report("write");
    assert_eq!(found.numbers()[&0], (0..10_000).collect::<Vec<_>>());
    assert_eq!((found.report.overwritten, found.report.lost), (0, 0));
    let thread = found.log.entries().next().expect("an entry").thread().clone();
    assert_eq!(thread.pid, Some(found.report.pid));
}

#[test]
fn a_forked_child_does_not_change_the_recording() {
    check_only_the_parent(&kill_after_first_report("fork"));
}

/// The child writes into the chunk that its thread had, where the parent overwrites it, and takes
/// no other chunk.
#[test]
fn a_bare_clone_takes_no_chunk_of_the_recording() {
    check_only_the_parent(&kill_after_first_report("clone"));
}

/// Kills a process after its first report. Returns the contents of its recording.
fn kill_after_first_report(task: &str) -> Recovery {
    let dir = temp_dir();
    let path = dir.path().join("killed.rec");
    let mut running = child::start(task, &path);
    let mut pipe = running.child.stderr.take().expect("a pipe");
    let mut reports = Reports::default();
    reports.read(&mut pipe, |reports| reports.total > 0);
    running.die(Death::Kill);
    Recovery::read(&path)
}

#[track_caller]
fn check_only_the_parent(found: &Recovery) {
    assert!((0..200).map(|number| format!("parent {number}")).eq(found.messages()));
    assert_eq!((found.report.overwritten, found.report.lost), (0, 0));
}

#[test]
fn a_process_that_exits_without_stop_leaves_its_recording() {
    let dir = temp_dir();
    let path = dir.path().join("left.rec");
    let status = child::start("exit", &path).child.wait().expect("wait for the child");
    assert!(status.success());
    assert_eq!(Recovery::read(&path).messages(), ["last words"]);
}
