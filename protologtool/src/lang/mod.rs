//! Languages. Each finds log calls in its sources and emits the edits that rewrite them; what is the same for all, such as
//! checking templates and making ids, is in [`crate::pipeline`].
//!
//! To add one: a directory here, a type that implements [`Language`], a line in [`crate::pipeline`], and pairs of texts
//! under `tests/`.

pub mod java;

use crate::call::Call;
use crate::diagnostic::Diagnostic;
use crate::groups::Groups;
use crate::rewrite::PlanBuilder;
use crate::source::Source;
use protolog_core::ParamKind;

/// A language in which log calls are written.
pub trait Language: Sync {
    /// What [`emit`](Self::emit) must know of a call besides what all languages share.
    type Shape;

    /// Whether these bytes can hold a call at all: a quick look that decides whether the file is parsed. May say yes for a
    /// file without calls, never no for one with.
    fn may_call(&self, bytes: &[u8]) -> bool;

    /// The place that goes into message ids: what names the file on every machine alike.
    fn place(&self, source: &Source) -> String;

    /// All log calls that can be rewritten, in source order, and a diagnostic for each that can't.
    fn find(&self, source: &Source, groups: &Groups) -> Found<Self::Shape>;

    /// Adds the edits that rewrite `call`.
    fn emit(
        &self,
        source: &Source,
        call: &Call<Self::Shape>,
        message: &Message<'_>,
        plan: &mut PlanBuilder,
    );
}

/// What [`Language::find`] found.
#[derive(Clone, Debug)]
pub struct Found<S> {
    /// The calls, in source order.
    pub calls: Vec<Call<S>>,
    /// What is wrong with others.
    pub diagnostics: Vec<Diagnostic>,
}

/// What rewritten code says of a call's message.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// The id.
    pub id: u64,
    /// The mask.
    pub mask: u64,
    /// The kinds of the arguments.
    pub kinds: &'a [ParamKind],
    /// Whether the group is compiled in.
    pub enabled: bool,
}
