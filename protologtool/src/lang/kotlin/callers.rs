//! The files that may call functions which pass templates on, and the functions that another one of their package may stand
//! in for.

use super::names::ScopedFile;
use super::scopes::{DeclaredKind, DeclaredName};
use crate::lang::Kind;
use crate::lang::wrapper::{Wrapper, Wrappers};
use crate::system::{Reader, System};
use std::collections::HashSet;
use std::path::PathBuf;

/// The positions of the inputs that may call one of `wrappers`; and these without those that are overloaded in another file.
pub(crate) fn callers(
    system: &dyn System,
    inputs: &[PathBuf],
    wrappers: &Wrappers,
) -> (Wrappers, Vec<usize>) {
    let (mut callers, mut reader) = (Vec::new(), Reader::default());
    let mut declared: HashSet<(String, usize)> = HashSet::new();
    for (position, path) in inputs.iter().enumerate() {
        let language = Kind::of_path(path).unwrap_or(Kind::Java);
        if language == Kind::Rust || system.read_into(path, &mut reader).is_err() {
            continue;
        }
        if !wrappers.may_be_called(reader.bytes()) {
            continue;
        }
        callers.push(position);
        if language == Kind::Kotlin {
            let of_file = functions_of_file(reader.bytes());
            declared.extend(of_file.into_iter().map(|name| (name, position)));
        }
    }
    let is_overloaded = |wrapper: &Wrapper| {
        let name = &wrapper.kotlin_names[..];
        wrapper.is_of_file && declared.iter().filter(|(it, _)| name.contains(it)).count() > 1
    };
    let unique = wrappers.all().iter().filter(|wrapper| !is_overloaded(wrapper)).cloned();
    (Wrappers::new(unique), callers)
}

/// The canonical names of the functions outside of classes that other files can call.
fn functions_of_file(text: &[u8]) -> Vec<String> {
    let named = ScopedFile::of(text);
    let is_visible = |function: &&DeclaredName| {
        function.kind == DeclaredKind::Function
            && named.scopes.types_around(function.offset).next().is_none()
            && !named.keywords_before(function).contains(&"private")
            && !named.is_local(function)
    };
    let functions = named.scopes.all().iter().filter(is_visible);
    functions.map(|function| named.canonical(function).0).collect()
}
