//! Locks that no forked child finds held by a thread that it does not have.
//!
//! A [`ForkLock`] registers itself when it is first taken. Before a fork the forking thread takes every registered lock, in
//! the order of [`Order`], which is also that of everybody who takes several; so nobody else holds one during the fork, and
//! nothing that they protect is half changed. In the child it runs each lock's action, last taken first, and releases the
//! lock; in the parent it only releases them. Locks of the C library are not ours to take: where one may be held by this
//! library during a fork and the C library does not free it in the child (the zone's, in some also the loader's), a
//! `ForkLock` is held around our own calls. What other code of the program holds in there stays held in the child; so does
//! what Rust's library locks while a thread starts or ends, and then no thread starts in the child, nor does a session that
//! needs one.
//!
//! A fork in a signal handler may find a lock held by its own thread, or by a thread that waits for it: the handler waits a
//! moment for each lock, goes on without those that it does not get, and the fork is not *complete* for the child, which then
//! logs nothing: its messages are counted as those of a thread at its end.
//!
//! A child made by the bare system call (`clone`) runs no handlers. It goes on writing into its copy of its thread's chunk,
//! which nobody reads, or with [`record`](crate::Builder::record) into the chunk itself, until that is full; then it is found
//! out by its process id, and what it logs to its parent's sessions is counted as
//! [`LossCause::Forked`](crate::LossCause::Forked). Such a child should do nothing but `exec`.
//!
//! Invariants
//! - The child's handlers allocate nothing and wait for nobody, since a thread that holds a lock may not be there.
//! - *registered*: a lock is in its slot before it is first taken, and a thread that puts it there waits for the forks that
//!   may have passed the slot.
//! - *forking*: `held` of a lock is touched by the thread that has the lock, between the handler before a fork and the one
//!   after it.

mod order;

pub(crate) use order::Order;

use super::{barrier, process};
use crate::sync::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use order::LOCKS;
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::time::Duration;

/// The locks by order.
static SLOTS: [Slot; LOCKS] = [const { Slot::new() }; LOCKS];

/// The forking thread's own actions; null where there are none.
static THREAD: AtomicPtr<ThreadActions> = AtomicPtr::new(std::ptr::null_mut());

/// Forks for which locks are being taken or held.
static FORKS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static FORKING: Cell<Forking> = const { Cell::new(Forking::NOT) };
}

/// A thread's own fork.
#[derive(Clone, Copy)]
struct Forking {
    /// The locks that the thread holds for it, or is about to take (bit = order).
    held: u32,
    /// All that were registered could be taken.
    is_complete: bool,
    /// Forks of this thread that have begun; more than one where a signal handler forks between the handlers of another.
    depth: u32,
}

impl Forking {
    const NOT: Self = Self { held: 0, is_complete: true, depth: 0 };

    /// Changes whether the thread holds the lock of this order.
    fn set_held(order: usize, is_held: bool) {
        let mut forking = FORKING.get();
        forking.held = forking.held & !(1 << order) | u32::from(is_held) << order;
        FORKING.set(forking);
    }
}

/// A lock of the whole process that is held around forks, and with it a value. It stands in a static.
pub(crate) struct ForkLock<T: 'static> {
    order: Order,
    is_registered: AtomicBool,
    lock: RwLock<T>,
    /// During a fork: the lock.
    held: UnsafeCell<Option<RwLockWriteGuard<'static, T>>>,
    actions: Actions<T>,
}

// SAFETY: the lock gives out the value as `RwLock` does; `held` is used by one thread at a time, see *forking*.
unsafe impl<T: Send + Sync> Sync for ForkLock<T> {}

/// Actions of a lock around a fork. None may wait, allocate or take another `ForkLock`.
#[derive(Debug)]
pub(crate) struct Actions<T> {
    /// Runs before the lock is taken; false where this thread has it already, so that it can't be.
    pub(crate) before: fn() -> bool,
    /// Runs in the child while the lock is held.
    pub(crate) in_child: fn(&mut T),
    /// Runs when the lock is released, in the child as in the parent.
    pub(crate) after: fn(),
}

impl<T> Actions<T> {
    /// Nothing.
    pub(crate) const NONE: Self = Self { before: || true, in_child: |_| {}, after: || {} };
}

/// Actions of the forking thread besides taking locks: a signal handler that logs on it must not wait for those.
#[derive(Debug)]
pub(crate) struct ThreadActions {
    /// Runs before any lock is taken.
    pub(crate) before: fn(),
    /// Runs in the child when all locks are free again; false where not all of them could be taken.
    pub(crate) in_child: fn(bool),
    /// Runs in the parent when all locks are free again.
    pub(crate) in_parent: fn(),
}

/// Makes forks run `actions` from now on. There is one set of them.
pub(crate) fn set_thread_actions(actions: &'static ThreadActions) {
    THREAD.store(std::ptr::from_ref(actions).cast_mut(), Ordering::Release);
}

fn thread_actions() -> Option<&'static ThreadActions> {
    // SAFETY: null, or the reference that `set_thread_actions` stored.
    unsafe { THREAD.load(Ordering::Acquire).as_ref() }
}

