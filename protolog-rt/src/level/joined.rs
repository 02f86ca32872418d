//! Groups of a copy of this runtime that has joined another one, the host ([`copies`]).
//!
//! Each enum registers with both. The host has a group of the same name for each of its groups, and
//! sets that one's word as it does all others; this copy takes the words over whenever the host
//! says that they may have changed. So a call of a library tests a word of the library, and it is
//! on where any session of the host, or of the library itself, records.
//!
//! Invariant: no lock of this copy is held while the host is asked for anything. Either copy's
//! locks may come first in a fork.

use super::at_host::AtHost;
use super::group::{GroupInfo, GroupSet};
use crate::sync::{AtomicBool, Ordering};
use crate::sys::copies::{self, Apart, NewGroup};
use crate::sys::pin;
use crate::text_queue;
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait for another thread that registers the same enum.
const LIMIT: Duration = Duration::from_millis(100);

/// Finds out whether there is a host, and says once if it can't be joined.
pub(crate) fn look() {
    if let Some(Apart { own, host }) = copies::look() {
        let text = format!(
            "protolog: `{own}` has a runtime of its own, which can't join that of `{host}`: its messages are in no trace of the program, \
             and operators do not see its groups\n\
             help: build both with one version of protolog-rt, or start a session within the library\n"
        );
        text_queue::write_line(text.as_bytes());
    }
}

/// As [`look`], for a session that starts. Says once if it lacks messages of the program that it is
/// in: a copy that has joined records its own ones, and the linker chose the host.
pub(crate) fn look_for_session() {
    look();
    static IS_SAID: AtomicBool = AtomicBool::new(false);
    let Some(module) = copies::module_of_both() else { return };
    if IS_SAID.swap(true, Ordering::Relaxed) {
        return;
    }
    let text = format!(
        "protolog: `{module}` has two copies of protolog-rt inside: this session records the messages of one, and \
         the sessions of the other record those of both\n\
         help: have one version of protolog-rt in the program, see `cargo tree --duplicates`\n"
    );
    text_queue::write_line(text.as_bytes());
}

/// Registers the groups of an enum with the host, if there is one. Another thread that does the
/// same is waited for.
pub(super) fn register(set: &'static GroupSet) {
    look();
    let Some(host) = copies::host() else { return };
    if set.is_joining.swap(true, Ordering::AcqRel) {
        // Not for ever: a forked child may not have that thread.
        let end = Instant::now() + LIMIT;
        while set.at_host.get().is_none() && Instant::now() < end {
            thread::yield_now();
        }
        return;
    }
    // The host calls it from now on. The groups need not be in its module.
    pin::keep_runtime_loaded();
    let register = |group: &GroupInfo| {
        let GroupInfo { name, tag, compiled, log_to_text, .. } = *group;
        let new = NewGroup { name, tag, compiled, log_to_text };
        AtHost::register(host, new, host_has_changed)
    };
    let _ = set.at_host.set(set.groups().iter().map(register).collect());
}

/// Called by the host when a word of its may have changed.
extern "C" fn host_has_changed() {
    super::follow_host();
}
