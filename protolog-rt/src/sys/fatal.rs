//! Signals that a fault of the process raises: a mark in memory that survives it, and then all that
//! would happen without us.
//!
//! ```text
//! handler     a mark in each area; then what was there before:
//!   a handler   called as the system calls it. It returned: the process lives on, the mark goes. It has restored the default
//!               for a fault: the instruction faults again, the mark stays
//!   default     restored, and the signal sent once more with the same information: it comes when this handler returns
//! ```
//!
//! Other handlers count on being called: that of the standard library, which reports stack
//! overflows, of a JVM, which makes exceptions of faults, of sanitizers. So nothing of theirs
//! changes: the alternate stack is the thread's, mask and flags are theirs. Handlers that come
//! after ours are on top, and call ours or not.
//!
//! Invariants
//! - The handler does nothing that a handler may not do: it reads and writes atomics, asks for time
//!   and thread, and changes actions. It takes no lock, allocates nothing, and does not fail.
//! - *mapped*: an area in the list is mapped. Who takes it off the list unmaps it only after the
//!   handlers that may have found it are through.
//! - The process ends by the same signal as without us, with the same information, at the same
//!   instruction.

use super::checked;
use super::mapping::Mapping;
use crate::sync::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use protolog_core::recorder::{
    FATAL_SIGNALS, RING_AT, SIGNAL_MARK_WORDS, SIGNAL_MARKS, SIGNAL_MARKS_AT, SignalMark,
};
use protolog_shmem::Backing;
use std::fs::File;
use std::time::{Duration, Instant};
use std::{io, mem, ptr, thread};

/// The most areas at a time.
const AREAS: usize = 16;

/// The longest that the end of an area waits for handlers.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The areas of running sessions.
static LIST: [AtomicPtr<AtomicU64>; AREAS] = [const { AtomicPtr::new(ptr::null_mut()) }; AREAS];
/// The number of handlers that look at areas.
static WITHIN: AtomicU32 = AtomicU32::new(0);
/// The process that `WITHIN` is of.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// The handler of each signal before ours; `SIG_DFL` if there was none.
static BEFORE: [AtomicUsize; FATAL_SIGNALS.len()] =
    [const { AtomicUsize::new(libc::SIG_DFL) }; FATAL_SIGNALS.len()];
/// Its flags.
static FLAGS: [AtomicI32; FATAL_SIGNALS.len()] = [const { AtomicI32::new(0) }; FATAL_SIGNALS.len()];

/// Memory of a recording in which fatal signals leave marks, until it is dropped.
#[derive(Debug)]
pub(crate) struct SignalMarks {
    /// None once it was leaked.
    mapping: Option<Mapping>,
}

impl SignalMarks {
    /// Marks fatal signals in a recording from now on.
    pub(crate) fn new(recording: &File) -> io::Result<Self> {
        let mapping = Mapping::shared(recording, 0, RING_AT)?;
        // A mapping begins at a page, and all words in it are aligned.
        let words = mapping.base().cast::<AtomicU64>().as_ptr();
        // SAFETY: *mapped*: the marks are within the bytes before the ring.
        let area = unsafe { words.add(SIGNAL_MARKS_AT / size_of::<AtomicU64>()) };
        follow_process();
        let null = ptr::null_mut();
        let takes = |place: &AtomicPtr<AtomicU64>| {
            place.compare_exchange(null, area, Ordering::SeqCst, Ordering::Relaxed).is_ok()
        };
        if !LIST.iter().any(takes) {
            return Err(io::Error::other("too many sessions wait for fatal signals"));
        }
        let marks = Self { mapping: Some(mapping) };
        install()?;
        Ok(marks)
    }
}

impl Drop for SignalMarks {
    fn drop(&mut self) {
        let Some(mapping) = self.mapping.take() else { return };
        let base = mapping.base().as_ptr().addr();
        for place in &LIST {
            let area = place.load(Ordering::Relaxed);
            if area.addr() == base + SIGNAL_MARKS_AT {
                place.store(ptr::null_mut(), Ordering::SeqCst);
            }
        }
        follow_process();
        let end = Instant::now() + TIMEOUT;
        while WITHIN.load(Ordering::SeqCst) > 0 {
            if Instant::now() > end {
                // A thread that is stopped within the handler may still look there.
                return mem::forget(mapping);
            }
            thread::yield_now();
        }
    }
}

/// In a forked child no other thread is within the handler.
fn follow_process() {
    let process = std::process::id();
    if PROCESS.swap(process, Ordering::Relaxed) != process {
        WITHIN.store(0, Ordering::SeqCst);
    }
}

