//! Outputs: files, pipes and devices that are written, opened by one rule.
//!
//! A path may be written if its last component is
//!
//! - missing: the file is created, which fails if anything is there by then;
//! - a regular file of this user or of root that has one name. It keeps its mode, and its content
//!   until the caller has looked at it;
//! - a pipe of this user or of root that a program has open for reading, or opens within
//!   [`READER_TIMEOUT`]; or such a character device: a terminal, `/dev/null`;
//! - a descriptor of this process (`/dev/stdout`, `/dev/fd/N`), whatever it is: see
//!   [`descriptor`](crate::descriptor).
//!
//! Everything else is [`Refused`]: links above all. The way to it is found by the rule of
//! `walk.rs`.
//!
//! Invariants
//! - What is returned was checked by its descriptor, and nothing was truncated.
//! - Nothing blocks, but that the reader of a pipe is waited for, for a moment.

use crate::descriptor;
use crate::flags::{SAFE, block, kind};
use crate::location::Location;
use crate::refused::{Kind, Refused};
use crate::walk::is_trusted;
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
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
}

/// The kind of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A regular file in a directory.
    File,
    /// A pipe or a device.
    Stream,
    /// A descriptor of this process, of any kind. What it has is not this process's to change.
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
            Some(file) => Ok(Self { file, kind: OutputKind::Descriptor }),
            None => Location::of(path)?.open_or_create(access, mode),
        }
    }

    /// Finds what is at `path`, for an output that is put in its place when it is complete. Only
    /// what can't be replaced is opened. The file may have several names: it is left as it is.
    pub fn find(path: &Path) -> io::Result<Found> {
        if let Some(file) = descriptor::open(path)? {
            return Ok(Found::Stream(Self { file, kind: OutputKind::Descriptor }));
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
    /// Opens what is here, or creates the file with `mode`.
    pub fn open_or_create(&self, access: OutputAccess, mode: u32) -> io::Result<Output> {
        for _ in 0..ATTEMPTS {
            match self.open_existing(access) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                opened => return opened,
            }
            match self.create(access, mode) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => return Ok(Output { file: created?, kind: OutputKind::File }),
            }
        }
        Err(replaced())
    }

    /// Opens what is here; an error if nothing is.
    pub fn open_existing(&self, access: OutputAccess) -> io::Result<Output> {
        let begun = Instant::now();
        loop {
            // Before it is opened: to open a device may have effects.
            let found = self.stat()?;
            self.check(&found, HardLinks::Refused)?;
            let is_file = kind(&found) == FileType::RegularFile;
            let flags = if is_file { flags(access) } else { OFlags::WRONLY };
            match self.open_with(flags | SAFE, Mode::empty()) {
                Ok(file) => {
                    if let Some(output) = self.opened(file.into(), &found)? {
                        return Ok(output);
                    }
                }
                // A link by now.
                Err(Errno::LOOP) => {}
                Err(Errno::NXIO) if kind(&found) == FileType::Fifo => {
                    if begun.elapsed() >= READER_TIMEOUT {
                        return Err(Refused::NoReader.into());
                    }
                }
                Err(error) => return Err(error.into()),
            }
            if begun.elapsed() >= READER_TIMEOUT {
                return Err(replaced());
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Checks what was opened; none if it is of another kind than what was found before.
    fn opened(&self, file: File, found: &Stat) -> io::Result<Option<Output>> {
        let opened = rustix::fs::fstat(&file)?;
        if kind(&opened) != kind(found) {
            return Ok(None);
        }
        self.check(&opened, HardLinks::Refused)?;
        let is_file = kind(found) == FileType::RegularFile;
        if !is_file {
            block(&file)?;
        }
        let kind = if is_file { OutputKind::File } else { OutputKind::Stream };
        Ok(Some(Output { file, kind }))
    }

    /// Creates the file, which must not be there: not even as a link.
    pub fn create_new(&self, mode: u32) -> io::Result<File> {
        self.create(OutputAccess::ReadWrite, mode)
    }

    /// Returns what is here.
    pub fn find(self) -> io::Result<Found> {
        let found = match self.stat() {
            Err(Errno::NOENT) => return Ok(Found::Missing(self)),
            found => found?,
        };
        self.check(&found, HardLinks::Fine)?;
        match kind(&found) {
            FileType::RegularFile => Ok(Found::File(self)),
            _ => Ok(Found::Stream(self.open_existing(OutputAccess::Write)?)),
        }
    }

    /// Returns an error unless the name is free, or that of a regular file that may be replaced.
    pub fn check_file_or_missing(&self) -> io::Result<()> {
        let found = match self.stat() {
            Err(Errno::NOENT) => return Ok(()),
            found => found?,
        };
        self.check(&found, HardLinks::Fine)?;
        match kind(&found) {
            FileType::RegularFile => Ok(()),
            other => Err(Refused::Unusable(other.into()).into()),
        }
    }

    /// Opens the regular file that is here, which is to be changed: it belongs to this user, has one
    /// name, and may be written by its permissions, which root would not be asked for.
    pub fn open_to_change(&self) -> io::Result<File> {
        let Output { file, kind } = self.open_existing(OutputAccess::ReadWrite)?;
        let found = rustix::fs::fstat(&file)?;
        if kind != OutputKind::File {
            return Err(Refused::Unusable(self::kind(&found).into()).into());
        }
        if found.st_uid != rustix::process::geteuid().as_raw() {
            return Err(Refused::Foreign(Kind::File).into());
        }
        let mode = Mode::from_raw_mode(found.st_mode);
        if mode.intersects(Mode::WUSR) { Ok(file) } else { Err(Refused::ReadOnly.into()) }
    }

    fn create(&self, access: OutputAccess, mode: u32) -> io::Result<File> {
        let flags = flags(access) | SAFE | OFlags::CREATE | OFlags::EXCL;
        Ok(self.open_with(flags, Mode::from_raw_mode(mode))?.into())
    }

    /// Returns an error if what was found here must not be written.
    fn check(&self, found: &Stat, hard_links: HardLinks) -> io::Result<()> {
        let kind = kind(found);
        match kind {
            FileType::Symlink => return Err(self.refused_link()),
            FileType::Directory => return Err(Errno::ISDIR.into()),
            FileType::RegularFile | FileType::Fifo | FileType::CharacterDevice => {}
            other => return Err(Refused::Unusable(other.into()).into()),
        }
        if !is_trusted(found.st_uid) {
            return Err(Refused::Foreign(kind.into()).into());
        }
        #[allow(clippy::useless_conversion)] // It has 32 bits on some machines.
        let links = u64::from(found.st_nlink);
        match kind {
            FileType::RegularFile if links == 0 => Err(Errno::NOENT.into()),
            FileType::RegularFile if links > 1 && hard_links == HardLinks::Refused => {
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

fn flags(access: OutputAccess) -> OFlags {
    match access {
        OutputAccess::Write => OFlags::WRONLY,
        OutputAccess::Append => OFlags::WRONLY | OFlags::APPEND,
        OutputAccess::ReadWrite => OFlags::RDWR,
    }
}
