//! A chunk in a cell, between its writer and a reclaimer.

use crate::{buffer, check};
use loom::sync::Arc;
use loom::thread;
use protolog_core::FillPolicy;
use protolog_core::chunk::PageLayout;
use protolog_shmem::ChunkCell;

#[test]
fn an_offered_chunk_is_taken_once() {
    check(|| {
        let (buffer, cell) = (buffer(FillPolicy::Stream), Arc::new(ChunkCell::new()));
        cell.offer(buffer.acquire(PageLayout::One, 16).expect("a chunk"));
        let writer = {
            let (buffer, cell) = (Arc::clone(&buffer), Arc::clone(&cell));
            thread::spawn(move || {
                // A message out of line, and the end.
                for _ in 0..2 {
                    let Some(chunk) = cell.recall() else { return false };
                    cell.offer(chunk);
                }
                let Some(chunk) = cell.recall() else { return false };
                buffer.complete(chunk);
                true
            })
        };
        let mut taken = None;
        for is_idle in [false, true] {
            if let Some(request) = cell.request() {
                taken = cell.take(request, is_idle);
            }
            thread::yield_now();
        }
        let is_taken = taken.is_some();
        taken.into_iter().for_each(|chunk| _ = buffer.complete(chunk));
        assert!(writer.join().unwrap() != is_taken, "one of them has it");
        assert_eq!(cell.recall(), None);
    });
}
