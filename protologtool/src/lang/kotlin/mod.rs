//! Kotlin: calls of the static methods `v d i w e wtf` and `span` of one class, rewritten to the
//! same entry points as Java's.
//!
//! ```text
//! fun f() = ProtoLog.d(NET, "sent $n bytes to ${host.name}")
//! fun f() = (if (I.isEnabled(NET, dev.protolog.LogLevel.DEBUG)) I.d(NET, 123L, 1L, +I.l(n), I.s(host.name)) else {})
//! ```
//!
//! A rewritten call is an expression, so that every position is legal: bodies of functions and
//! lambdas, branches of `when`, initial values. Reading order: [`find`], [`method_call`], [`read`],
//! [`template`], [`kinds`], [`emit`]; below them [`names`], [`scopes`], [`declarations`],
//! [`file`](mod@file) and [`lexer`].
//!
//! Calls that pass on the parameters of the function around them stay as they are; where that is
//! all that the function does, its own calls are rewritten ([`wrapper`], [`tag`],
//! [`wrapper_calls`], [`passed`]). What stays is interned when the program runs, and has a note.

mod argument_type;
mod callers;
pub(crate) mod declarations;
mod doubts;
mod emit;
pub(crate) mod file;
mod find;
pub mod groups;
mod initialiser;
mod kinds;
pub(crate) mod lexer;
mod library;
#[cfg(test)]
mod looks;
mod method_call;
pub(crate) mod names;
pub(crate) mod package;
mod passed;
mod read;
mod receivers;
pub(crate) mod scopes;
mod span;
mod tag;
pub(crate) mod template;
mod thrown;
mod wrapper;
mod wrapper_calls;

use super::java::Java;
use super::jvm::dialect::Dialect;
use super::jvm::level_of;
use super::jvm::lookups::Lookups;
use super::{Found, Inputs, Kind, Language, Message};
use crate::call::Call;
use crate::groups::Groups;
use crate::rewrite::{Edit, PlanBuilder};
use crate::source::Source;
pub(crate) use callers::{callers, unique};
use find::KotlinCalls;
pub(crate) use library::KotlinLibrary;
pub(crate) use names::OtherFiles;
use protolog_core::Level;
use read::Order;
use std::ops::Range;
use std::path::Path;

/// Kotlin, with the classes that calls and rewritten code name.
#[derive(Clone, Copy, Debug)]
pub struct Kotlin<'a> {
    /// Knows the names of the classes, and the dialect.
    pub java: &'a Java,
}

/// The part of a call that only Kotlin's emitter needs.
#[derive(Clone, Debug)]
pub struct KotlinShape {
    /// The class's name before the method's; empty, right before the method's name, for an imported
    /// method.
    pub class: Range<usize>,
    /// The method's name.
    pub method: Range<usize>,
    /// The group argument.
    pub group: Range<usize>,
    /// The names that the group argument consists of.
    group_path: Vec<String>,
    /// True if parentheses would be the arguments of an annotation.
    follows_annotation: bool,
    /// True if the call is one of a function that passes the template on, so that the group is to
    /// be added.
    passes_group: bool,
    /// True if the call begins a span, and has a value.
    is_span: bool,
    order: Order,
    /// Comments and line ends in the class's name, and in each stretch of the template that is
    /// replaced.
    class_kept: String,
    template_kept: Vec<String>,
}

impl Kotlin<'_> {
    /// The level of a method of the class, if it logs.
    fn level_of(self, method: &str) -> Option<Level> {
        level_of(method, self.java.dialect())
    }
}

impl Language for Kotlin<'_> {
    type Shape = KotlinShape;

    fn may_call(&self, bytes: &[u8]) -> bool {
        self.java.mention(bytes).is_some()
    }

    fn place(&self, path: &Path, bytes: &[u8]) -> String {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match package::package(&String::from_utf8_lossy(bytes)) {
            Some(package) => format!("{}/{name}", package.replace('.', "/")),
            None => name,
        }
    }

    fn find(
        &self,
        source: &Source,
        groups: &Groups,
        inputs: Option<&Inputs<'_>>,
    ) -> Found<KotlinShape> {
        let KotlinCalls { calls, others, diagnostics, unread, names_class, wrappers } =
            find::find(*self, source, groups, inputs);
        // Constants, members and functions of any file may matter.
        let lookups = Lookups { all: true, ..Lookups::default() };
        let found =
            Found { calls, unread, edits: Vec::new(), diagnostics, names_class, wrappers, lookups };
        let Dialect::Android(form) = self.java.dialect() else { return found };
        let redirected =
            others.into_iter().filter(|(_, method, arguments)| form.redirects(method, *arguments));
        let edits = redirected.map(|(range, ..)| {
            let dot = if range.is_empty() { "." } else { "" };
            Edit { range, text: format!("{}{dot}", self.java.implementation()) }
        });
        Found { edits: edits.collect(), ..found }
    }

    fn emit(
        &self,
        source: &Source,
        call: &Call<KotlinShape>,
        message: &Message<'_>,
        plan: &mut PlanBuilder,
    ) {
        emit::emit(*self, source, call, message, plan);
    }

    fn max_arguments(&self) -> usize {
        emit::max_arguments(self.java.dialect())
    }
}

fn is_kotlin(path: &Path) -> bool {
    Kind::of_path(path) == Some(Kind::Kotlin)
}

/// Returns whether a name must stand between backticks to be one.
fn is_keyword(name: &str) -> bool {
    const KEYWORDS: [&str; 29] = [
        "as",
        "break",
        "class",
        "continue",
        "do",
        "else",
        "false",
        "for",
        "fun",
        "if",
        "in",
        "interface",
        "is",
        "null",
        "object",
        "package",
        "return",
        "super",
        "this",
        "throw",
        "true",
        "try",
        "typealias",
        "typeof",
        "val",
        "var",
        "when",
        "while",
        "",
    ];
    KEYWORDS.contains(&name)
}
