//! Locks that no forked child finds held by a thread that it does not have.
//!
//! A [`ForkLock`] registers itself when it is first taken. Before a fork the forking thread takes
//! every registered lock, in the order of [`Order`], which is also that of everybody who takes
//! several; so nobody else holds one during the fork, and nothing that they protect is half
//! changed. In the child it runs each lock's action, last taken first, and releases the lock; in
//! the parent it only releases them. Locks of the C library are not ours to take. The C library
//! does not free some of them in the child: that of the time zone and, in some C libraries, that of
//! the loader. A `ForkLock` is held around our own calls that may take one of these. Locks that
//! other code of the program holds in there stay held in the child. So do locks of Rust's library
//! while a thread starts or ends, and then no thread starts in the child, nor does a session that
//! needs one.
//!
//! A fork in a signal handler may find a lock held by its own thread, or by a thread that waits for
//! it; and any fork may find one held by a thread that waits for a disk. The handler waits a moment
//! for each lock, and goes on without the locks that it does not get. Then the fork is not
//! *complete* for the child, which logs nothing: its messages are counted as those of a thread at
//! its end, and its text goes to standard error.
//!
//! A child made by the bare system call (`clone`) runs no handlers. It goes on writing into its
//! copy of its thread's chunk, which nobody reads; with [`record`](crate::Builder::record) it
//! writes into the chunk itself. Once that is full, the child is found out by its process id. From
//! then on its messages to its parent's sessions are counted as
//! [`LossCause::Forked`](crate::LossCause::Forked). Such a child should do nothing but `exec`.
//!
//! Invariants
//! - The child's handlers allocate nothing and wait for nobody, since a thread that holds a lock
//!   may not be there.
//! - *registered*: a lock is in its slot before it is first taken, and a thread that puts it there
//!   waits for the forks that may have passed the slot.
//! - *forking*: `held` of a lock is touched by the thread that has the lock, between the handler
//!   before a fork and the one after it.

mod forking;
mod lock;
mod order;
mod slot;

pub(crate) use forking::is_incomplete;
pub(crate) use lock::{Actions, ForkLock};
pub(crate) use order::Order;

use super::{barrier, process};
use crate::sync::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use forking::{FORKING, FORKS, Forking, set_incomplete, within_limit};
#[cfg(test)]
use slot::Slot;
use slot::{Handlers, SLOTS};

/// The forking thread's own actions; null where there are none.
static THREAD: AtomicPtr<ThreadActions> = AtomicPtr::new(std::ptr::null_mut());

/// Actions of the forking thread besides taking locks: a signal handler that logs on it must not
/// wait for those.
#[derive(Debug)]
pub(crate) struct ThreadActions {
    /// Runs before any lock is taken.
    pub(crate) before: fn(),
    /// Runs in the child when all locks are free again; false where not all of them could be taken.
    pub(crate) in_child: fn(bool),
    /// Runs in the parent when all locks are free again.
    pub(crate) in_parent: fn(),
}

/// Sets the actions that forks run. There is one set of them.
pub(crate) fn set_thread_actions(actions: &'static ThreadActions) {
    THREAD.store(std::ptr::from_ref(actions).cast_mut(), Ordering::Release);
}

fn thread_actions() -> Option<&'static ThreadActions> {
    // SAFETY: null, or the reference that `set_thread_actions` stored.
    unsafe { THREAD.load(Ordering::Acquire).as_ref() }
}

/// True where forks run the handlers.
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// The id of the process in which a thread installs them. Not `Once`, for which a child would
/// wait whose parent was forked within it.
static INSTALLER: AtomicU32 = AtomicU32::new(0);

