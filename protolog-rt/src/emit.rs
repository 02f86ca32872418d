//! One log call, to everybody who wants it: the sessions, by the write path, and the text output.

#![allow(clippy::inline_always)] // The parts of a site are immediates only where this is inlined.

use crate::log::{FastArgs, trace};
use crate::note::NoteRef;
use crate::site::{Site, Subject};
use crate::text;
use crate::writer::{self, Head};
use std::borrow::Borrow;

/// Logs `args` at `site`, to the sessions and the text output.
#[inline(always)]
pub(crate) fn emit<A: FastArgs>(site: Site, args: A) {
    log(site.id, site.subject, site.note, args);
}

/// One copy for all calls with arguments of the same types; the parts of the site come in registers.
#[inline(never)]
#[allow(clippy::needless_pass_by_value)] // A reference would send the arguments through memory.
fn log<A: FastArgs>(id: u64, subject: Subject, note: NoteRef, args: A) {
    let head = Head { id, subject };
    // Two words come in registers, and stay there if nothing borrows them: what is out of line gets them by value. More come in
    // memory.
    if const { size_of::<A>() <= 2 * size_of::<usize>() } {
        log_by::<A, A>(head, note, args);
    } else {
        log_by::<A, &A>(head, note, &args);
    }
}

/// `args` are the arguments or a reference to them.
#[inline(always)]
fn log_by<A: FastArgs, R: Borrow<A> + Copy>(head: Head, note: NoteRef, args: R) {
    if head.subject.is_trace_only() {
        writer::write_message::<A, R>(head, args);
    } else {
        show::<A, R>(head, note, args);
    }
}

/// The text output takes the message too, or no session does any more.
#[cold]
#[inline(never)]
fn show<A: FastArgs, R: Borrow<A>>(head: Head, note: NoteRef, args: R) {
    let args = args.borrow();
    let (group, level) = head.subject.parts();
    if group.is_text_enabled(level) {
        text::emit_text(head.id, level, group.tag, note.bytes(), args);
    }
    trace(head.id, level, group, args);
}
