//! Room for a mapping in a file, and whose a file is.
//!
//! Invariant: room that was made stays: a store into a mapping of it never finds that the file system is full, which would
//! be a signal (SIGBUS) in the middle of a log call.
#![allow(unsafe_code)] // posix_fallocate, getrlimit, flock, fcntl.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// How much is written at once, in bytes.
const BLOCK: usize = 64 * 1024;

/// Makes `len` bytes of `file` from `at` on take up their room, all zero.
pub(crate) fn reserve(file: &File, at: usize, len: usize) -> io::Result<()> {
    if (at + len) as u64 > most() {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    let (start, size) = (at as libc::off_t, len as libc::off_t);
    // SAFETY: the file is open; no memory of ours is involved.
    let error = unsafe { libc::posix_fallocate(file.as_raw_fd(), start, size) };
    // Where the file system can't do it, writing does.
    if error != 0 && error != libc::EOPNOTSUPP && error != libc::EINVAL {
        return Err(io::Error::from_raw_os_error(error));
    }
    let zeroes = vec![0; BLOCK.min(len)];
    for done in (0..len).step_by(BLOCK) {
        let part = zeroes.get(..BLOCK.min(len - done)).unwrap_or_default();
        file.write_all_at(part, (at + done) as u64)?;
    }
    Ok(())
}

/// The most bytes that the process may have in a file (`ulimit -f`). Who asks for more gets a signal, which ends the program.
fn most() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the pointer is to a limit of ours, which stays what it is where there is an error.
    let _ = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    limit.rlim_cur
}

/// Marks `file` as in use by this process, for others to see, until the process ends or the file is closed.
pub(crate) fn claim(file: &File) -> io::Result<()> {
    // SAFETY: the file is open; no memory of ours is involved.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes the mark away.
pub(crate) fn release(file: &File) {
    // SAFETY: as in `claim`. There is nothing to be done about an error.
    let _ = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
}

/// Keeps other processes that ask for the same from writing `file`, until this one closes it or ends. False where one of them
/// has it. Unlike the mark of [`claim`], it does not go on in forked children; but whoever of this process opens the file and
/// closes it again ends it. Where the file system knows no locks, nobody else has it.
pub(crate) fn lock(file: &File) -> bool {
    let all = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    // SAFETY: the file is open; the lock is read, and lives through the call.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw const all) };
    let error = (answer != 0).then(|| io::Error::last_os_error().raw_os_error()).flatten();
    !matches!(error, Some(libc::EAGAIN | libc::EACCES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shmem::memory::Memory;
    use crate::sync::Ordering;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn what_is_mapped_is_in_the_file() {
        let dir = protolog_testkit::temp_dir();
        let path = dir.path().join("file");
        let open =
            || File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open().unwrap();
        let other = open().unwrap();
        std::fs::remove_file(&path).unwrap();
        let (at, len) = (64 * 1024, 100 * 1024);
        reserve(&file, at, len).unwrap();
        claim(&file).unwrap();
        assert!(claim(&other).is_err(), "claimed already");
        let metadata = file.metadata().unwrap();
        assert_eq!(metadata.len(), (at + len) as u64);
        assert!(metadata.blocks() * 512 >= len as u64, "no hole where the mapping is");
        let memory = Memory::shared(&file, at, len).unwrap();
        memory.u64(len - 8).store(0x0123_4567_89ab_cdef, Ordering::Relaxed);
        let mut word = [0; 8];
        file.read_exact_at(&mut word, (at + len - 8) as u64).unwrap();
        assert_eq!(u64::from_ne_bytes(word), 0x0123_4567_89ab_cdef);
        memory.discard();
        assert_eq!(memory.u64(len - 8).load(Ordering::Relaxed), 0x0123_4567_89ab_cdef);
    }
}
