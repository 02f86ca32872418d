//! Sources under a directory.
//!
//! ```text
//! out/com/foo/A.java            sources
//! out/.protologtool/manifest    what of all this is ours
//! out/.protologtool/state       for the next run: see [`crate::incremental`]
//! out/.protologtool/lock        held by the run that writes, and by one that rests on the state from its start
//! out/.protologtool/staged/     what is not in its place yet; whatever a killed run left is removed by the next
//! ```
//!
//! A file that has its content already is left alone, so that its modification time stays and its
//! dependents are not built again. The manifest names a file before it is put in its place, so that
//! a run that is killed leaves nothing that the next one would not know for its own.
//!
//! Invariant: nothing outside the directory is read, written or removed, even through links in it.

use super::manifest::Manifest;
use super::{Content, OutputEntry, cant_read, cant_write, cant_write_or};
use crate::exit::Failure;
use crate::system::{Fill, Lock, OutputDirectory, Staged, System};
use protolog_core::hash;
use protolog_files::Refused;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

const STATE: &str = ".protologtool/state";
const MANIFEST: &str = ".protologtool/manifest";
const LOCK: &str = ".protologtool/lock";
const SCRATCH: &str = ".protologtool/staged";

/// The pending changes of a directory.
pub(super) struct Change {
    root: PathBuf,
    directory: Box<dyn OutputDirectory>,
    staged: Vec<(PathBuf, Box<dyn Staged>)>,
    /// Files of an earlier run that are now directories, or in directories that are now files.
    in_the_way: BTreeSet<String>,
    old: Manifest,
    new: Manifest,
    /// The hashes of all entries, in their order.
    hashes: Vec<u64>,
    _lock: Option<Box<dyn Lock>>,
}

/// The state that the last run left, which holds as long as it is locked.
pub(crate) struct Previous {
    pub(crate) state: Vec<u8>,
    _lock: Box<dyn Lock>,
}

impl Previous {
    /// None if there is none. A directory without one is not touched.
    pub(crate) fn of(root: &Path, system: &dyn System) -> Result<Option<Self>, Failure> {
        let failed = |error| cant_open(root, &error);
        let directory = match system.output_directory(root, Path::new(SCRATCH), false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            directory => directory.map_err(failed)?,
        };
        let state = Path::new(STATE);
        match directory.read(state) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            // One that can't be read is written anew; a link is not.
            Err(error) if Refused::of(&error).is_some() => {
                return Err(cant_read(&root.join(state), &error));
            }
            _ => {}
        }
        let lock = lock(root, &*directory)?;
        Ok(directory.read(state).ok().map(|state| Self { state, _lock: lock }))
    }
}

/// Why the directory of outputs can't be used.
fn cant_open(root: &Path, error: &io::Error) -> Failure {
    let failure = cant_write(root, error);
    if !matches!(Refused::of(error), Some(Refused::Link { .. })) {
        return failure;
    }
    let what = format!("`{}/.` for what it leads to", root.display());
    failure.help(format!("name the link's target itself, or {what}, or remove the link"))
}

fn lock(root: &Path, directory: &dyn OutputDirectory) -> Result<Box<dyn Lock>, Failure> {
    let name = Path::new(LOCK);
    directory.lock(name).map_err(|error| cant_write(&root.join(name), &error))
}

impl std::fmt::Debug for Previous {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Previous").field("state", &self.state.len()).finish_non_exhaustive()
    }
}

