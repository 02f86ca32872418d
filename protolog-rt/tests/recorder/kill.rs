//! Processes that are killed while they log: everything that was committed and not overwritten is recovered, as text.

use crate::child::{self, Death, PERIOD, THREADS};
use crate::{Found, check_stats};
use protolog_reader::{LossCause, LossReason};
use protolog_testkit::temp_dir;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::ChildStderr;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// Messages that go round the ring more often than it has to.
const ENOUGH: u64 = 60_000;

/// How often processes are killed here; `cargo xtask soak` asks for more.
fn rounds() -> u32 {
    env::var("PROTOLOG_KILL_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(40)
}

/// The last number that each thread said to have committed.
#[derive(Debug, Default)]
struct Said {
    last: BTreeMap<u32, u64>,
    total: u64,
}

impl Said {
    /// Reads frames until `enough` says so, or the pipe ends.
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

/// A number that is different each time.
fn chance(below: u64) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0) % below
}

/// Starts a child, kills it, and checks what is left.
fn kill_one(round: u32, dir: &Path) {
    let path = dir.join("killed.rec");
    let mut running = child::start("work", &path);
    let mut pipe = running.child.stderr.take().expect("a pipe");
    let mut said = Said::default();
    // On a busy machine some threads go round alone before others begin.
    said.read(&mut pipe, |said| said.total > ENOUGH && said.last.len() == THREADS as usize);
    let moment = Duration::from_micros(chance(5_000));
    let reader = thread::spawn(move || {
        said.read(&mut pipe, |_| false);
        said
    });
    thread::sleep(moment);
    let death = [Death::Kill, Death::Abort, Death::BadAddress][round as usize % 3];
    running.die(death);
    let said = reader.join().expect("the thread that reads the pipe");
    check(&said, &path, &format!("round {round}, {death:?} after {moment:?}"));
    if round < 3 {
        check_stats(&path, dir);
    }
    fs::remove_file(path).expect("remove the recording");
}

#[track_caller]
fn check(said: &Said, path: &Path, what: &str) {
    let found = Found::read_alone(path);
    let numbers = found.numbers();
    let messages = found.report.messages;
    assert!(said.total > 5 * messages, "{what}: {} do not go round {messages}", said.total);
    let mut late = 0;
    for (thread, numbers) in &numbers {
        let last = numbers[numbers.len() - 1];
        assert!(numbers.is_sorted_by(|a, b| a < b), "{what}: thread {thread}: {numbers:?}");
        // A chunk survives the others of its thread where a slow thread shares its page; what is missing after it is told.
        let there = numbers.len() as u64 + overwritten(&found, *thread);
        assert!(there > last, "{what}: a hole that is not told of thread {thread}");
        let holes = numbers.windows(2).filter(|pair| pair[0] + 1 != pair[1]).count();
        assert!(holes <= 2, "{what}: thread {thread}: {numbers:?}");
        let said = said.last.get(thread).copied().unwrap_or(0);
        // Its last chunks may be gone too, if it was not running when it had given one back and not got another.
        assert!(there <= said + PERIOD + 2, "{what}: thread {thread} said {said}, told {there}");
        late += u64::from(last < said);
    }
    // A thread that was not running when it had given back a chunk and not got another one may have none: all of its
    // messages were overwritten meanwhile, and are counted below.
    assert!(numbers.len() as u32 >= THREADS / 2, "{what}: threads {:?}", numbers.keys());
    assert!(late <= 2, "{what}: {late} threads have older messages only");
    let told = messages + found.report.overwritten;
    let most = said.total + u64::from(THREADS) * (PERIOD + 1);
    assert!(said.total <= told && told <= most, "{what}: said {}, told {told}", said.total);
    assert_eq!(found.report.lost, 0, "{what}");
}

/// Messages of a thread that are told as overwritten, up to the last one that is there.
fn overwritten(found: &Found, thread: u32) -> u64 {
    let name = format!("worker {thread}");
    let of_thread = found.log.losses().iter().filter(|loss| {
        loss.reason == LossReason::Reported(LossCause::Overwritten)
            && found.log.thread_of(loss).name.as_ref() == Some(&name)
    });
    of_thread.filter_map(|loss| loss.count).sum()
}

#[test]
fn what_was_committed_survives_every_death() {
    let dir = temp_dir();
    let begun = Instant::now();
    let rounds = rounds();
    (0..rounds).for_each(|round| kill_one(round, dir.path()));
    println!("{rounds} processes died in {:.1} s", begun.elapsed().as_secs_f64());
}

#[test]
fn of_10_000_messages_just_written_all_are_kept() {
    let found = killed("write");
    assert_eq!(found.numbers()[&0], (0..10_000).collect::<Vec<_>>());
    assert_eq!((found.report.overwritten, found.report.lost), (0, 0));
    let thread = found.log.entries().next().expect("an entry").thread().clone();
    assert_eq!(thread.pid, Some(found.report.pid));
}

#[test]
fn a_child_that_is_forked_leaves_the_recording_alone() {
    only_the_parent_is_in(&killed("fork"));
}

/// What such a child writes into the chunk that its thread had is written over, and it takes no other one.
#[test]
fn a_bare_clone_takes_no_chunk_of_a_recording() {
    only_the_parent_is_in(&killed("clone"));
}

/// What is left of a process that was killed once it had said something.
fn killed(task: &str) -> Found {
    let dir = temp_dir();
    let path = dir.path().join("killed.rec");
    let mut running = child::start(task, &path);
    let mut pipe = running.child.stderr.take().expect("a pipe");
    let mut said = Said::default();
    said.read(&mut pipe, |said| said.total > 0);
    running.die(Death::Kill);
    Found::read(&path)
}

#[track_caller]
fn only_the_parent_is_in(found: &Found) {
    assert!((0..200).map(|number| format!("parent {number}")).eq(found.texts()));
    assert_eq!((found.report.overwritten, found.report.lost), (0, 0));
}

#[test]
fn a_process_that_exits_without_a_stop_leaves_its_recording() {
    let dir = temp_dir();
    let path = dir.path().join("left.rec");
    let status = child::start("exit", &path).child.wait().expect("wait for the child");
    assert!(status.success());
    assert_eq!(Found::read(&path).texts(), ["last words"]);
}
