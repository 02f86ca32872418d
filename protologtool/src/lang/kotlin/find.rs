//! Finds the log calls of a file, and the calls of the class's other methods.

use super::method_call::method_calls;
use super::names::{OtherFiles, ScopedFile};
use super::read::{CallReader, ReadCall};
use super::wrapper_calls::Callable;
use super::{Kotlin, KotlinShape};
use crate::call::Call;
use crate::diagnostic::{Code, Diagnostic};
use crate::groups::Groups;
use crate::lang::Inputs;
use crate::lang::wrapper::{Wrapper, Wrappers};
use crate::source::Source;
use protolog_core::Level;
use std::ops::Range;

/// The calls in a file.
#[derive(Debug, Default)]
pub(super) struct KotlinCalls {
    pub(super) calls: Vec<Call<KotlinShape>>,
    /// The class's names in calls of other methods, as bytes, with the method's name and the number of arguments.
    pub(super) others: Vec<(Range<usize>, String, usize)>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// True if the file names the class, as far as package, imports and full names tell.
    pub(super) names_class: bool,
    /// The functions that other files can call for their log calls.
    pub(super) wrappers: Vec<Wrapper>,
}

impl KotlinCalls {
    fn add(&mut self, read: ReadCall) {
        match read {
            Ok((call, warnings)) => {
                self.calls.push(call);
                self.diagnostics.extend(warnings);
            }
            Err(problems) => self.diagnostics.extend(problems),
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
        let logs = calls.iter().any(|call| Level::from_method(&call.name).is_some());
        let message = "this bracket or quote has no partner, so that the log calls of the file can't be told apart";
        let error = Diagnostic::error(Code::Syntax, range.clone(), message);
        found.diagnostics.extend(logs.then(|| error.help("correct the syntax")));
        return found;
    }
    let reader = CallReader { kotlin, groups, named: &named };
    let mut own = Vec::new();
    for call in calls {
        match Level::from_method(&call.name) {
            None if reader.hidden_name(&call).is_none() => {
                let class = reader.class_bytes(&call);
                let arguments = named.file.elements(call.method + 1).len();
                found.others.push((class, call.name, arguments));
            }
            None => {}
            Some(level) => match reader.wrapper_around(&call, level, source.path()) {
                None => found.add(reader.call(&call, level)),
                Some(wrapper) => {
                    if !wrapper.is_private {
                        let notes = reader.call(&call, level).err();
                        found.diagnostics.extend(notes.into_iter().flatten());
                    }
                    own.push(wrapper);
                }
            },
        }
    }
    let all = inputs.and_then(|inputs| inputs.wrappers).map(Wrappers::all);
    for call in (Callable { own: &own, all }).calls(&named) {
        found.add(reader.passed(&call));
    }
    let exported = own.into_iter().filter(|own| own.is_exported);
    found.wrappers = exported.map(|own| own.wrapper).collect();
    found.calls.sort_by_key(|call| call.range.start);
    found.diagnostics.sort_by_key(|diagnostic| diagnostic.range.start);
    found
}