/// Stages all files that differ from those in the directory. `is_locked`: by [`Previous`].
pub(super) fn stage(
    root: &Path,
    entries: &[OutputEntry<'_>],
    is_locked: bool,
    system: &dyn System,
) -> Result<Change, Failure> {
    let scratch = Path::new(SCRATCH);
    let directory = system.output_directory(root, scratch, true);
    let directory = directory.map_err(|error| cant_open(root, &error))?;
    let held = (!is_locked).then(|| lock(root, &*directory)).transpose()?;
    directory.clear_scratch().map_err(|error| cant_write(&root.join(scratch), &error))?;
    let old = match directory.read(Path::new(MANIFEST)) {
        Ok(bytes) => Manifest::parse(&String::from_utf8_lossy(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Manifest::default(),
        Err(error) => return Err(cant_read(&root.join(MANIFEST), &error)),
    };
    let (mut staged, mut in_the_way) = (Vec::new(), BTreeSet::new());
    let mut new = Manifest::default();
    let mut hashes = Vec::with_capacity(entries.len());
    for entry in entries {
        if let Content::Kept(hash) = entry.content {
            new.add(&entry.name, hash);
            hashes.push(hash);
            continue;
        }
        let name = Path::new(&entry.name);
        let bytes = entry.read(system)?;
        let hash = hash(&bytes);
        new.add(&entry.name, hash);
        hashes.push(hash);
        if directory.read(name).is_ok_and(|old| old == *bytes) {
            continue;
        }
        let is_ours =
            |name: &&str| directory.read(Path::new(name)).is_ok_and(|it| old.holds(name, &it));
        let old_files: Vec<&str> = old.in_the_way_of(&entry.name).filter(is_ours).collect();
        let fill: &mut Fill<'_> = &mut |sink| sink.write_all(&bytes);
        let change = if old_files.is_empty() {
            directory.stage(name, fill)
        } else {
            in_the_way.extend(old_files.into_iter().map(str::to_owned));
            directory.stage_over(name, fill)
        };
        let change = change.map_err(|error| cant_place(root, name, &error))?;
        staged.push((name.to_path_buf(), change));
    }
    let root = root.to_path_buf();
    Ok(Change { root, directory, staged, in_the_way, old, new, hashes, _lock: held })
}

/// Why a file can't be put into its place, with advice where a file has the name of a directory
/// above it.
fn cant_place(root: &Path, name: &Path, error: &io::Error) -> Failure {
    let help = "move the file away that has the name of a directory";
    match error.kind() {
        io::ErrorKind::NotADirectory => cant_write_or(&root.join(name), error, help),
        _ => cant_write(&root.join(name), error),
    }
}

fn stage_below(
    root: &Path,
    name: &Path,
    bytes: &[u8],
    directory: &dyn OutputDirectory,
) -> Result<Box<dyn Staged>, Failure> {
    let staged = directory.stage(name, &mut |sink| sink.write_all(bytes));
    staged.map_err(|error| cant_write(&root.join(name), &error))
}

impl Change {
    /// Puts everything in its place and removes files that an earlier run wrote and this one does
    /// not; then writes the state that `state` makes of the hashes of all entries.
    pub(super) fn commit(
        self,
        state: &mut dyn FnMut(&[u64]) -> Option<Vec<u8>>,
    ) -> Result<(), Failure> {
        let Self { root, directory, staged, in_the_way, old, new, hashes, _lock } = self;
        let failed = |name: &Path, error: &io::Error| cant_write(&root.join(name), error);
        let write = |name: &str, bytes: &[u8]| {
            let name = Path::new(name);
            let staged = stage_below(&root, name, bytes, &*directory)?;
            staged.commit().map_err(|error| failed(name, &error))
        };
        if old != new {
            write(MANIFEST, old.union(&new).text().as_bytes())?;
        }
        for name in &in_the_way {
            remove(Path::new(name), &root, &*directory)?;
        }
        for (name, staged) in staged {
            staged.commit().map_err(|error| failed(&name, &error))?;
        }
        for name in old.names_not_in(&new) {
            if directory.read(Path::new(name)).is_ok_and(|content| old.holds(name, &content)) {
                remove(Path::new(name), &root, &*directory)?;
            }
        }
        if old != new {
            write(MANIFEST, new.text().as_bytes())?;
        }
        if let Some(bytes) = state(&hashes) {
            write(STATE, &bytes)?;
        }
        directory.clear_scratch().map_err(|error| failed(Path::new(SCRATCH), &error))
    }
}

/// Removes a file, and the directories above it that are empty then.
fn remove(name: &Path, root: &Path, directory: &dyn OutputDirectory) -> Result<(), Failure> {
    let cant_remove = |name: &Path, error: &io::Error| {
        let shown = root.join(name);
        Failure::new(format!("can't remove `{}`: {}", shown.display(), super::reason(error)))
    };
    directory.remove(name).map_err(|error| cant_remove(name, &error))?;
    let above = name.ancestors().skip(1).take_while(|above| *above != Path::new(""));
    for above in above {
        directory.remove_if_empty(above).map_err(|error| cant_remove(above, &error))?;
    }
    Ok(())
}
