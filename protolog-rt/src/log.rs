//! The write path, as the rest of the crate enters it.

use crate::level::GroupInfo;
use crate::site::Subject;
use crate::writer::{self, Head};
use protolog_core::Level;

pub use crate::writer::encode::Values;

/// Writes `values` as a message to the sessions that want it.
#[inline]
pub(crate) fn trace<V: Values>(id: u64, level: Level, group: &'static GroupInfo, values: &V) {
    if group.is_trace_enabled(level) {
        writer::write(Head { id, subject: Subject::new(group, level) }, values);
    }
}
