//! Languages. Each finds log calls in its sources and emits the edits that rewrite them; work that
//! is the same for all, such as checking templates and making ids, is in [`crate::pipeline`].
//!
//! To add one: a directory here, a type that implements [`Language`], a [`Kind`] with its line in
//! [`crate::pipeline`], and pairs of texts under `tests/`.

pub(crate) mod functions;
pub mod java;
pub mod jvm;
pub mod kotlin;
pub(crate) mod migration;
mod near;
pub mod rust;

use crate::call::Call;
use crate::call_counts::CallCounts;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::groups::{Group, Groups};
use crate::ids::MessageIds;
use crate::lang::java::{Classes, Java, Library, TypeId, Unit};
use crate::lang::jvm::constants::{ConstantEffort, KnownConstants};
use crate::lang::jvm::lookups::Lookups;
use crate::lang::kotlin::{KotlinLibrary, OtherFiles};
use crate::rewrite::{Edit, PlanBuilder};
pub use crate::source::Kind;
use crate::source::Source;
use crate::system::System;
use jvm::rivals::{self, Rival, RivalKind, Rivals, TYPES_OF_KOTLIN};
use jvm::span_methods;
use jvm::wrapper::{Wrapper, Wrappers};
use protolog_core::{Level, Template};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The inputs of a run, where names of one file lead to others.
pub struct Inputs<'a> {
    pub(crate) system: &'a dyn System,
    pub(crate) library: Library<'a>,
    pub(crate) kotlin: KotlinLibrary<'a>,
    /// The functions that pass templates on; none before the files were looked at.
    pub(crate) wrappers: Option<&'a Wrappers>,
    paths: &'a [PathBuf],
    /// The names that log calls rely on, and other declarations in the inputs with these names.
    names: Vec<String>,
    rivals: OnceLock<Rivals>,
    /// The constants of Java that Kotlin asked for.
    values_of_java: KnownConstants,
}

impl<'a> Inputs<'a> {
    /// The files at `paths`, read through `system`.
    pub fn new(system: &'a dyn System, paths: &'a [PathBuf]) -> Self {
        let (library, kotlin) = (Library::new(system, paths), KotlinLibrary::new(system, paths));
        let (names, rivals) = (Vec::new(), OnceLock::new());
        let values_of_java = KnownConstants::default();
        Self { system, library, kotlin, wrappers: None, paths, names, rivals, values_of_java }
    }

    /// With the names that calls rely on: of the class, its methods, and the groups.
    #[must_use]
    pub fn relying_on(self, java: &Java, groups: &Groups) -> Self {
        const OTHERS: [&str; 8] =
            ["invoke", "toInt", "toLong", "toShort", "toByte", "toBoolean", "toDouble", "toFloat"];
        let simple = |class: &str| class.rsplit('.').next().unwrap_or(class).to_owned();
        let methods = Level::ALL.into_iter().map(|level| level.method().to_owned());
        let others = OTHERS.iter().chain(&TYPES_OF_KOTLIN).copied().chain(span_methods());
        let mut names: Vec<String> = methods.chain(others.map(str::to_owned)).collect();
        names.extend([simple(java.protolog()), simple(groups.class())]);
        names.extend(groups.list().iter().map(|group| group.name.clone()));
        names.retain(|name| !name.is_empty());
        names.sort_unstable();
        names.dedup();
        Self { names, ..self }
    }

    /// The declarations of the inputs that have this name.
    pub(crate) fn rivals(&self, name: &str) -> &[Rival] {
        let made = || rivals::search(self.system, self.paths, &self.names, package_of);
        self.rivals.get_or_init(made).get(name).map_or(&[], Vec::as_slice)
    }

    /// With the functions of all files that pass templates on.
    #[must_use]
    pub fn with_wrappers(self, wrappers: &'a Wrappers) -> Self {
        Self { wrappers: Some(wrappers), ..self }
    }

    /// Returns whether a source may call a function that passes a template on.
    pub(crate) fn may_pass(&self, bytes: &[u8]) -> bool {
        self.wrappers.is_some_and(|wrappers| wrappers.may_be_called(bytes))
    }
}

impl OtherFiles for Inputs<'_> {
    fn constant(&self, canonical: &str, depth: usize, effort: &ConstantEffort) -> Option<String> {
        let of_kotlin = self.kotlin.constant(canonical, depth, effort, self);
        of_kotlin.or_else(|| {
            let find = |most| java::constant_text(self, canonical, (depth, most));
            self.values_of_java.get(canonical, depth, effort, find)
        })
    }

    fn inherits(&self, supertypes: &[String], name: &str) -> bool {
        self.kotlin.inherits(supertypes, name)
    }

    fn rivals(&self, name: &str) -> &[Rival] {
        Inputs::rivals(self, name)
    }
}

impl Classes for Inputs<'_> {
    fn class(&self, canonical: &str) -> Option<(Arc<Unit<'static>>, TypeId)> {
        self.library.class(canonical)
    }

    fn secondary(&self, package: &str, name: &str) -> Option<(Arc<Unit<'static>>, TypeId)> {
        self.library.secondary(package, name)
    }

    fn constant_of_kotlin(
        &self,
        canonical: &str,
        depth: usize,
        effort: &ConstantEffort,
    ) -> Option<String> {
        let is_text = self.kotlin.is_text(canonical);
        is_text.then(|| self.kotlin.constant(canonical, depth, effort, self))?
    }

    fn method_of_kotlin(&self, name: &str) -> Option<PathBuf> {
        let is_method =
            |it: &&Rival| it.language == Kind::Kotlin && matches!(it.kind, RivalKind::Function(_));
        Inputs::rivals(self, name).iter().find(is_method).map(|it| it.path.clone())
    }
}

