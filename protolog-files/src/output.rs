//! Outputs: files, pipes and devices that are written, opened by one rule.
//!
//! A path may be written if its last component is
//!
//! - missing: the file is created, which fails if anything is there by then;
//! - a regular file of this user or of root that has one name. It keeps its content until the
//!   caller has looked at it, and its mode unless the caller asks for another one
//!   ([`Location::give_mode`]);
//! - a pipe of this user or of root that a program has open for reading, or opens within
//!   [`READER_TIMEOUT`]; or such a character device: a terminal, `/dev/null`;
//! - a descriptor of this process (`/dev/stdout`, `/dev/fd/N`), of any kind: see
//!   [`descriptor`].
//!
//! Everything else is [`Refused`]: links above all. The way to it is found by the rule of
//! `walk.rs`.
//!
//! Invariants
//! - A returned output was checked by its descriptor, and nothing was truncated.
//! - Nothing blocks, but that the reader of a pipe is waited for, for a moment.

use crate::descriptor;
use crate::location::Location;
use crate::refused::{Kind, Refused};
use crate::status::Status;
use crate::sys::{self, Use};
use crate::walk::is_trusted;
use std::fs::File;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The time that the reader of a pipe has to open it, since both programs are often started
/// together; and between two attempts.
pub const READER_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Attempts to open a file that others create and remove at the same time.
const ATTEMPTS: usize = 100;

/// The permission in a mode by which the owner may write.
const OWNER_WRITES: u32 = 0o200;

/// The way that an output is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputAccess {
    /// From the beginning.
    Write,
    /// At the end, wherever that is by then.
    Append,
    /// From the beginning; a regular file can be read, too.
    ReadWrite,
}

/// An output that is open. Writes wait until there is room, as usual.
#[derive(Debug)]
pub struct Output {
    /// The file, open for writing.
    pub file: File,
    /// Its kind.
    pub kind: OutputKind,
    /// True if it is a file that was created.
    pub is_new: bool,
}

/// The kind of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A regular file in a directory.
    File,
    /// A pipe or a device.
    Stream,
    /// A descriptor of this process, of any kind. Its content is not this process's to change.
    Descriptor,
}

/// The place or file that an output would be written to.
#[derive(Debug)]
pub enum Found {
    /// A name that is free.
    Missing(Location),
    /// A regular file, which may be replaced.
    File(Location),
    /// Something that can only be written.
    Stream(Output),
}

impl Output {
    /// Opens the output at `path`, or creates the file with `mode`.
    pub fn open(path: &Path, access: OutputAccess, mode: u32) -> io::Result<Self> {
        match descriptor::open(path)? {
            Some(file) => Ok(Self { file, kind: OutputKind::Descriptor, is_new: false }),
            None => Location::of(path)?.open_or_create(access, mode),
        }
    }

    /// Returns an error if the output at `path` would be refused, as far as that is seen without
    /// opening anything; and its kind, or none if nothing is there.
    pub fn check(path: &Path) -> io::Result<Option<Kind>> {
        if descriptor::is_descriptor(path) {
            return Ok(Some(Kind::Other));
        }
        Location::of(path)?.check_output()
    }

    /// Finds the entry at `path`, for an output that takes its place when complete. Only an entry
    /// that can't be replaced is opened. The file may have several names: it is left as it is.
    pub fn find(path: &Path) -> io::Result<Found> {
        if let Some(file) = descriptor::open(path)? {
            return Ok(Found::Stream(Self { file, kind: OutputKind::Descriptor, is_new: false }));
        }
        Location::of(path)?.find()
    }

    /// As [`Self::find`], and makes directories that are missing.
    pub fn find_making_directories(path: &Path) -> io::Result<Found> {
        if descriptor::is_descriptor(path) {
            return Self::find(path);
        }
        Location::of_new(path)?.find()
    }
}

