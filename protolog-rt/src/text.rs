//! The text side: messages as lines on standard error, in logcat's threadtime form.

use crate::log::Values;
use crate::site::Site;

/// Prints the message with `values` at `site`.
#[cold]
pub(crate) fn emit_text<V: Values>(_site: Site, _values: &V) {}
