//! After a thread's first message, logging neither allocates nor frees: a test of its own, since it replaces the allocator.
#![allow(unsafe_code)] // An allocator that counts.

mod common;

use common::record;
use protolog_rt::{Level, ProtoLogGroup, i};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[derive(ProtoLogGroup)]
enum Log {
    Hot,
}

struct Counting;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        CALLS.set(CALLS.get() + 1);
        // SAFETY: as the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn nothing_is_allocated_after_the_first_message() {
    for buffer in [4 << 20, 64 << 10] {
        let recording = record(|session| session.log_from(Level::Info).buffer_size(buffer));
        let text = String::from("some text that is not constant");
        i!(Log::Hot, "%d", 0);
        let before = CALLS.get();
        for number in 0..50_000u64 {
            i!(Log::Hot, "%d %s %f %b %s", number, text, 0.5, true, number);
        }
        let calls = CALLS.get() - before;
        let summary = recording.stop().summary;
        assert_eq!(calls, 0, "with a buffer of {buffer} bytes: {summary:?}");
        assert_eq!(summary.messages + summary.lost(), 50_001);
    }
}
