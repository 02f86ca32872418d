//! Files and environment, behind a trait: the real ones, and ones in memory, so that whole runs of
//! the command are tested without touching a disk.
//!
//! Output is made in two steps. [`System::stage`] takes the whole content of a file and puts it
//! aside; [`Staged::commit`] moves it to its place. A run stages everything before it commits
//! anything, and what is dropped uncommitted leaves no trace: outputs are written whole or not at
//! all.

mod captured;
mod decoded;
mod directory;
mod file_source;
mod found;
mod locks;
mod memory;
#[cfg(unix)]
mod neighbour;
mod open_file;
pub(crate) mod os;
mod part_file;
mod reader;
mod real;
mod reopened;
mod spool;
mod staged;
mod stamp;
mod whole;

pub use captured::Captured;
pub(crate) use decoded::Decoded;
pub(crate) use locks::{has_record_lock, lock_record};
pub use memory::Memory;
pub use open_file::OpenFile;
pub use part_file::PartFile;
pub use reader::Reader;
pub use real::Real;
pub(crate) use spool::Spool;
#[cfg(unix)]
pub(crate) use spool::unnamed_file;
pub use stamp::Stamp;

use protolog_reader::{ByteSource, FoundRecording};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

/// The files of a set that are open at once under the usual limits.
const MOST_HELD: usize = 256;

/// The interface between the command and its surroundings.
pub trait System: Sync {
    /// The content of an input: of a regular file with a limited size, or of a descriptor that this
    /// process was given.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The content of a log or a program that was asked for, of any size; it may come through a
    /// pipe.
    fn read_large(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.read(path)
    }

    /// Reads a file into `reader`, which makes reading many of them cheaper.
    fn read_into(&self, path: &Path, reader: &mut Reader) -> io::Result<()> {
        reader.set(self.read(path)?);
        Ok(())
    }

