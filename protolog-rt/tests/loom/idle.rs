//! A chunk that is reclaimed from a thread that may be about to write to it: the runtime's own
//! gate, with fences in place of the barrier that the system makes threads pass.

use crate::buffer;
use crate::cells::Cells;
use crate::gate::Gate;
use crate::sync::fence;
use loom::sync::Arc;
use loom::sync::atomic::Ordering;
use loom::thread;
use protolog_core::chunk::{Packets, PageLayout};

/// A thread writes two messages, as `writer.rs` has it: into the chunk where the limit lets it,
/// else it recalls the chunk, or finds that it is gone. Another one reclaims the chunk, as
/// `writer/reclaim.rs` has it, in so many polls. In the end one of them has it, and the reclaimer
/// counted what the thread wrote.
fn run(polls: usize) {
    let (buffer, gate, cells) = (buffer(), Arc::new(Gate::new()), Cells::new());
    let mut chunk = buffer.acquire(PageLayout::One, 16).expect("a chunk");
    let open = buffer.open(&mut chunk, 1, 0);
    let (start, count) = (open.start.expose_provenance(), open.count);
    // SAFETY: the chunk is this function's, and its bytes are the cells'.
    unsafe { count.publish(Packets::new(1, 0)) };
    gate.offer(chunk, 4096);
    let writer = {
        let (gate, cells, count) = (Arc::clone(&gate), cells.clone(), Count(count));
        thread::spawn(move || {
            let count = count;
            let mut written = 0;
            for _ in 0..2u8 {
                gate.enter();
                if gate.limit() == 0 {
                    let Some(chunk) = gate.recall() else {
                        gate.exit();
                        return (written, true);
                    };
                    gate.offer(chunk, 4096);
                }
                if gate.limit() != 0 {
                    let start = std::ptr::with_exposed_provenance_mut(start);
                    cells.write(start, written as usize, written, |_| ());
                    written += 1;
                    // SAFETY: the limit was not 0 within the message, so nobody takes the chunk.
                    unsafe { count.0.publish(Packets::new(1 + written as u16, 0)) };
                }
                gate.exit();
            }
            (written, gate.recall().is_none())
        })
    };
    let mut taken = None;
    for _ in 0..polls {
        if gate.request() {
            fence(Ordering::SeqCst);
            taken = gate.requested().and_then(|request| gate.take(request, true, || ()));
        }
        if let Some((chunk, ())) = &taken {
            // The bytes that it reads now change no more: loom fails where they do.
            for place in 0..buffer.published(chunk).count() as u8 - 1 {
                cells.read(1, &[0, place, place]);
            }
            break;
        }
        thread::yield_now();
    }
    let (written, lost) = writer.join().unwrap();
    assert_eq!(taken.is_some(), lost, "one of them has it");
    if let Some((chunk, ())) = &taken {
        let count = buffer.published(chunk).count() - 1;
        assert_eq!(count, written as u16, "all that was written, and nothing later");
    }
}

/// The count of a chunk, for another thread.
struct Count(protolog_shmem::PacketCount);

// SAFETY: the buffer outlives both threads, and what orders their stores is the gate.
unsafe impl Send for Count {}

#[test]
fn an_idle_chunk_has_one_owner() {
    crate::check(|| run(1));
}

#[test]
fn an_idle_chunk_has_one_owner_after_two_polls() {
    crate::check(|| run(2));
}
