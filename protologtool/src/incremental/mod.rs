//! Runs after a first one into the same directory: only inputs whose results may differ are
//! processed again.
//!
//! ```text
//! state        of each source that the last run took: hash and stamp of its text and of its output, messages, lookups, functions that pass templates on
//! same text?   the stamp is the same, or else the hash
//! again        new texts; problems; files whose lookups a file may answer that came, went or changed; outputs that are not as left
//! ```
//!
//! Invariant: the outputs are those of a run without a state. Uncertain files are processed again:
//! a file with a warning (which is to be shown again), and all files of Rust, whose modules depend
//! on each other. All files are uncertain if the settings, the groups, the program, the order of
//! the inputs or the functions that pass templates on differ.

mod passes;
mod result;
mod state;

use crate::lang::jvm::lookups::{Lookups, is_of_package};
use crate::lang::jvm::wrapper::Wrappers;
use crate::lang::{Kind, kotlin};
use crate::pipeline::{KnownResults, Processed};
use crate::system::{Reader, Stamp, System};
use protolog_core::hash;
use state::{FileState, RunState, Seen};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The knowledge of the last run, and of this one for the next.
#[derive(Debug)]
pub(crate) struct Incremental {
    fingerprint: u64,
    /// The state of the last run, if it is one of the same settings.
    old: Option<RunState>,
    /// The stamps of sources before they were read, by their position.
    sources: Vec<Option<Stamp>>,
    /// Unchanged sources by position: the position of the result in the old state, and the stamp of
    /// the output.
    kept: HashMap<usize, (usize, Option<Stamp>)>,
    /// The results of this run, in their order.
    new: Vec<New>,
}

impl Incremental {
    /// Knows the state that the last run left, if it is one of a run with this fingerprint: all
    /// that the results depend on besides the sources.
    pub(crate) fn new(fingerprint: u64, state: Option<&[u8]>) -> Self {
        let old = state.and_then(RunState::read).filter(|state| state.fingerprint == fingerprint);
        let (sources, kept) = (Vec::new(), HashMap::new());
        Self { fingerprint, old, sources, kept, new: Vec::new() }
    }

    /// The results of the sources that have those of the last run, whose outputs are below `root`.
    pub(crate) fn known(
        &mut self,
        root: &Path,
        files: &[PathBuf],
        system: &dyn System,
    ) -> KnownResults {
        self.stamp(files, system);
        let Some(old) = &self.old else {
            return KnownResults { hashes: true, ..KnownResults::default() };
        };
        let mut results = Vec::new();
        if let Some(compared) = Compared::of(old, files, &self.sources, system) {
            let mut reader = Reader::default();
            for (index, at) in compared.unaffected() {
                let file = &old.files[at];
                let output = root.join(&file.name);
                let stamp = system.stamp(&output, &mut reader);
                let is_there = || file.output.is_now(stamp, &output, system);
                if let Some(result) = file.processed(&files[index]).filter(|_| is_there()) {
                    self.kept.insert(index, (at, stamp));
                    results.push((index, result));
                }
            }
        }
        let found = Wrappers::new(old.files.iter().flat_map(|file| file.wrappers.iter().cloned()));
        let unique = kotlin::unique(&found, old.files.iter().flat_map(|file| &file.declares));
        KnownResults { results, wrappers: [found, unique], hashes: true }
    }

    /// Takes down the next result, with its problems and before its messages go elsewhere: that of
    /// the source at `position`, or of a file that is made.
    pub(crate) fn record(&mut self, file: &Processed, position: Option<usize>) {
        let kept = position.filter(|_| file.kept.is_some());
        let kept = kept.and_then(|position| self.kept.get(&position).copied());
        let seen = position.map(|position| self.sources[position]);
        self.new.push(match (kept, seen, file.content) {
            (Some((at, output)), Some(source), _) => New::Kept { at, source, output },
            (None, Some(stamp), Some(hash)) if is_followed(&file.path) => {
                let redo = file.report.is_some() || !file.warnings.is_empty();
                New::Made(FileState::new(file, Seen { hash, stamp }, redo))
            }
            _ => New::Unfollowed,
        });
    }

    /// The state for the next run. `outputs` are the names of all sources below `root`, each with
    /// the hash of the written bytes.
    pub(crate) fn state(
        &self,
        root: &Path,
        outputs: &[(&str, u64)],
        system: &dyn System,
    ) -> Vec<u8> {
        let (now, mut reader) = (system.now(), Reader::default());
        let settled = |stamp: Option<Stamp>| stamp.filter(|stamp| stamp.is_settled(now));
        let mut file = |(new, (name, hash)): (&New, &(&str, u64))| match new {
            New::Unfollowed => None,
            New::Made(file) => {
                let stamp = settled(system.stamp(&root.join(name), &mut reader));
                let (name, output) = ((*name).to_owned(), Seen { hash: *hash, stamp });
                Some(FileState { name, output, ..file.clone() })
            }
            New::Kept { at, source, output } => {
                let mut file = self.old.as_ref()?.files[*at].clone();
                (file.source.stamp, file.output.stamp) = (*source, settled(*output));
                Some(file)
            }
        };
        let files = self.new.iter().zip(outputs).filter_map(&mut file).collect();
        RunState { fingerprint: self.fingerprint, files }.to_bytes()
    }

