//! Routes that are made before a thread needs them, so that it joins and leaves a session without
//! the allocator and without a lock: the message may be a signal handler's, and the handler may
//! have interrupted `malloc`.
//!
//! ```text
//! start of a session ──> Spares: one route for each known thread ──take──> the thread's list
//!                                                                            │ the session ended
//! a thread that may free  <── RETIRED <──────────────retire──────────────────┘
//! ```
//!
//! Invariants
//! - *enough*: a session starts with a spare for each thread that is known, a thread takes one of
//!   them, and a thread that becomes known brings routes to the sessions that run.
//! - *spare*: a slot is null or points to a route that nobody else has; a swap takes ownership.
//! - *retired*: the list owns its routes; it is taken whole, so that no route comes back to it
//!   while a thread looks at it.
#![allow(unsafe_code)] // Owning pointers in atomics.
#![allow(clippy::unnecessary_box_returns)] // A route stays where it was allocated.

use super::arbiter::Arbiter;
use super::{Head, Writer};
use crate::loss::LossCause;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering};
use std::ptr;
use std::sync::Arc;

/// A session, and a thread's writer in it from its first message on.
#[derive(Debug)]
pub(super) struct Route {
    /// None in a spare: the session owns its spares.
    arbiter: Option<Arc<Arbiter>>,
    /// The thread's alone until it is registered.
    writer: Arc<Writer>,
    is_registered: bool,
    /// The thread's next route.
    pub(super) next: Option<Box<Route>>,
    /// The route below it in the list of retired ones.
    below: AtomicPtr<Route>,
}

/// Routes for threads that may come.
#[derive(Debug)]
pub(super) struct Spares {
    slots: Box<[AtomicPtr<Route>]>,
    /// The first slot that nobody has asked for.
    next: AtomicUsize,
}

/// Routes that threads are done with.
static RETIRED: AtomicPtr<Route> = AtomicPtr::new(ptr::null_mut());

impl Route {
    /// Makes a route to a session with these drop counters. Never inlined, since a writer is large,
    /// and a handler's stack small.
    #[cold]
    #[inline(never)]
    fn spare(arbiter: &Arbiter) -> Box<Self> {
        Box::new(Self {
            arbiter: None,
            writer: Arc::new(Writer::spare(arbiter.drop_counters())),
            is_registered: false,
            next: None,
            below: AtomicPtr::new(ptr::null_mut()),
        })
    }

    /// Makes a route to the session of `arbiter`. Allocates.
    pub(super) fn new(arbiter: &Arc<Arbiter>) -> Box<Self> {
        Self::spare(arbiter).to(arbiter)
    }

    /// Takes one of the session's `spares`; a new one where there is none, which *enough* rules
    /// out.
    pub(super) fn take(arbiter: &Arc<Arbiter>, spares: &Spares) -> Box<Self> {
        spares.take().map_or_else(|| Self::new(arbiter), |spare| spare.to(arbiter))
    }

    fn to(mut self: Box<Self>, arbiter: &Arc<Arbiter>) -> Box<Self> {
        self.arbiter = Some(Arc::clone(arbiter));
        self
    }

    /// Returns the session.
    pub(super) fn arbiter(&self) -> Option<&Arc<Arbiter>> {
        self.arbiter.as_ref()
    }

    /// Returns whether this is a route to the session of `arbiter`.
    pub(super) fn leads_to(&self, arbiter: &Arc<Arbiter>) -> bool {
        self.arbiter.as_ref().is_some_and(|own| Arc::ptr_eq(own, arbiter))
    }

    /// Returns the writer, once the thread has logged to the session.
    pub(super) fn writer(&self) -> Option<&Arc<Writer>> {
        self.is_registered.then_some(&self.writer)
    }

    /// Registers the writer for this thread, which it is not yet; false if there are as many as can
    /// be told apart. It waits for other threads that look for a free sequence only if it may.
    #[cold]
    #[inline(never)]
    pub(super) fn register(&mut self, epoch: u32, may_wait: bool) -> bool {
        let Some(arbiter) = &self.arbiter else { return false };
        let identity =
            if may_wait { arbiter.new_identity() } else { arbiter.new_identity_at_once() };
        // Nobody else has a writer that is not registered.
        let (Some(identity), Some(writer)) = (identity, Arc::get_mut(&mut self.writer)) else {
            return false;
        };
        writer.adopt(Arc::clone(arbiter), identity, epoch);
        arbiter.enlist(&self.writer);
        self.is_registered = true;
        true
    }

    /// Counts a message that has no writer.
    #[cold]
    pub(super) fn refuse(&self, head: Head) {
        if let Some(arbiter) = &self.arbiter {
            arbiter.unattributed.add(head.group().id, LossCause::BufferFull, 1);
        }
    }

    /// Ends the thread's part in the session, and leaves the memory to others.
    pub(super) fn leave(self: Box<Self>) {
        self.finish();
        retire(self);
    }

    /// Ends the thread's part in the session.
    pub(super) fn finish(&self) {
        self.writer().into_iter().for_each(|writer| writer.finish());
    }
}

impl Spares {
    /// Makes `count` routes.
    pub(super) fn new(arbiter: &Arbiter, count: usize) -> Self {
        let slot = |_| AtomicPtr::new(Box::into_raw(Route::spare(arbiter)));
        Self { slots: (0..count).map(slot).collect(), next: AtomicUsize::new(0) }
    }

    fn take(&self) -> Option<Box<Route>> {
        let slot = self.slots.get(self.next.fetch_add(1, Ordering::Relaxed))?;
        take_slot(slot)
    }
}

impl Drop for Spares {
    fn drop(&mut self) {
        self.slots.iter().for_each(|slot| drop(take_slot(slot)));
    }
}

fn take_slot(slot: &AtomicPtr<Route>) -> Option<Box<Route>> {
    let spare = slot.swap(ptr::null_mut(), Ordering::AcqRel);
    // SAFETY: *spare*: it came out of a box, and the swap made it this caller's.
    (!spare.is_null()).then(|| unsafe { Box::from_raw(spare) })
}

fn retire(route: Box<Route>) {
    let route = Box::into_raw(route);
    let mut top = RETIRED.load(Ordering::Relaxed);
    loop {
        // SAFETY: nobody else has the route before the exchange.
        unsafe { &*route }.below.store(top, Ordering::Relaxed);
        match RETIRED.compare_exchange_weak(top, route, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => top = now,
        }
    }
}

/// Frees the routes that threads are done with.
pub(crate) fn free_retired() {
    let mut top = RETIRED.swap(ptr::null_mut(), Ordering::AcqRel);
    while !top.is_null() {
        // SAFETY: *retired*: the list was taken whole, and owned what is in it.
        let route = unsafe { Box::from_raw(top) };
        top = route.below.load(Ordering::Relaxed);
    }
}

/// In a forked child they are its parent's; freeing them might wait for somebody.
pub(super) fn forget_retired() {
    RETIRED.store(ptr::null_mut(), Ordering::Relaxed);
}
