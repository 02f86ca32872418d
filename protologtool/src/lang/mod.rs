//! Languages. Each finds log calls in its sources and emits the edits that rewrite them; what is the same for all, such as
//! checking templates and making ids, is in [`crate::pipeline`].
//!
//! To add one: a directory here, a type that implements [`Language`], a line in [`crate::pipeline`], and pairs of texts
//! under `tests/`.

pub mod java;
pub mod kotlin;
pub mod rust;

use crate::call::Call;
use crate::diagnostic::Diagnostic;
use crate::groups::{Group, Groups};
use crate::ids::MessageIds;
use crate::rewrite::{Edit, PlanBuilder};
use crate::source::Source;
use protolog_core::Template;
use std::ops::Range;

/// A language in which log calls are written.
pub trait Language: Sync {
    /// What [`emit`](Self::emit) must know of a call besides what all languages share.
    type Shape;
    /// What it can look up in other inputs.
    type Inputs<'a>;

    /// Whether these bytes can hold a call at all: a quick look that decides whether the file is parsed. May say yes for a
    /// file without calls, never no for one with.
    fn may_call(&self, bytes: &[u8]) -> bool;

    /// What names the file: the place that goes into message ids, and the path of locations.
    fn place(&self, source: &Source) -> String;

    /// The place that goes into the id of a call in the file at `place`.
    fn place_in_ids<'c>(&self, place: &'c str, call: &'c Call<Self::Shape>) -> &'c str {
        let _ = call;
        place
    }

    /// How ids are made, where the run says `ids`.
    fn ids(&self, ids: MessageIds) -> MessageIds {
        ids
    }

    /// All log calls that can be rewritten, in source order, and a diagnostic for each that can't. Without `inputs` the
    /// file is on its own.
    fn find(
        &self,
        source: &Source,
        groups: &Groups,
        inputs: Option<&Self::Inputs<'_>>,
    ) -> Found<Self::Shape>;

    /// Adds the edits that rewrite `call`.
    fn emit(
        &self,
        source: &Source,
        call: &Call<Self::Shape>,
        message: &Message<'_>,
        plan: &mut PlanBuilder,
    );

    /// Adds the edits that a call of another method of the class needs.
    fn redirect(&self, source: &Source, other: &Other, plan: &mut PlanBuilder);

    /// The most arguments that rewritten code can pass.
    fn max_arguments(&self) -> usize;
}

/// What [`Language::find`] found.
#[derive(Clone, Debug)]
pub struct Found<S> {
    /// The calls, in source order.
    pub calls: Vec<Call<S>>,
    /// Calls of other methods of the class, in source order.
    pub others: Vec<Other>,
    /// What else must change for calls to be rewritten.
    pub edits: Vec<Edit>,
    /// What is wrong with log calls.
    pub diagnostics: Vec<Diagnostic>,
}

impl<S> Default for Found<S> {
    fn default() -> Self {
        Self { calls: Vec::new(), others: Vec::new(), edits: Vec::new(), diagnostics: Vec::new() }
    }
}

/// A call of a method of the class that is no log method, such as `isEnabled`.
#[derive(Clone, Debug)]
pub struct Other {
    /// The class's name before the method's; empty, right before the method's name, where it is imported.
    pub class: Range<usize>,
    /// The method's name.
    pub method: Range<usize>,
    /// Number of arguments.
    pub arguments: usize,
}

/// What rewritten code says of a call's message.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The id.
    pub id: u64,
    /// The template.
    pub template: Template<'a>,
    /// The group.
    pub group: &'a Group,
}
