//! A file system and environment in memory, for tests.

use super::{DirectoryEntry, Fill, Lock, OutputDirectory, Staged, System, join};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Files, variables and printed output. Clones share their state.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, Vec<u8>>,
    variables: BTreeMap<String, String>,
    refused: Vec<PathBuf>,
    terminal: bool,
    /// Sizes of the parts in which standard input comes; the rest comes at once.
    input_parts: Vec<usize>,
    now: i64,
    out: String,
    errors: String,
}

impl Memory {
    /// With these files.
    pub fn with_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let system = Self::default();
        for (path, text) in files {
            system.add_file(path, text);
        }
        system
    }

    /// Makes standard input, the file `-`, come in parts of these sizes.
    pub fn set_input_parts(&self, sizes: impl Into<Vec<usize>>) {
        self.state().input_parts = sizes.into();
    }

    /// Adds or replaces a file.
    pub fn add_file(&self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) {
        self.state().files.insert(path.into(), content.into());
    }

    /// Sets an environment variable.
    pub fn set_variable(&self, name: &str, value: &str) {
        self.state().variables.insert(name.to_owned(), value.to_owned());
    }

    /// Makes staging of `path` fail.
    pub fn refuse(&self, path: impl Into<PathBuf>) {
        self.state().refused.push(path.into());
    }

    /// Makes standard output and standard error a terminal.
    pub fn set_terminal(&self) {
        self.state().terminal = true;
    }

    /// Sets the wall clock, in nanoseconds since 1970 (UTC).
    pub fn set_now(&self, now: i64) {
        self.state().now = now;
    }

    /// All files, by path.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.state().files.clone()
    }

    /// The text of a file, if there is one.
    pub fn text(&self, path: &str) -> Option<String> {
        let state = self.state();
        state.files.get(Path::new(path)).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// The text that was printed to standard output.
    pub fn out(&self) -> String {
        self.state().out.clone()
    }

    /// The text that was printed to standard error.
    pub fn errors(&self) -> String {
        self.state().errors.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl System for Memory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.state().files.get(path).cloned().ok_or(io::ErrorKind::NotFound.into())
    }

    // The file called `-`.
    fn input(&self) -> io::Result<Box<dyn Read>> {
        let mut parts = Vec::new();
        let mut rest = self.read_input()?;
        for size in self.state().input_parts.clone() {
            let after = rest.split_off(size.min(rest.len()));
            parts.push(std::mem::replace(&mut rest, after));
        }
        parts.push(rest);
        Ok(Box::new(InputParts(parts.into_iter().filter(|part| !part.is_empty()).collect())))
    }

    fn read_input(&self) -> io::Result<Vec<u8>> {
        self.read(Path::new("-"))
    }

    fn read_below(&self, root: &Path, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        self.read_found(&join(PathBuf::new(), &root.join(path)), most)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.state().files.contains_key(&join(PathBuf::new(), path))
    }

    fn is_directory(&self, path: &Path) -> bool {
        let path = join(PathBuf::new(), path);
        self.state().files.keys().any(|file| file != &path && file.starts_with(&path))
    }

    fn entries(&self, directory: &Path) -> io::Result<Vec<DirectoryEntry>> {
        let below = join(PathBuf::new(), directory);
        let state = self.state();
        let rest = state.files.keys().filter_map(|file| file.strip_prefix(&below).ok());
        let entries = rest.filter_map(|rest| {
            let mut components = rest.components();
            let path = directory.join(components.next()?);
            Some(DirectoryEntry { path, is_directory: components.next().is_some() })
        });
        let mut entries: Vec<_> = entries.collect();
        entries.dedup();
        if entries.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(entries) }
    }

    fn canonical(&self, directory: &Path) -> PathBuf {
        join(PathBuf::new(), directory)
    }

    fn stage(&self, path: &Path, fill: &mut Fill<'_>) -> io::Result<Box<dyn Staged>> {
        if self.state().refused.iter().any(|refused| refused == path) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut content = Cursor::new(Vec::new());
        fill(&mut content)?;
        let (path, content) = (path.to_path_buf(), content.into_inner());
        Ok(Box::new(StagedInMemory { system: self.clone(), path, content }))
    }

    fn stage_private(
        &self,
        path: &Path,
        _mode: u32,
        fill: &mut Fill<'_>,
    ) -> io::Result<Box<dyn Staged>> {
        self.stage(path, fill)
    }

    fn output_directory(
        &self,
        root: &Path,
        scratch: &Path,
        _make: bool,
    ) -> io::Result<Box<dyn OutputDirectory>> {
        let (root, scratch) = (root.to_path_buf(), root.join(scratch));
        Ok(Box::new(DirectoryInMemory { system: self.clone(), root, scratch }))
    }

    // Nobody else is there.
    fn lock(&self, _path: &Path) -> io::Result<Box<dyn Lock>> {
        Ok(Box::new(Unshared))
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.state().variables.get(name).cloned()
    }

    fn errors_to_terminal(&self) -> bool {
        self.state().terminal
    }

    fn output_to_terminal(&self) -> bool {
        self.state().terminal
    }

    fn now(&self) -> i64 {
        self.state().now
    }

    fn threads(&self) -> usize {
        2
    }

    fn print(&self, text: &str) {
        self.state().out.push_str(text);
    }

    fn write_output(&self, bytes: &[u8]) -> io::Result<()> {
        self.print(&String::from_utf8_lossy(bytes));
        Ok(())
    }

    fn print_error(&self, text: &str) {
        self.state().errors.push_str(text);
    }
}

struct StagedInMemory {
    system: Memory,
    path: PathBuf,
    content: Vec<u8>,
}

impl Staged for StagedInMemory {
    fn commit(self: Box<Self>) -> io::Result<()> {
        self.system.add_file(self.path, self.content);
        Ok(())
    }
}

struct DirectoryInMemory {
    system: Memory,
    root: PathBuf,
    scratch: PathBuf,
}

impl OutputDirectory for DirectoryInMemory {
    fn read(&self, name: &Path) -> io::Result<Vec<u8>> {
        self.system.read(&self.root.join(name))
    }

    fn stage(&self, name: &Path, fill: &mut Fill<'_>) -> io::Result<Box<dyn Staged>> {
        self.system.stage(&self.root.join(name), fill)
    }

    fn stage_over(&self, name: &Path, fill: &mut Fill<'_>) -> io::Result<Box<dyn Staged>> {
        self.stage(name, fill)
    }

    fn remove(&self, name: &Path) -> io::Result<()> {
        let removed = self.system.state().files.remove(&self.root.join(name));
        removed.map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    // There are no empty directories.
    fn remove_if_empty(&self, _name: &Path) -> io::Result<()> {
        Ok(())
    }

    fn clear_scratch(&self) -> io::Result<()> {
        self.system.state().files.retain(|file, _| !file.starts_with(&self.scratch));
        Ok(())
    }

    fn lock(&self, name: &Path) -> io::Result<Box<dyn Lock>> {
        self.system.lock(&self.root.join(name))
    }
}

struct Unshared;

impl Lock for Unshared {}

/// Bytes of which each part is read by itself.
struct InputParts(VecDeque<Vec<u8>>);

impl Read for InputParts {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let Some(part) = self.0.front_mut() else { return Ok(0) };
        let count = part.len().min(to.len());
        to[..count].copy_from_slice(&part[..count]);
        part.drain(..count);
        if part.is_empty() {
            self.0.pop_front();
        }
        Ok(count)
    }
}