impl<T: Send + Sync> ForkLock<T> {
    /// A lock with no action of its own in the child: what it protects is as good there as in the parent.
    pub(crate) const fn new(order: Order, value: T) -> Self {
        Self::with_actions(order, value, Actions::NONE)
    }

    /// A lock with `in_child` as its action in the child.
    pub(crate) const fn with_child(order: Order, value: T, in_child: fn(&mut T)) -> Self {
        Self::with_actions(order, value, Actions { in_child, ..Actions::NONE })
    }

    /// A lock with these actions.
    pub(crate) const fn with_actions(order: Order, value: T, actions: Actions<T>) -> Self {
        Self {
            order,
            is_registered: AtomicBool::new(false),
            lock: RwLock::new(value),
            held: UnsafeCell::new(None),
            actions,
        }
    }

    /// Takes the lock.
    pub(crate) fn lock(&'static self) -> RwLockWriteGuard<'static, T> {
        self.register();
        self.lock.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock; none where this thread has it for its own fork, so that whoever runs between the handlers of that, such
    /// as another library's handler or a signal's, is alone with what the lock protects.
    pub(crate) fn lock_unless_forking(&'static self) -> Option<RwLockWriteGuard<'static, T>> {
        let bit = 1 << self.order as u32;
        let is_own = FORKING.try_with(|forking| forking.get().held & bit != 0);
        (!is_own.unwrap_or(false)).then(|| self.lock())
    }

    /// Takes the lock; none where somebody has it.
    pub(crate) fn try_lock(&'static self) -> Option<RwLockWriteGuard<'static, T>> {
        self.register();
        self.try_write()
    }

    /// Takes the lock; none where that takes so long that this thread must be the one that has it, which a signal handler
    /// interrupted.
    pub(crate) fn lock_within_limit(&'static self) -> Option<RwLockWriteGuard<'static, T>> {
        self.register();
        within_limit(|| self.try_write())
    }

    /// Takes the lock for reading, together with others who read; none where somebody has it or waits for it, or where it was
    /// never taken: registering it may wait. Safe in signal handlers.
    pub(crate) fn try_read(&'static self) -> Option<RwLockReadGuard<'static, T>> {
        if !self.is_registered.load(Ordering::Acquire) {
            return None;
        }
        match self.lock.try_read() {
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
            Ok(guard) => Some(guard),
        }
    }

    /// Makes forks look after the lock from now on. It may wait for a fork, which waits for the locks that the caller has: a
    /// lock that is taken within another one is registered before that.
    #[inline]
    pub(crate) fn register(&'static self) {
        if !self.is_registered.load(Ordering::Acquire) {
            self.register_first();
        }
    }

    #[cold]
    fn register_first(&'static self) {
        install_handlers();
        let slot = SLOTS.get(self.order as usize);
        let is_own = slot.is_some_and(|slot| slot.set(self));
        debug_assert!(is_own, "two locks have the order {:?}", self.order);
        // Forks that come see the slot. Those that are under way may have passed it: a child would find the lock taken.
        // This thread's own fork does not end meanwhile.
        if FORKING.try_with(|forking| forking.get().depth == 0).unwrap_or(true) {
            within_limit(|| (FORKS.load(Ordering::SeqCst) == 0).then_some(()));
        }
        self.is_registered.store(true, Ordering::Release);
    }

    fn try_write(&'static self) -> Option<RwLockWriteGuard<'static, T>> {
        match self.lock.try_write() {
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
            Ok(guard) => Some(guard),
        }
    }
}

impl<T> fmt::Debug for ForkLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForkLock").field("order", &self.order).finish_non_exhaustive()
    }
}

/// A registered lock, of whatever it protects.
struct Slot {
    /// The `ForkLock`; null where none is registered. Set once, after `handlers`.
    lock: AtomicPtr<()>,
    /// The handlers for locks of its type.
    handlers: AtomicPtr<Handlers>,
}

/// The functions that forks call for a lock of one type, with its address.
struct Handlers {
    hold: unsafe fn(*const ()) -> bool,
    run_in_child: unsafe fn(*const ()),
    release: unsafe fn(*const ()),
}

impl Slot {
    const fn new() -> Self {
        let (lock, handlers) = (std::ptr::null_mut(), std::ptr::null_mut());
        Self { lock: AtomicPtr::new(lock), handlers: AtomicPtr::new(handlers) }
    }

    /// Registers `lock`; false where another one is registered here.
    fn set<T: Send + Sync + 'static>(&self, lock: &'static ForkLock<T>) -> bool {
        let handlers: &'static Handlers = const {
            &Handlers { hold: hold::<T>, run_in_child: run_in_child::<T>, release: release::<T> }
        };
        let lock = std::ptr::from_ref(lock).cast_mut().cast();
        let registered = self.lock.load(Ordering::SeqCst);
        if registered.is_null() {
            // Nobody else registers anything here but the same lock.
            self.handlers.store(std::ptr::from_ref(handlers).cast_mut(), Ordering::Relaxed);
            self.lock.store(lock, Ordering::SeqCst);
        }
        registered.is_null() || registered == lock
    }

    /// The lock that is registered, and what forks do to it.
    fn get(&self) -> Option<(*const (), &'static Handlers)> {
        let lock = self.lock.load(Ordering::SeqCst);
        // SAFETY: null, or what `set` stored before the lock: a reference to a constant.
        let handlers = unsafe { self.handlers.load(Ordering::Relaxed).as_ref() };
        handlers.filter(|_| !lock.is_null()).map(|handlers| (lock.cast_const(), handlers))
    }
}

/// Takes the lock before a fork; false where that can't be.
///
/// # Safety
/// `lock` is a `&'static ForkLock<T>`.
unsafe fn hold<T: Send + Sync + 'static>(lock: *const ()) -> bool {
    // SAFETY: the caller passes such a reference.
    let lock: &'static ForkLock<T> = unsafe { &*lock.cast() };
    if !(lock.actions.before)() {
        return false;
    }
    let guard = within_limit(|| lock.try_write());
    let is_held = guard.is_some();
    if is_held {
        // SAFETY: *forking*: this thread has the lock.
        unsafe { *lock.held.get() = guard };
    } else {
        (lock.actions.after)();
    }
    is_held
}

/// Runs the lock's action in the child.
///
/// # Safety
/// `lock` is a `&'static ForkLock<T>` that this thread [holds](hold).
unsafe fn run_in_child<T: Send + Sync + 'static>(lock: *const ()) {
    // SAFETY: the caller passes such a reference.
    let lock: &'static ForkLock<T> = unsafe { &*lock.cast() };
    // SAFETY: *forking*: this thread has the lock.
    let held = unsafe { &mut *lock.held.get() };
    if let Some(value) = held {
        (lock.actions.in_child)(&mut *value);
    }
}

/// Releases the lock after a fork.
///
/// # Safety
/// `lock` is a `&'static ForkLock<T>` that this thread [holds](hold).
unsafe fn release<T: Send + Sync + 'static>(lock: *const ()) {
    // SAFETY: the caller passes such a reference.
    let lock: &'static ForkLock<T> = unsafe { &*lock.cast() };
    // SAFETY: *forking*: this thread has the lock, until the guard that is taken here is dropped.
    let guard = unsafe { (*lock.held.get()).take() };
    drop(guard);
    (lock.actions.after)();
}

