//! Routes: the sessions that a thread writes to, and its writer in each.
//!
//! With one session, messages go to its writer directly. With several, each message comes here and
//! goes to the sessions that record its group and level, with a stack trace where the session
//! collects those. The clock is read once for all of them.
//!
//! Invariants
//! - A message that a session does not record never reaches its writer from here; one that it
//!   pins reaches only its writer of those.
//! - *moment*: all sessions get a message at one moment, which is later than all that the thread's
//!   sequences have. So where traces of several sessions have something of one thread at one time,
//!   it is one message, or one begin or end of a span.
//! - Only a thread's first message of all, which makes the thread known, allocates or takes a lock:
//!   later on the thread takes the routes that [`super::spares`] has for it.

use super::arbiter::Arbiter;
use super::entered::Entered;
use super::held_back::{EndedRepeats, HeldBack};
use super::packet::Packet;
use super::running::{self, RunningArbiter};
use super::spares::Route;
use super::thread_state::{EXITED, GUARDED, READY, ThreadState, UNROUTED};
use super::{Head, Writer};
use crate::clock;
use crate::sync::Ordering;
use crate::sys::copies;
use crate::sys::thread_end::at_thread_end;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::num::NonZeroU64;
use std::sync::Arc;

thread_local! {
    /// Without a destructor: those of other values may log, and [`end_thread`] comes after them.
    static THREAD_ROUTES: ManuallyDrop<ThreadRoutes> = const {
        ManuallyDrop::new(ThreadRoutes {
            routes: RefCell::new(Routes::new()),
            entered: Entered::new(),
            has_end: Cell::new(false),
        })
    };
}

/// The thread's routes, and the sessions that it has entered.
pub(super) struct ThreadRoutes {
    pub(super) routes: RefCell<Routes>,
    pub(super) entered: Entered,
    /// True once [`end_thread`] will run for the thread.
    has_end: Cell<bool>,
}

impl ThreadRoutes {
    /// Calls `f` with those of the calling thread, which has not ended and is guarded.
    pub(super) fn with<R>(f: impl FnOnce(&Self) -> R) -> R {
        have_end();
        THREAD_ROUTES.with(|thread| f(thread))
    }

    /// As [`Self::with`], for a message: to refresh the routes has [`end_thread`] run for the
    /// thread.
    #[inline]
    pub(super) fn within_message<R>(f: impl FnOnce(&Self) -> R) -> R {
        THREAD_ROUTES.with(|thread| f(thread))
    }

    /// As [`Self::with`], if the thread has any.
    pub(super) fn with_known<R>(f: impl FnOnce(&Self) -> R) -> Option<R> {
        THREAD_ROUTES.with(|thread| thread.has_end.get().then(|| f(thread)))
    }
}

/// Has [`end_thread`] run for the calling thread.
fn have_end() {
    THREAD_ROUTES.with(|thread| {
        if !thread.has_end.replace(true) {
            at_thread_end(end_thread);
        }
    });
}

/// Sends the thread's next message to each session out of line.
pub(super) fn close_writers() {
    ThreadRoutes::with_known(|thread| {
        // A handler that finds them borrowed is within a message: its own are dropped as nested.
        let Ok(routes) = thread.routes.try_borrow() else { return };
        routes.iter().filter_map(Route::writer).for_each(|writer| writer.close());
    });
}

/// Finishes the thread's writers at its end.
fn end_thread() {
    ThreadState::with(|state| state.route(EXITED, std::ptr::null()));
    ThreadRoutes::with_known(|thread| {
        thread.routes.borrow_mut().end();
        thread.entered.end();
    });
}

/// Prepares the calling thread for signal handlers that log: the memory of its first message is
/// allocated now. A thread that has logged needs no preparation.
///
/// ```
/// use protolog_rt::{Level, ProtoLogGroup};
///
/// #[derive(ProtoLogGroup)]
/// enum SignalLog {
///     Received,
/// }
///
/// std::thread::spawn(|| {
///     protolog_rt::prepare_thread();
///     // The first call of an enum registers it, which no handler should do.
///     SignalLog::Received.is_enabled(Level::Info);
///     // From now on a handler on this thread may log to `SignalLog`.
/// })
/// # .join().unwrap();
/// ```
pub fn prepare_thread() {
    if ThreadState::with(ThreadState::phase) != UNROUTED {
        return;
    }
    look();
}