/// Puts our handler before those of the signals, once: later on there may be others above it. What
/// failed is tried again by the next session.
fn install() -> io::Result<()> {
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    if IS_DONE.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let installed = install_all();
    if installed.is_err() {
        IS_DONE.store(false, Ordering::Relaxed);
    }
    installed
}

fn install_all() -> io::Result<()> {
    FATAL_SIGNALS.iter().enumerate().try_for_each(|(index, (signal, _))| {
        let signal = *signal as libc::c_int;
        let before = action(signal, None)?;
        // Those that an attempt before has put there, too.
        if before.sa_sigaction == libc::SIG_IGN || before.sa_sigaction == handler() {
            return Ok(());
        }
        FLAGS[index].store(before.sa_flags, Ordering::Relaxed);
        BEFORE[index].store(before.sa_sigaction, Ordering::Release);
        let flags = match before.sa_sigaction {
            // A stack that has overflowed has no room for a handler.
            libc::SIG_DFL => libc::SA_ONSTACK,
            // As the program wanted it.
            _ => before.sa_flags & (libc::SA_RESTART | libc::SA_ONSTACK | libc::SA_NODEFER),
        };
        action(signal, Some(&ours(flags, before.sa_mask))).map(drop)
    })
}

/// Returns the action that calls our handler.
fn ours(flags: libc::c_int, mask: libc::sigset_t) -> libc::sigaction {
    let mut new = default();
    new.sa_sigaction = handler();
    new.sa_flags = libc::SA_SIGINFO | flags;
    new.sa_mask = mask;
    new
}

fn handler() -> usize {
    on_signal as extern "C" fn(_, _, _) as usize
}

/// Returns the default action.
fn default() -> libc::sigaction {
    // SAFETY: plain numbers and bits, for which zero is a value: `SIG_DFL`.
    unsafe { mem::zeroed() }
}

/// Returns the action of a signal, and sets it to `new`, if given.
fn action(signal: libc::c_int, new: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let mut before = default();
    let new = new.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: null or an action of ours, whose handler lives as long as the process; the old one
    // goes to a place of ours.
    checked(unsafe { libc::sigaction(signal, new, &raw mut before) })?;
    Ok(before)
}

/// The handler.
extern "C" fn on_signal(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    let known = FATAL_SIGNALS.iter().position(|(known, _)| *known as libc::c_int == signal);
    let Some(index) = known else { return };
    // Another handler may have called this one without it.
    // SAFETY: null, or the information of the signal, which the kernel has passed.
    let known = unsafe { info.as_ref() };
    let is_fault = known.is_some_and(|info| info.si_code > 0);
    let claim = mark(signal, known);
    let before = BEFORE[index].load(Ordering::Acquire);
    if before == libc::SIG_DFL {
        return die(signal, info, is_fault);
    }
    let flags = FLAGS[index].load(Ordering::Relaxed);
    if flags & libc::SA_RESETHAND != 0 {
        BEFORE[index].store(libc::SIG_DFL, Ordering::Release);
    }
    let gave_way = give_way_to_abort(signal);
    call(before, flags, (signal, info, context));
    if gave_way {
        catch_abort_again();
    }
    let Ok(now) = action(signal, None) else { return };
    if now.sa_sigaction != handler() && is_fault {
        // The handler gave up: the instruction faults again, for whoever is there now.
        return;
    }
    unmark(claim);
    if now.sa_sigaction == libc::SIG_DFL {
        // It went on after a signal that somebody sent, as the standard library's handler does. The
        // next one is marked again, and ends the process as it would without us.
        BEFORE[index].store(libc::SIG_DFL, Ordering::Release);
        let _ = action(signal, Some(&ours(libc::SA_ONSTACK, now.sa_mask)));
    }
}

/// Gives SIGABRT its default action while a handler of the program runs for another signal. Such a
/// handler may abort, as the standard library's does after its report of a stack overflow; and the
/// alternate stack need not have room for a second frame: with AVX-512 two of them take 7 KiB of 8.
/// The first signal's mark is there already. Returns whether it was ours.
fn give_way_to_abort(signal: libc::c_int) -> bool {
    let index = FATAL_SIGNALS.iter().position(|(known, _)| *known as libc::c_int == libc::SIGABRT);
    let had_none =
        index.is_some_and(|index| BEFORE[index].load(Ordering::Acquire) == libc::SIG_DFL);
    signal != libc::SIGABRT
        && had_none
        && action(libc::SIGABRT, None).is_ok_and(|now| now.sa_sigaction == handler())
        && action(libc::SIGABRT, Some(&default())).is_ok()
}

