//! Signal handlers that log while their thread is within the allocator, and sessions start and stop
//! meanwhile: no handler allocates, frees, or waits for a thread that waits for the allocator. A
//! separate binary, since it replaces the allocator.
#![allow(unsafe_code)] // An allocator with one lock, sigaction, timers, a stack for handlers.

mod common;
#[path = "common/timer.rs"]
mod timer;

use common::{SetOnDrop, TestSession, record, record_concurrently};
use protolog_rt::{Level, ProtoLogGroup, d, i, prepare_thread};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::{black_box, spin_loop};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use timer::Timer;

#[derive(ProtoLogGroup)]
enum Log {
    Main,
    Handler,
}

/// The system's allocator behind one lock, as some C libraries have it. Who enters it again in a
/// signal handler would wait for itself; here that ends the process.
struct OneLock;

static LOCK: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// This thread has the lock.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
    /// This thread runs a signal handler.
    static IS_HANDLING: Cell<bool> = const { Cell::new(false) };
    /// This thread holds the lock for longer, so that most signals find it inside.
    static IS_SLOW: Cell<bool> = const { Cell::new(false) };
}

/// Messages of handlers that interrupted the allocator, and of all handlers.
static WITHIN: AtomicU64 = AtomicU64::new(0);
static HANDLED: AtomicU64 = AtomicU64::new(0);

fn locked<T>(f: impl FnOnce() -> T) -> T {
    if IS_HANDLING.get() {
        let text = "a signal handler allocates or frees\n";
        // SAFETY: the text lives through the call.
        unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
        std::process::abort();
    }
    while LOCK.swap(true, Ordering::Acquire) {
        thread::yield_now();
    }
    IS_INSIDE.set(true);
    let result = f();
    if IS_SLOW.get() {
        (0..500).for_each(|_| spin_loop());
    }
    IS_INSIDE.set(false);
    LOCK.store(false, Ordering::Release);
    result
}