/// Makes the thread find out at its next message where it goes, and takes the routes for that now,
/// unless it is within a message or has exited.
pub(super) fn look_again() {
    if matches!(ThreadState::with(ThreadState::phase), READY | UNROUTED) {
        look();
    }
}

/// Makes the thread known, and follows the list of running sessions. It is not within a message.
fn look() {
    ThreadState::with(|state| state.route(GUARDED, std::ptr::null()));
    ThreadRoutes::with(|thread| thread.routes.borrow_mut().refresh(&thread.entered));
    ThreadState::with(|state| state.route(UNROUTED, std::ptr::null()));
}

/// See the module.
#[derive(Debug)]
pub(super) struct Routes {
    /// Sessions keep spares for it.
    is_known: bool,
    epoch: u32,
    /// The number of sessions that run, of any threads. Pinned rings do not count.
    running: usize,
    first: Option<Box<Route>>,
    /// The clock of what comes here.
    clock: clock::Reader,
    /// True if the thread is registered with all of these sessions, and all that it writes to them
    /// comes here, so that the clock has read the times that its sequences have.
    is_prepared: bool,
}

impl Routes {
    /// No routes.
    pub(super) const fn new() -> Self {
        let (clock, is_prepared) = (clock::Reader::NONE, false);
        Self { is_known: false, epoch: 0, running: 0, first: None, clock, is_prepared }
    }

    /// Follows the list of running sessions, if it or the list of `entered` ones changed. Returns
    /// whether the thread has just become known: then it may wait and allocate, as it did.
    #[inline]
    pub(super) fn refresh(&mut self, entered: &Entered) -> bool {
        let has_entered = entered.take_change();
        let is_current = self.is_known && self.epoch == running::epoch() && !has_entered;
        !is_current && self.follow(entered)
    }

    /// Makes the thread known, or takes new routes and leaves old ones.
    #[cold]
    #[inline(never)]
    fn follow(&mut self, entered: &Entered) -> bool {
        self.is_prepared = false;
        if !self.is_known {
            have_end();
            self.is_known = true;
            self.clock = clock::Reader::new();
            running::join(|epoch, sessions| {
                (self.epoch, self.running) = (epoch, count(sessions));
                let own = sessions.iter().filter(|session| entered.is_for(&session.arbiter));
                for RunningArbiter { arbiter, .. } in own {
                    self.push(Route::new(arbiter));
                }
            });
            self.iter().filter_map(Route::arbiter).for_each(|arbiter| arbiter.forget_if_many());
            return true;
        }
        running::with_current(|epoch, sessions| {
            (self.epoch, self.running) = (epoch, count(sessions));
            let mut before = self.first.take();
            while let Some(mut route) = before {
                before = route.next.take();
                if !sessions.iter().any(|session| route.leads_to(&session.arbiter)) {
                    route.leave();
                    continue;
                }
                if let Some(writer) = route.writer() {
                    writer.epoch.store(epoch, Ordering::Relaxed);
                }
                self.push(route);
            }
            for RunningArbiter { arbiter, spares } in sessions {
                if entered.is_for(arbiter) && !self.iter().any(|route| route.leads_to(arbiter)) {
                    self.push(Route::take(arbiter, spares));
                }
            }
        });
        false
    }

    fn push(&mut self, mut route: Box<Route>) {
        route.next = self.first.take();
        self.first = Some(route);
    }

    fn iter(&self) -> impl Iterator<Item = &Route> {
        std::iter::successors(self.first.as_deref(), |route| route.next.as_deref())
    }

    /// Writes a packet to each session that records it. A thread that is new to one waits for its
    /// sequence only if it may.
    pub(super) fn write<P: Packet>(&mut self, head: Head, packet: &P, may_wait: bool) {
        // The clock takes files and time at its first use, which nobody has prepared for a thread
        // that writes to no session itself.
        if self.first.is_none() {
            return;
        }
        if !self.is_prepared {
            self.prepare_for::<P>(head, may_wait);
        }
        let (moment, mut next) = (self.clock.now_later(), self.first.as_deref());
        while let Some(route) = next {
            Self::write_to(route, head, packet, moment);
            next = route.next.as_deref();
        }
    }

