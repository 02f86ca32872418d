//! Values that are made once, and that no forked child waits for.
//!
//! A thread that finds [`OnceLock`] being set waits; a child whose parent was forked meanwhile
//! would wait for ever. So a value here is set while a [`ForkLock`] is held, which a fork waits
//! for.

use super::fork::{ForkLock, Order};
use std::sync::OnceLock;

/// Held by the thread that sets one.
static SETTING: ForkLock<()> = ForkLock::new(Order::Once, ());

/// A value that is made once. It stands in a static, or in something that does.
#[derive(Debug)]
pub(crate) struct ForkOnce<T>(OnceLock<T>);

impl<T> ForkOnce<T> {
    /// No value yet.
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The value, if there is one. Takes no lock.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// Makes `value` the value, unless there is one.
    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        if self.0.get().is_some() {
            return Err(value);
        }
        let _setting = SETTING.lock_unless_forking();
        self.0.set(value)
    }

    /// The value, made by `make` if there is none. `make` must not take a [`ForkLock`] or make
    /// another such value.
    #[inline]
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        match self.0.get() {
            Some(value) => value,
            None => self.make(make),
        }
    }

    #[cold]
    fn make(&self, make: impl FnOnce() -> T) -> &T {
        let _setting = SETTING.lock_unless_forking();
        self.0.get_or_init(make)
    }
}
