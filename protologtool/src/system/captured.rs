//! The real machine, with its output kept: for a process that runs many commands and hands out the
//! output of each.

use super::{
    DirectoryEntry, Fill, Lock, OpenFile, OutputDirectory, Reader, Real, Staged, Stamp, System,
};
use protolog_reader::{ByteSource, FoundRecording};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The machine this process runs on, without its terminal.
#[derive(Debug, Default)]
pub struct Captured {
    printed: Mutex<Vec<u8>>,
}

impl Captured {
    /// The text that was printed, to standard output and standard error, as it came.
    pub fn into_printed(self) -> String {
        let printed = self.printed.into_inner().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&printed).into_owned()
    }

    fn add(&self, bytes: &[u8]) {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
    }
}

impl System for Captured {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        Real.read(path)
    }

    fn read_large(&self, path: &Path) -> io::Result<Vec<u8>> {
        Real.read_large(path)
    }

    fn read_into(&self, path: &Path, reader: &mut Reader) -> io::Result<()> {
        Real.read_into(path, reader)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        Real.open(path)
    }

    fn source(&self, path: &Path) -> io::Result<Option<Box<dyn ByteSource>>> {
        Real.source(path)
    }

    fn source_by_name(&self, path: &Path) -> io::Result<Option<Box<dyn ByteSource>>> {
        Real.source_by_name(path)
    }

    fn most_held(&self) -> usize {
        Real.most_held()
    }

    fn read_recording(&self, recording: &Path, trace: &Path, most: u64) -> io::Result<Vec<u8>> {
        Real.read_recording(recording, trace, most)
    }

    fn read_found(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        Real.read_found(path, most)
    }

    fn read_own(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        Real.read_own(path, most)
    }

    fn read_below(&self, root: &Path, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        Real.read_below(root, path, most)
    }

    fn has_file_below(&self, root: &Path, path: &Path) -> bool {
        Real.has_file_below(root, path)
    }

    fn read_named(&self, path: &Path, by: &Path, most: u64) -> io::Result<Vec<u8>> {
        Real.read_named(path, by, most)
    }

    fn is_pipe(&self, path: &Path) -> bool {
        Real.is_pipe(path)
    }

    fn read_from(&self, path: &Path, offset: u64, most: usize) -> io::Result<Vec<u8>> {
        Real.read_from(path, offset, most)
    }

    fn stamp(&self, path: &Path, reader: &mut Reader) -> Option<Stamp> {
        Real.stamp(path, reader)
    }

    fn directory(&self, path: &Path) -> Option<(u64, u64)> {
        Real.directory(path)
    }

    fn program(&self) -> String {
        Real.program()
    }

    fn open_file(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        Real.open_file(path)
    }

    fn file_id(&self, path: &Path) -> io::Result<(u64, u64)> {
        Real.file_id(path)
    }

    fn version(&self, path: &Path) -> String {
        Real.version(path)
    }

    fn is_in_use(&self, path: &Path) -> bool {
        Real.is_in_use(path)
    }

    fn find_recording(&self, trace: &Path, session_id: [u8; 16]) -> Option<PathBuf> {
        Real.find_recording(trace, session_id)
    }

    fn recordings_in(&self, directory: &Path) -> Vec<FoundRecording> {
        Real.recordings_in(directory)
    }

    fn read_input(&self) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn input(&self) -> io::Result<Box<dyn Read>> {
        Real.input()
    }

    fn is_file(&self, path: &Path) -> bool {
        Real.is_file(path)
    }

    fn is_directory(&self, path: &Path) -> bool {
        Real.is_directory(path)
    }

    fn entries(&self, directory: &Path) -> io::Result<Vec<DirectoryEntry>> {
        Real.entries(directory)
    }

    fn is_followed(&self, file: &Path) -> bool {
        Real.is_followed(file)
    }

    fn canonical(&self, directory: &Path) -> PathBuf {
        Real.canonical(directory)
    }

    fn stage(&self, path: &Path, fill: &mut Fill<'_>) -> io::Result<Box<dyn Staged>> {
        Real.stage(path, fill)
    }

    fn stage_private(
        &self,
        path: &Path,
        mode: u32,
        fill: &mut Fill<'_>,
    ) -> io::Result<Box<dyn Staged>> {
        Real.stage_private(path, mode, fill)
    }

    fn stage_change(&self, path: &Path, content: &[u8]) -> io::Result<Box<dyn Staged>> {
        Real.stage_change(path, content)
    }

    fn mode(&self, path: &Path) -> io::Result<u32> {
        Real.mode(path)
    }

    fn output_directory(
        &self,
        root: &Path,
        scratch: &Path,
        make: bool,
    ) -> io::Result<Box<dyn OutputDirectory>> {
        Real.output_directory(root, scratch, make)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Lock>> {
        Real.lock(path)
    }

    fn succeeds(&self, program: &Path, args: &[&OsStr]) -> io::Result<bool> {
        Real.succeeds(program, args)
    }

    fn variable(&self, name: &str) -> Option<String> {
        Real.variable(name)
    }

    fn errors_to_terminal(&self) -> bool {
        false
    }

    fn output_to_terminal(&self) -> bool {
        false
    }

    fn now(&self) -> i64 {
        Real.now()
    }

    fn threads(&self) -> usize {
        Real.threads()
    }

    fn print(&self, text: &str) {
        self.add(text.as_bytes());
    }

    fn write_output(&self, bytes: &[u8]) -> io::Result<()> {
        self.add(bytes);
        Ok(())
    }

    fn print_error(&self, text: &str) {
        self.add(text.as_bytes());
    }
}
