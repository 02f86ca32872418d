//! Waiting for several descriptors at a time.

use super::checked;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A descriptor to wait for.
pub(crate) struct Polled<'a> {
    file: BorrowedFd<'a>,
    events: libc::c_short,
}

impl<'a> Polled<'a> {
    /// Until it can be read, or is broken.
    pub(crate) fn read(file: BorrowedFd<'a>) -> Self {
        Self::new(file, true, false)
    }

    /// Until it can be read, if `read`, or written, if `write`, or is broken.
    pub(crate) fn new(file: BorrowedFd<'a>, read: bool, write: bool) -> Self {
        let read = if read { libc::POLLIN } else { 0 };
        let write = if write { libc::POLLOUT } else { 0 };
        Self { file, events: read | write }
    }
}

/// Waits until one of the descriptors is ready, for at most so many milliseconds; none is no limit.
/// Returns for each of them whether it is ready.
pub(crate) fn poll(all: &[Polled<'_>], milliseconds: Option<u32>) -> io::Result<Vec<bool>> {
    let mut polled: Vec<_> = all
        .iter()
        .map(|one| libc::pollfd { fd: one.file.as_raw_fd(), events: one.events, revents: 0 })
        .collect();
    let timeout = milliseconds.map_or(-1, |time| i32::try_from(time).unwrap_or(i32::MAX));
    // SAFETY: the pointer and the length are those of a vector of ours.
    checked(unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout) })?;
    Ok(polled.iter().map(|polled| polled.revents != 0).collect())
}
