//! One log call, to everybody who wants it: the sessions, by the write path, and the text output.

#![allow(clippy::inline_always)] // The parts of a site are immediates only where this is inlined.

use crate::log::{Values, trace};
use crate::note::NoteRef;
use crate::site::{Site, Subject};
use crate::text;
use crate::writer::{self, Head};
use std::borrow::Borrow;

/// Logs `values` at `site`, to whoever wants it.
#[inline(always)]
pub(crate) fn emit<V: Values>(site: Site, values: V) {
    log(site.id, site.subject, site.note, values);
}

/// One copy for all calls with arguments of the same types; the parts of the site come in registers.
#[inline(never)]
#[allow(clippy::needless_pass_by_value)] // A reference would send the values through memory.
fn log<V: Values>(id: u64, subject: Subject, note: NoteRef, values: V) {
    let head = Head { id, subject };
    // Two words come in registers, and stay there if nothing borrows them: what is out of line gets them by value. More come in
    // memory.
    if const { size_of::<V>() <= 2 * size_of::<usize>() } {
        log_by::<V, V>(head, note, values);
    } else {
        log_by::<V, &V>(head, note, &values);
    }
}

/// `values` are the values or a reference to them.
#[inline(always)]
fn log_by<V: Values, P: Borrow<V> + Copy>(head: Head, note: NoteRef, values: P) {
    if head.subject.is_trace_only() {
        writer::write_quick::<V, P>(head, values);
    } else {
        show::<V, P>(head, note, values);
    }
}

/// Not only sessions want the message, or none does any more.
#[cold]
#[inline(never)]
fn show<V: Values, P: Borrow<V>>(head: Head, note: NoteRef, values: P) {
    let values = values.borrow();
    let (group, level) = head.subject.parts();
    if group.is_text_enabled(level) {
        text::emit_text(head.id, level, group.tag, note.bytes(), values);
    }
    trace(head.id, level, group, values);
}
