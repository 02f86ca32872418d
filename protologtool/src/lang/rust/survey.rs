//! The first pass over the Rust inputs: a look at each, the crates of those that log, and the groups that they declare.

use super::crates::{Crates, Inputs, normal};
use super::quick::{Look, Looker};
use super::{InFile, RUNTIME, Rust, find};
use crate::diagnostic::{Code, Diagnostic};
use crate::groups::Group;
use crate::pipeline::Report;
use crate::source::Source;
use crate::system::{Reader, System};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the command line says of crates.
#[derive(Clone, Copy, Debug, Default)]
pub struct CrateChoice<'a> {
    /// Name and root of the one crate, where Cargo's manifests do not say it.
    pub named: Option<(&'a str, &'a Path)>,
    /// Names and roots of other crates whose groups calls may name.
    pub others: &'a [(String, PathBuf)],
    /// Modules that pass the runtime's macros on, as paths.
    pub macro_paths: &'a [String],
}

/// The groups of a run's Rust sources.
#[derive(Debug, Default)]
pub struct GroupsFound {
    /// The groups; a name comes once.
    pub groups: Vec<Group>,
    /// What is wrong with their enums.
    pub reports: Vec<Report>,
}

/// Looks through the inputs. Files that can't be read are left to who reads them next.
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
    let mut looks = look_at_all(system, files, &looker, threads);
    let wanted = |looks: &HashMap<PathBuf, Look>| {
        let is_wanted = |file: &&PathBuf| {
            looks.get(&normal(file)).is_some_and(|look| look.calls || look.groups)
        };
        files.iter().filter(is_wanted).map(|file| normal(file)).collect::<Vec<_>>()
    };
    let besides = RefCell::default();
    let inputs = Inputs { system, looks: looks.clone(), looker: &looker, besides };
    let mut crates = match choice.named {
        Some(_) => Crates::default(),
        None => Crates::of_packages(&wanted(&looks), &inputs),
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
        looks = look_at_all(system, files, &looker, threads);
        looker
    };
    let mut sources = wanted(&looks);
    sources.retain(|source| looks.get(source).is_some_and(|look| look.groups));
    let beside = besides.iter().filter(|(_, look)| look.groups);
    sources.extend(beside.map(|(path, _)| path.clone()));
    let rust = Rust {
        crates: Arc::new(crates),
        looks: Arc::new(looks),
        looker,
        macro_paths: choice.macro_paths.to_vec(),
        besides: besides.into_keys().collect(),
    };
    let found = groups(&rust, system, &sources);
    (rust, found)
}

fn look_at_all(
    system: &dyn System,
    files: &[PathBuf],
    looker: &Looker,
    threads: usize,
) -> HashMap<PathBuf, Look> {
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut done, mut reader) = (Vec::new(), Reader::default());
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            if system.read_into(path, &mut reader).is_ok() {
                done.push((normal(path), looker.look(reader.bytes())));
            }
        }
        done
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(files.len())).map(|_| scope.spawn(work)).collect();
        let mut looks: HashMap<PathBuf, Look> = work().into_iter().collect();
        for other in others {
            looks.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        looks
    })
}

/// The groups of all enums, in the order of the files.
fn groups(rust: &Rust, system: &dyn System, sources: &[PathBuf]) -> GroupsFound {
    let mut found = GroupsFound::default();
    let mut known: HashMap<String, InFile> = HashMap::new();
    for path in sources {
        let Ok(bytes) = system.read(path) else { continue };
        let source = Source::new(path, bytes);
        // What is wrong with the place is said where calls are looked for.
        let Ok(place) = rust.place_of(&source) else { continue };
        let in_file = find::find(&source, &place, rust.resolver(Some(system)), None);
        let mut diagnostics = Vec::new();
        for group_enum in in_file.enums {
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
    found
}

fn clash(group: &Group, first: &Path, range: std::ops::Range<usize>) -> Diagnostic {
    let message = format!(
        "the group `{}` is declared differently in `{}`, too",
        group.full_name,
        first.display()
    );
    Diagnostic::error(Code::IdClash, range, message)
        .help("rename one of the enums: groups are told apart by crate, enum and variant")
}

impl std::fmt::Debug for super::Files<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Files").finish_non_exhaustive()
    }
}
