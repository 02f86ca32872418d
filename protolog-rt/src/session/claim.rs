//! Claims on files: a file is written by one session of the process at a time.
//!
//! In a forked child the files stay claimed, since its parent may still write them.

use crate::sys::fork::{ForkLock, Order};
use crate::writer;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::{fs, io};

/// Device and inode of a file; or of a directory, and a name in it.
type FileId = (u64, u64, OsString);

static CLAIMED: ForkLock<Vec<FileId>> = ForkLock::new(Order::TraceFiles, Vec::new());

/// The right of one session to write a file.
#[derive(Debug)]
pub(super) struct Claim(FileId);

impl Claim {
    /// Claims a file; none if another session has it. Devices, such as terminals, may be shared.
    pub(super) fn new(file: &fs::File) -> io::Result<Option<Self>> {
        let metadata = file.metadata()?;
        Ok(Self::of(file_id(&metadata), metadata.is_file()))
    }

    /// Returns whether another session has this file.
    pub(super) fn is_taken(metadata: &fs::Metadata) -> bool {
        let id = file_id(metadata);
        metadata.is_file() && writer::guarded(|| CLAIMED.lock().contains(&id))
    }

    /// Claims a name in a directory; none if another session has it.
    pub(super) fn named(directory: &fs::Metadata, name: &OsStr) -> io::Result<Option<Self>> {
        if !directory.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self::of((directory.dev(), directory.ino(), name.to_owned()), true))
    }

    fn of(id: FileId, is_exclusive: bool) -> Option<Self> {
        writer::guarded(|| {
            let mut claimed = CLAIMED.lock();
            if is_exclusive && claimed.contains(&id) {
                return None;
            }
            claimed.push(id.clone());
            Some(Self(id))
        })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        writer::guarded(|| {
            let mut claimed = CLAIMED.lock();
            if let Some(at) = claimed.iter().position(|id| *id == self.0) {
                claimed.swap_remove(at);
            }
        });
    }
}

fn file_id(metadata: &fs::Metadata) -> FileId {
    (metadata.dev(), metadata.ino(), OsString::new())
}
