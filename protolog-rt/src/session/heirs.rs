//! Sessions that go on in forked children ([`Builder::follow_forks`]), each in a file of the child's own.
//!
//! A child has none of its parent's threads, and the parent's files are the parent's. So the child's part, its *heir*, is a session
//! like any other, with the parent's settings. Nothing is done at the fork, where nothing may be allocated and most children run
//! another program: the heirs start with the child's first message that the parent's sessions would record, or with its first
//! call of a method of the parent's session.
//!
//! Invariants
//! - A will is good while its session runs. A child finds those of its parent, and takes all of them at once.
//! - The lock is held while heirs start, so that a message or call of another thread waits for them. No lock is taken before it, and
//!   it is not taken in a child whose fork is incomplete.

use super::Builder;
use super::active::Active;
use super::forked;
use crate::error::Error;
use crate::sys::fork::{self, ForkLock, Order};
use crate::text_queue;
use crate::writer::guarded;
use std::mem;
use std::sync::{Arc, Weak};

/// A session, and the settings of its heirs.
struct Will {
    session: Weak<Active>,
    settings: Builder,
}

/// A session of this process that goes on for one of its parent's.
struct Heir {
    /// The parent's session.
    of: [u8; 16],
    active: Arc<Active>,
}

/// See the module.
struct Heirs {
    wills: Vec<Will>,
    heirs: Vec<Heir>,
}

static HEIRS: ForkLock<Heirs> =
    ForkLock::new(Order::Heirs, Heirs { wills: Vec::new(), heirs: Vec::new() });

/// Lets forked children go on where this session ends for them, with `settings`.
pub(super) fn allow(active: &Arc<Active>, settings: Builder) {
    forked::go_on_with(start);
    let will = Will { session: Arc::downgrade(active), settings };
    guarded(|| {
        let mut all = HEIRS.lock();
        all.wills.retain(|will| will.session.strong_count() > 0);
        all.wills.push(will);
    });
}

/// Starts the heirs of the parent's sessions in a forked child, unless that was done. Returns whether there are any that run.
pub(super) fn start() -> bool {
    if fork::is_incomplete() {
        return false;
    }
    let process = std::process::id();
    let has_begun = guarded(|| {
        let mut all = HEIRS.lock();
        let mut has_any = false;
        for Will { session, settings } in mem::take(&mut all.wills) {
            let Some(session) = session.upgrade() else { continue };
            if session.core.pid == process {
                all.wills.push(Will { session: Arc::downgrade(&session), settings });
                continue;
            }
            has_any = true;
            match settings.clone().for_child(process).start_active() {
                Ok(active) => {
                    all.wills.push(Will { session: Arc::downgrade(&active), settings });
                    all.heirs.push(Heir { of: session.core.owner.session_id, active });
                }
                Err(error) => report(process, &error),
            }
            // To drop the parent's session might wait for a thread that is not here.
            mem::forget(session);
        }
        has_any
    });
    if has_begun {
        forked::run_on_follow();
    }
    guarded(|| HEIRS.lock().heirs.iter().any(|heir| heir.active.core.pid == process))
}

/// Returns the session that goes on in this process for `active`, which is its parent's or that of a process further up.
pub(super) fn of(active: &Arc<Active>) -> Option<Arc<Active>> {
    if fork::is_incomplete() {
        return None;
    }
    let process = std::process::id();
    guarded(|| {
        let all = HEIRS.lock();
        let mut at = active;
        while at.core.pid != process {
            let session = at.core.owner.session_id;
            at = &all.heirs.iter().find(|heir| heir.of == session)?.active;
        }
        Some(Arc::clone(at))
    })
}

/// A session has ended: whoever is forked from now on has nothing to go on with.
pub(super) fn forget(ended: &Arc<Active>) {
    if !fork::is_incomplete() {
        guarded(|| HEIRS.lock().heirs.retain(|heir| !Arc::ptr_eq(&heir.active, ended)));
    }
}

fn report(process: u32, error: &Error) {
    let help = error.help();
    let line = format!(
        "protolog: process {process} was forked from one that records, and can't go on: {error}\nhelp: {help}\n"
    );
    text_queue::write_line(line.as_bytes());
}
