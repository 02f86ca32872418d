//! Locks by which other processes, and other copies of this library in this one, see that somebody
//! has a file.
//!
//! They are locks of an open file (`F_OFD_SETLK`). Those of a process (`F_SETLK`) are gone as soon
//! as it closes any descriptor of the file, as one does that reads its own trace, and two copies of
//! the library in one process do not see each other's. The two kinds exclude each other, so
//! programs in Java, which have the other kind only, and the tool are seen, and see these.
//!
//! A forked child shares the open files of its parent, so each lock has an open file of its own,
//! which children close. Where the file can't be opened again, without `/proc` or a free
//! descriptor, the lock is that of the descriptor that is there, and a child that lives longer than
//! its parent has it, too. Kernels that lack these locks get those of the process.
//!
//! Where the file system has no locks, no other process has the file.

use super::close_on_fork::CloseOnFork;
use protolog_files::descriptor::open_again;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// A lock, until it is dropped.
#[derive(Debug)]
pub(crate) struct FileLock {
    /// None where the lock is that of a descriptor which somebody else closes.
    own: Option<CloseOnFork<File>>,
}

impl FileLock {
    /// Locks a file that can be written against everybody else; none if somebody has a lock on it.
    pub(crate) fn exclusive(file: &File) -> Option<Self> {
        Self::new(file, libc::F_WRLCK as libc::c_int)
    }

    /// Locks a readable file against holders that have it [alone](Self::exclusive); none if there
    /// is one.
    pub(crate) fn shared(file: &File) -> Option<Self> {
        Self::new(file, libc::F_RDLCK as libc::c_int)
    }

    fn new(file: &File, kind: libc::c_int) -> Option<Self> {
        let own = CloseOnFork::new(|| open_again(file, kind == libc::F_WRLCK as libc::c_int)).ok();
        set(own.as_deref().unwrap_or(file), kind).then_some(Self { own })
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A child that is about to run another program has the file open for a moment, and the lock
        // with it.
        if let Some(own) = self.own.as_ref().and_then(CloseOnFork::if_open) {
            set(own, libc::F_UNLCK as libc::c_int);
        }
    }
}

/// Sets or removes the lock of an open file; false where somebody has one that excludes it.
fn set(file: &File, kind: libc::c_int) -> bool {
    let all = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    let command = |command| {
        // SAFETY: the file is open; the lock is read, and lives through the call.
        let answer = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw const all) };
        (answer != 0).then(|| io::Error::last_os_error().raw_os_error()).flatten()
    };
    let mut error = command(libc::F_OFD_SETLK);
    if error == Some(libc::EINVAL) {
        error = command(libc::F_SETLK);
    }
    !matches!(error, Some(libc::EAGAIN | libc::EACCES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_lasts_whatever_else_closes_the_file() {
        let dir = protolog_testkit::temp_dir();
        let path = dir.path().join("file");
        let open = || {
            File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap()
        };
        let file = open();
        let lock = FileLock::exclusive(&file).expect("nobody has it");
        assert!(FileLock::exclusive(&open()).is_none() && FileLock::shared(&open()).is_none());
        drop(std::fs::read(&path).unwrap());
        drop(file);
        assert!(FileLock::exclusive(&open()).is_none() && FileLock::shared(&open()).is_none());
        drop(lock);
        let (one, other) = (FileLock::shared(&open()), FileLock::shared(&open()));
        assert!(one.is_some() && other.is_some() && FileLock::exclusive(&open()).is_none());
        drop((one, other));
        assert!(FileLock::exclusive(&open()).is_some());
    }

    #[test]
    fn locks_of_a_process_are_excluded() {
        let dir = protolog_testkit::temp_dir();
        let path = dir.path().join("file");
        let file = File::create(&path).unwrap();
        let all = libc::flock {
            l_type: libc::F_WRLCK as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: 0,
            l_len: 0,
            l_pid: 0,
        };
        let lock = || {
            // SAFETY: the file is open; the lock is read, and lives through the call.
            unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw const all) }
        };
        // As Java's programs have it, here in the same process.
        assert_eq!(lock(), 0);
        assert!(FileLock::exclusive(&File::options().write(true).open(&path).unwrap()).is_none());
        assert_eq!(lock(), 0, "closing the file took it away");
        let file = File::options().write(true).open(&path).unwrap();
        drop(File::open(&path));
        let ours = FileLock::exclusive(&file).expect("the other one is gone");
        assert_ne!(lock(), 0, "it is seen");
        drop(ours);
        assert_eq!(lock(), 0);
    }
}
