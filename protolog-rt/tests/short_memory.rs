//! Log calls while the heap has no memory for them: strings are cut and counted, and the program
//! goes on. A separate binary, since it replaces the allocator.
#![allow(unsafe_code)] // An allocator that fails.

mod common;

use common::{record, wire};
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{Level, LossCause, ProtoLogGroup, i};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[derive(ProtoLogGroup)]
enum Log {
    Text,
}

/// An allocator that has no memory for the threads that say so.
struct Failing;

thread_local! {
    /// Allocations of more bytes fail on this thread.
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
}

// SAFETY: what does not fail goes to the system's allocator with unchanged arguments.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LIMIT.get() {
            return std::ptr::null_mut();
        }
        // SAFETY: `layout` has a nonzero size, by the contract of `GlobalAlloc::alloc`, which is
        // this function's too.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `alloc` above took the pointer from `System` with this layout, by the contract of
        // `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// Runs `log` while allocations of more than `limit` bytes fail.
fn short_of_memory(limit: usize, log: impl FnOnce()) {
    LIMIT.set(limit);
    log();
    LIMIT.set(usize::MAX);
}

#[test]
fn what_there_is_no_memory_for_is_cut_and_counted() {
    let long = "0123456789".repeat(10_000);
    let recording = record(|session| session.log_from(Level::Info).max_string_bytes(1 << 20));
    i!(Log::Text, "the first");
    dynamic::log(&Log::Text, Level::Info, "%s", &[Arg::Str("its template")]);
    short_of_memory(0, || {
        i!(Log::Text, "a string: %s", long);
        i!(Log::Text, "a formatted one: %s", format_args!("{long}"));
        dynamic::log(&Log::Text, Level::Info, "%s", &[Arg::Str(&long)]);
    });
    short_of_memory(60_000, || i!(Log::Text, "for a part: %s", format_args!("{long}")));
    i!(Log::Text, "whole: %s", long);
    let trace = recording.stop();
    let messages = trace.messages();
    let found: Vec<(&str, usize)> = messages
        .iter()
        .map(|message| {
            let text = message.strip_prefix("INFO Text ").expect("the group");
            let (before, digits) = text.split_at(text.find("0123").unwrap_or(text.len()));
            let is_cut = digits.ends_with('…');
            let digits = digits.trim_end_matches('…');
            assert!(long.starts_with(digits) && (is_cut || matches!(digits.len(), 0 | 100_000)));
            (before, digits.len())
        })
        .collect();
    let [first, template, string, formatted, dynamic, part, whole] = found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((first, template), (("the first", 0), ("its template", 0)));
    assert_eq!((string.0, formatted.0), ("a string: ", "a formatted one: "));
    // A chunk of 4 KiB has room for them, and the stack for a kilobyte.
    assert!((2_000..4_096).contains(&string.1) && (2_000..4_096).contains(&dynamic.1), "{found:?}");
    assert!((1_000..1_024).contains(&formatted.1), "{found:?}");
    assert!((40_000..60_000).contains(&part.1), "{found:?}");
    assert_eq!(whole, ("whole: ", 100_000));
    let losses = trace.losses();
    assert!(losses.keys().all(|(_, cause)| *cause == wire(LossCause::Truncated)), "{losses:?}");
    assert_eq!(losses.values().sum::<u64>(), 4);
}
