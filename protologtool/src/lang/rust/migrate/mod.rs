//! Moves calls of `log` and `tracing` to the runtime's macros.
//!
//! ```text
//! log::info!("sent {} bytes to {host:?}", n);
//! protolog_rt::i!(crate::LogGroup::Net, "sent %d bytes to %s", n, protolog_rt::debug(&host));
//! ```
//!
//! Reading order: [`event`] (the parts of a call), [`format`](mod@format) (its format string),
//! [`convert`] (what they become), [`find`] (the calls of a file), [`imports`], [`compose`] (the
//! edits of a file), [`groups`] (the enum). All files are read before any edit is made, since
//! imports and groups depend on all calls of a crate.
//!
//! Invariants: a call moves only if the text it prints, and when and how often its arguments are
//! evaluated, stay as they were; all others are listed; a second run changes nothing.

mod compose;
mod convert;
mod event;
mod find;
mod format;
mod groups;
mod imports;
mod library;

use super::crates::{CrateInputs, Crates};
use super::paths::normal;
use super::quick::Looker;
use super::resolve::PathResolver;
use crate::diagnostic::{Code, Diagnostic};
use crate::lang::migration::{FileMoves, Migration, MoveChoice, SourceLibrary, Stays};
use crate::source::Source;
use crate::system::System;
use find::{FoundCall, LibraryCalls};
use groups::CrateGroups;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// A file with calls.
struct Read {
    source: Source,
    /// The crate, none for a file that is none's.
    krate: Option<usize>,
    found: LibraryCalls,
}

/// Finds the calls in all files and moves what can be moved.
pub(crate) fn migrate(
    system: &dyn System,
    files: &[PathBuf],
    choice: MoveChoice<'_>,
) -> Result<Migration, (PathBuf, io::Error)> {
    let mut sources = Vec::new();
    for path in files {
        let bytes = system.read(path).map_err(|error| (path.clone(), error))?;
        if find::may_call(&bytes, choice.library) {
            sources.push(Source::new(path, bytes));
        }
    }
    let crates = crates_of(system, files, &sources, choice.library);
    let mut migration = Migration::default();
    let mut read = Vec::new();
    for source in sources {
        match read_file(source, &crates, system, choice.library) {
            Ok(file) => read.push(file),
            Err(Some(moves)) => migration.files.push(*moves),
            Err(None) => {}
        }
    }
    let inputs: HashSet<PathBuf> = files.iter().map(|file| normal(file).into_owned()).collect();
    let mut by_crate: BTreeMap<Option<usize>, Vec<Read>> = BTreeMap::new();
    for file in read {
        by_crate.entry(file.krate).or_default().push(file);
    }
    for (krate, mut files) in by_crate {
        let root = krate.and_then(|krate| crates.root(krate));
        let given = root.filter(|root| inputs.contains(*root) && choice.group.is_none());
        if let (Some(krate), Some(root)) = (krate, given) {
            files.extend(root_without_calls(
                root,
                krate,
                &files,
                (&crates, system, choice.library),
            ));
        }
        let name = krate.map_or(String::new(), |krate| crates.name(krate).to_owned());
        let root = root.map(|root| (root.to_path_buf(), inputs.contains(root)));
        let mut groups = CrateGroups::new(choice, name, root, system);
        let is_whole = krate
            .is_some_and(|krate| crates.files(krate).all(|file| inputs.contains(&*normal(file))));
        compose::compose(files, &mut groups, (choice.library, is_whole), &mut migration);
        groups.finish(&mut migration);
    }
    migration.files.retain(|file| !file.edits.is_empty() || !file.listed.is_empty());
    let position = |moves: &FileMoves| files.iter().position(|file| file == moves.source.path());
    migration.files.sort_by_key(|moves| position(moves).unwrap_or(usize::MAX));
    steps(&mut migration, system, choice.library);
    Ok(migration)
}

fn crates_of(
    system: &dyn System,
    files: &[PathBuf],
    sources: &[Source],
    library: SourceLibrary,
) -> Crates {
    let looker = Looker::new([library.name()].into_iter());
    let mut paths: Vec<PathBuf> = files.iter().map(|file| normal(file).into_owned()).collect();
    paths.sort_unstable();
    let inputs = CrateInputs { system, files: paths, looker: &looker, besides: RefCell::default() };
    let wanted: Vec<PathBuf> =
        sources.iter().map(|source| normal(source.path()).into_owned()).collect();
    Crates::of_packages(&wanted, &inputs)
}

