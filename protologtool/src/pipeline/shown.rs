//! The calls of a source as editors and tests show them.
//!
//! Invariant: each is a call that is rewritten.

use crate::call::Call;
use protolog_core::{Level, Template};
use std::ops::Range;

/// A call that can be rewritten, for display.
#[derive(Clone, Debug)]
pub struct ShownCall {
    /// The whole call.
    pub range: Range<usize>,
    /// The expression that gives the template.
    pub template_range: Range<usize>,
    /// The arguments.
    pub args: Vec<Range<usize>>,
    /// The level.
    pub level: Level,
    /// The group, as its position in [`Groups`](crate::groups::Groups).
    pub group: usize,
    /// The id of its message.
    pub id: u64,
    /// The template's text.
    pub template: String,
    /// The list of the arguments' names.
    pub names: String,
}

impl ShownCall {
    pub(super) fn of<S>(call: &Call<S>, id: u64, (template, names): (&Template<'_>, &str)) -> Self {
        Self {
            range: call.range.clone(),
            template_range: call.template_range.clone(),
            args: call.args.clone(),
            level: call.level,
            group: call.group,
            id,
            template: template.text().to_owned(),
            names: names.to_owned(),
        }
    }
}
