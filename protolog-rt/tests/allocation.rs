//! After a thread's first message, logging neither allocates nor frees memory. A separate binary,
//! since it replaces the allocator.
#![allow(unsafe_code)] // A counting allocator.

mod common;

use common::{record, record_concurrently};
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{Builder, Level, ProtoLogGroup, i};
use std::alloc::{GlobalAlloc, Layout, System};
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::{self, Display, Formatter};
use std::num::NonZero;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Hot,
}

struct CountingAllocator;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator with unchanged arguments.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        // SAFETY: `layout` has a nonzero size, by the contract of `GlobalAlloc::alloc`, which is
        // this function's too.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        CALLS.set(CALLS.get() + 1);
        // SAFETY: `alloc` above took the pointer from `System` with this layout, by the contract of
        // `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// An argument with no encoding of its own: it is formatted into a buffer on the stack.
struct Point(i32, i32);

impl Display for Point {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.0, self.1)
    }
}

/// Logs arguments of every type.
fn log(number: u64, text: &String) {
    i!(Log::Hot, "none");
    i!(Log::Hot, "%d %s %f %b %s", number, text, 0.5, true, number);
    i!(Log::Hot, "%d %d %d %x %o", u64::MAX, i64::MIN, -1i8, 7u16, NonZero::<u32>::MIN);
    i!(Log::Hot, "%e %g %b", 1e300, 0.25f32, &false);
    i!(Log::Hot, "%s %s %s", Point(1, -1), Some(number), None::<&str>);
    i!(Log::Hot, "%s %s %s", 'c', Cow::Borrowed("borrowed"), &&"twice");
    i!(Log::Hot, "%s", LONG);
    let all = [Arg::Str(text), Arg::Int(-7), Arg::Float(0.5), Arg::Bool(true), Arg::Uint(255)];
    dynamic::log(&Log::Hot, Level::Info, "registered by now: %s %d %f %b %x", &all);
}

/// Number of messages that one call of [`log`] logs.
const MESSAGES: u64 = 8;

/// A string that fills most of a chunk.
const LONG: &str = include_str!("fixtures/every_type.txt");

#[track_caller]
fn check(what: &str, configure: fn(Builder) -> Builder) {
    let recording = record(|session| configure(session.log_from(Level::Info)));
    let text = String::from("some text that is not constant");
    log(0, &text);
    let before = CALLS.get();
    for number in 1..=5_000 {
        log(number, &text);
    }
    let calls = CALLS.get() - before;
    let summary = recording.stop().summary;
    assert_eq!(calls, 0, "{what}: {summary:?}");
    assert_eq!(summary.messages + summary.lost(), 5_001 * MESSAGES, "{what}");
}

#[test]
fn nothing_is_allocated_after_the_first_message() {
    check("a stream", |session| session);
    check("a stream that drops", |session| session.buffer_size(64 << 10));
    check("a stream that stalls", |session| {
        session.buffer_size(64 << 10).wait_at_most(Duration::from_millis(1))
    });
    check("a ring", |session| session.keep_newest().buffer_size(64 << 10));
    check("a discard buffer", |session| session.keep_first().buffer_size(64 << 10));
    check("a recorder", |session| session.record().buffer_size(64 << 10));
}

#[test]
fn two_sessions_allocate_nothing_either() {
    let first = record(Builder::enable_all);
    let second = record_concurrently(|session| session.enable_all().keep_newest());
    let text = String::from("some text");
    log(0, &text);
    let before = CALLS.get();
    for number in 1..=1_000 {
        log(number, &text);
    }
    assert_eq!(CALLS.get() - before, 0);
    for recording in [second, first] {
        let summary = recording.stop().summary;
        assert_eq!(summary.messages + summary.lost(), 1_001 * MESSAGES);
    }
}
