//! The entrance for call sites of other languages, which `protolog-c` passes on. Not part of the
//! API: it changes with that crate, which is pinned to this version.
//!
//! Such a call tests its group's word as a call of Rust does, and has a note with its format
//! string. The id of its message follows from the note.

use crate::dynamic;
use crate::emit::emit;
use crate::level::rules::take_kept;
use crate::log::{Passed, ask_id, pass_asked, trace_passed, write_slice};
use crate::site::{self, Site};
use crate::sys::errno::KeptErrno;
use crate::text;
use crate::writer::Head;
use crate::writer::arg_slice::ArgSlice;
use protolog_core::{Arg, Level};

pub use crate::level::{GroupInfo, SwitchPage, declare, register_groups};
pub use crate::log::FastArgs;
pub use crate::site::ForeignSite;
pub use crate::value::{Float, Int, Str};

/// Logs `args`, whose number and kinds are those of the message's template, at a call that found
/// its level enabled.
#[allow(clippy::inline_always)] // As `emit`.
#[inline(always)]
pub fn log<A: FastArgs>(site: ForeignSite, args: A) {
    emit(site.0, args);
}

/// As [`log`], for arguments whose number and kinds are known at run time only.
pub fn log_slice(site: ForeignSite, args: &[Arg<'_>]) {
    let Site { id, group_level, .. } = site.0;
    let is_usual = group_level.is_trace_only();
    if !is_usual || !write_slice(Head { id, group_level }, args) {
        log_any(site, args);
    }
}

/// As [`log_slice`], for a message that is printed too, or of a group with rules for single calls.
#[cold]
fn log_any(site: ForeignSite, args: &[Arg<'_>]) {
    let _errno = KeptErrno::new();
    let site = site.0;
    let (group, level) = site.group_level.parts();
    let key = site::key(site.note, site.id);
    let (state, head) = (group.rule_of(key), Head { id: site.id, group_level: site.group_level });
    let Some(passed) = pass_asked(head, key, state, &ArgSlice(args)) else { return };
    if passed.state.is_printed(group.is_text_enabled(level)) {
        text::emit_text(site.id, level, group.tag, site.note.bytes(), &ArgSlice(args));
    }
    trace_passed(site.id, level, group, args, passed);
}

/// Logs a message whose template is in no note that a reader can read.
pub fn log_dynamic(site: ForeignSite, template: &str, args: &[Arg<'_>]) {
    let (group, level) = site.0.group_level.parts();
    match take_kept(site.0.id, || group.has_rules()) {
        None => dynamic::log_to(group, level, template, args),
        // It was sampled once.
        rate => {
            let passed = Passed { state: group.rule_of(site.0.id), rate, is_repeat: false };
            dynamic::log_passed(group, level, (template, args), passed);
        }
    }
}

/// Prints the messages of a group from `level` on; `None` prints none.
pub fn print(group: &'static GroupInfo, level: Option<Level>) {
    text::print_info(group, level);
}

/// Returns whether a call is on, of a group that has rules, or that was not registered when its
/// word was read.
pub fn is_on(site: ForeignSite) -> bool {
    // A note of C has no key of its own.
    ask_id(site.0.group_level, site.0.id)
}