    /// Takes the stamps of the sources, before they are read.
    fn stamp(&mut self, files: &[PathBuf], system: &dyn System) {
        let (now, mut reader) = (system.now(), Reader::default());
        let mut stamp = |path: &PathBuf| {
            let stamp = is_followed(path).then(|| system.stamp(path, &mut reader)).flatten();
            stamp.filter(|stamp| stamp.is_settled(now))
        };
        self.sources = files.iter().map(&mut stamp).collect();
    }
}

/// The result of this run for a file.
#[derive(Debug)]
enum New {
    /// That of the last run, at this position in its state; with the stamps of today.
    Kept {
        at: usize,
        source: Option<Stamp>,
        output: Option<Stamp>,
    },
    Made(FileState),
    /// One that each run makes again.
    Unfollowed,
}

/// Returns whether the result of a file can be that of the last run.
fn is_followed(path: &Path) -> bool {
    Kind::of_path(path).is_some_and(|kind| kind != Kind::Rust) && path.to_str().is_some()
}

impl Seen {
    /// Returns whether the file still is as it was seen; `stamp` is the one that it has now.
    fn is_now(&self, stamp: Option<Stamp>, path: &Path, system: &dyn System) -> bool {
        (stamp.is_some() && stamp == self.stamp)
            || system.read(path).is_ok_and(|bytes| hash(&bytes) == self.hash)
    }
}

/// The sources of this run beside those of the last.
struct Compared<'s> {
    /// Positions of the sources with the same text, here and in the old state.
    same: Vec<(usize, usize)>,
    old: &'s RunState,
    /// Sources that came, went or changed.
    touched: Vec<&'s Path>,
    files: &'s [PathBuf],
}

impl<'s> Compared<'s> {
    /// None if the sources come in another order.
    fn of(
        old: &'s RunState,
        files: &'s [PathBuf],
        stamps: &[Option<Stamp>],
        system: &dyn System,
    ) -> Option<Self> {
        let positions = OnceCell::new();
        let position = |path: &Path, next: usize| {
            if old.files.get(next).is_some_and(|file| OsStr::new(&file.path) == path.as_os_str()) {
                return Some(next);
            }
            let all = || old.files.iter().enumerate().map(|(at, file)| (Path::new(&file.path), at));
            positions.get_or_init(|| all().collect::<HashMap<_, _>>()).get(path).copied()
        };
        let (mut same, mut touched) = (Vec::with_capacity(files.len()), Vec::new());
        let (mut next, mut is_there) = (0, vec![false; old.files.len()]);
        for (index, path) in files.iter().enumerate().filter(|(_, path)| is_followed(path)) {
            let Some(at) = position(path, next) else {
                touched.push(path.as_path());
                continue;
            };
            if at < next {
                return None;
            }
            (next, is_there[at]) = (at + 1, true);
            let file = &old.files[at];
            if file.source.is_now(stamps[index], path, system) {
                same.push((index, at));
            } else {
                touched.push(path);
            }
        }
        let removed = old.files.iter().zip(is_there).filter(|(_, is_there)| !is_there);
        touched.extend(removed.map(|(file, _)| Path::new(&file.path)));
        Some(Self { same, old, touched, files })
    }

    /// The sources whose results are those of the last run.
    fn unaffected(&self) -> impl Iterator<Item = (usize, usize)> {
        let affected = Affected::by(&self.touched, self.files);
        let same = self.same.iter().copied();
        same.filter(move |(_, at)| !affected.holds(&self.old.files[*at].lookups))
    }
}

/// The questions that files which came, went or changed may answer otherwise.
struct Affected<'s> {
    names: HashSet<&'s str>,
    directories: HashSet<&'s Path>,
    /// The directories of all sources: a package without one of its name is looked for everywhere.
    all: HashSet<&'s Path>,
}

impl<'s> Affected<'s> {
    fn by(touched: &[&'s Path], files: &'s [PathBuf]) -> Self {
        let names = touched.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
        let directory = |path: &'s Path| path.parent().unwrap_or(Path::new(""));
        let directories = touched.iter().map(|path| directory(path)).collect();
        let all = files.iter().map(|path| directory(path));
        let all = if touched.is_empty() { HashSet::new() } else { all.collect() };
        Self { names, directories, all }
    }

    fn holds(&self, lookups: &Lookups) -> bool {
        let may_answer = |package: &String| {
            let is_of = |directory: &&Path| is_of_package(directory, package);
            self.directories.iter().any(is_of) || !self.all.iter().any(is_of)
        };
        !self.directories.is_empty()
            && (lookups.all
                || lookups.names.iter().any(|name| self.names.contains(name.as_str()))
                || lookups.packages.iter().any(may_answer))
    }
}
