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
//! A file that has its content already is left alone, so that its modification time stays and what depends on it is not
//! built again. The manifest names a file before it is put in its place, so that a run that is killed leaves nothing that
//! the next one would not know for its own.

use super::manifest::Manifest;
use super::{Content, OutputEntry, cant_read, cant_write};
use crate::exit::Failure;
use crate::system::{Lock, Staged, System};
use protolog_core::hash;
use std::io;
use std::path::{Path, PathBuf};

const PRIVATE: &str = ".protologtool";

/// The pending changes of a directory.
pub(super) struct Change {
    root: PathBuf,
    staged: Vec<(PathBuf, Box<dyn Staged>)>,
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
        let private = root.join(PRIVATE);
        let (path, lock) = (private.join("state"), private.join("lock"));
        if !system.is_file(&path) {
            return Ok(None);
        }
        let lock = system.lock(&lock).map_err(|error| cant_write(&lock, &error))?;
        // A state that can't be read is written anew.
        Ok(system.read(&path).ok().map(|state| Self { state, _lock: lock }))
    }
}

impl std::fmt::Debug for Previous {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Previous").field("state", &self.state.len()).finish_non_exhaustive()
    }
}

/// Stages all files that differ from what is there. `is_locked`: by [`Previous`].
pub(super) fn stage(
    root: &Path,
    entries: &[OutputEntry<'_>],
    is_locked: bool,
    system: &dyn System,
) -> Result<Change, Failure> {
    let private = root.join(PRIVATE);
    let (lock, manifest, scratch) =
        (private.join("lock"), private.join("manifest"), private.join("staged"));
    let held = || system.lock(&lock).map_err(|error| cant_write(&lock, &error));
    let held = (!is_locked).then(held).transpose()?;
    system.remove_all(&scratch).map_err(|error| cant_write(&scratch, &error))?;
    let old = match system.read(&manifest) {
        Ok(bytes) => Manifest::parse(&String::from_utf8_lossy(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Manifest::default(),
        Err(error) => return Err(cant_read(&manifest, &error)),
    };
    let (mut staged, mut new) = (Vec::new(), Manifest::default());
    let mut hashes = Vec::with_capacity(entries.len());
    for entry in entries {
        if let Content::Kept(hash) = entry.content {
            new.add(&entry.name, hash);
            hashes.push(hash);
            continue;
        }
        let path = root.join(&entry.name);
        let bytes = entry.read(system)?;
        let hash = hash(&bytes);
        new.add(&entry.name, hash);
        hashes.push(hash);
        if system.read(&path).is_ok_and(|old| old == *bytes) {
            continue;
        }
        let done = system.stage(&path, Some(&scratch), &mut |sink| sink.write_all(&bytes));
        let done = done.map_err(|error| cant_write(&path, &error))?;
        staged.push((path, done));
    }
    Ok(Change { root: root.to_path_buf(), staged, old, new, hashes, _lock: held })
}

impl Change {
    /// Puts everything in its place and removes what an earlier run wrote and this one does not; then writes the state that `state`
    /// makes of the hashes of all entries.
    pub(super) fn commit(
        self,
        state: &mut dyn FnMut(&[u64]) -> Option<Vec<u8>>,
        system: &dyn System,
    ) -> Result<(), Failure> {
        let private = self.root.join(PRIVATE);
        let manifest = private.join("manifest");
        let write = |lines: &Manifest| {
            super::stage(&manifest, lines.text().as_bytes(), system)?
                .commit()
                .map_err(|error| cant_write(&manifest, &error))
        };
        if self.old != self.new {
            write(&self.old.union(&self.new))?;
        }
        for (path, staged) in self.staged {
            staged.commit().map_err(|error| cant_write(&path, &error))?;
        }
        for name in self.old.names_not_in(&self.new) {
            let path = self.root.join(name);
            if system.read(&path).is_ok_and(|content| self.old.holds(name, &content)) {
                remove(&path, &self.root, system)?;
            }
        }
        if self.old != self.new {
            write(&self.new)?;
        }
        if let Some(bytes) = state(&self.hashes) {
            let path = private.join("state");
            super::stage(&path, &bytes, system)?
                .commit()
                .map_err(|error| cant_write(&path, &error))?;
        }
        let scratch = private.join("staged");
        system.remove_all(&scratch).map_err(|error| cant_write(&scratch, &error))
    }
}

/// Removes a file, and the directories above it, up to `root`, that are empty then.
fn remove(path: &Path, root: &Path, system: &dyn System) -> Result<(), Failure> {
    let cant_remove = |path: &Path, error: &io::Error| {
        Failure::new(format!("can't remove `{}`: {}", path.display(), super::reason(error)))
    };
    system.remove(path).map_err(|error| cant_remove(path, &error))?;
    let above = path.ancestors().skip(1).take_while(|directory| *directory != root);
    for directory in above {
        system.remove_if_empty(directory).map_err(|error| cant_remove(directory, &error))?;
        if system.is_directory(directory) {
            break;
        }
    }
    Ok(())
}
