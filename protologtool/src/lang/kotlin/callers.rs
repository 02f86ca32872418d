//! The files that may call functions which pass templates on, and the functions that another one of
//! their package may stand in for.

use super::names::ScopedFile;
use super::scopes::{DeclaredKind, DeclaredName};
use crate::lang::Kind;
use crate::lang::jvm::wrapper::{Wrapper, Wrappers};
use crate::system::{Reader, System};
use std::collections::HashMap;
use std::path::PathBuf;

/// The positions, among `rest`, of the inputs that may call one of `wrappers`, each with the
/// functions outside of classes that it declares by their names.
pub(crate) fn callers(
    system: &dyn System,
    inputs: &[PathBuf],
    rest: &[usize],
    wrappers: &Wrappers,
) -> Vec<(usize, Vec<String>)> {
    let (mut callers, mut reader) = (Vec::new(), Reader::default());
    for position in rest {
        let path = &inputs[*position];
        let language = Kind::of_path(path).unwrap_or(Kind::Java);
        if language == Kind::Rust || system.read_into(path, &mut reader).is_err() {
            continue;
        }
        if !wrappers.may_be_called(reader.bytes()) {
            continue;
        }
        let mut declared = Vec::new();
        if language == Kind::Kotlin {
            declared = functions_of_file(reader.bytes());
            let is_of_wrapper = |name: &String| {
                wrappers.all().iter().any(|it| it.is_of_file && it.kotlin_names.contains(name))
            };
            declared.retain(is_of_wrapper);
            declared.sort_unstable();
            declared.dedup();
        }
        callers.push((*position, declared));
    }
    callers
}

/// The functions of `wrappers` that are declared once by all files, whose functions are `declared`.
pub(crate) fn unique<'d>(
    wrappers: &Wrappers,
    declared: impl IntoIterator<Item = &'d String>,
) -> Wrappers {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in declared {
        *counts.entry(name).or_default() += 1;
    }
    let count = |wrapper: &Wrapper| {
        let counts = wrapper.kotlin_names.iter().map(|name| counts.get(&**name));
        counts.flatten().sum::<usize>()
    };
    let all = wrappers.all().iter();
    Wrappers::new(all.filter(|wrapper| !wrapper.is_of_file || count(wrapper) <= 1).cloned())
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
