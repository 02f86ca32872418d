//! Sockets and other files of the thread that listens, which a forked child must not keep: an operator would wait for an answer
//! from a program that ended or closed the connection, and a socket would look as if somebody listened.
//!
//! Invariant: *listed*: what is open is in the list. Files are opened and closed with the list locked, and a fork waits for
//! that, so a child closes what its parent had open and nothing else.

use super::os;
use crate::fork;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

static OPEN: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());

/// A file that is closed in a forked child.
#[derive(Debug)]
pub(super) struct Kept<F: AsRawFd> {
    /// None while it is being dropped.
    file: Option<F>,
}

impl<F: AsRawFd> Kept<F> {
    /// What `open` opens. It must not wait.
    pub(super) fn new(open: impl FnOnce() -> io::Result<F>) -> io::Result<Self> {
        let mut list = list();
        let file = open()?;
        list.push(file.as_raw_fd());
        Ok(Self { file: Some(file) })
    }
}

impl<F: AsRawFd> Deref for Kept<F> {
    type Target = F;

    fn deref(&self) -> &F {
        self.file.as_ref().expect("it is there until it is dropped")
    }
}

impl<F: AsRawFd> DerefMut for Kept<F> {
    fn deref_mut(&mut self) -> &mut F {
        self.file.as_mut().expect("it is there until it is dropped")
    }
}

impl<F: AsRawFd> Drop for Kept<F> {
    fn drop(&mut self) {
        let mut list = list();
        let number = self.as_raw_fd();
        list.retain(|open| *open != number);
        drop(self.file.take());
    }
}

/// Held around a fork.
pub(crate) struct AroundFork(MutexGuard<'static, Vec<RawFd>>);

impl AroundFork {
    /// Before the fork; none where this thread may be the one that has the lock.
    pub(crate) fn begin() -> Option<Self> {
        fork::lock_soon(&OPEN).map(Self)
    }

    /// After it, in the child: closes its copies.
    pub(crate) fn in_child(mut self) {
        self.0.iter().for_each(|number| os::close(*number));
        // The thread that owned them is not there, so nobody closes them again.
        self.0.clear();
    }
}

fn list() -> MutexGuard<'static, Vec<RawFd>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}