    /// Registers the thread with the sessions that record the packet and to which it is new, and
    /// has the clock go on from the latest time that the thread's sequences have.
    #[cold]
    #[inline(never)]
    fn prepare_for<P: Packet>(&mut self, head: Head, may_wait: bool) {
        let (mut are_known, mut next) = (true, self.first.as_deref_mut());
        while let Some(route) = next {
            let mut has_writer = route.writer().is_some();
            if !has_writer && route.arbiter().is_some_and(|it| takes::<P>(it, head)) {
                has_writer = route.register(self.epoch, may_wait);
            }
            are_known &= has_writer;
            self.clock.go_on_from(route.writer().map_or(0, |writer| writer.last()));
            next = route.next.as_deref_mut();
        }
        // Nothing else writes to these sequences then.
        self.is_prepared = are_known && self.running != 1;
    }

    fn write_to<P: Packet>(route: &Route, head: Head, packet: &P, moment: NonZeroU64) {
        let Some(arbiter) = route.arbiter().filter(|it| takes::<P>(it, head)) else { return };
        let Some(writer) = route.writer() else { return route.refuse(head) };
        // Refused if the session has just ended.
        _ = packet.write_with(writer, head, moment, arbiter.collects_stack(head.group()));
    }

    /// Counts a message that a rule held back, in each session that records it, or in all.
    pub(super) fn count_held_back(
        &mut self,
        head: Head,
        for_all: bool,
        reason: HeldBack,
        may_wait: bool,
    ) {
        let (group, mut next) = (head.group(), self.first.as_deref_mut());
        while let Some(route) = next {
            let takes = |arbiter: &Arc<Arbiter>| arbiter.takes(group, head.level(), for_all);
            if route.arbiter().is_some_and(takes) {
                let is_known = route.writer().is_some() || route.register(self.epoch, may_wait);
                match route.writer().filter(|_| is_known) {
                    Some(writer) => writer.count_held_back(head, reason),
                    None => route.refuse(head),
                }
            }
            next = route.next.as_deref_mut();
        }
    }

    /// Has the thread's sequences say how often a message was repeated.
    pub(super) fn report_repeats(&mut self, ended: EndedRepeats) {
        // As in `write`.
        if self.first.is_none() {
            return;
        }
        let last = self.iter().filter_map(Route::writer).map(|writer| writer.last()).max();
        self.clock.go_on_from(last.unwrap_or_default());
        // Chunks that are begun here begin at one moment.
        let moment = Some(self.clock.now_later());
        let writers = self.iter().filter_map(Route::writer);
        writers.for_each(|writer| writer.report_repeats(ended, moment));
    }

    /// Returns the writer to which all messages go that are not pinned: that of the one session
    /// that runs, if it collects no stack traces; else null. While others run, be they of other
    /// threads or of the host that this copy of the runtime has joined, a group's word is not this
    /// session's filter.
    pub(super) fn sole_writer(&self) -> *const Writer {
        if self.running != 1 {
            return std::ptr::null();
        }
        let is_usual = |route: &&Route| !route.arbiter().is_some_and(|it| it.is_pinned());
        let mut usual = self.iter().filter(is_usual);
        let sole = usual.next().filter(|_| usual.next().is_none());
        let collects = |route: &&Route| route.arbiter().is_some_and(|one| one.collects_stacks());
        let writer = sole.filter(|route| !collects(route)).and_then(Route::writer);
        // The host is asked for last: with several sessions each message comes here.
        let writer = writer.filter(|_| copies::host().is_none());
        writer.map_or(std::ptr::null(), Arc::as_ptr)
    }

    /// Returns whether no session runs that takes this thread's messages.
    pub(super) fn are_none(&self) -> bool {
        self.first.is_none()
    }

    /// Returns the epoch of which that holds.
    pub(super) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Finishes the thread's writers in all sessions.
    fn end(&mut self) {
        let mut next = self.first.take();
        while let Some(mut route) = next {
            next = route.next.take();
            route.finish();
        }
        if self.is_known {
            running::leave();
        }
    }
}

/// Returns whether a session records a packet.
#[inline]
fn takes<P: Packet>(arbiter: &Arbiter, head: Head) -> bool {
    let (group, level) = (head.group(), head.level());
    match (P::IS_MESSAGE, P::IS_FOR_ALL) {
        (true, false) => arbiter.is_enabled(group, level),
        (true, true) => arbiter.takes(group, level, true),
        (false, false) => arbiter.takes_span(group, level),
        (false, true) => !arbiter.is_pinned(),
    }
}

/// The number of sessions among those that run.
fn count(running: &[RunningArbiter]) -> usize {
    running.iter().filter(|one| !one.arbiter.is_pinned()).count()
}
