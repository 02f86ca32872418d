//! The registered locks, one slot for each [`Order`](super::Order), without the types of the values
//! that they protect.
//!
//! A fork's handlers go over all locks of the process. A slot keeps a lock's address and the
//! functions for locks of its type, and can be read at any time without waiting.
//!
//! Invariant: a slot is set once, its functions before its lock.

use super::order::LOCKS;
use crate::sync::{AtomicPtr, Ordering};

/// The locks by order.
pub(super) static SLOTS: [Slot; LOCKS] = [const { Slot::new() }; LOCKS];

/// A registered lock, with a value of any type.
pub(super) struct Slot {
    /// The `ForkLock`; null where none is registered. Set once, after `handlers`.
    lock: AtomicPtr<()>,
    /// The handlers for locks of its type.
    handlers: AtomicPtr<Handlers>,
}

/// The functions that forks call for a lock of one type, with its address.
pub(super) struct Handlers {
    pub(super) hold: unsafe fn(*const ()) -> bool,
    pub(super) run_in_child: unsafe fn(*const ()),
    pub(super) release: unsafe fn(*const ()),
}

impl Slot {
    const fn new() -> Self {
        let (lock, handlers) = (std::ptr::null_mut(), std::ptr::null_mut());
        Self { lock: AtomicPtr::new(lock), handlers: AtomicPtr::new(handlers) }
    }

    /// Registers `lock`, for which forks call `handlers`; false where another one is registered
    /// here.
    ///
    /// # Safety
    /// The functions of `handlers` may be called with `lock` for ever.
    pub(super) unsafe fn set(&self, lock: *const (), handlers: &'static Handlers) -> bool {
        let lock = lock.cast_mut();
        let registered = self.lock.load(Ordering::SeqCst);
        if registered.is_null() {
            // Nobody else registers anything here but the same lock.
            self.handlers.store(std::ptr::from_ref(handlers).cast_mut(), Ordering::Relaxed);
            self.lock.store(lock, Ordering::SeqCst);
        }
        registered.is_null() || registered == lock
    }

    /// The registered lock, and the functions that forks call for it.
    pub(super) fn get(&self) -> Option<(*const (), &'static Handlers)> {
        let lock = self.lock.load(Ordering::SeqCst);
        // SAFETY: null, or what `set` stored before the lock: a reference to a constant.
        let handlers = unsafe { self.handlers.load(Ordering::Relaxed).as_ref() };
        handlers.filter(|_| !lock.is_null()).map(|handlers| (lock.cast_const(), handlers))
    }
}
