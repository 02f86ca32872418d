//! What a fork does to the program: the child gets switches of its own, and does not listen for its parent.
//!
//! The handlers are installed by who shares something that a child must not have: [`prepare_for_forks`].
//!
//! Invariants: the child's handler allocates nothing and waits for nobody, since the thread that holds a lock may not be there;
//! what it needs locked, the parent's handler locked before the fork.
#![allow(unsafe_code)] // pthread_atfork.

use crate::{control, level};
use std::cell::RefCell;
use std::sync::Once;

thread_local! {
    /// What the thread that forks holds meanwhile.
    static HELD: RefCell<Option<level::AroundFork>> = const { RefCell::new(None) };
}

/// Makes forks of this process be looked after from now on.
pub(crate) fn prepare_for_forks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers are functions of this library, which they keep loaded as long as it is not unloaded, and what
        // uses them can't be unloaded: its threads run.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

extern "C" fn before() {
    let _ = HELD.try_with(|held| held.replace(Some(level::AroundFork::begin())));
}

extern "C" fn in_parent() {
    let _ = HELD.try_with(RefCell::take);
}

extern "C" fn in_child() {
    if let Ok(Some(held)) = HELD.try_with(RefCell::take) {
        held.in_child();
    }
    control::in_child();
}
