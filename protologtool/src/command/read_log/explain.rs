//! The reason why a trace has no message, or none of a group, on standard error; and that there are spans, which are shown if asked for.

use super::input::hint_of_content;
use crate::system::System;
use protolog_reader::{Log, printable};

/// Says why the trace has no message, or which names in the filter of its session no group has.
pub(super) fn explain(log: &Log, are_spans_shown: bool, system: &dyn System) {
    // Of a trace of other programs, something else is said.
    let are_ours = hint_of_content(log).is_empty();
    if log.stats().entries == 0 && log.has_spans() && are_ours && !are_spans_shown {
        system
            .print_error("0 messages: the trace has spans alone\nhelp: show them with `--spans`\n");
    }
    if let Some((reason, help)) = log.why_empty() {
        system.print_error(&format!("0 messages: {reason}\nhelp: {help}\n"));
        return;
    }
    for sentence in log.unknown_groups() {
        system.print_error(&format!("note: {}\n", printable(&sentence)));
    }
}
