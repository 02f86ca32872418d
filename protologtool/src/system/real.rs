//! The real file system and environment.

use super::directory::{RealDirectory, lock};
use super::file_source::FileSource;
use super::reopened::ReopenedFile;
use super::{
    DirectoryEntry, Fill, Lock, MOST_HELD, OpenFile, OutputDirectory, PartFile, Reader, Staged,
    Stamp, System, found, has_record_lock, join, os, staged, too_large, whole,
};
use crate::colors::COLORS;
use protolog_core::escape::controls_output;
use protolog_files::{
    Directory, Found, Location, Output, Refused, Root, Status, Tree, look, read_with_holes,
};
use protolog_reader::{ByteSource, FoundRecording};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// The machine this process runs on.
#[derive(Debug, Default)]
pub struct Real;

impl System for Real {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        whole::read(path)
    }

    fn read_large(&self, path: &Path) -> io::Result<Vec<u8>> {
        // Of the one who asks, whatever its size; a device that never ends is none.
        let kind = fs::metadata(path)?.file_type();
        let is_pipe = os::is_pipe(kind) && !found::is_found(path);
        if is_pipe || whole::is_own_descriptor(path) {
            let mut bytes = Vec::new();
            File::open(path)?.read_to_end(&mut bytes)?;
            return Ok(bytes);
        }
        whole::read_up_to(path, u64::MAX - 1)
    }

    fn read_into(&self, path: &Path, reader: &mut Reader) -> io::Result<()> {
        reader.read(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        // As `read_large`.
        let is_pipe = os::is_pipe(fs::metadata(path)?.file_type()) && !found::is_found(path);
        Ok(Box::new(if is_pipe { File::open(path)? } else { whole::open(path)? }))
    }

    fn source(&self, path: &Path) -> io::Result<Option<Box<dyn ByteSource>>> {
        if !fs::metadata(path)?.is_file() {
            return Ok(None);
        }
        // By now it may be something else.
        let file = found::open_regular(path)?;
        let source: Box<dyn ByteSource> = Box::new(FileSource::new(file)?);
        Ok(Some(source))
    }

    fn source_by_name(&self, path: &Path) -> io::Result<Option<Box<dyn ByteSource>>> {
        if !fs::metadata(path)?.is_file() {
            return Ok(None);
        }
        Ok(Some(Box::new(ReopenedFile::new(path)?)))
    }

    fn most_held(&self) -> usize {
        // Half of what this process may have: there are other files than those of the set.
        os::most_files().map_or(MOST_HELD, |limit| MOST_HELD.min((limit / 2) as usize))
    }

    fn read_named(&self, path: &Path, by: &Path, most: u64) -> io::Result<Vec<u8>> {
        let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
        let owner = |metadata: Metadata| metadata.is_file().then(|| os::owner(&metadata));
        // Before it is opened: to open a device may have effects.
        let by = owner(fs::symlink_metadata(by)?).ok_or_else(refused)?;
        owner(fs::symlink_metadata(path)?).filter(|it| *it == by).ok_or_else(refused)?;
        let file = Location::of(path)?.open_regular()?;
        owner(file.metadata()?).filter(|it| *it == by).ok_or_else(refused)?;
        read_with_holes(&file, 0, most)
    }

    fn read_recording(&self, recording: &Path, trace: &Path, most: u64) -> io::Result<Vec<u8>> {
        let file = Location::of(recording)?.open_regular()?;
        if os::owner(&file.metadata()?) != os::owner(&fs::metadata(trace)?) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        read_with_holes(&file, 0, most)
    }

    fn read_found(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        read_of_size(protolog_files::open_regular_file(path)?, most)
    }

    fn read_below(&self, root: &Path, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        read_of_size(Root::open(root)?.open_regular_file(path)?, most)
    }

    fn read_own(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = Location::of(path)?.open_trusted()?;
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
    }

    fn has_file_below(&self, root: &Path, path: &Path) -> bool {
        Root::open(root).is_ok_and(|root| root.has_regular_file(path))
    }

    fn is_pipe(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
    }

    fn read_from(&self, path: &Path, offset: u64, most: usize) -> io::Result<Vec<u8>> {
        read_with_holes(&whole::open(path)?, offset, most as u64)
    }

    fn open_file(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        Ok(Box::new(found::open_regular(path)?))
    }

    fn file_id(&self, path: &Path) -> io::Result<(u64, u64)> {
        let found = look(path)?;
        Ok((found.dev(), found.ino()))
    }

    fn version(&self, path: &Path) -> String {
        fs::metadata(path).map(|found| os::version(&found)).unwrap_or_default()
    }

    fn stamp(&self, path: &Path, reader: &mut Reader) -> Option<Stamp> {
        reader.stamp(path)
    }

    fn directory(&self, path: &Path) -> Option<(u64, u64)> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let directory = look(path).ok().filter(Status::is_dir)?;
        Some((directory.dev(), directory.ino()))
    }

    fn program(&self) -> String {
        std::env::current_exe().map(|path| self.version(&path)).unwrap_or_default()
    }

    fn is_in_use(&self, path: &Path) -> bool {
        let locked = |file: File| {
            matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
                || has_record_lock(&file)
        };
        found::open_regular(path).is_ok_and(locked)
    }

    fn find_recording(&self, trace: &Path, session_id: [u8; 16]) -> Option<PathBuf> {
        protolog_reader::find_recording(trace, session_id, open_recording)
    }

    fn recordings_in(&self, directory: &Path) -> Vec<FoundRecording> {
        protolog_reader::find_recordings_in(directory, open_recording).collect()
    }

    fn read_input(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn input(&self) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(io::stdin()))
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn entries(&self, directory: &Path) -> io::Result<Vec<DirectoryEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, entry.path());
            let is_file = if kind.is_symlink() { path.is_file() } else { kind.is_file() };
            if is_file || kind.is_dir() || (kind.is_symlink() && !path.exists()) {
                entries.push(DirectoryEntry { path, is_directory: kind.is_dir() });
            }
        }
        Ok(entries)
    }

    fn is_followed(&self, file: &Path) -> bool {
        let is_link = fs::symlink_metadata(file).is_ok_and(|found| found.is_symlink());
        let is_refused = |error| Refused::of(&error).is_some();
        // By the time that it is opened it may be another one.
        found::remember(file);
        !is_link || !Directory::trusted_holding_target(file).is_err_and(is_refused)
    }

    fn canonical(&self, directory: &Path) -> PathBuf {
        // A path that does not exist yet has no links in it.
        let known = directory.ancestors().find_map(|known| {
            let path = if known.as_os_str().is_empty() { Path::new(".") } else { known };
            Some((known, fs::canonicalize(path).ok()?))
        });
        match known {
            Some((known, path)) => join(path, directory.strip_prefix(known).unwrap_or(directory)),
            None => join(PathBuf::new(), directory),
        }
    }

    fn stage(&self, path: &Path, fill: &mut Fill<'_>) -> io::Result<Box<dyn Staged>> {
        staged::stage(path, None, fill)
    }

    fn open_stream(&self, path: &Path) -> io::Result<Option<File>> {
        let path = if path == Path::new("-") { Path::new("/dev/stdout") } else { path };
        Ok(match Output::find_making_directories(path)? {
            Found::Stream(output) => Some(output.file),
            Found::Missing(_) | Found::File(_) => None,
        })
    }

    fn stage_private(
        &self,
        path: &Path,
        mode: u32,
        fill: &mut Fill<'_>,
    ) -> io::Result<Box<dyn Staged>> {
        staged::stage(path, Some(mode), fill)
    }

    fn grow(&self, path: &Path, mode: u32) -> io::Result<PartFile> {
        PartFile::create(path, mode)
    }

    fn stage_change(&self, path: &Path, content: &[u8]) -> io::Result<Box<dyn Staged>> {
        staged::stage_change(path, content)
    }

    fn mode(&self, path: &Path) -> io::Result<u32> {
        Ok(look(path)?.mode() & 0o7777)
    }

    fn output_directory(
        &self,
        root: &Path,
        scratch: &Path,
        make: bool,
    ) -> io::Result<Box<dyn OutputDirectory>> {
        let tree = if make { Tree::create(root) } else { Tree::open(root) };
        Ok(Box::new(RealDirectory::new(tree?, scratch)))
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Lock>> {
        lock(&Location::of_new_own(path)?)
    }

    fn succeeds(&self, program: &Path, args: &[&OsStr]) -> io::Result<bool> {
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().map(|status| status.success())
    }

    fn run_program(&self, program: &OsStr, args: &[OsString]) -> io::Result<Option<i32>> {
        Ok(Command::new(program).args(args).status()?.code())
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
    }

    fn errors_to_terminal(&self) -> bool {
        io::stderr().is_terminal()
    }

    fn output_to_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    }

    fn threads(&self) -> usize {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
    }

    // A reader that went away (`| head`) is no failure of ours.
    fn print(&self, text: &str) {
        let _ = io::stdout().lock().write_all(text.as_bytes());
    }

    fn write_output(&self, bytes: &[u8]) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes)?;
        stdout.flush()
    }

    fn print_error(&self, text: &str) {
        let _ = io::stderr().lock().write_all(shown(text).as_bytes());
    }
}

