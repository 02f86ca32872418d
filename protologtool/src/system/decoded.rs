//! The file system with sources of Java as UTF-8, from any encoding.

use super::{DirectoryEntry, Fill, Lock, OutputDirectory, Reader, Staged, Stamp, System};
use crate::encoding::SourceEncoding;
use crate::source::Kind;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A system whose sources have an encoding.
pub(crate) struct Decoded<'s> {
    below: &'s dyn System,
    encoding: SourceEncoding,
}

impl<'s> Decoded<'s> {
    /// The system `below`, with sources in `encoding`.
    pub(crate) fn new(below: &'s dyn System, encoding: SourceEncoding) -> Self {
        Self { below, encoding }
    }

    /// A text as the file at `path` holds it.
    pub(crate) fn encode(&self, path: &Path, text: Vec<u8>) -> Vec<u8> {
        match Kind::of_path(path) {
            Some(Kind::Java) => self.encoding.encode(text),
            _ => text,
        }
    }

    fn decode(&self, path: &Path, bytes: Vec<u8>) -> Vec<u8> {
        match Kind::of_path(path) {
            Some(Kind::Java) => self.encoding.decode(bytes),
            _ => bytes,
        }
    }
}

impl System for Decoded<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        Ok(self.decode(path, self.below.read(path)?))
    }

    fn read_into(&self, path: &Path, reader: &mut Reader) -> io::Result<()> {
        self.below.read_into(path, reader)?;
        let is_other =
            self.encoding != SourceEncoding::Utf8 && Kind::of_path(path) == Some(Kind::Java);
        if is_other && !reader.bytes().is_ascii() {
            reader.set(self.decode(path, reader.bytes().to_vec()));
        }
        Ok(())
    }

    fn read_found(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        Ok(self.decode(path, self.below.read_found(path, most)?))
    }

    fn version(&self, path: &Path) -> String {
        self.below.version(path)
    }

    fn stamp(&self, path: &Path, reader: &mut Reader) -> Option<Stamp> {
        self.below.stamp(path, reader)
    }

    fn directory(&self, path: &Path) -> Option<(u64, u64)> {
        self.below.directory(path)
    }

    fn read_below(&self, root: &Path, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        Ok(self.decode(path, self.below.read_below(root, path, most)?))
    }

    fn has_file_below(&self, root: &Path, path: &Path) -> bool {
        self.below.has_file_below(root, path)
    }

    fn is_pipe(&self, path: &Path) -> bool {
        self.below.is_pipe(path)
    }

    fn program(&self) -> String {
        self.below.program()
    }

    fn read_input(&self) -> io::Result<Vec<u8>> {
        self.below.read_input()
    }

    fn input(&self) -> io::Result<Box<dyn Read>> {
        self.below.input()
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.below.is_directory(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.below.is_file(path)
    }

    fn entries(&self, directory: &Path) -> io::Result<Vec<DirectoryEntry>> {
        self.below.entries(directory)
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

    fn succeeds(&self, program: &Path, args: &[&OsStr]) -> io::Result<bool> {
        self.below.succeeds(program, args)
    }

    fn run_program(&self, program: &OsStr, args: &[OsString]) -> io::Result<Option<i32>> {
        self.below.run_program(program, args)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.below.variable(name)
    }

    fn errors_to_terminal(&self) -> bool {
        self.below.errors_to_terminal()
    }

    fn output_to_terminal(&self) -> bool {
        self.below.output_to_terminal()
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