// SAFETY: every call goes to the system's allocator with unchanged arguments.
unsafe impl GlobalAlloc for OneLock {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: `layout` has a nonzero size, by the contract of `GlobalAlloc::alloc`, which is
        // this function's too.
        locked(|| unsafe { System.alloc(layout) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `alloc` above took the pointer from `System` with this layout, by the contract of
        // `dealloc`.
        locked(|| unsafe { System.dealloc(pointer, layout) });
    }
}

#[global_allocator]
static ALLOCATOR: OneLock = OneLock;

extern "C" fn handler(_: libc::c_int) {
    let before = IS_HANDLING.replace(true);
    let number = || {
        WITHIN.fetch_add(u64::from(IS_INSIDE.get()), Ordering::Relaxed);
        HANDLED.fetch_add(1, Ordering::Relaxed)
    };
    d!(Log::Handler, "%d of %s", number(), "a handler");
    IS_HANDLING.set(before);
}

/// The size of a handler's stack, in bytes: `SIGSTKSZ` in a release build, of which the kernel
/// takes up to 4 KiB.
const STACK: usize = if cfg!(debug_assertions) { 128 << 10 } else { 8 << 10 };
const PAGE: usize = 4096;
/// Bytes that are not likely to be written by chance.
const UNUSED: u8 = 0xa5;

/// The least that was left of any handler's stack.
static LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// A stack for this thread's handlers, above a page that can't be touched.
struct HandlerStack(*mut u8);

impl HandlerStack {
    fn install() -> Self {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping touches no memory that is in use.
        let base =
            unsafe { libc::mmap(std::ptr::null_mut(), PAGE + STACK, protection, flags, -1, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        // SAFETY: the page is the mapping's first.
        assert_eq!(unsafe { libc::mprotect(base, PAGE, libc::PROT_NONE) }, 0);
        let start = base.cast::<u8>().wrapping_add(PAGE);
        // SAFETY: the rest of the mapping is writable, and nobody uses it yet.
        unsafe { start.write_bytes(UNUSED, STACK) };
        let stack = libc::stack_t { ss_sp: start.cast(), ss_flags: 0, ss_size: STACK };
        // SAFETY: the stack is a mapping that lives until the thread's signals have ended.
        assert_eq!(unsafe { libc::sigaltstack(&raw const stack, std::ptr::null_mut()) }, 0);
        Self(start)
    }
}

impl Drop for HandlerStack {
    fn drop(&mut self) {
        let none = libc::stack_t {
            ss_sp: std::ptr::null_mut(),
            ss_flags: libc::SS_DISABLE,
            ss_size: STACK,
        };
        // SAFETY: the thread's handlers run on its own stack from now on.
        assert_eq!(unsafe { libc::sigaltstack(&raw const none, std::ptr::null_mut()) }, 0);
        // SAFETY: the mapping is writable, and no handler runs on it.
        let bytes = unsafe { std::slice::from_raw_parts(self.0, STACK) };
        let left = bytes.iter().take_while(|byte| **byte == UNUSED).count();
        LEFT.fetch_min(left, Ordering::Relaxed);
    }
}

/// The length of the test; `PROTOLOG_SOAK` makes it longer.
fn duration() -> Duration {
    Duration::from_secs(if std::env::var_os("PROTOLOG_SOAK").is_some() { 30 } else { 2 })
}

/// A thread that does little but allocate, and is told by a handler to log.
fn allocate_until(done: &AtomicBool, logs: bool, is_ready: &Barrier) {
    if logs {
        i!(Log::Main, "the thread's first message");
    } else {
        prepare_thread();
    }
    is_ready.wait();
    let _stack = HandlerStack::install();
    IS_SLOW.set(true);
    let _timer = Timer::start(50);
    while !done.load(Ordering::Relaxed) {
        drop(black_box(Box::new([0u8; 100])));
        // The others have their turn.
        thread::yield_now();
        (0..1_000).for_each(|_| spin_loop());
    }
    IS_SLOW.set(false);
}

#[test]
fn a_handler_never_allocates_nor_waits_for_who_does() {
    // A thread that waits for ever is the other way to fail.
    // SAFETY: the process has no other use for the signal, which ends it.
    unsafe { libc::alarm(300) };
    Log::Handler.is_enabled(Level::Debug);
    // SAFETY: a zeroed sigaction is one without flags; the handler does only what a signal handler
    // may.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_ONSTACK;
    // SAFETY: the pointers are to a sigaction of ours and null.
    let set = unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) };
    assert_eq!(set, 0);
    let (done, are_ready) = (&AtomicBool::new(false), &Barrier::new(3));
    let (mut rounds, mut logged) = (0u64, 0);
    thread::scope(|scope| {
        let _end = SetOnDrop(done);
        let first = record(|session| session.log_from(Level::Debug));
        for logs in [true, false] {
            scope.spawn(move || allocate_until(done, logs, are_ready));
        }
        are_ready.wait();
        assert!(first.stop().summary.messages > 0);
        let end = Instant::now() + duration();
        // On a busy machine the test takes longer.
        while Instant::now() < end || rounds < 50 || WITHIN.load(Ordering::Relaxed) < 200 {
            logged += round(rounds);
            rounds += 1;
        }
    });
    let (handled, within) = (HANDLED.load(Ordering::Relaxed), WITHIN.load(Ordering::Relaxed));
    let used = STACK - LEFT.load(Ordering::Relaxed);
    println!(
        "{rounds} rounds, {handled} handlers log, {within} within the allocator, {logged} logged"
    );
    println!("{used} bytes of {STACK} of a handler's stack used");
    assert!(logged > 0);
}

/// Runs one session, or two at once, and sometimes forks. Returns the number of messages.
fn round(number: u64) -> u64 {
    let start = |session: protolog_rt::Builder| {
        let session = session.log_from(Level::Debug).buffer_size(64 << 10 << (number % 4));
        match number % 4 {
            0 => session,
            1 => session.keep_newest(),
            2 => session.keep_first(),
            _ => session.record(),
        }
    };
    let first = record(start);
    let second = (number % 3 == 0).then(|| record_concurrently(start));
    if number % 8 == 5 {
        // SAFETY: the child ends at once.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: nothing of the test's runs after it.
            unsafe { libc::_exit(0) };
        }
        // SAFETY: it is this process's child.
        unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    }
    thread::sleep(Duration::from_micros(100 * (number % 5)));
    let stopped = [Some(first), second].into_iter().flatten().map(TestSession::stop);
    stopped.map(|trace| trace.summary.messages).sum()
}
