//! A chunk that is taken back from a thread that may be about to write to it: the runtime's own gate, with fences in
//! place of the barrier that the system makes threads pass.

use crate::cells::Cells;
use crate::gate::Gate;
use crate::shmem::buffer::{Buffer, PAGE};
use crate::sync::{Ordering, fence};
use loom::sync::Arc;
use loom::thread;
use protolog_core::chunk::{Packets, PageLayout};

/// A thread writes two messages, as `writer.rs` has it: into the chunk where the limit lets it, else it recalls the chunk, or
/// finds that it is gone. Another one takes the chunk back, as `writer/reclaim.rs` has it. Gives what each of them found: how
/// many messages the thread wrote into the chunk, and how many the other one counted, if it took it.
fn run(rounds: usize) {
    let (buffer, gate, cells) =
        (Arc::new(Buffer::anonymous(PAGE).unwrap()), Arc::new(Gate::new()), Cells::new());
    let chunk = buffer.acquire(PageLayout::One, 16).expect("a chunk");
    buffer.packets(chunk).store(Packets::new(1, 0).0, Ordering::Release);
    gate.offer(chunk, 4096);
    let writer = {
        let (buffer, gate, cells) = (Arc::clone(&buffer), Arc::clone(&gate), cells.clone());
        thread::spawn(move || {
            let mut written = 0;
            for _ in 0..2u8 {
                gate.enter();
                if gate.limit() == 0 {
                    if !gate.recall() {
                        gate.exit();
                        return (written, true);
                    }
                    gate.offer(chunk, 4096);
                }
                if gate.limit() != 0 {
                    cells.write(chunk, written as usize, written, |_| ());
                    written += 1;
                    buffer
                        .packets(chunk)
                        .store(Packets::new(1 + written as u16, 0).0, Ordering::Release);
                }
                gate.exit();
            }
            (written, !gate.recall())
        })
    };
    let mut taken = None;
    for _ in 0..rounds {
        if gate.want().is_some() {
            fence(Ordering::SeqCst);
            let look = || Packets(buffer.packets(chunk).load(Ordering::Acquire)).count() - 1;
            taken = taken.or(gate.take(chunk, true, look));
        }
        if let Some(count) = taken {
            // What it looks at now changes no more: loom says so where it does.
            for place in 0..count as u8 {
                cells.read(1, &[0, place, place]);
            }
            break;
        }
        thread::yield_now();
    }
    let (written, lost) = writer.join().unwrap();
    assert_eq!(taken.is_some(), lost, "one of them has it");
    if let Some(count) = taken {
        assert_eq!(count, written as u16, "all that was written, and nothing later");
    }
}

#[test]
fn an_idle_chunk_has_one_owner() {
    crate::check(|| run(1));
}

#[test]
fn an_idle_chunk_has_one_owner_after_two_looks() {
    crate::check(|| run(2));
}