/// Makes forks of this process run the handlers. A fork that is under way when the first lock of
/// the process is taken may miss them.
#[cfg(unix)]
fn install_handlers() {
    if IS_INSTALLED.load(Ordering::Acquire) {
        return;
    }
    let own = std::process::id();
    let installer = INSTALLER.load(Ordering::Relaxed);
    // The thread that began in the parent of this child is not here. It had not come far: the C
    // library keeps the list of handlers locked while it forks, and a fork that runs them says so
    // first of all.
    let is_ours = installer != own
        && INSTALLER.compare_exchange(installer, own, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if !is_ours {
        within_limit(|| IS_INSTALLED.load(Ordering::Acquire).then_some(()));
        return;
    }
    process::prepare();
    // SAFETY: the handlers are functions of this library, with which the C library forgets them if
    // it is unloaded.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    IS_INSTALLED.store(true, Ordering::Release);
}

/// There are no forks.
#[cfg(not(unix))]
fn install_handlers() {}

#[cfg(unix)]
extern "C" fn before() {
    IS_INSTALLED.store(true, Ordering::Release);
    let mut forking = FORKING.get();
    forking.depth += 1;
    FORKING.set(forking);
    if forking.depth > 1 {
        // The outer fork has the locks, or is taking them.
        return;
    }
    FORKS.fetch_add(1, Ordering::SeqCst);
    if let Some(actions) = thread_actions() {
        (actions.before)();
    }
    let mut is_complete = true;
    for (order, slot) in SLOTS.iter().enumerate() {
        if let Some((lock, handlers)) = slot.get() {
            // First, for a signal handler that lands when the lock is just taken.
            Forking::set_held(order, true);
            // SAFETY: *registered*: the slot has the lock and the handlers of its type.
            let is_held = unsafe { (handlers.hold)(lock) };
            Forking::set_held(order, is_held);
            is_complete &= is_held;
        }
    }
    FORKING.set(Forking { is_complete, ..FORKING.get() });
}

#[cfg(unix)]
extern "C" fn in_parent() {
    if end_inner_fork() {
        return;
    }
    for_each_held(|order, lock, handlers| {
        // SAFETY: *registered*; this thread holds it.
        unsafe { (handlers.release)(lock) };
        Forking::set_held(order, false);
    });
    FORKING.set(Forking::NOT);
    if let Some(actions) = thread_actions() {
        (actions.in_parent)();
    }
    FORKS.fetch_sub(1, Ordering::SeqCst);
}

#[cfg(unix)]
extern "C" fn in_child() {
    let is_inner = end_inner_fork();
    let is_complete = FORKING.get().is_complete && !is_inner;
    for_each_held(|order, lock, handlers| {
        // SAFETY: *registered*; this thread holds it.
        unsafe { (handlers.run_in_child)(lock) };
        // The outer fork, which goes on in this child, releases the locks that it has taken.
        if !is_inner {
            // SAFETY: *registered*; this thread holds it.
            unsafe { (handlers.release)(lock) };
            Forking::set_held(order, false);
        }
    });
    if !is_complete {
        set_incomplete();
    }
    barrier::in_child();
    if let Some(actions) = thread_actions() {
        (actions.in_child)(is_complete);
    }
    if !is_inner {
        FORKING.set(Forking::NOT);
        FORKS.store(0, Ordering::SeqCst);
    }
}

/// Ends a fork within another one of this thread; false where this is the only one.
fn end_inner_fork() -> bool {
    let mut forking = FORKING.get();
    let is_inner = forking.depth > 1;
    if is_inner {
        forking.depth -= 1;
        FORKING.set(forking);
    }
    is_inner
}

/// Calls `f` with each lock that this thread holds for its fork and with its order, last taken
/// first.
fn for_each_held(mut f: impl FnMut(usize, *const (), &'static Handlers)) {
    let held = FORKING.get().held;
    for (order, slot) in SLOTS.iter().enumerate().rev() {
        if held & 1 << order != 0 {
            slot.get().into_iter().for_each(|(lock, handlers)| f(order, lock, handlers));
        }
    }
}

/// Forks for tests.
#[cfg(test)]
pub(crate) mod testing {
    use super::SLOTS;
    use std::process::Command;

    /// Makes this process the child of a fork that got none of the locks.
    pub(crate) fn become_incomplete() {
        for (lock, handlers) in SLOTS.iter().filter_map(super::Slot::get) {
            // SAFETY: *registered*: the slot has the lock and the handlers of its type.
            assert!(unsafe { (handlers.hold)(lock) }, "nobody else has a lock");
        }
        super::set_incomplete();
    }

    /// True in the process of the test `name` alone; elsewhere the test is run in such a process,
    /// and must succeed. Threads of other tests could hold locks in a child.
    pub(crate) fn has_process_of_its_own(name: &str) -> bool {
        const ALONE: &str = "PROTOLOG_FORK_ALONE";
        if std::env::var_os(ALONE).is_some() {
            return true;
        }
        let mut own = Command::new(std::env::current_exe().expect("the test itself"));
        let output =
            protolog_testkit::run(own.args(["--exact", name, "--nocapture"]).env(ALONE, "1"));
        print!("{}", output.stdout);
        false
    }

    /// Forks in a process of its own for the test `name`, after `prepare`. The child runs `child`,
    /// which must be true; the parent runs the function that `prepare` returned.
    pub(crate) fn check_child(
        name: &str,
        prepare: impl FnOnce() -> Box<dyn FnOnce()>,
        child: impl FnOnce() -> bool,
    ) {
        if !has_process_of_its_own(name) {
            return;
        }
        let finish = prepare();
        // SAFETY: the child does what the runtime promises to work, and ends.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: the process has no other use for the signal, which ends it.
            unsafe { libc::alarm(20) };
            let good = child();
            // SAFETY: nothing of the test's runs after it.
            unsafe { libc::_exit(!good as i32) };
        }
        finish();
        let mut status = -1;
        // SAFETY: the pointer is to an integer of ours.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        assert_eq!(status, 0, "the child");
    }
}

#[cfg(test)]
mod tests {
    use super::testing::check_child;
    use super::*;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    static LOCK: ForkLock<Vec<u32>> =
        ForkLock::with_child(Order::Test, Vec::new(), |all| all[0] += 1);

    /// The child handler's argument: 1 for a complete fork, 2 for another.
    static COMPLETE: AtomicU32 = AtomicU32::new(0);

    #[test]
    fn a_fork_waits_for_who_has_a_lock() {
        let prepare = || {
            let (send, locked) = mpsc::channel();
            let holder = thread::spawn(move || {
                let mut all = LOCK.lock();
                send.send(()).expect("somebody waits");
                thread::sleep(Duration::from_millis(100));
                all.push(7);
            });
            locked.recv().expect("the lock is held");
            Box::new(move || holder.join().expect("it ends")) as Box<dyn FnOnce()>
        };
        let child = || *LOCK.lock() == [8];
        check_child("sys::fork::tests::a_fork_waits_for_who_has_a_lock", prepare, child);
    }

    #[test]
    fn a_child_installs_what_its_parent_had_only_begun_to() {
        let prepare = || {
            INSTALLER.store(std::process::id(), Ordering::Relaxed);
            Box::new(|| ()) as Box<dyn FnOnce()>
        };
        let child = || {
            LOCK.lock().push(7);
            IS_INSTALLED.load(Ordering::Relaxed)
                && INSTALLER.load(Ordering::Relaxed) == std::process::id()
        };
        let name = "sys::fork::tests::a_child_installs_what_its_parent_had_only_begun_to";
        check_child(name, prepare, child);
    }

    #[test]
    fn a_lock_of_the_forking_thread_itself_makes_the_fork_incomplete() {
        static ACTIONS: ThreadActions = ThreadActions {
            before: || {},
            in_child: |is_complete| {
                COMPLETE.store(if is_complete { 1 } else { 2 }, Ordering::Relaxed);
            },
            in_parent: || {},
        };
        // As in a signal handler that interrupted the lock's holder.
        let prepare = || {
            set_thread_actions(&ACTIONS);
            std::mem::forget(LOCK.lock());
            Box::new(|| ()) as Box<dyn FnOnce()>
        };
        let child = || COMPLETE.load(Ordering::Relaxed) == 2 && LOCK.try_lock().is_none();
        let name =
            "sys::fork::tests::a_lock_of_the_forking_thread_itself_makes_the_fork_incomplete";
        check_child(name, prepare, child);
    }
}