impl fmt::Debug for Inputs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inputs").field("library", &self.library).finish_non_exhaustive()
    }
}

/// The package of a source of this language, as its header says.
fn package_of(language: Kind, text: &[u8]) -> String {
    match language {
        Kind::Kotlin => {
            kotlin::package::package(&String::from_utf8_lossy(text)).unwrap_or_default()
        }
        _ => java::lexer::package(text),
    }
}

/// A language in which log calls are written.
pub trait Language: Sync {
    /// The part of a call that only this language's [`emit`](Self::emit) needs.
    type Shape;

    /// True if an earlier pass over the inputs found nothing to do in this file: it is not read
    /// again.
    fn is_known_idle(&self, path: &Path) -> bool {
        let _ = path;
        false
    }

    /// Scans the bytes, quickly, for anything that [`find`](Self::find) could report; without it
    /// the file is not parsed. May say yes for a file without calls, never no for one with.
    fn may_call(&self, bytes: &[u8]) -> bool;

    /// The file's name in message ids and locations.
    fn place(&self, path: &Path, bytes: &[u8]) -> String;

    /// The place that goes into the id of a call in the file at `place`.
    fn place_in_ids<'c>(&self, place: &'c str, call: &'c Call<Self::Shape>) -> &'c str {
        let _ = call;
        place
    }

    /// The scheme of ids, where the run asks for `ids`.
    fn ids(&self, ids: MessageIds) -> MessageIds {
        ids
    }

    /// Returns true if calls at this level are compiled into the program.
    fn is_level_compiled(&self, level: Level) -> bool {
        let _ = level;
        true
    }

    /// All log calls that can be rewritten, in source order, and a diagnostic for each that can't.
    /// Without `inputs` the file is on its own.
    fn find(
        &self,
        source: &Source,
        groups: &Groups,
        inputs: Option<&Inputs<'_>>,
    ) -> Found<Self::Shape>;

    /// Adds the edits that rewrite `call`.
    fn emit(
        &self,
        source: &Source,
        call: &Call<Self::Shape>,
        message: &Message<'_>,
        plan: &mut PlanBuilder,
    );

    /// Rewritten text in the encoding of the sources.
    fn encode(&self, text: Vec<u8>) -> Vec<u8> {
        text
    }

    /// The most arguments that rewritten code can pass.
    fn max_arguments(&self) -> usize;
}

/// The result of [`Language::find`].
#[derive(Clone, Debug)]
pub struct Found<S> {
    /// The calls, in source order.
    pub calls: Vec<Call<S>>,
    /// The other log calls: those that an error refuses, and those that stay as they are.
    pub unread: UnreadCalls,
    /// Edits outside the calls, such as those of group enums.
    pub edits: Vec<Edit>,
    /// The problems of calls that can't be rewritten, and other findings on the file for the user.
    pub diagnostics: Vec<Diagnostic>,
    /// True if the file names the class of the calls, as far as can be told.
    pub names_class: bool,
    /// The functions that other calls lead to, which pass a template on.
    pub wrappers: Vec<Wrapper>,
    /// The questions to other files.
    pub lookups: Lookups,
}

/// The note on a reference to a log method.
pub(crate) fn reference(range: Range<usize>) -> Diagnostic {
    let message = "this reference stays as it is: its messages are interned when the program runs";
    let help = "write a lambda with a log call, if the text is a constant";
    Diagnostic::note(Code::NotRewritten, range, message).help(help)
}

/// The log calls of a source that can't be rewritten, by their places. Each has a diagnostic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnreadCalls {
    /// Those with an error.
    pub refused: Vec<Range<usize>>,
    /// Those that a note or a warning lists.
    pub listed: Vec<Range<usize>>,
}

impl UnreadCalls {
    /// Adds the call at `range`, for which `problems` are reported.
    pub(crate) fn add(&mut self, range: Range<usize>, problems: &[Diagnostic]) {
        let is_error = |problem: &Diagnostic| problem.severity == Severity::Error;
        let list = if problems.iter().any(is_error) { &mut self.refused } else { &mut self.listed };
        list.push(range);
    }

    /// The numbers of all calls, where `read` others were read and then `refused` of these.
    pub(crate) fn counts(&self, read: usize, refused: usize) -> CallCounts {
        CallCounts {
            rewritten: read - refused,
            refused: self.refused.len() + refused,
            listed: self.listed.len(),
        }
    }

    /// Adds those of `other`.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.refused.append(&mut other.refused);
        self.listed.append(&mut other.listed);
    }

    /// The places of all.
    pub(crate) fn ranges_mut(&mut self) -> impl Iterator<Item = &mut Range<usize>> {
        self.refused.iter_mut().chain(&mut self.listed)
    }
}

impl<S> Default for Found<S> {
    fn default() -> Self {
        Self {
            calls: Vec::new(),
            unread: UnreadCalls::default(),
            edits: Vec::new(),
            diagnostics: Vec::new(),
            names_class: true,
            wrappers: Vec::new(),
            lookups: Lookups::default(),
        }
    }
}

/// The message of a call, for rewritten code.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The id.
    pub id: u64,
    /// The template.
    pub template: Template<'a>,
    /// The group.
    pub group: &'a Group,
}
