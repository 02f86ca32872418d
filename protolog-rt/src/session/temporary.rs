//! Temporary files: what appears under its name when it is complete stands beside it until then.
//!
//! A process that dies leaves its temporary file behind. The next one that writes the same file removes it: a living one has
//! its file locked (`flock`).
//!
//! Invariant: only this user's regular files are removed, whose names have the form of temporary ones, and that nobody has.

use crate::sys::create::{create_new, directory, is_temporary_of, open_regular, temporary_name};
use crate::sys::file::{self, claim, is_at};
use crate::sys::process::user;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Creates a temporary file for `path`, and removes those that dead processes left.
pub(super) fn create(path: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    remove_stale(path);
    loop {
        let part = temporary_name(path);
        match create_new(&part, mode) {
            // Fails where another process takes it for a stale one, which it is from now on. One that has done so already has
            // removed it.
            Ok(file) if !would_block(claim(&file)) && is_at(&file, &part) => {
                return Ok((file, part));
            }
            Ok(_) => _ = fs::remove_file(&part),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Gives up the lock of a file that gets its name. A forked child would keep it otherwise, which has the file open, too.
pub(super) fn release(file: &File) {
    file::release(file);
}

/// True where somebody else has the file. File systems without such locks are none.
fn would_block(claimed: io::Result<()>) -> bool {
    claimed.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// Removes the temporary files for `path` that nobody writes. That one stays is no reason not to write.
fn remove_stale(path: &Path) {
    let Ok(entries) = fs::read_dir(directory(path)) else { return };
    let files = entries.flatten().map(|entry| entry.path());
    for file in files.filter(|file| is_temporary_of(path, file)) {
        let Ok(open) = open_regular(&file) else { continue };
        let is_own = open.metadata().is_ok_and(|metadata| metadata.uid() == user());
        if is_own && claim(&open).is_ok() {
            let _ = fs::remove_file(&file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{AtomicBool, Ordering};
    use std::thread;

    #[test]
    fn what_is_created_is_there() {
        let dir = protolog_testkit::temp_dir();
        let path = dir.path().join("app.pftrace");
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_done.load(Ordering::Relaxed) {
                        remove_stale(&path);
                    }
                });
            }
            let there = (0..3000).all(|_| {
                let (file, part) = create(&path, 0o600).expect("a file");
                let is_there = is_at(&file, &part);
                drop(file);
                is_there
            });
            is_done.store(true, Ordering::Relaxed);
            assert!(there, "another one took it for a stale one");
        });
    }
}
