//! The file system as the editor shows it: open documents have the editor's text, saved or not.
//!
//! Directories of generated files are left out: hidden ones, and those with a `CACHEDIR.TAG`.

use crate::system::{DirectoryEntry, Fill, Lock, OutputDirectory, Staged, System};
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A system under open documents.
pub(super) struct Overlay<'s> {
    below: &'s dyn System,
    open: Mutex<HashMap<PathBuf, Vec<u8>>>,
}

impl<'s> Overlay<'s> {
    pub(super) fn new(below: &'s dyn System) -> Self {
        Self { below, open: Mutex::default() }
    }

    /// Gives a file this text; none for that on disk.
    pub(super) fn set(&self, path: &Path, text: Option<&[u8]>) {
        match text {
            Some(text) => drop(self.open().insert(path.to_path_buf(), text.to_vec())),
            None => drop(self.open().remove(path)),
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<PathBuf, Vec<u8>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl System for Overlay<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let text = self.open().get(path).cloned();
        text.map_or_else(|| self.below.read(path), Ok)
    }

    fn read_below(&self, root: &Path, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        self.below.read_below(root, path, most)
    }

    fn read_input(&self) -> io::Result<Vec<u8>> {
        self.below.read_input()
    }

    fn input(&self) -> io::Result<Box<dyn Read>> {
        self.below.input()
    }

    fn is_file(&self, path: &Path) -> bool {
        self.open().contains_key(path) || self.below.is_file(path)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.below.is_directory(path)
    }

    fn entries(&self, directory: &Path) -> io::Result<Vec<DirectoryEntry>> {
        let mut entries = self.below.entries(directory)?;
        let is_hidden = |path: &Path| {
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
        };
        entries.retain(|entry| {
            let is_made = || self.below.is_file(&entry.path.join("CACHEDIR.TAG"));
            !entry.is_directory || !is_hidden(&entry.path) && !is_made()
        });
        Ok(entries)
    }

    fn is_followed(&self, file: &Path) -> bool {
        self.below.is_followed(file)
    }

    fn canonical(&self, directory: &Path) -> PathBuf {
        self.below.canonical(directory)
    }

    fn stage(&self, path: &Path, fill: &mut Fill<'_>) -> io::Result<Box<dyn Staged>> {
        self.below.stage(path, fill)
    }

    fn stage_private(
        &self,
        path: &Path,
        mode: u32,
        fill: &mut Fill<'_>,
    ) -> io::Result<Box<dyn Staged>> {
        self.below.stage_private(path, mode, fill)
    }

    fn output_directory(
        &self,
        root: &Path,
        scratch: &Path,
        make: bool,
    ) -> io::Result<Box<dyn OutputDirectory>> {
        self.below.output_directory(root, scratch, make)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Lock>> {
        self.below.lock(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.below.variable(name)
    }

    fn errors_to_terminal(&self) -> bool {
        false
    }

    fn output_to_terminal(&self) -> bool {
        false
    }

    fn now(&self) -> i64 {
        self.below.now()
    }

    fn threads(&self) -> usize {
        self.below.threads()
    }

    fn print(&self, text: &str) {
        self.below.print(text);
    }

    fn write_output(&self, bytes: &[u8]) -> io::Result<()> {
        self.below.write_output(bytes)
    }

    fn print_error(&self, text: &str) {
        self.below.print_error(text);
    }
}
