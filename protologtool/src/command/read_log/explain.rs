//! The reason why a trace has no message, or none of a group, on standard error.

use crate::system::System;
use protolog_reader::{Log, printable};

/// Says why the trace has no message, or which names in the filter of its session no group has.
pub(super) fn explain(log: &Log, system: &dyn System) {
    if let Some((reason, help)) = log.why_empty() {
        system.print_error(&format!("0 messages: {reason}\nhelp: {help}\n"));
        return;
    }
    for sentence in log.unknown_groups() {
        system.print_error(&format!("note: {}\n", printable(&sentence)));
    }
}
