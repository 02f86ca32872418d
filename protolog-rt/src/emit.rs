//! A log call's message, passed to its destinations: the sessions, by the write path, and the text
//! output.

#![allow(clippy::inline_always)] // The parts of a site are immediates only where this is inlined.

use crate::level::rules::SiteState;
use crate::log::{self, FastArgs, trace_by_rule, trace_passed};
use crate::note::NoteRef;
use crate::site::{self, GroupLevel, Site};
use crate::sys::errno::KeptErrno;
use crate::text;
use crate::writer::arg_slice::ArgSlice;
use crate::writer::{self, Head};
use protolog_core::Arg;
use std::borrow::Borrow;

/// Logs `args` at `site`, to the sessions and the text output.
#[inline(always)]
pub(crate) fn emit<A: FastArgs>(site: Site, args: A) {
    log(args, site.note, site.group_level, site.id);
}

/// One instance for all calls with arguments of the same types; the parts of the site arrive in
/// registers. In this order the level comes, behind arguments of two words, in the one from which
/// x86-64 takes the number of a shift.
#[inline(never)]
#[allow(clippy::needless_pass_by_value)] // A reference would send the arguments through memory.
fn log<A: FastArgs>(args: A, note: NoteRef, group_level: GroupLevel, id: u64) {
    let head = Head { id, group_level };
    // Two words arrive in registers, and stay there as long as nothing borrows them, so out-of-line
    // code gets them by value. More arrive in memory.
    if const { size_of::<A>() <= 2 * size_of::<usize>() } {
        log_by::<A, A>(head, note, args);
    } else {
        log_by::<A, &A>(head, note, &args);
    }
}

/// `args` are the arguments, or a reference to them.
#[inline(always)]
fn log_by<A: FastArgs, R: Borrow<A> + Copy>(head: Head, note: NoteRef, args: R) {
    if head.group_level.is_trace_only() {
        writer::write_message::<A, R>(head, args);
    } else {
        emit_with_text::<A, R>(head, note, args);
    }
}

/// The rest: the text output takes the message too, no session does any more, or its group has
/// calls with rules.
#[cold]
#[inline(never)]
fn emit_with_text<A: FastArgs, R: Borrow<A>>(head: Head, note: NoteRef, args: R) {
    // To write text to a terminal begins with attempts that fail.
    let _errno = KeptErrno::new();
    let args = args.borrow();
    let rule = log::state(head, note);
    if log::may_be_sampled(rule) {
        return log::with_slice(args, |args| emit_sampled(head, note, rule, args));
    }
    let (group, level) = head.group_level.parts();
    if rule.is_printed(group.is_text_enabled(level)) {
        text::emit_text(head.id, level, group.tag, note.bytes(), args);
    }
    trace_by_rule(head.id, level, group, args, rule);
}

/// As [`emit_with_text`], for a message that a rate or its arguments may decide about. One function
/// for all calls, so that those which have only a limit carry nothing of it.
#[cold]
#[inline(never)]
fn emit_sampled(head: Head, note: NoteRef, rule: SiteState, args: &[Arg<'_>]) {
    let (group, level) = head.group_level.parts();
    let key = site::key(note, head.id);
    let Some(passed) = log::pass_asked(head, key, rule, &ArgSlice(args)) else { return };
    if passed.state.is_printed(group.is_text_enabled(level)) {
        text::emit_text(head.id, level, group.tag, note.bytes(), &ArgSlice(args));
    }
    trace_passed(head.id, level, group, args, passed);
}
