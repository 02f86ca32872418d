//! Directories of outputs on the disk, and locks.
//!
//! Invariant: nothing outside the directory is read, written or removed; protolog-files sees to it.

use super::staged::{MODE, PREFIX, write};
use super::{Fill, Lock, OutputDirectory, Staged};
use protolog_files::{Location, StagedFile, Tree, open_lock_file};
use std::cell::OnceCell;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A directory of outputs on the disk.
pub(super) struct RealDirectory {
    tree: Tree,
    scratch: PathBuf,
    /// A name in the scratch directory, open once for all files.
    open_scratch: OnceCell<Location>,
}

impl RealDirectory {
    pub(super) fn new(tree: Tree, scratch: &Path) -> Self {
        Self { tree, scratch: scratch.to_path_buf(), open_scratch: OnceCell::new() }
    }
}

impl OutputDirectory for RealDirectory {
    fn read(&self, name: &Path) -> io::Result<Vec<u8>> {
        self.tree.read(name)
    }

    fn stage(&self, name: &Path, fill: &mut Fill<'_>) -> io::Result<Box<dyn Staged>> {
        // Where directories are missing, nothing is there.
        match self.tree.locate(name).and_then(|place| place.check_file_or_missing()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.stage_over(name, fill)
    }

    fn stage_over(&self, name: &Path, fill: &mut Fill<'_>) -> io::Result<Box<dyn Staged>> {
        let scratch = match self.open_scratch.get() {
            Some(scratch) => scratch,
            None => {
                let found = self.tree.locate_new(&self.scratch.join("any"))?;
                self.open_scratch.get_or_init(|| found)
            }
        };
        let (staged, file) = StagedFile::named(scratch, PREFIX, MODE)?;
        write(file, None, fill)?;
        Ok(Box::new(Below { staged, tree: self.tree.clone(), name: name.to_path_buf() }))
    }

    fn remove(&self, name: &Path) -> io::Result<()> {
        self.tree.locate(name)?.remove()
    }

    fn remove_if_empty(&self, name: &Path) -> io::Result<()> {
        self.tree.remove_if_empty(name)
    }

    fn clear_scratch(&self) -> io::Result<()> {
        self.tree.remove_all(&self.scratch)
    }

    fn lock(&self, name: &Path) -> io::Result<Box<dyn Lock>> {
        lock(&self.tree.locate_new(name)?)
    }
}

/// A file that goes into a directory of outputs. There may be many, so it keeps no descriptor of
/// the directory that it goes to.
struct Below {
    staged: StagedFile,
    tree: Tree,
    name: PathBuf,
}

impl Staged for Below {
    fn commit(self: Box<Self>) -> io::Result<()> {
        self.staged.commit(&self.tree.locate_new(&self.name)?)
    }
}

/// As [`super::System::lock`].
pub(super) fn lock(place: &Location) -> io::Result<Box<dyn Lock>> {
    let file = open_lock_file(place)?;
    file.lock()?;
    Ok(Box::new(Held { _file: file }))
}

/// The lock is let go when the file is closed.
struct Held {
    _file: File,
}

impl Lock for Held {}
