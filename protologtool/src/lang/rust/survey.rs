//! The first pass over the Rust inputs: a look at each, the crates of those that log, and the
//! groups that they declare.

use super::crates::{CrateInputs, Crates};
use super::paths::normal;
use super::quick::{Look, Looker};
use super::{InFile, RUNTIME, Rust, find};
use crate::diagnostic::Report;
use crate::diagnostic::{Code, Diagnostic};
use crate::groups::Group;
use crate::source::Source;
use crate::system::{Reader, System};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The command line's choices of crates.
#[derive(Clone, Copy, Debug, Default)]
pub struct CrateChoice<'a> {
    /// Name and root of the one crate, where Cargo's manifests do not say it.
    pub named: Option<(&'a str, &'a Path)>,
    /// Names and roots of other crates whose groups calls may name.
    pub others: &'a [(String, PathBuf)],
    /// Modules that pass the runtime's macros on, as paths.
    pub macro_paths: &'a [String],
    /// The severity from which on calls are compiled in.
    pub least_severity: u8,
}

/// The groups of a run's Rust sources.
#[derive(Debug, Default)]
pub struct GroupsFound {
    /// The groups; a name comes once.
    pub groups: Vec<Group>,
    /// The problems of their enums.
    pub reports: Vec<Report>,
}

/// Looks through the inputs. Files that can't be read are left to their next reader.
pub fn survey(
    system: &dyn System,
    files: &[PathBuf],
    choice: CrateChoice<'_>,
    threads: usize,
) -> (Rust, GroupsFound) {
    let last = |path: &'_ String| path.rsplit("::").next().unwrap_or_default().to_owned();
    let passing_on: Vec<String> = choice.macro_paths.iter().map(last).collect();
    let names = || [RUNTIME].into_iter().chain(passing_on.iter().map(String::as_str));
    let looker = Looker::new(names());
    let mut wanted = look_at_all(system, files, &looker, threads);
    let mut paths = Vec::new();
    if !wanted.is_empty() || choice.named.is_some() {
        paths = files.iter().map(|file| normal(file).into_owned()).collect();
        paths.sort_unstable();
    }
    let besides = RefCell::default();
    let inputs = CrateInputs { system, files: paths, looker: &looker, besides };
    let in_order = |wanted: &HashMap<PathBuf, Look>| -> Vec<PathBuf> {
        let paths = files.iter().map(|file| normal(file));
        paths.filter(|file| wanted.contains_key(&**file)).map(Cow::into_owned).collect()
    };
    let mut crates = match choice.named {
        Some(_) => Crates::default(),
        None if wanted.is_empty() => Crates::default(),
        None => Crates::of_packages(&in_order(&wanted), &inputs),
    };
    for (name, root) in choice.others {
        crates.add_named(name, root, &inputs);
    }
    if let Some((name, root)) = choice.named {
        crates.add_named(name, root, &inputs);
    }
    let besides = inputs.besides.into_inner();
    // Manifests may know the runtime by names for which nobody has looked.
    let renamed: Vec<&str> = crates.all_names_of_runtime().collect();
    let looker = if renamed.is_empty() {
        looker
    } else {
        let looker = Looker::new(names().chain(renamed));
        wanted = look_at_all(system, files, &looker, threads);
        looker
    };
    let mut sources = if wanted.is_empty() { Vec::new() } else { in_order(&wanted) };
    sources.retain(|source| wanted[source].groups);
    let beside = besides.iter().filter(|(_, look)| look.groups);
    sources.extend(beside.map(|(path, _)| path.clone()));
    let mut rust = Rust {
        crates: Arc::new(crates),
        wanted: Some(Arc::new(wanted.into_keys().collect())),
        looker,
        macro_paths: choice.macro_paths.to_vec(),
        least_severity: choice.least_severity,
        besides: besides.into_keys().collect(),
        group_places: Arc::default(),
    };
    let (found, places) = groups(&rust, system, &sources);
    rust.group_places = Arc::new(places);
    (rust, found)
}

/// Looks at all files, and keeps those that may have something to rewrite, by normal path. Files
/// that can't be read are among them.
fn look_at_all(
    system: &dyn System,
    files: &[PathBuf],
    looker: &Looker,
    threads: usize,
) -> HashMap<PathBuf, Look> {
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut wanted, mut reader) = (Vec::new(), Reader::default());
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let look = match system.read_into(path, &mut reader) {
                Ok(()) => looker.look(reader.bytes()),
                Err(_) => Look { calls: true, groups: false },
            };
            if look.is_wanted() {
                wanted.push((normal(path).into_owned(), look));
            }
        }
        wanted
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(files.len())).map(|_| scope.spawn(work)).collect();
        let mut wanted: HashMap<PathBuf, Look> = work().into_iter().collect();
        for other in others {
            wanted.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        wanted
    })
}

/// The groups of all enums, in the order of the files, and where they are declared.
fn groups(
    rust: &Rust,
    system: &dyn System,
    sources: &[PathBuf],
) -> (GroupsFound, HashMap<String, InFile>) {
    let mut found = GroupsFound::default();
    let mut known: HashMap<String, InFile> = HashMap::new();
    for path in sources {
        let Ok(bytes) = system.read(path) else { continue };
        let source = Source::new(path, bytes);
        // Errors of the place are reported where calls are looked for.
        let places = rust.crates.crates_of(path);
        let in_place = |place| find::find(&source, place, rust.resolver(Some(system)), None).enums;
        let mut diagnostics = Vec::new();
        for group_enum in places.iter().flat_map(in_place) {
            for group in group_enum.groups {
                let at = (path.clone(), group_enum.range.clone());
                let Some((first, _)) = known.get(&group.full_name) else {
                    known.insert(group.full_name.clone(), at);
                    found.groups.push(group);
                    continue;
                };
                // Alternatives of which one is compiled may say the same.
                if !found.groups.contains(&group) {
                    diagnostics.push(clash(&group, first, group_enum.range.clone()));
                }
            }
        }
        if !diagnostics.is_empty() {
            found.reports.push(Report { source, diagnostics });
        }
    }
    (found, known)
}

fn clash(group: &Group, first: &Path, range: std::ops::Range<usize>) -> Diagnostic {
    let message = format!(
        "the group `{}` is declared differently in `{}`, too",
        group.full_name,
        first.display()
    );
    Diagnostic::error(Code::IdClash, range, message)
        .help("rename one of the enums: groups are identified by crate, enum and variant")
}
