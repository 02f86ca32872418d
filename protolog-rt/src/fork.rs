//! What a fork does to the program: sessions are the parent's; the child has switches of its own, does not listen for its
//! parent, and may start sessions for itself.
//!
//! The handlers are installed by who has something that a child must not have: [`prepare_for_forks`]. Before the fork the
//! thread takes all locks of the process that a log call or a session's start may want, so that none of them is held by a thread
//! that the child does not have, and nothing that they protect is half changed. What the C library does not make free itself,
//! such as the loader's lock while another library of the program walks its images, may still be held; so may what Rust's
//! library locks while a thread starts or ends, and then no thread starts in the child, that of a session neither.
//!
//! A fork in a signal handler that interrupted the runtime may find a lock held by its own thread; it waits a moment, and the
//! child then logs nothing: its messages are counted as those of a thread at its end.
//!
//! A child made by the bare system call (`clone`) runs no handlers. It goes on writing into its copy of its thread's chunk, which
//! nobody reads, or with [`record`](crate::Builder::record) into the chunk itself, until that is full; then it is found out
//! by its process id, and what it logs to its parent's sessions is counted as [`LossCause::Forked`](crate::LossCause::Forked). Such a
//! child should do nothing but `exec`.
//!
//! Invariants: the child's handler allocates nothing and waits for nobody, since the thread that holds a lock may not be there;
//! what it needs locked, the parent's handler locked before the fork.
#![allow(unsafe_code)] // pthread_atfork.

use crate::session::running;
use crate::sync::{AtomicBool, Ordering};
use crate::sys::{barrier, close_on_fork, mapping, process};
use crate::{clock, level, seen, site, writer};
use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

/// What the thread that forks holds meanwhile, in the order in which it takes it, which is that of all who take several.
struct Held {
    sessions: Option<running::AroundFork>,
    running: Option<writer::running::AroundFork>,
    levels: level::AroundFork,
    seen: Option<seen::AroundFork>,
    images: Option<MutexGuard<'static, ()>>,
    mappings: Option<mapping::Mappings>,
    clock: Option<clock::AroundFork>,
    control: Option<close_on_fork::AroundFork>,
    /// A signal handler does not wait for its own thread.
    aside: writer::Aside,
}

thread_local! {
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// Makes forks of this process be looked after from now on.
pub(crate) fn prepare_for_forks() {
    // Not `Once`, for which a child would wait whose parent was forked within it.
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.swap(true, Ordering::Relaxed) {
        // SAFETY: the handlers are functions of this library, which they keep loaded as long as it is not unloaded, and what
        // uses them can't be unloaded: its threads run.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
        process::prepare();
    }
}

extern "C" fn before() {
    let aside = writer::Aside::new();
    let held = Held {
        sessions: running::AroundFork::begin(),
        running: writer::running::AroundFork::begin(),
        levels: level::AroundFork::begin(),
        seen: seen::AroundFork::begin(),
        images: site::no_images(),
        mappings: soon(mapping::try_mappings),
        clock: clock::AroundFork::begin(),
        control: close_on_fork::AroundFork::begin(),
        aside,
    };
    let _ = HELD.try_with(|place| place.replace(Some(held)));
}

extern "C" fn in_parent() {
    let _ = HELD.try_with(RefCell::take);
}

extern "C" fn in_child() {
    if let Ok(Some(held)) = HELD.try_with(RefCell::take) {
        held.in_child();
    }
    barrier::in_child();
}

impl Held {
    fn in_child(self) {
        // First, since a message that a handler interrupted goes on.
        if let Some(mappings) = &self.mappings {
            mapping::detach(mappings);
        }
        self.levels.in_child();
        let whole = self.sessions.is_some()
            && self.running.is_some()
            && self.seen.is_some()
            && self.images.is_some()
            && self.mappings.is_some()
            && self.clock.is_some();
        self.sessions.into_iter().for_each(running::AroundFork::in_child);
        self.running.into_iter().for_each(writer::running::AroundFork::in_child);
        self.seen.into_iter().for_each(seen::AroundFork::in_child);
        self.clock.into_iter().for_each(clock::AroundFork::end);
        self.control.into_iter().for_each(close_on_fork::AroundFork::in_child);
        writer::in_child(self.aside, whole);
    }
}

/// The lock, unless it takes so long that this thread must be the one that has it.
pub(crate) fn lock_soon<T>(lock: &'static Mutex<T>) -> Option<MutexGuard<'static, T>> {
    soon(|| match lock.try_lock() {
        Err(TryLockError::WouldBlock) => None,
        Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
        Ok(guard) => Some(guard),
    })
}

/// What `take` gives within half a second.
pub(crate) fn soon<T>(mut take: impl FnMut() -> Option<T>) -> Option<T> {
    const TRIES: u32 = 5_000;
    for attempt in 0..TRIES {
        if let Some(taken) = take() {
            return Some(taken);
        }
        if attempt < 50 {
            std::thread::yield_now();
        } else {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
    None
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::process::Command;
    use std::sync::mpsc;

    /// In a process of its own, in which nobody has looked after forks before.
    #[test]
    fn a_fork_waits_for_who_makes_an_enum_known() {
        const ALONE: &str = "PROTOLOG_FORK_ALONE";
        if std::env::var_os(ALONE).is_none() {
            let mut own = Command::new(std::env::current_exe().expect("the test itself"));
            own.args(["--exact", "fork::tests::a_fork_waits_for_who_makes_an_enum_known"]);
            protolog_testkit::run(own.env(ALONE, "1"));
            return;
        }
        let (send, locked) = mpsc::channel();
        let holder = std::thread::spawn(move || {
            let _levels = level::AroundFork::begin();
            send.send(()).expect("somebody waits");
            std::thread::sleep(Duration::from_millis(100));
        });
        locked.recv().expect("the lock is held");
        // SAFETY: the child does what the runtime promises to work, and ends.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: the process has no other use for the signal, which ends it.
            unsafe { libc::alarm(20) };
            drop(level::AroundFork::begin());
            // SAFETY: nothing of the test's runs after it.
            unsafe { libc::_exit(0) };
        }
        let mut status = -1;
        // SAFETY: the pointer is to an integer of ours.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        assert_eq!(status, 0, "the child waits for a thread that is not there");
        holder.join().expect("it ends");
    }
}
