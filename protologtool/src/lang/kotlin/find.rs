//! Finds the log calls of a file, and the calls of the class's other methods.

use super::method_call::{method_calls, references};
use super::names::{OtherFiles, ScopedFile};
use super::read::{CallReader, ReadCall};
use super::wrapper_calls::Callable;
use super::{Kotlin, KotlinShape};
use crate::call::Call;
use crate::diagnostic::{Code, Diagnostic};
use crate::groups::Groups;
use crate::lang::jvm::is_span;
use crate::lang::jvm::wrapper::{Wrapper, Wrappers};
use crate::lang::{Inputs, UnreadCalls, reference};
use crate::source::Source;
use std::ops::Range;

/// The calls in a file.
#[derive(Debug, Default)]
pub(super) struct KotlinCalls {
    pub(super) calls: Vec<Call<KotlinShape>>,
    /// The class's names in calls of other methods, as bytes, with the method's name and the number
    /// of arguments.
    pub(super) others: Vec<(Range<usize>, String, usize)>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The log calls that can't be rewritten.
    pub(super) unread: UnreadCalls,
    /// True if the file names the class, as far as package, imports and full names tell.
    pub(super) names_class: bool,
    /// The functions that other files can call for their log calls.
    pub(super) wrappers: Vec<Wrapper>,
}

impl KotlinCalls {
    /// Adds the call whose method's name is at `name`.
    fn add(&mut self, name: Range<usize>, read: ReadCall) {
        match read {
            Ok((call, warnings)) => {
                self.calls.push(call);
                self.diagnostics.extend(warnings);
            }
            Err(problems) => {
                self.unread.add(name, &problems);
                self.diagnostics.extend(problems);
            }
        }
    }
}

pub(super) fn find(
    kotlin: Kotlin<'_>,
    source: &Source,
    groups: &Groups,
    inputs: Option<&Inputs<'_>>,
) -> KotlinCalls {
    let others = inputs.map(|inputs| inputs as &dyn OtherFiles);
    let named = ScopedFile::among(source.bytes(), others);
    let names_class = named.may_name(kotlin.java.protolog());
    let mut found = KotlinCalls { names_class, ..KotlinCalls::default() };
    let calls = method_calls(&named, kotlin.java.protolog());
    if let Some(range) = &named.file.unbalanced {
        let logs = calls.iter().filter(|call| kotlin.level_of(&call.name).is_some());
        found.unread.refused = logs.map(|call| named.file.tokens[call.method].range()).collect();
        let message = "this bracket or quote has no partner, so that the log calls of the file can't be told apart";
        let error = Diagnostic::error(Code::Syntax, range.clone(), message);
        let logs = !found.unread.refused.is_empty();
        found.diagnostics.extend(logs.then(|| error.help("correct the syntax")));
        return found;
    }
    for tokens in references(&named, kotlin.java) {
        let range = named.file.bytes_of(&tokens);
        found.add(range.clone(), Err(vec![reference(range)]));
    }
    let reader = CallReader { kotlin, groups, named: &named };
    let mut own = Vec::new();
    for call in calls {
        let name = named.file.tokens[call.method].range();
        match kotlin.level_of(&call.name) {
            None if reader.hidden_name(&call).is_none() => {
                let class = reader.class_bytes(&call);
                let arguments = named.file.elements(call.method + 1).len();
                found.others.push((class, call.name, arguments));
            }
            None => {}
            Some(_) if let Some(doubt) = reader.doubt(&call) => found.add(name, Err(vec![doubt])),
            // Calls of a function that begins a span are no statements, as those of others are.
            Some(level) if is_span(&call.name) => found.add(name, reader.call(&call, level)),
            Some(level) => match reader.wrapper_around(&call, level, source.path()) {
                None => found.add(name, reader.call(&call, level)),
                Some(wrapper) => {
                    found.add(name, Err(vec![reader.passes_on(&call, &wrapper)]));
                    own.push(wrapper);
                }
            },
        }
    }
    let all = inputs.and_then(|inputs| inputs.wrappers).map(Wrappers::all);
    for call in (Callable { own: &own, all }).calls(&named) {
        let name = named.file.tokens[call.call.method].range();
        found.add(name, reader.passed(&call));
    }
    let exported = own.into_iter().filter(|own| own.is_exported);
    found.wrappers = exported.map(|own| own.wrapper).collect();
    found.calls.sort_by_key(|call| call.range.start);
    found.diagnostics.sort_by_key(|diagnostic| diagnostic.range.start);
    found
}
