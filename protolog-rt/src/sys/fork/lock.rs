//! [`ForkLock`]: a lock of the process that forks take, and its functions for the fork's handlers.
//!
//! Invariant: *forking*, as the parent module has it: only the thread that has the lock touches
//! `held`.

use super::forking::{FORKING, FORKS, give_way, within_limit};
use super::install_handlers;
use super::order::Order;
use super::slot::{Handlers, SLOTS};
use crate::sync::{AtomicBool, Ordering};
use std::cell::UnsafeCell;
use std::fmt;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// A lock of the whole process that is held around forks, and with it a value. It stands in a
/// static.
pub(crate) struct ForkLock<T: 'static> {
    order: Order,
    is_registered: AtomicBool,
    lock: RwLock<T>,
    /// During a fork: the lock.
    held: UnsafeCell<Option<RwLockWriteGuard<'static, T>>>,
    actions: Actions<T>,
}

// SAFETY: the lock gives out the value as `RwLock` does; `held` is used by one thread at a time,
// see *forking*.
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

impl<T: Send + Sync> ForkLock<T> {
    /// A lock with no action of its own in the child: the value that it protects is as good there
    /// as in the parent.
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
        give_way();
        self.lock.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock; none where this thread has it for its own fork, so that code between the
    /// handlers of that fork, such as another library's handler or a signal's, is alone with the
    /// value that the lock protects.
    pub(crate) fn lock_unless_forking(&'static self) -> Option<RwLockWriteGuard<'static, T>> {
        (!self.is_held_for_fork()).then(|| self.lock())
    }

    /// True if this thread has the lock for its own fork.
    pub(crate) fn is_held_for_fork(&self) -> bool {
        let bit = 1 << self.order as u32;
        FORKING.try_with(|forking| forking.get().held & bit != 0).unwrap_or(false)
    }

    /// Takes the lock; none where somebody has it.
    pub(crate) fn try_lock(&'static self) -> Option<RwLockWriteGuard<'static, T>> {
        self.register();
        self.try_write()
    }

    /// Takes the lock; none where that takes so long that this thread must be the one that has it,
    /// which a signal handler interrupted.
    pub(crate) fn lock_within_limit(&'static self) -> Option<RwLockWriteGuard<'static, T>> {
        self.register();
        within_limit(|| self.try_write())
    }

    /// Takes the lock for reading, together with other readers; none where a writer has it or waits
    /// for it, or where it was never taken: registering it may wait. Safe in signal handlers.
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

    /// Registers the lock, so that forks take it. It may wait for a fork, which waits for the locks
    /// that the caller has: a lock that is taken within another one is registered before that.
    #[inline]
    pub(crate) fn register(&'static self) {
        if !self.is_registered.load(Ordering::Acquire) {
            self.register_first();
        }
    }

    #[cold]
    fn register_first(&'static self) {
        install_handlers();
        let handlers: &'static Handlers = const {
            &Handlers { hold: hold::<T>, run_in_child: run_in_child::<T>, release: release::<T> }
        };
        let slot = SLOTS.get(self.order as usize);
        let is_own = slot.is_some_and(|slot| {
            // SAFETY: the lock is `'static`, and the functions are those for its type.
            unsafe { slot.set(std::ptr::from_ref(self).cast(), handlers) }
        });
        debug_assert!(is_own, "two locks have the order {:?}", self.order);
        // Forks that come see the slot. Those that are under way may have passed it: a child would
        // find the lock taken. This thread's own fork does not end meanwhile.
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
