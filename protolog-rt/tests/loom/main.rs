//! Interleavings of writers, reader and stop, over small buffers, as loom finds them;
//! `cargo xtask test loom` runs it.
//!
//! A writer's gate, the session's drain and the counters of losses are the runtime's own sources,
//! compiled over loom's atomics; the crate of the shared memory has models of its own. The steps of
//! a writer on a chunk, and the two sides of a stop, can't be compiled like this: they rest on
//! thread-local state and on stores of 16 bytes. Here they are written down once more, step by
//! step; keep them the same.
//!
//! The bounds: three threads, one page, at most two preemptions in a run, unless
//! `LOOM_MAX_PREEMPTIONS` says otherwise. Within them loom leaves out orders that it takes for
//! equal, and misses some that are not: where a race matters, the threads yield to each other, so
//! that it is met.
#![cfg(loom)]
#![allow(dead_code, unreachable_pub)] // Of the sources that are compiled here, the models use a part.
#![allow(unsafe_code)] // Those sources' memory, and stores into chunks.

mod bias;
#[path = "../../../protolog-shmem/tests/loom/cells.rs"]
mod cells;
#[path = "../../src/writer/gate.rs"]
mod gate;
mod idle;
#[path = "../../src/loss.rs"]
mod loss;
mod session;
mod switch;

mod sync;
#[path = "../../../protolog-shmem/tests/loom/writer.rs"]
mod writer;

use cells::{Cells, Packet};
use loom::sync::Arc;
use loom::thread;
use loss::{Added, LossCause, LossCounters};
use protolog_core::FillPolicy;
use protolog_core::chunk::PageLayout;
use protolog_shmem::{Buffer, Heap, Memory, PAGE};
use session::Reader;
use session::arbiter::session_arbiter::Core;
use sync::{AtomicBool, AtomicUsize, Ordering, fence};
use writer::Writer;

fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    // The builder has read LOOM_MAX_PREEMPTIONS.
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.max_branches = 10_000;
    builder.check(model);
}

/// A buffer of one page that streams.
fn buffer() -> Arc<Buffer> {
    Arc::new(Buffer::new(Memory::new(Heap::new(PAGE)), FillPolicy::Stream))
}

/// Two writers and a reader on one page. Each writer fills `chunks` chunks of its layout with two
/// messages each; the reader looks `looks` times, and once more when all are done.
fn write_and_drain(layouts: [PageLayout; 2], chunks: u8, looks: usize) {
    check(move || {
        let core = Arc::new(Core { buffer: buffer() });
        let cells = Cells::new();
        let writers: Vec<_> = layouts
            .into_iter()
            .zip(1..)
            .map(|(layout, id)| {
                let mut writer = Writer {
                    buffer: Arc::clone(&core.buffer),
                    cells: cells.clone(),
                    id,
                    next_chunk: 0,
                };
                thread::spawn(move || {
                    (0..chunks)
                        .map(|round| [2 * round, 2 * round + 1])
                        .filter(|numbers| writer.fill(layout, numbers))
                        .flatten()
                        .collect::<Vec<u8>>()
                })
            })
            .collect();
        let mut reader = Reader::new(cells);
        for _ in 0..looks {
            reader.copy(&core, true);
            thread::yield_now();
        }
        let written: Vec<Vec<u8>> = writers.into_iter().map(|one| one.join().unwrap()).collect();
        reader.copy(&core, true);
        for (written, sequence) in written.iter().zip(2..) {
            let of = |packet: &&Packet| packet.0 == sequence;
            let arrived: Vec<u8> =
                reader.file.packets.iter().filter(of).map(|packet| packet.1).collect();
            assert_eq!(&arrived, written, "each once, in order, and none that was not written");
        }
        // All is free again, and clean for any layout.
        assert_eq!(
            core.buffer.acquire(PageLayout::One, 16).map(|chunk| chunk.layout()),
            Some(PageLayout::One)
        );
        assert!(core.buffer.acquire(PageLayout::One, 16).is_none());
    });
}

#[test]
fn writers_of_one_layout_share_a_page() {
    write_and_drain([PageLayout::Two, PageLayout::Two], 1, 1);
}

#[test]
fn writers_of_two_layouts_take_turns() {
    write_and_drain([PageLayout::One, PageLayout::Two], 1, 1);
}

#[test]
fn a_page_is_used_again() {
    check(|| {
        let core = Arc::new(Core { buffer: buffer() });
        let cells = Cells::new();
        let mut writer =
            Writer { buffer: Arc::clone(&core.buffer), cells: cells.clone(), id: 1, next_chunk: 0 };
        let thread = thread::spawn(move || {
            let rounds =
                [(PageLayout::One, [0, 1]), (PageLayout::Two, [2, 3]), (PageLayout::One, [4, 5])];
            let written =
                rounds.into_iter().filter(|(layout, numbers)| writer.fill(*layout, numbers));
            written.flat_map(|(_, numbers)| numbers).collect::<Vec<u8>>()
        });
        let mut reader = Reader::new(cells);
        reader.copy(&core, true);
        reader.copy(&core, false);
        let written = thread.join().unwrap();
        reader.copy(&core, true);
        let arrived: Vec<u8> = reader.file.packets.iter().map(|packet| packet.1).collect();
        assert_eq!(arrived, written);
    });
}