/// Reads a file; what is wrong with it where it is no module of one crate.
fn read_file(
    source: Source,
    crates: &Crates,
    system: &dyn System,
    library: SourceLibrary,
) -> Result<Read, Option<Box<FileMoves>>> {
    let places: Vec<_> = crates.places(source.path()).cloned().collect();
    let alone;
    let (known, place, krate, problem) = match &places[..] {
        [one] => (crates, one.clone(), Some(one.0), None),
        [one, ..] => {
            let reason = "its file is a module of several crates, or several times of one";
            (crates, one.clone(), Some(one.0), Some(reason))
        }
        [] => {
            alone = Crates::single("unknown", source.path());
            let problem = crates.around(source.path()).map(|_| "no `mod` leads to its file");
            (&alone, (0, Vec::new()), None, problem)
        }
    };
    let resolver = PathResolver { crates: known, system: Some(system), macro_paths: &[] };
    let Some(mut found) = find::find(&source, place, resolver, library) else {
        return Err(Some(Box::new(unread(source))));
    };
    if let Some(problem) = problem {
        let help = if places.is_empty() {
            "declare its module, or remove the file"
        } else {
            "move it by hand, with a group that all of these crates have"
        };
        for call in &mut found.calls {
            call.result = Err(Stays::new(problem, help));
        }
    }
    if found.calls.is_empty() && found.imports.macro_use.is_none() {
        return Err(None);
    }
    Ok(Read { source, krate, found })
}

/// The root of a crate, which gets the enum of the groups, if it is not among the files.
fn root_without_calls(
    root: &Path,
    krate: usize,
    files: &[Read],
    (crates, system, library): (&Crates, &dyn System, SourceLibrary),
) -> Option<Read> {
    if files.iter().any(|file| *normal(file.source.path()) == *root) {
        return None;
    }
    let source = Source::new(root, system.read(root).ok()?);
    let resolver = PathResolver { crates, system: Some(system), macro_paths: &[] };
    let found = find::find(&source, (krate, Vec::new()), resolver, library)?;
    Some(Read { source, krate: Some(krate), found })
}

/// A file that can't be read as Rust.
fn unread(source: Source) -> FileMoves {
    let range = match super::tokens::FileTokens::of(source.bytes()) {
        Err(error) => error.range,
        Ok(_) => 0..0,
    };
    super::tokens::forget();
    let message = "the calls of this file are not moved: it can't be read as Rust";
    let listed = Diagnostic::warning(Code::Syntax, range, message).help("correct the syntax");
    FileMoves { source, edits: Vec::new(), moved: 0, listed: vec![listed] }
}

/// What is left to do in the manifests and in the program.
fn steps(migration: &mut Migration, system: &dyn System, library: SourceLibrary) {
    let moved: Vec<&FileMoves> = migration.files.iter().filter(|file| file.moved > 0).collect();
    if moved.is_empty() {
        return;
    }
    let mut manifests: Vec<(PathBuf, String)> = Vec::new();
    for file in &moved {
        let manifest = manifest_of(file.source.path(), system);
        if let Some((path, text)) = manifest
            && !manifests.iter().any(|(known, _)| *known == path)
        {
            manifests.push((path, text));
        }
    }
    let is_missing = |text: &str| !text.contains("protolog-rt");
    let missing = manifests.iter().filter(|(_, text)| is_missing(text));
    for (path, _) in missing {
        migration.steps.push(format!(
            "add to the dependencies in `{}`: `protolog-rt = {{ path = \"../protolog/protolog-rt\" }}`",
            path.display()
        ));
    }
    let starts = "start a session in `main`, as in `let session = protolog_rt::Session::builder().file(\"app.pftrace\").log_from(protolog_rt::Level::Info).start().unwrap();`, and end it by `session.stop()`";
    migration.steps.push(starts.to_owned());
    let name = library.name();
    let listed: usize = migration.files.iter().map(|file| file.listed.len()).sum();
    let bridge = if library == SourceLibrary::Log { "install_log()" } else { "tracing_layer()" };
    migration.steps.push(if listed > 0 {
        format!("record the calls that stay by `protolog_rt::bridge::{bridge}`, with the feature `{name}`")
    } else {
        format!("remove `{name}` from the dependencies where nothing else uses it")
    });
}

/// The manifest above a file.
fn manifest_of(file: &Path, system: &dyn System) -> Option<(PathBuf, String)> {
    file.ancestors().skip(1).find_map(|directory| {
        let path = directory.join("Cargo.toml");
        let bytes = system.read(&path).ok()?;
        Some((path, String::from_utf8_lossy(&bytes).into_owned()))
    })
}

/// Returns whether a call that stays takes its macro's name from outside its file.
fn pins(call: &FoundCall, file: &LibraryCalls) -> Option<String> {
    let name = call.name.clone()?;
    let is_elsewhere = file.imports.origin(&name, call.range.start).is_none();
    (call.result.is_err() && is_elsewhere).then_some(name)
}
