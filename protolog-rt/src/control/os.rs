//! What the control side needs of the system and the standard library does not have: memory as a file, the peer of a
//! socket, a message with a file, waiting for several files, changes of a directory.
//!
//! Invariant: every function is safe to call with any arguments, and a peer that is gone is an error, never a signal.
#![allow(unsafe_code)] // System calls.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// A file in memory whose size never changes.
pub(crate) fn memory_file(name: &CStr, size: u64) -> io::Result<File> {
    let create = |flags| {
        // SAFETY: the name ends in a NUL, and lives through the call.
        unsafe {
            libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING | flags)
        }
    };
    // Kernels before 6.3 know no memory that can't be executed.
    let mut fd = create(libc::MFD_NOEXEC_SEAL);
    if fd < 0 {
        fd = create(0);
    }
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, and nobody else has it.
    let file = unsafe { File::from_raw_fd(fd) };
    file.set_len(size)?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: takes and gives numbers.
    checked(unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, seals) })?;
    Ok(file)
}

/// Who is at the other end of a socket: the user's id.
pub(super) fn peer_user(socket: &UnixStream) -> io::Result<u32> {
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut size = size_of_val(&peer) as libc::socklen_t;
    let (fd, out) = (socket.as_raw_fd(), (&raw mut peer).cast());
    // SAFETY: the place is ours and as large as is said.
    checked(unsafe {
        libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_PEERCRED, out, &raw mut size)
    })?;
    Ok(peer.uid)
}

/// The user that this process acts as.
pub(super) fn user() -> u32 {
    // SAFETY: no arguments, no effects.
    unsafe { libc::geteuid() }
}

/// Sends some of `bytes`, with a file if there is one, and never waits. The number of bytes sent.
pub(super) fn send(socket: &UnixStream, bytes: &[u8], file: Option<&File>) -> io::Result<usize> {
    /// Room for the header and one descriptor, aligned as headers are.
    #[repr(C)]
    struct Control(libc::cmsghdr, [u8; 16]);
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: zeros are an empty message.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    let fd_size = size_of::<libc::c_int>() as u32;
    // SAFETY: computes a number.
    let header_size = unsafe { libc::CMSG_LEN(fd_size) } as usize;
    let mut control = Control(
        libc::cmsghdr {
            cmsg_len: header_size,
            cmsg_level: libc::SOL_SOCKET,
            cmsg_type: libc::SCM_RIGHTS,
        },
        [0; 16],
    );
    if let Some(file) = file {
        control.1[..4].copy_from_slice(&file.as_raw_fd().to_ne_bytes());
        message.msg_control = (&raw mut control).cast();
        // SAFETY: computes a number.
        message.msg_controllen = unsafe { libc::CMSG_SPACE(fd_size) } as usize;
    }
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: what the message points to is ours, as large as is said, and lives through the call, which only reads it.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, flags) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// A file to wait for.
pub(super) struct Awaited<'a> {
    file: BorrowedFd<'a>,
    events: libc::c_short,
}

impl<'a> Awaited<'a> {
    /// Until it can be read.
    pub(super) fn new(file: BorrowedFd<'a>) -> Self {
        Self { file, events: libc::POLLIN }
    }

    /// Until it can be read, if `read`, or written, if `write`, or is broken.
    pub(super) fn either(file: BorrowedFd<'a>, read: bool, write: bool) -> Self {
        let (read, write) =
            (if read { libc::POLLIN } else { 0 }, if write { libc::POLLOUT } else { 0 });
        Self { file, events: read | write }
    }
}

/// Waits until something can be done with one of the files, for at most so many milliseconds; none is no limit. Says for each
/// file whether something can.
pub(super) fn wait(files: &[Awaited<'_>], milliseconds: Option<u32>) -> io::Result<Vec<bool>> {
    let mut polled: Vec<_> = files
        .iter()
        .map(|awaited| libc::pollfd {
            fd: awaited.file.as_raw_fd(),
            events: awaited.events,
            revents: 0,
        })
        .collect();
    let timeout = milliseconds.map_or(-1, |time| i32::try_from(time).unwrap_or(i32::MAX));
    // SAFETY: the array is ours and has as many elements as is said.
    checked(unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout) })?;
    Ok(polled.iter().map(|polled| polled.revents != 0).collect())
}

/// Closes the file of this number, which nothing in this process uses any more.
pub(super) fn close(number: i32) {
    // SAFETY: closing a number touches no memory; that nobody uses the file is the caller's to know.
    unsafe { libc::close(number) };
}

/// Keeps signals from being handled on this thread: they are the program's, not ours.
pub(super) fn block_signals() {
    // SAFETY: zeros are a set of signals.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is ours.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: the set is ours; the one before is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut()) };
}

/// A file that can be read when something in the directory was written, moved or removed. It never waits.
pub(super) fn watch(directory: &Path) -> io::Result<File> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(directory.as_os_str().as_bytes())?;
    // SAFETY: takes and gives numbers.
    let fd = checked(unsafe { libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK) })?;
    // SAFETY: the descriptor is new, and nobody else has it.
    let file = unsafe { File::from_raw_fd(fd) };
    let what = libc::IN_CLOSE_WRITE | libc::IN_MOVED_TO | libc::IN_MOVED_FROM | libc::IN_DELETE;
    // SAFETY: the path ends in a NUL, and lives through the call.
    checked(unsafe { libc::inotify_add_watch(fd, path.as_ptr(), what) })?;
    Ok(file)
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

    #[test]
    fn memory_keeps_its_size() {
        let file = memory_file(c"test", 8192).unwrap();
        assert!(file.set_len(4096).is_err() && file.set_len(16384).is_err());
        assert!(file.write_all_at(&[1], 8192).is_err());
        file.write_all_at(&[1], 8191).unwrap();
    }

    #[test]
    fn sockets_tell_their_peer_and_when_it_is_gone() {
        let (one, mut other) = UnixStream::pair().unwrap();
        assert_eq!(peer_user(&one).unwrap(), user());
        assert_eq!(wait(&[Awaited::new(other.as_fd())], Some(0)).unwrap(), [false]);
        assert_eq!(send(&one, b"ab", None).unwrap(), 2);
        assert_eq!(wait(&[Awaited::new(other.as_fd())], None).unwrap(), [true]);
        let mut two = [0; 2];
        other.read_exact(&mut two).unwrap();
        drop(other);
        assert_eq!(send(&one, b"ab", None).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn directories_tell_of_files() {
        let dir = protolog_testkit::temp_dir();
        let watched = watch(dir.path()).unwrap();
        assert_eq!(wait(&[Awaited::new(watched.as_fd())], Some(0)).unwrap(), [false]);
        std::fs::write(dir.path().join("a"), "b").unwrap();
        assert_eq!(wait(&[Awaited::new(watched.as_fd())], None).unwrap(), [true]);
    }
}
