//! Standard error: writes that never wait, and writes that may.
//!
//! Standard error is shared with other processes, so its descriptor's flags stay as they are:
//! `O_NONBLOCK` would belong to all of them. The kernel can be asked for each write not to wait
//! (`RWF_NOWAIT`), for pipes, sockets and some files. It can't for terminals, for most file systems
//! and on kernels before 6.4.
//!
//! Invariants: neither the lock nor the panics of the standard library's; a pipe that nobody reads
//! is no signal.

use super::thread::without_write_signals;
use std::io::{self, ErrorKind};

/// The outcome of a write that does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// So many bytes were written, at least one.
    Wrote(usize),
    /// Nothing was written: a write would wait, or may wait.
    WouldWait,
    /// Nothing can be written.
    Failed,
}

/// Writes some of `bytes`, of which there is at least one, to standard error, as far as that is
/// possible at once.
pub(crate) fn try_write_to_stderr(bytes: &[u8]) -> Attempt {
    let written = without_write_signals(|| match write_at_once(bytes) {
        Err(error) if is_unsupported(&error) => send_at_once(bytes),
        written => written,
    });
    match written {
        Ok(0) => Attempt::Failed,
        Ok(written) => Attempt::Wrote(written),
        Err(error) => match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::Interrupted => Attempt::WouldWait,
            _ if is_unsupported(&error) => Attempt::WouldWait,
            _ => Attempt::Failed,
        },
    }
}

/// Writes `bytes` to standard error, however long that takes. False where they could not be
/// written.
pub(crate) fn write_to_stderr(mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: the pointer and the length are those of a slice.
        let write =
            || unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
        match without_write_signals(|| result(write() as _)) {
            Ok(written) if written > 0 => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Another process made it non-blocking.
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait_until_writable(),
            _ => return false,
        }
    }
    true
}

/// Writes as much as the file takes at once; an error where it can't be asked for that.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn write_at_once(bytes: &[u8]) -> io::Result<usize> {
    /// As a write that does not name a place in the file.
    const AT_END: libc::c_long = -1;
    let part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: the part is a slice of the caller's, which the call only reads.
    result(unsafe {
        libc::syscall(
            libc::SYS_pwritev2,
            // As words, which a call of `syscall` passes on: of a shorter number the upper half is
            // anything.
            libc::c_long::from(libc::STDERR_FILENO),
            &raw const part,
            1 as libc::c_long,
            AT_END,
            AT_END,
            libc::c_long::from(libc::RWF_NOWAIT),
        )
    })
}

#[cfg(target_vendor = "apple")]
fn write_at_once(_: &[u8]) -> io::Result<usize> {
    Err(io::Error::from_raw_os_error(libc::ENOTSUP))
}

/// Sends as much as a socket takes at once; an error where it is none.
fn send_at_once(bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the pointer and the length are those of a slice.
    let sent =
        unsafe { libc::send(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len(), flags) };
    result(sent as _)
}

fn wait_until_writable() {
    let mut polled = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    // SAFETY: the pointer is to one of ours.
    unsafe { libc::poll(&raw mut polled, 1, -1) };
}

fn result(written: libc::c_long) -> io::Result<usize> {
    usize::try_from(written).map_err(|_| io::Error::last_os_error())
}

/// True for the errors of a kernel or file that can't be asked not to wait.
fn is_unsupported(error: &io::Error) -> bool {
    let codes = [libc::EOPNOTSUPP, libc::ENOTSUP, libc::ENOSYS, libc::ENOTSOCK, libc::EINVAL];
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}
