//! Sessions that go on in forked children ([`Builder::follow_forks`]), each in a file of the
//! child's own.
//!
//! A child has none of its parent's threads, and the parent's files are the parent's. So the
//! child's part, its *heir*, is a session like any other, with the parent's settings. Nothing is
//! done at the fork, where nothing may be allocated and most children run another program. The
//! heirs start with the child's first message that the parent's sessions would record, or with its
//! first call of a method of the parent's session.
//!
//! Invariants
//! - A will is good while its session runs. A child finds those of its parent, and takes all of
//!   them at once; but none of a session that it dropped, and none after it started a session of
//!   its own.
//! - The lock is held while heirs start, so that a message or call of another thread waits for
//!   them. No lock is taken before it, and it is taken neither in a child whose fork is incomplete,
//!   nor between the handlers of this thread's own fork, which hold it.

use crate::error::Error;
use crate::session::builder::Builder;
use crate::session::life::active::Active;
use crate::session::life::{forked, signals};
use crate::sys::create::random;
use crate::sys::fork::{self, ForkLock, Order};
use crate::sys::process::asked_id;
use crate::text_queue;
use crate::writer::guarded;
use protolog_files::Refused;
use std::mem;
use std::sync::{Arc, Weak};

/// A session, and the settings of its heirs.
struct Will {
    session: Weak<Active>,
    /// The process that the session is of.
    process: u32,
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

impl Heirs {
    fn allow(&mut self, active: &Arc<Active>, settings: Builder) {
        let (session, process) = (Arc::downgrade(active), active.core.pid);
        self.wills.push(Will { session, process, settings });
    }

    /// Returns the heir of `active`, in any process.
    fn next(&self, active: &Active) -> Option<&Arc<Active>> {
        let session = active.core.owner.session_id;
        self.heirs.iter().find(|heir| heir.of == session).map(|heir| &heir.active)
    }
}

/// Calls `f` with the lock held; none where it can't be taken.
fn locked<R>(f: impl FnOnce(&mut Heirs) -> R) -> Option<R> {
    if fork::is_incomplete() {
        return None;
    }
    guarded(|| HEIRS.lock_unless_forking().map(|mut all| f(&mut all)))
}

/// Notes that the program has started a session. Forked children go on where it ends for them, if
/// there are `settings`; and this process does not go on any more where its parent's sessions end.
pub(super) fn note_start(active: &Arc<Active>, settings: Option<Builder>) {
    if settings.is_some() {
        forked::go_on_with(start);
    }
    locked(|all| {
        let process = active.core.pid;
        all.wills.retain(|will| will.process == process && will.session.strong_count() > 0);
        if let Some(settings) = settings {
            all.allow(active, settings);
        }
    });
}

/// Starts the heirs of the parent's sessions in a forked child, unless that was done. Returns
/// whether there are any that run.
pub(in crate::session) fn start() -> bool {
    let process = asked_id();
    let has_begun = locked(|all| {
        let mut has_any = false;
        for Will { session, process: whose, settings } in mem::take(&mut all.wills) {
            let Some(session) = session.upgrade() else { continue };
            if whose == process {
                all.allow(&session, settings);
                continue;
            }
            has_any = true;
            match start_heir(&settings, process) {
                Ok(active) => {
                    all.allow(&active, settings);
                    all.heirs.push(Heir { of: session.core.owner.session_id, active });
                }
                Err(error) => report(process, &error),
            }
            // To drop the parent's session might wait for a thread that is not here.
            mem::forget(session);
        }
        has_any
    });
    if has_begun == Some(true) {
        if let Err(error) = signals::follow() {
            report(process, &error);
        }
        forked::run_on_follow();
    }
    let runs_here = |heir: &Heir| heir.active.core.pid == process;
    locked(|all| all.heirs.iter().any(runs_here)).unwrap_or(false)
}

/// Starts the session of a child. The name of its file is easy to guess, and where everybody may
/// make files, another user may have it: then it gets one that nobody guesses.
fn start_heir(settings: &Builder, process: u32) -> Result<Arc<Active>, Error> {
    let start = |label: &str| settings.clone().for_child(label).start_active();
    match start(&process.to_string()) {
        Err(Error::File { error, .. }) if Refused::of(&error).is_some() => {
            start(&format!("{process}-{:016x}", random()))
        }
        started => started,
    }
}

/// Returns the session that goes on in this process for `active`, which is its parent's or that of
/// a process further up.
pub(in crate::session) fn of(active: &Arc<Active>) -> Option<Arc<Active>> {
    let process = asked_id();
    locked(|all| {
        let mut at = active;
        while at.core.pid != process {
            at = all.next(at)?;
        }
        Some(Arc::clone(at))
    })
    .flatten()
}

/// A session has ended: a child forked from now on has nothing to go on with.
pub(in crate::session) fn forget(ended: &Arc<Active>) {
    revoke(ended);
    locked(|all| all.heirs.retain(|heir| !Arc::ptr_eq(&heir.active, ended)));
}

/// A session records no more, whether or not its file could be written: the same holds for it,
/// though the program may have it still.
pub(in crate::session) fn revoke(ended: &Arc<Active>) {
    locked(|all| all.wills.retain(|will| will.session.as_ptr() != Arc::as_ptr(ended)));
}

/// The program has dropped `active`, which is its parent's or that of a process further up: nothing
/// goes on for it here.
pub(in crate::session) fn renounce(active: &Arc<Active>) {
    locked(|all| {
        let mut next = Some(Arc::clone(active));
        while let Some(dropped) = next {
            all.wills.retain(|will| will.session.as_ptr() != Arc::as_ptr(&dropped));
            next = all.next(&dropped).cloned();
            // To drop the parent's session might wait for a thread that is not here.
            mem::forget(dropped);
        }
    });
}

fn report(process: u32, error: &Error) {
    let help = error.help();
    let line = format!(
        "protolog: process {process} was forked from one that records, and can't go on: {error}\nhelp: {help}\n"
    );
    text_queue::write_line(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;
    use crate::sys::fork::testing::check_child;
    use protolog_testkit::temp_dir;

    #[test]
    fn what_an_operator_starts_in_a_child_ends_nothing() {
        let dir = temp_dir();
        let at = |name: &str| Session::builder().file(dir.path().join(name));
        let begin = || -> Box<dyn FnOnce()> {
            let session = at("app.pftrace").follow_forks().start().expect("start");
            Box::new(move || drop(session))
        };
        let child = || {
            let trace = at("trace.pftrace").for_operator().start().expect("start");
            let goes_on = start();
            drop(trace);
            goes_on
        };
        let name =
            "session::builder::heirs::tests::what_an_operator_starts_in_a_child_ends_nothing";
        check_child(name, begin, child);
    }
}