#[test]
fn a_chunk_is_used_again_beside_one_that_is_being_written() {
    check(|| {
        let core = Arc::new(Core { buffer: buffer() });
        let cells = Cells::new();
        let other = core.buffer.acquire(PageLayout::Two, 16).unwrap();
        let mut writer =
            Writer { buffer: Arc::clone(&core.buffer), cells: cells.clone(), id: 1, next_chunk: 0 };
        let thread = thread::spawn(move || {
            let mut written = Vec::new();
            for numbers in [[0, 1], [2, 3], [4, 5]] {
                if writer.fill(PageLayout::Two, &numbers) {
                    written.extend(numbers);
                }
                // The reader's turn, so that there is something to use again.
                thread::yield_now();
            }
            written
        });
        let mut reader = Reader::new(cells);
        for _ in 0..3 {
            reader.copy(&core, true);
            thread::yield_now();
        }
        let written = thread.join().unwrap();
        reader.copy(&core, true);
        let arrived: Vec<u8> = reader.file.packets.iter().map(|packet| packet.1).collect();
        assert_eq!(arrived, written);
        core.buffer.complete(other);
    });
}

/// `Own::allow` and `Core::stop`: whoever comes second closes the writer.
#[test]
fn a_stopped_session_lets_no_message_into_a_chunk() {
    check(|| {
        let stopped = Arc::new(AtomicBool::new(false));
        let limit = Arc::new(AtomicUsize::new(0));
        let writer = {
            let (stopped, limit) = (Arc::clone(&stopped), Arc::clone(&limit));
            thread::spawn(move || {
                limit.store(4096, Ordering::Relaxed);
                fence(Ordering::SeqCst);
                if stopped.load(Ordering::Acquire) {
                    limit.store(0, Ordering::Relaxed);
                }
            })
        };
        stopped.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
        limit.store(0, Ordering::Relaxed);
        writer.join().unwrap();
        assert_eq!(limit.load(Ordering::Relaxed), 0);
    });
}

fn no_losses() -> Arc<LossCounters> {
    let losses = LossCounters::new();
    // Every counter exists before a second thread does.
    let _ = format!("{losses:?}");
    Arc::new(losses)
}

fn taken(losses: &LossCounters) -> u64 {
    let mut sum = 0;
    losses.take(|lost| {
        assert_eq!(lost.cause, LossCause::BufferFull);
        sum += lost.count;
        true
    });
    sum
}

#[test]
fn losses_are_taken_once_by_two_takers() {
    check(|| {
        let losses = no_losses();
        losses.add(7, LossCause::BufferFull, 1);
        let other = {
            let losses = Arc::clone(&losses);
            thread::spawn(move || {
                losses.add(7, LossCause::BufferFull, 2);
                taken(&losses)
            })
        };
        let here = taken(&losses);
        let there = other.join().unwrap();
        let (is_some, rest) = (losses.has_pending(), taken(&losses));
        assert_eq!(here + there + rest, 3);
        assert!(is_some || rest == 0, "who only takes where there is something finds it");
    });
}

/// A message that is counted beside others is announced with them, or is the first of the next.
#[test]
fn messages_at_a_place_are_taken_once_and_announced() {
    check(|| {
        let losses = no_losses();
        let place = losses.place(7, LossCause::BufferFull.into()).expect("a place");
        let add = move |losses: &LossCounters| {
            if losses.add_at(place, None) == Added::First {
                losses.announce();
            }
        };
        add(&losses);
        let other = {
            let losses = Arc::clone(&losses);
            thread::spawn(move || {
                add(&losses);
                thread::yield_now();
                add(&losses);
            })
        };
        let here = taken(&losses);
        thread::yield_now();
        let again = if losses.has_pending() { taken(&losses) } else { 0 };
        other.join().unwrap();
        let (is_some, rest) = (losses.has_pending(), taken(&losses));
        assert_eq!(here + again + rest, 3);
        assert!(is_some || rest == 0, "who only takes where there is something finds it");
    });
}

#[test]
fn groups_that_come_at_once_get_slots_of_their_own() {
    check(|| {
        let losses = no_losses();
        let other = {
            let losses = Arc::clone(&losses);
            thread::spawn(move || losses.add(1, LossCause::BufferFull, 1))
        };
        losses.add(2, LossCause::BufferFull, 10);
        other.join().unwrap();
        let mut all = Vec::new();
        losses.take(|lost| {
            all.push((lost.group, lost.count));
            true
        });
        all.sort_unstable();
        assert_eq!(all, [(1, 1), (2, 10)]);
    });
}
