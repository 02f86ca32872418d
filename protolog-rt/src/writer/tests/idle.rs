//! Chunks that are reclaimed from idle threads.

use super::*;
use crate::clock;
use crate::sync::Ordering;
use crate::sys::barrier;
use crate::writer::reclaim::POLL_NANOS;
use std::time::Duration;

/// Writers of one session, each as if it were a thread's.
fn writers(rig: &Rig, count: usize) -> Vec<Arc<Writer>> {
    (0..count).map(|_| Writer::register(&rig.core)).collect()
}

fn log(writer: &Writer, number: i64) {
    // Never refused: the epoch may change at any time, by sessions of other tests.
    assert!(write(writer, &(Int(number), ())));
}

/// Bytes of chunks that are being written.
fn held(rig: &Rig) -> usize {
    let found = rig.core.buffer.reader().find(true).into_iter();
    found.filter(|info| !info.is_complete).map(|info| info.size()).sum()
}

/// Looks twice; returns the number of chunks that were idle in between.
fn reclaim(rig: &Rig) -> usize {
    let mut taken = 0;
    for _ in 0..2 {
        taken += rig.core.reclaim();
        std::thread::sleep(Duration::from_nanos(POLL_NANOS));
    }
    taken
}

#[test]
fn a_thousand_threads_that_logged_once_hold_little_and_then_nothing() {
    barrier::prepare();
    let rig = Rig::new(256);
    let writers = writers(&rig, 1_000);
    writers.iter().zip(0..).for_each(|(writer, number)| log(writer, number));
    assert_eq!(held(&rig), 292_000);
    if !barrier::is_ready() {
        return;
    }
    let begun = clock::boottime();
    assert_eq!(rig.core.reclaim(), 0, "the first look");
    let taken = rig.core.reclaim();
    assert!(taken == 0 || clock::boottime() - begun >= POLL_NANOS, "a moment later");
    assert_eq!(taken + reclaim(&rig), 1_000);
    assert_eq!(held(&rig), 0);
    // They go on, in chunks of their own.
    writers.iter().zip(1_000..).for_each(|(writer, number)| log(writer, number));
    for writer in &writers {
        writer.finish();
    }
    let mut service = Service::default();
    let mut all = kept_by(&mut service, &rig.chunks());
    assert_eq!(service.violations, 0);
    all.sort_unstable();
    assert_eq!(all, upto(2_000));
}

#[test]
fn a_thread_that_writes_keeps_its_chunk() {
    barrier::prepare();
    let rig = Rig::new(16);
    let writers = writers(&rig, 2);
    for number in 0..4 {
        log(&writers[0], number);
        if number == 0 {
            log(&writers[1], 100);
        }
        let taken = rig.core.reclaim();
        assert_eq!(taken, (number == 1 && barrier::is_ready()) as usize, "{number}");
        std::thread::sleep(Duration::from_nanos(POLL_NANOS));
    }
    assert_eq!(writers[0].completed_messages.load(Ordering::Relaxed), 0);
    if barrier::is_ready() {
        assert_eq!(writers[1].completed_messages.load(Ordering::Relaxed), 1, "counted for it");
        log(&writers[1], 101);
        writers[1].finish();
        assert_eq!(writers[1].completed_messages.load(Ordering::Relaxed), 2, "counted once");
    }
    writers[0].finish();
}

#[test]
fn within_a_message_nothing_is_taken() {
    barrier::prepare();
    let rig = Rig::new(16);
    let writer = writers(&rig, 1).remove(0);
    log(&writer, 0);
    writer.gate.enter();
    assert_eq!(reclaim(&rig) + reclaim(&rig), 0);
    writer.gate.exit();
    log(&writer, 1);
    assert_eq!(held(&rig), 292, "the same chunk, open again");
    writer.finish();
    assert_eq!(kept(&rig.chunks()), [0, 1]);
}

#[test]
fn in_a_ring_of_idle_chunks_there_is_room() {
    barrier::prepare();
    let rig = Rig::keeping(2, FillPolicy::RingBuffer);
    let mut writers = writers(&rig, 28);
    writers.iter().zip(0..).for_each(|(writer, number)| log(writer, number));
    assert_eq!(held(&rig), 28 * 292, "all chunks");
    let last = Writer::register(&rig.core);
    writers.push(Arc::clone(&last));
    let lost = |writer: &Writer| {
        let mut lost = 0;
        writer.losses.take(|counted| {
            lost += counted.count;
            true
        });
        lost
    };
    // The first time it looks, the second time it takes.
    log(&last, 28);
    std::thread::sleep(Duration::from_nanos(POLL_NANOS));
    assert_eq!(lost(&last), 1);
    log(&last, 29);
    assert_eq!(lost(&last), !barrier::is_ready() as u64);
    for writer in &writers {
        writer.finish();
    }
}
