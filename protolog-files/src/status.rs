//! Properties of an entry or of an open file, the same on every system.
//!
//! The standard library has them by extensions of one system each, and on Windows not at all: there
//! the identity of a file is told by its handle.
//!
//! Invariant: where a system does not tell users or modes apart, everything is this user's, and
//! private.

use crate::refused::Kind;

/// Device, number and kind: they tell an entry from all others that exist at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
    kind: Kind,
}

impl Identity {
    /// True if it is that of a directory.
    pub(crate) fn is_directory(self) -> bool {
        self.kind == Kind::Directory
    }
}

/// See the module. The functions have the names that they have in [`std::fs::Metadata`] and
/// `std::os::unix::fs::MetadataExt`.
#[derive(Clone, Debug)]
pub struct Status {
    pub(crate) kind: Kind,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) user: u32,
    pub(crate) mode: u32,
    pub(crate) links: u64,
    pub(crate) size: u64,
}

impl Status {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// True if it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    /// True if it is a directory.
    pub fn is_dir(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Its size in bytes.
    #[allow(clippy::len_without_is_empty)] // As `Metadata`.
    pub fn len(&self) -> u64 {
        self.size
    }

    /// The device that it is on.
    pub fn dev(&self) -> u64 {
        self.device
    }

    /// Its number there.
    pub fn ino(&self) -> u64 {
        self.inode
    }

    /// The user that it belongs to.
    pub fn uid(&self) -> u32 {
        self.user
    }

    /// Its mode.
    pub fn mode(&self) -> u32 {
        self.mode
    }

    /// The number of names that it has; 0 for one that was removed.
    pub fn nlink(&self) -> u64 {
        self.links
    }

    /// Device, number and kind.
    pub fn identity(&self) -> Identity {
        Identity { device: self.device, inode: self.inode, kind: self.kind }
    }
}