/// Catches SIGABRT as before, unless the program wants something else by now.
fn catch_abort_again() {
    if let Ok(now) = action(libc::SIGABRT, None) {
        if now.sa_sigaction == libc::SIG_DFL {
            let _ = action(libc::SIGABRT, Some(&ours(libc::SA_ONSTACK, now.sa_mask)));
        }
    }
}

/// The parameters of a handler.
type Parameters = (libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

/// Calls the handler that was there before.
fn call(before: usize, flags: libc::c_int, (signal, info, context): Parameters) {
    if flags & libc::SA_SIGINFO != 0 {
        type SiginfoHandler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
        // SAFETY: the program installed it as such a handler.
        let handler = unsafe { mem::transmute::<usize, SiginfoHandler>(before) };
        handler(signal, info, context);
    } else {
        // SAFETY: the program installed it as such a handler.
        let handler = unsafe { mem::transmute::<usize, extern "C" fn(libc::c_int)>(before) };
        handler(signal);
    }
}

/// Has the signal end the process once the handler returns.
fn die(signal: libc::c_int, info: *mut libc::siginfo_t, is_fault: bool) {
    let _ = action(signal, Some(&default()));
    if !send_again(signal, info) && !is_fault {
        // Where a filter of system calls forbids that. A fault comes again by itself.
        // SAFETY: takes a number.
        unsafe { libc::raise(signal) };
    }
}

/// Sends a signal to this thread with the same information; false where that can't be. It is
/// blocked until the handler returns, and then comes before the next instruction.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn send_again(signal: libc::c_int, info: *mut libc::siginfo_t) -> bool {
    let (process, thread) = (std::process::id(), super::thread::id());
    let number = libc::SYS_rt_tgsigqueueinfo;
    // SAFETY: takes numbers, and the information that the kernel has passed.
    unsafe { libc::syscall(number, process, thread, signal, info) == 0 }
}

#[cfg(target_vendor = "apple")]
fn send_again(_: libc::c_int, _: *mut libc::siginfo_t) -> bool {
    false
}

/// Leaves a mark in each area. Returns the word that claims its place there.
fn mark(signal: libc::c_int, info: Option<&libc::siginfo_t>) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes a time to a place of ours.
    unsafe { libc::clock_gettime(super::time::BOOTTIME, &raw mut time) };
    let code = info.map_or(0, |info| info.si_code);
    let origin = info.map_or(0, |info| {
        if code > 0 {
            // SAFETY: of a fault, the kernel has set the address.
            unsafe { info.si_addr() }.addr() as u64
        } else {
            // SAFETY: of a signal that was sent, the kernel has set the process.
            u64::from(unsafe { info.si_pid() } as u32)
        }
    });
    let thread = super::thread::id();
    let time = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
    let mark = SignalMark { time: time.max(1), signal: signal as u32, thread, code, origin };
    let [time, claim, words @ ..] = mark.to_words();
    for_each_area(|area| {
        let is_free = |place: &&[AtomicU64]| {
            place[1].compare_exchange(0, claim, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        // Where all are taken, by handlers that never returned, the last one is the newest.
        let place = area.chunks(SIGNAL_MARK_WORDS).find(is_free);
        let Some(place) = place.or_else(|| area.chunks(SIGNAL_MARK_WORDS).last()) else { return };
        place[0].store(0, Ordering::Relaxed);
        place[1].store(claim, Ordering::Relaxed);
        for (to, word) in place[2..].iter().zip(words) {
            to.store(word, Ordering::Relaxed);
        }
        place[0].store(time, Ordering::Release);
    });
    claim
}

/// Takes back the newest mark that this word claims.
fn unmark(claim: u64) {
    for_each_area(|area| {
        let mine =
            area.chunks(SIGNAL_MARK_WORDS).filter(|it| it[1].load(Ordering::Relaxed) == claim);
        if let Some(place) = mine.max_by_key(|it| it[0].load(Ordering::Relaxed)) {
            place[0].store(0, Ordering::Relaxed);
            place[1].store(0, Ordering::Release);
        }
    });
}

fn for_each_area(f: impl Fn(&[AtomicU64])) {
    WITHIN.fetch_add(1, Ordering::SeqCst);
    for place in &LIST {
        let area = place.load(Ordering::SeqCst);
        if !area.is_null() {
            // SAFETY: *mapped*: it is on the list, and whoever takes it off waits for `WITHIN`. In
            // a forked child it is memory of its own.
            f(unsafe { std::slice::from_raw_parts(area, SIGNAL_MARKS * SIGNAL_MARK_WORDS) });
        }
    }
    WITHIN.fetch_sub(1, Ordering::SeqCst);
}