impl Location {
    /// Opens the entry here, or creates the file with `mode`.
    pub fn open_or_create(&self, access: OutputAccess, mode: u32) -> io::Result<Output> {
        for _ in 0..ATTEMPTS {
            match self.open_existing(access) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                opened => return opened,
            }
            match self.create(access, mode) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => {
                    return Ok(Output { file: created?, kind: OutputKind::File, is_new: true });
                }
            }
        }
        Err(replaced())
    }

    /// Opens the entry here; an error if there is none.
    pub fn open_existing(&self, access: OutputAccess) -> io::Result<Output> {
        let begun = Instant::now();
        loop {
            // Before it is opened: to open a device may have effects.
            let found = self.look()?.status().clone();
            self.check(&found, HardLinks::Refused)?;
            let is_file = found.is_file();
            let how = if is_file { access.into() } else { Use::Write };
            match sys::open_at(self, self.name(), how) {
                Ok(file) => {
                    if let Some(output) = self.opened(file, &found)? {
                        return Ok(output);
                    }
                }
                // By now.
                Err(error) if sys::is_link(&error) => {}
                Err(error) if sys::has_no_reader(&error) && found.kind() == Kind::Pipe => {
                    if begun.elapsed() >= READER_TIMEOUT {
                        return Err(Refused::NoReader.into());
                    }
                }
                Err(error) => return Err(error),
            }
            if begun.elapsed() >= READER_TIMEOUT {
                return Err(replaced());
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Checks the opened file; none if it is of another kind than the entry found before.
    fn opened(&self, file: File, found: &Status) -> io::Result<Option<Output>> {
        let opened = Status::of(&file)?;
        if opened.kind() != found.kind() {
            return Ok(None);
        }
        self.check(&opened, HardLinks::Refused)?;
        let is_file = found.is_file();
        if !is_file {
            sys::block(&file)?;
        }
        let kind = if is_file { OutputKind::File } else { OutputKind::Stream };
        Ok(Some(Output { file, kind, is_new: false }))
    }

    /// As [`Output::check`].
    pub fn check_output(&self) -> io::Result<Option<Kind>> {
        let Some(found) = self.found()? else { return Ok(None) };
        self.check(&found, HardLinks::Fine)?;
        Ok(Some(found.kind()))
    }

    /// Creates the file, which must not be there: not even as a link.
    pub fn create_new(&self, mode: u32) -> io::Result<File> {
        self.create(OutputAccess::ReadWrite, mode)
    }

    /// Returns the entry here.
    pub fn find(self) -> io::Result<Found> {
        let Some(found) = self.found()? else { return Ok(Found::Missing(self)) };
        self.check(&found, HardLinks::Fine)?;
        match found.kind() {
            Kind::File => Ok(Found::File(self)),
            _ => Ok(Found::Stream(self.open_existing(OutputAccess::Write)?)),
        }
    }

    /// Returns an error unless the name is free, or that of a regular file that may be replaced.
    pub fn check_file_or_missing(&self) -> io::Result<()> {
        let Some(found) = self.found()? else { return Ok(()) };
        self.check(&found, HardLinks::Fine)?;
        match found.kind() {
            Kind::File => Ok(()),
            other => Err(Refused::Unusable(other).into()),
        }
    }

    /// Opens the regular file that is here, which is to be changed: it belongs to this user, has
    /// one name, and may be written by its permissions, which root would not be asked for.
    pub fn open_to_change(&self) -> io::Result<File> {
        let Output { file, kind, .. } = self.open_existing(OutputAccess::ReadWrite)?;
        let found = Status::of(&file)?;
        if kind != OutputKind::File {
            return Err(Refused::Unusable(found.kind()).into());
        }
        if found.uid() != sys::user() {
            return Err(Refused::Foreign(Kind::File).into());
        }
        if found.mode() & OWNER_WRITES == 0 { Err(Refused::ReadOnly.into()) } else { Ok(file) }
    }

    /// Takes care that a regular file that was here, is open as `file` and is to be emptied, has
    /// `mode`, or less where it must stay. False if it was removed, so that a new one can be
    /// created: a process that opened the old one before may still read it.
    ///
    /// A file that can't be removed loses the permissions that are too many, if it is this user's,
    /// and nobody else can have put it there.
    pub fn give_mode(&self, file: &File, mode: u32) -> io::Result<bool> {
        let found = Status::of(file)?;
        let has = found.mode() & 0o7777;
        if has == mode {
            return Ok(true);
        }
        match self.remove_if(file) {
            Ok(_) => return Ok(false),
            Err(_) if has & !mode == 0 => return Ok(true),
            Err(_) => {}
        }
        if found.uid() != sys::user() || !self.is_in_trusted_directory()? {
            return Err(Refused::Permissive(has).into());
        }
        sys::set_mode(file, has & mode)?;
        Ok(true)
    }

    /// Returns whether nobody but this user and root can have put the entry here: the directory is
    /// theirs, and others can't write there, or rename only entries of their own (as in `/tmp`).
    pub fn is_in_trusted_directory(&self) -> io::Result<bool> {
        let directory = self.directory_status()?;
        let is_closed = directory.mode() & 0o022 == 0 || directory.mode() & 0o1000 != 0;
        Ok(is_trusted(directory.uid()) && is_closed)
    }

    /// Looks at the entry here, if there is one.
    fn found(&self) -> io::Result<Option<Status>> {
        match self.look().map(|entry| entry.status().clone()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            found => found.map(Some),
        }
    }

    fn create(&self, access: OutputAccess, mode: u32) -> io::Result<File> {
        sys::create_at(self, self.name(), access.into(), mode)
    }

    /// Returns an error if the entry found here must not be written.
    fn check(&self, found: &Status, hard_links: HardLinks) -> io::Result<()> {
        let kind = found.kind();
        match kind {
            Kind::Link => return Err(self.refused_link()),
            Kind::Directory => return Err(sys::Fault::IsDirectory.into()),
            Kind::File | Kind::Pipe | Kind::Device => {}
            other => return Err(Refused::Unusable(other).into()),
        }
        if !is_trusted(found.uid()) {
            return Err(Refused::Foreign(kind).into());
        }
        match (kind, found.nlink()) {
            (Kind::File, 0) => Err(io::ErrorKind::NotFound.into()),
            (Kind::File, links) if links > 1 && hard_links == HardLinks::Refused => {
                Err(Refused::HardLinks(links).into())
            }
            _ => Ok(()),
        }
    }
}

/// Several names of one file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HardLinks {
    /// Writing one would write the others.
    Refused,
    /// It is replaced, and the others stay as they are.
    Fine,
}

fn replaced() -> io::Error {
    io::Error::other("another program replaces it again and again")
}

impl From<OutputAccess> for Use {
    fn from(access: OutputAccess) -> Self {
        match access {
            OutputAccess::Write => Self::Write,
            OutputAccess::Append => Self::Append,
            OutputAccess::ReadWrite => Self::ReadWrite,
        }
    }
}
