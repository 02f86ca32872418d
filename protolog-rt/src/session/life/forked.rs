//! A forked child of a parent that records. The sessions are the parent's: its thread writes their
//! files, and the child has none of them.
//!
//! So messages of the child are recorded nowhere until a session starts in it: its own, or one that
//! goes on for a session of the parent ([`crate::session::builder::heirs`]). A program that becomes
//! a daemon after its start may not know. Where no session goes on, the child's first message that
//! the parent's sessions would record says so in a line on standard error, and switches all levels
//! off for sessions; [`Summary::why_empty`](crate::Summary::why_empty) and operators get the same
//! answer.
//!
//! Invariant: nothing is said in a child that logs nothing, such as one that runs another program,
//! or after it started a session.

use crate::session::arbiter::session_arbiter::Core;
use crate::sync::{AtomicBool, Ordering};
use crate::sys::once::ForkOnce;
use crate::sys::process::asked_id;
use crate::text_queue;
use crate::writer;

/// The reason why a session of the parent has no message of the child.
pub(in crate::session) const WHY_EMPTY: &str =
    "the session is that of the parent process; start one in the child";

/// The answer for operators.
pub(crate) const PROBLEM: &str = "this process was forked from one that records: its own messages are not recorded, since no session was started in it";

/// True in a forked child whose parent records, as long as no session runs here.
static IS_INHERITED: AtomicBool = AtomicBool::new(false);

/// The parent's sessions report what they lose.
static REPORTS: AtomicBool = AtomicBool::new(false);

/// Returns whether the sessions that the program has started are those of the process that this one
/// was forked from.
pub(crate) fn is_inherited() -> bool {
    IS_INHERITED.load(Ordering::Relaxed)
}

/// The function that begins the rest in a child in which sessions go on.
static ON_FOLLOW: ForkOnce<fn()> = ForkOnce::new();

/// Sets the function that begins the rest in a child in which sessions go on. There is one.
pub(crate) fn on_follow(function: fn()) {
    let _ = ON_FOLLOW.set(function);
}

/// Begins it.
pub(in crate::session) fn run_on_follow() {
    ON_FOLLOW.get().into_iter().for_each(|function| function());
}

/// Notes that a session runs in this process.
pub(in crate::session) fn add() {
    writer::running::on_first_message_of_child(on_first_message);
    IS_INHERITED.store(false, Ordering::Relaxed);
}

/// In a forked child of a process with `sessions`. Takes no lock and allocates nothing.
pub(in crate::session) fn inherit<'a>(sessions: impl Iterator<Item = &'a Core>) {
    let (mut reports, mut any) = (false, false);
    for session in sessions {
        reports |= session.owner.reports_losses && !session.owner.is_for_operator;
        any = true;
    }
    // A child of a child has nothing more to inherit.
    if any {
        IS_INHERITED.store(true, Ordering::Relaxed);
        REPORTS.store(reports, Ordering::Relaxed);
    }
}

/// Starts the heirs of the parent's sessions, and returns whether there are any.
static GO_ON: ForkOnce<fn() -> bool> = ForkOnce::new();

/// Sets the function that starts the heirs of the parent's sessions, and returns whether there are
/// any. There is one.
pub(in crate::session) fn go_on_with(function: fn() -> bool) {
    let _ = GO_ON.set(function);
}

/// The child's first message that the parent's sessions would record. Returns whether it is to be
/// written once more.
fn on_first_message() -> bool {
    let goes_on = GO_ON.get().is_some_and(|function| function());
    if !goes_on && writer::running::end_search() {
        report();
    }
    goes_on
}

fn report() {
    if REPORTS.load(Ordering::Relaxed) {
        let pid = asked_id();
        let line = format!(
            "protolog: process {pid} was forked from one that records: its own messages are not recorded, from this one on; start \
             a session in it\n"
        );
        text_queue::write_line(line.as_bytes());
    }
    writer::running::switch_off();
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::sys::fork::testing::{become_incomplete, check_child};
    use crate::text::{RotatingFile, set_sink};
    use crate::{Init, Level, Session, level};
    use std::time::Duration;

    extern "C" fn changed() {}

    /// Every call of a program in the child of a fork that got none of the locks ends, and one that
    /// can't work is an error.
    #[test]
    fn a_child_without_the_locks_waits_for_nobody() {
        let dir = protolog_testkit::temp_dir_for_sockets();
        let path = |name: &str| dir.path().join(name);
        let begin =
            || Session::builder().file(path("parent.pftrace")).log_from(Level::Info).start();
        let session = begin().expect("start");
        let group = level::register_guest(("Known", "Known"), (true, true), changed);
        let init = || Init::new().persistent_settings(false).directory(path("run")).start();
        let prepare = || {
            init().expect("listen");
            set_sink(RotatingFile::open(path("app.log"), 1 << 16, 2).expect("a file"))
                .expect("a sink");
            level::set_text(group, 0b111);
            Box::new(|| ()) as Box<dyn FnOnce()>
        };
        let child = || {
            become_incomplete();
            level::set_text(group, 0b11);
            level::register_guest(("Late", "Late"), (true, true), changed);
            assert!(!crate::text::flush(Duration::from_millis(1)));
            assert!(init().is_err());
            assert!(matches!(begin(), Err(Error::IncompleteFork)));
            assert!(matches!(session.flush(), Err(Error::Forked)));
            matches!(session.stop(), Err(Error::Forked))
        };
        check_child(
            "session::forked::tests::a_child_without_the_locks_waits_for_nobody",
            prepare,
            child,
        );
    }
}