/// The content of a file, as far as it has a size: what the kernel makes when it is read, such as
/// `/proc/self/environ`, has none.
fn read_of_size(file: File, most: u64) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    if size > most {
        return Err(too_large(most));
    }
    let mut bytes = Vec::new();
    file.take(size).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Text for standard error: whatever names of files are in it, a terminal obeys nothing but our
/// colours.
fn shown(text: &str) -> Cow<'_, str> {
    let stands = |char: char| matches!(char, '\n' | '\t') || !controls_output(char);
    if text.chars().all(stands) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(|char| !stands(char)) {
        let (plain, from) = rest.split_at(at);
        out.push_str(plain);
        let size = color(from).unwrap_or(0);
        let (color, after) = from.split_at(size);
        out.push_str(color);
        let mut chars = after.chars();
        if size == 0 {
            out.extend(chars.next().into_iter().flat_map(char::escape_default));
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The size of the sequence that `text` begins with, if it is one of ours that changes colours:
/// others conceal.
fn color(text: &str) -> Option<usize> {
    COLORS.iter().find(|color| text.starts_with(**color)).map(|color| color.len())
}

/// Opens what may be a recording; see [`protolog_reader::find_recordings_in`].
fn open_recording(path: &Path) -> Option<File> {
    Location::of(path).and_then(|it| it.open_regular()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing_in_errors_but_colours() {
        for (text, expected) in [
            ("warning: `a`\n\thelp: ü\n", "warning: `a`\n\thelp: ü\n"),
            ("\x1b[1;31merror\x1b[0m: x", "\x1b[1;31merror\x1b[0m: x"),
            ("`\x1b]0;title\x07.sock`", "`\\u{1b}]0;title\\u{7}.sock`"),
            ("\x1b[8mhidden\x1b[31m", "\\u{1b}[8mhidden\\u{1b}[31m"),
            ("\x1b[2J\x1b[", "\\u{1b}[2J\\u{1b}["),
            ("a\rb\u{9b}31m\u{202e}c\x7f", "a\\rb\\u{9b}31m\\u{202e}c\\u{7f}"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }
}
