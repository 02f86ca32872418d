//! Temporary files: a file that appears under its name once complete stands beside it until then.
//!
//! A process that dies leaves its temporary file behind. The next one that writes the same file
//! removes it: a living one has its file locked (`flock`).
//!
//! Invariant: only this user's regular files are removed, with names in the form of temporary ones,
//! and that nobody has.

use crate::sys::create::{is_own, is_temporary_of, temporary_name};
use crate::sys::file::{self, claim};
use protolog_files::{Location, Status};
use std::fs::File;
use std::io;

/// Creates a temporary file for `place`, and removes those that dead processes left.
pub(in crate::session) fn create(place: &Location, mode: u32) -> io::Result<(File, Location)> {
    remove_stale(place);
    loop {
        let part = place.sibling(temporary_name(place.name()))?;
        match part.create_new(mode) {
            // Fails where another process takes it for a stale one, which it is from now on. One
            // that has done so already has removed it. To look at its name would take a descriptor,
            // and where there is none left, each attempt would fail so.
            Ok(file) if !would_block(claim(&file)) && has_name(&file) => {
                return Ok((file, part));
            }
            Ok(file) => _ = part.remove_if(&file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Gives up the lock of a file that gets its name. A forked child would keep it otherwise, which
/// has the file open, too.
pub(in crate::session) fn release(file: &File) {
    file::release(file);
}

/// True unless the file was removed.
fn has_name(file: &File) -> bool {
    Status::of(file).is_ok_and(|found| found.nlink() > 0)
}

/// True where somebody else has the file. File systems without such locks are none.
fn would_block(claimed: io::Result<()>) -> bool {
    claimed.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// Removes the temporary files for `place` that nobody writes. That one stays is no reason not to
/// write.
fn remove_stale(place: &Location) {
    let names = place.siblings().unwrap_or_default();
    for name in names.iter().filter(|name| is_temporary_of(place.name(), name)) {
        let Ok(part) = place.sibling(name) else { continue };
        let Ok(open) = part.open_regular() else { continue };
        if is_own(&open).unwrap_or(false) && claim(&open).is_ok() {
            let _ = part.remove_if(&open);
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
        let path = Location::of(&dir.path().join("app.pftrace")).expect("a directory");
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
                let is_there = part.is_of(&file);
                drop(file);
                is_there
            });
            is_done.store(true, Ordering::Relaxed);
            assert!(there, "another one took it for a stale one");
        });
    }
}
