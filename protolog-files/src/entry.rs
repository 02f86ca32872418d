//! An entry of a directory, open without having been opened for use: its kind, owner and links are
//! known before anything happens to it.
//!
//! Invariant: all that is said of an entry was read by its descriptor, after which no name leads to
//! another one.

use std::fs::{File, FileType, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

/// An entry of a directory. Nothing can be read from it or written to it: to look at a device or a
/// pipe has no effect on it.
#[derive(Debug)]
pub struct Entry {
    file: File,
    metadata: Metadata,
}

/// Device, number and kind: they tell an entry from all others that exist at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
    kind: FileType,
}

impl Entry {
    /// The entry that `descriptor` stands for.
    pub(crate) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        let file = File::from(descriptor);
        let metadata = file.metadata()?;
        Ok(Self { file, metadata })
    }

    /// Its identity, which tells it from other entries.
    pub fn identity(&self) -> Identity {
        Identity::of(&self.metadata)
    }

    /// True if it is a regular file; a link to one is none.
    pub fn is_regular(&self) -> bool {
        self.metadata.is_file()
    }

    /// True if it is a socket.
    pub fn is_socket(&self) -> bool {
        self.metadata.file_type().is_socket()
    }

    /// The user that it belongs to.
    pub fn owner(&self) -> u32 {
        self.metadata.uid()
    }

    /// The number of names that it has. Other users may have given it more, in directories of
    /// theirs.
    pub fn links(&self) -> u64 {
        self.metadata.nlink()
    }

    /// Its metadata, as it was when it was looked at.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// True if it belongs to `user`, nobody else has any permission, and this is its only name.
    pub fn is_private_to(&self, user: u32) -> bool {
        self.owner() == user && self.links() == 1 && is_closed(self.metadata.mode())
    }
}

impl AsFd for Entry {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Identity {
    /// That of an open file.
    pub fn of_file(file: &File) -> io::Result<Self> {
        Ok(Self::of(&file.metadata()?))
    }

    fn of(metadata: &Metadata) -> Self {
        let kind = metadata.file_type();
        Self { device: metadata.dev(), inode: metadata.ino(), kind }
    }

    /// True if it is that of a directory.
    pub(crate) fn is_directory(self) -> bool {
        self.kind.is_dir()
    }
}

/// True if a mode has none of the six bits of the group and of others.
pub(crate) const fn is_closed(mode: u32) -> bool {
    mode.trailing_zeros() >= 6
}
