//! Descriptors that a forked child closes: sockets and other files of a thread that the child does
//! not have. A peer would wait for an answer from a program that closed the connection or ended,
//! and a socket would look as if somebody listened.
//!
//! Invariant: *listed*: every open descriptor is in the list. Descriptors are opened and closed
//! with the list locked, and a fork waits for that lock, so a child closes the descriptors that its
//! parent had open and nothing else.

use super::fork::{ForkLock, Order};
use super::process;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsRawFd, RawFd};

/// The descriptors that are open.
static OPEN: ForkLock<Vec<RawFd>> = ForkLock::with_child(Order::Descriptors, Vec::new(), close);

/// Registers the lock on the list; before a lock is taken that is held while descriptors are
/// opened.
pub(crate) fn register() {
    OPEN.register();
}

/// A file that is closed in a forked child. A child that drops it closes nothing: the number may be
/// that of another file by then.
#[derive(Debug)]
pub(crate) struct CloseOnFork<F: AsRawFd> {
    /// None while it is being dropped.
    file: Option<F>,
    process: u32,
}

impl<F: AsRawFd> CloseOnFork<F> {
    /// Takes the file that `open` opens. It must not wait.
    pub(crate) fn new(open: impl FnOnce() -> io::Result<F>) -> io::Result<Self> {
        let mut list = OPEN.lock();
        let file = open()?;
        list.push(file.as_raw_fd());
        Ok(Self { file: Some(file), process: process::id() })
    }

    /// Returns the file; none in a child, which has closed it.
    pub(crate) fn if_open(&self) -> Option<&F> {
        self.file.as_ref().filter(|_| self.process == process::id())
    }
}

impl<F: AsRawFd> Deref for CloseOnFork<F> {
    type Target = F;

    fn deref(&self) -> &F {
        self.file.as_ref().expect("it is there until it is dropped")
    }
}

impl<F: AsRawFd> DerefMut for CloseOnFork<F> {
    fn deref_mut(&mut self) -> &mut F {
        self.file.as_mut().expect("it is there until it is dropped")
    }
}

impl<F: AsRawFd> Drop for CloseOnFork<F> {
    fn drop(&mut self) {
        if self.process != process::id() {
            return std::mem::forget(self.file.take());
        }
        let mut list = OPEN.lock();
        let number = self.as_raw_fd();
        list.retain(|open| *open != number);
        drop(self.file.take());
    }
}

/// Closes a child's copies.
fn close(open: &mut Vec<RawFd>) {
    for number in open.drain(..) {
        // SAFETY: *listed*: the descriptor is open. The thread that uses it is not in the child, so
        // nobody does.
        unsafe { libc::close(number) };
    }
}