/// Makes forks of this process run the handlers. A fork that is under way when the first lock of the process is taken may miss
/// them.
fn install_handlers() {
    // Not `Once`, for which a child would wait whose parent was forked within it.
    static BEGUN: AtomicBool = AtomicBool::new(false);
    static DONE: AtomicBool = AtomicBool::new(false);
    if BEGUN.swap(true, Ordering::Relaxed) {
        // Another thread is at it. In a child of its parent's other thread nobody is.
        within_limit(|| DONE.load(Ordering::Acquire).then_some(()));
        return;
    }
    // SAFETY: the handlers are functions of this library, which they keep loaded as long as it is not unloaded, and what uses
    // them can't be unloaded: its threads run.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    process::prepare();
    DONE.store(true, Ordering::Release);
}

extern "C" fn before() {
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

extern "C" fn in_child() {
    let is_inner = end_inner_fork();
    let is_complete = FORKING.get().is_complete && !is_inner;
    for_each_held(|order, lock, handlers| {
        // SAFETY: *registered*; this thread holds it.
        unsafe { (handlers.run_in_child)(lock) };
        // The outer fork, which goes on in this child, releases what it has taken.
        if !is_inner {
            // SAFETY: *registered*; this thread holds it.
            unsafe { (handlers.release)(lock) };
            Forking::set_held(order, false);
        }
    });
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

/// Calls `f` with each lock that this thread holds for its fork and with its order, last taken first.
fn for_each_held(mut f: impl FnMut(usize, *const (), &'static Handlers)) {
    let held = FORKING.get().held;
    for (order, slot) in SLOTS.iter().enumerate().rev() {
        if held & 1 << order != 0 {
            slot.get().into_iter().for_each(|(lock, handlers)| f(order, lock, handlers));
        }
    }
}

/// Returns what `take` returns within half a second.
fn within_limit<T>(mut take: impl FnMut() -> Option<T>) -> Option<T> {
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

/// Forks for tests.
#[cfg(test)]
pub(crate) mod testing {
    use std::process::Command;

    /// Forks in a process of its own for the test `name`, after `prepare`. The child runs `child`, which must be true; the
    /// parent runs what `prepare` returned.
    pub(crate) fn check_child(
        name: &str,
        prepare: impl FnOnce() -> Box<dyn FnOnce()>,
        child: impl FnOnce() -> bool,
    ) {
        const ALONE: &str = "PROTOLOG_FORK_ALONE";
        if std::env::var_os(ALONE).is_none() {
            let mut own = Command::new(std::env::current_exe().expect("the test itself"));
            own.args(["--exact", name]);
            protolog_testkit::run(own.env(ALONE, "1"));
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
