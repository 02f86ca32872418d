//! The rest of a ring whose process was killed: of each thread the newest messages without a gap,
//! and of all threads about the same age.
//!
//! Several threads log without a pause, so that they are preempted anywhere. Each says in a shared
//! file how far it is, and when it logged every [`NOTED`]th message.

use crate::Recovery;
use crate::child::{self, Death};
use crate::progress::{NOTED, Progress, RING, THREADS, progress_of};
use protolog_testkit::temp_dir;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// The most chunks of a thread that may be out of the order of age: one that it wrote, or was about
/// to take, when it was preempted, and one for the distance between two notes.
const CHUNKS: u64 = 2;

/// Faults of the recording that one process left.
#[derive(Debug, Default)]
struct Wrong {
    /// Gaps within the messages of a thread.
    gaps: u64,
    /// Messages in them.
    missing: u64,
    /// Newest messages of threads that are not there.
    newest: u64,
    /// Pairs of threads one of which has messages older than those that the other one lost.
    unfair: u64,
}

/// Starts a child with a ring of `ring` bytes, kills it, and looks at what is left.
fn kill_one(ring: usize, dir: &Path) -> Wrong {
    let recording = dir.join("newest.rec");
    let _ = fs::remove_file(progress_of(&recording));
    let progress = Progress::open(&progress_of(&recording));
    let mut running = child::start_with("newest", &recording, &[(RING, ring.to_string())]);
    // Three times what fits, at 16 bytes a message; then at any moment.
    let enough = 3 * (ring / 16) as u64;
    let begun = Instant::now();
    while (0..THREADS).map(|thread| progress.messages(thread)).sum::<u64>() < enough {
        thread::sleep(Duration::from_millis(1));
        assert!(begun.elapsed() < Duration::from_secs(600), "it does not log");
    }
    thread::sleep(Duration::from_micros(crate::kill::random_below(20_000)));
    running.die(Death::Kill);
    let found = Recovery::read_without_perfetto(&recording);
    fs::remove_file(&recording).expect("remove the recording");
    look(&found, &progress)
}

fn look(found: &Recovery, progress: &Progress) -> Wrong {
    let mut kept: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
    for entry in found.log.entries() {
        let text = entry.values().text(protolog_reader::Rendering::Bare);
        let (thread, number) = text.split_once(':').expect("a thread");
        let number: u64 = number.parse().expect("a number");
        let all = kept.entry(thread.parse().expect("a thread")).or_default();
        all.push((number, entry.time() as u64));
    }
    let mut wrong = Wrong::default();
    for thread in 0..THREADS {
        let logged = progress.messages(thread);
        let all = kept.entry(thread).or_default();
        assert!(all.is_sorted(), "thread {thread}: in order");
        // The last one may be committed, and not noted. A thread that was preempted for long may
        // have nothing left.
        let next = all.last().map_or(logged, |(number, _)| number + 1);
        wrong.newest += logged.saturating_sub(next);
        for pair in all.windows(2) {
            let missing = pair[1].0 - pair[0].0 - 1;
            wrong.gaps += u64::from(missing > 0);
            wrong.missing += missing;
        }
    }
    for one in 0..THREADS {
        let lost = kept[&one].first().map_or(progress.messages(one), |first| first.0);
        // Overwritten, and not just at the end of a chunk of which the thread wrote more later on.
        let Some(lost) = lost.checked_sub(1 + CHUNKS * NOTED) else { continue };
        let lost = progress.time_before(one, lost);
        for (_, kept) in kept.iter().filter(|(other, _)| **other != one) {
            let oldest = kept.get((CHUNKS * NOTED) as usize);
            wrong.unfair += u64::from(oldest.is_some_and(|(_, time)| *time < lost));
        }
    }
    wrong
}

/// Kills `rounds` processes, and checks what each leaves.
fn kill(rounds: u32, ring: usize) {
    let (dir, mut failed) = (temp_dir(), Vec::new());
    for round in 0..rounds {
        let wrong = kill_one(ring, dir.path());
        let Wrong { gaps, missing: _, newest, unfair } = wrong;
        if gaps + newest + unfair > 0 {
            println!("{ring} bytes, round {round}: {wrong:?}");
            failed.push(round);
        }
    }
    println!("{} of {rounds} with a ring of {ring} bytes went wrong", failed.len());
    assert_eq!(failed, [0; 0], "rounds of {rounds} with a ring of {ring} bytes");
}

/// True in `cargo xtask soak`, whose number of processes goes for all tests of this kind.
fn is_soak() -> bool {
    crate::kill::rounds_or(0) > 0
}

#[test]
fn a_small_ring_keeps_the_newest() {
    kill(if is_soak() { 100 } else { 4 }, 256 << 10);
}

#[test]
fn a_large_ring_keeps_the_newest() {
    if is_soak() {
        kill(100, 4 << 20);
        kill(100, 16 << 20);
    } else {
        // More takes a while without optimization.
        kill(2, 1 << 20);
    }
}