    /// The content of a file, for who does not want it whole in memory.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(io::Cursor::new(self.read(path)?)))
    }

    /// The bytes of a regular file, for who reads parts of it; none of anything else.
    fn source(&self, path: &Path) -> io::Result<Option<Box<dyn ByteSource>>> {
        let source: Box<dyn ByteSource> = Box::new(self.read(path)?);
        Ok(Some(source))
    }

    /// As [`source`](Self::source), by a file that is opened for each part that is read. It is
    /// found again when it was renamed in its directory meanwhile.
    fn source_by_name(&self, path: &Path) -> io::Result<Option<Box<dyn ByteSource>>> {
        self.source(path)
    }

    /// The number of files of a set that may be open at once. Of more, each is opened for what is
    /// read of it.
    fn most_held(&self) -> usize {
        MOST_HELD
    }

    /// The first bytes of a file that the recording `by` names, if both are regular files of one
    /// user, and no links. Never waits.
    fn read_named(&self, path: &Path, _by: &Path, most: u64) -> io::Result<Vec<u8>> {
        self.read_from(path, 0, usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// The first bytes of the recording of a trace, if both are regular files of one user, and the
    /// recording is no link. Never waits.
    fn read_recording(&self, recording: &Path, _trace: &Path, most: u64) -> io::Result<Vec<u8>> {
        self.read_from(recording, 0, usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// The content of a file that was found, or that another file names, and not a person: that of
    /// a regular file, with at most `most` bytes; nothing of a file of the kernel, which has no
    /// size. Never waits.
    fn read_found(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let bytes = self.read(path)?;
        if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
    }

    /// The content of a file with settings of this user, with at most `most` bytes: a regular file
    /// of this user or of root, in a directory of theirs, and no link. Never waits.
    fn read_own(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        self.read_found(path, most)
    }

    /// As [`read_found`](Self::read_found), of a file in the directory `root` or below it, by a
    /// path that leads there without leaving it.
    fn read_below(&self, root: &Path, path: &Path, most: u64) -> io::Result<Vec<u8>>;

    /// Returns whether there is a regular file in the directory `root` or below it, by a path that
    /// leads there without leaving it.
    fn has_file_below(&self, root: &Path, path: &Path) -> bool {
        self.is_file(&root.join(path))
    }

    /// Returns whether the path names something that can be read once only, such as a pipe.
    fn is_pipe(&self, _path: &Path) -> bool {
        false
    }

    /// The content of a file from an offset on, `most` bytes of it; empty if it is shorter.
    fn read_from(&self, path: &Path, offset: u64, most: usize) -> io::Result<Vec<u8>> {
        let bytes = self.read(path)?;
        let rest = bytes.get(offset as usize..).unwrap_or_default();
        Ok(rest.get(..most).unwrap_or(rest).to_vec())
    }

    /// Opens a regular file that may grow. Never waits.
    fn open_file(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        Ok(Box::new(self.read(path)?))
    }

    /// The [id](OpenFile::id) of the file that has this name now.
    fn file_id(&self, path: &Path) -> io::Result<(u64, u64)> {
        self.read(path)?.id()
    }

    /// A text that changes whenever the file's content may have changed.
    fn version(&self, _path: &Path) -> String {
        String::new()
    }

    /// The stamp of a regular file, where the file system has any.
    fn stamp(&self, _path: &Path, _reader: &mut Reader) -> Option<Stamp> {
        None
    }

    /// Device and number of a directory; none if it is not there, or where directories have none.
    fn directory(&self, _path: &Path) -> Option<(u64, u64)> {
        None
    }

    /// A text that changes with the program that runs.
    fn program(&self) -> String {
        String::new()
    }

    /// Returns whether a process holds a lock on the file, as far as can be told.
    fn is_in_use(&self, _path: &Path) -> bool {
        false
    }

    /// The recording of a trace, by the id of its session.
    fn find_recording(&self, _trace: &Path, _session_id: [u8; 16]) -> Option<PathBuf> {
        None
    }

    /// The recordings in a directory.
    fn recordings_in(&self, _directory: &Path) -> Vec<FoundRecording> {
        Vec::new()
    }

    /// The whole of standard input.
    fn read_input(&self) -> io::Result<Vec<u8>>;

    /// Standard input, for who reads it as it comes.
    fn input(&self) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(io::Cursor::new(self.read_input()?)))
    }

    /// Returns whether there is a directory of this name.
    fn is_directory(&self, path: &Path) -> bool;

    /// Returns whether there is a regular file of this name, or a link to one.
    fn is_file(&self, path: &Path) -> bool;

    /// The entries of a directory, in any order. Symbolic links count as what they lead to, except
    /// links to directories, which may lead in circles and are left out. So is a pipe or a device,
    /// which may never end.
    fn entries(&self, directory: &Path) -> io::Result<Vec<DirectoryEntry>>;

    /// Returns whether a file that was found in a directory is read: a link of another user's that
    /// leads to a file of somebody else is not, by the rule of outputs (docs/design/outputs.md).
    fn is_followed(&self, _file: &Path) -> bool {
        true
    }

    /// A directory's path without links, `.` and `..`, as far as it exists: two paths lead to one
    /// directory if this is the same for both.
    fn canonical(&self, directory: &Path) -> PathBuf;

    /// Puts a file's content aside, to be moved to `path` by [`Staged::commit`]; `fill` writes it.
    /// Nothing of it is seen before, not even if the process is killed; the directory of `path` is
    /// made. A link at `path` is refused; a pipe or a device is opened now, and written then.
    fn stage(&self, path: &Path, fill: &mut Fill<'_>) -> io::Result<Box<dyn Staged>>;

    /// Opens a pipe, a device or, as `-`, standard output, for contents that come for as long as
    /// its reader likes. None of a file, which is [staged](Self::stage).
    fn open_stream(&self, _path: &Path) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// As [`stage`](Self::stage), for contents that others may not be meant to read: the file has
    /// these permissions, whatever the umask, and more of them at no time.
    fn stage_private(
        &self,
        path: &Path,
        mode: u32,
        fill: &mut Fill<'_>,
    ) -> io::Result<Box<dyn Staged>>;

    /// Begins a file that gets its name `path` when it is complete, and has another one beside it
    /// until then: what is in it is there also if the process is killed.
    fn grow(&self, _path: &Path, _mode: u32) -> io::Result<PartFile> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Puts other content for a file that is there aside. The file keeps its owner and permissions.
    /// Refused is a link, and a file that is read-only, or of another user, or has a second name
    /// that would keep the old content.
    fn stage_change(&self, path: &Path, content: &[u8]) -> io::Result<Box<dyn Staged>> {
        self.stage(path, &mut |sink| sink.write_all(content))
    }

    /// The permissions of a file.
    fn mode(&self, _path: &Path) -> io::Result<u32> {
        Ok(0o644)
    }

    /// Opens a directory of outputs, and makes it if that is asked for.
    fn output_directory(
        &self,
        root: &Path,
        scratch: &Path,
        make: bool,
    ) -> io::Result<Box<dyn OutputDirectory>>;

    /// Waits until no other process holds this lock, and holds it until the value is dropped. Makes
    /// the file and its directory, which must be this user's.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Lock>>;

    /// Runs a program without input, and without showing its output; true if it ends with code 0.
    fn succeeds(&self, _program: &Path, _args: &[&OsStr]) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Runs a program with this process's input and output, and waits for it. Returns its exit
    /// code; none if it died of a signal.
    fn run_program(&self, _program: &OsStr, _args: &[OsString]) -> io::Result<Option<i32>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// An environment variable.
    fn variable(&self, name: &str) -> Option<String>;

    /// Returns whether standard error is a terminal.
    fn errors_to_terminal(&self) -> bool;

    /// Returns whether standard output is a terminal.
    fn output_to_terminal(&self) -> bool;

    /// The wall clock, in nanoseconds since 1970 (UTC).
    fn now(&self) -> i64;

    /// The number of threads worth having.
    fn threads(&self) -> usize;

    /// Standard output.
    fn print(&self, text: &str);

    /// Standard output, for what may be long: whoever writes it wants to know when nobody reads it
    /// any more.
    fn write_output(&self, bytes: &[u8]) -> io::Result<()>;

    /// Standard error.
    fn print_error(&self, text: &str);
}

/// The error for a file with more bytes than are read.
pub(crate) fn too_large(most: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes"))
}

/// A file or directory in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its path, the directory's included.
    pub path: PathBuf,
    /// True if it is a directory.
    pub is_directory: bool,
}

/// A directory whose contents are outputs. Names are paths below it, and lead nowhere else: no link
/// in it is followed.
pub trait OutputDirectory {
    /// The content of a regular file.
    fn read(&self, name: &Path) -> io::Result<Vec<u8>>;

    /// As [`System::stage`]; the content waits in the scratch directory.
    fn stage(&self, name: &Path, fill: &mut Fill<'_>) -> io::Result<Box<dyn Staged>>;

    /// As [`stage`](Self::stage), where the file above `name` or the files below it are removed
    /// before the commit.
    fn stage_over(&self, name: &Path, fill: &mut Fill<'_>) -> io::Result<Box<dyn Staged>>;

    /// Removes a file.
    fn remove(&self, name: &Path) -> io::Result<()>;

    /// Removes a directory if it is empty.
    fn remove_if_empty(&self, name: &Path) -> io::Result<()>;

    /// Removes the scratch directory and all in it.
    fn clear_scratch(&self) -> io::Result<()>;

    /// As [`System::lock`].
    fn lock(&self, name: &Path) -> io::Result<Box<dyn Lock>>;
}

/// A lock that is held; dropping it lets it go.
pub trait Lock {}

/// Writes the content of a staged file; the sink can seek since archives need it.
pub type Fill<'a> = dyn FnMut(&mut dyn Sink) -> io::Result<()> + 'a;

/// Where staged content goes.
pub trait Sink: Write + io::Seek {}

impl<T: Write + io::Seek> Sink for T {}

/// A file whose content is complete but which is not in its place yet. Dropping it removes it.
pub trait Staged {
    /// Moves the file to its place, over what is there, in one step.
    fn commit(self: Box<Self>) -> io::Result<()>;
}

/// `path` below `base`, with `.` and `..` taken out as far as the text allows.
fn join(base: PathBuf, path: &Path) -> PathBuf {
    path.components().fold(base, |mut joined, component| {
        match component {
            Component::CurDir => {}
            Component::ParentDir if joined.file_name().is_some() => drop(joined.pop()),
            other => joined.push(other),
        }
        joined
    })
}
