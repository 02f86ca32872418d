//! Descriptors that a forked child closes: sockets and other files of a thread that the child does
//! not have. A peer would wait for an answer from a program that closed the connection or ended,
//! and a socket would look as if somebody listened.
//!
//! A program may close all descriptors also without a fork, as some do that become daemons, and
//! open other files, which get the same numbers. So each use asks what the number stands for now.
//!
//! Invariants
//! - *listed*: every open descriptor is in the list. Descriptors are opened and closed with the
//!   list locked, and a fork waits for that lock, so a child closes the descriptors that its parent
//!   had open and nothing else.
//! - A number that the program has given to another file is neither used nor closed. Between the
//!   look and the use is a moment in which it may do so.

use super::file::{Id, id_of_descriptor};
use super::fork::{ForkLock, Order};
use super::process;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsRawFd, RawFd};

/// The descriptors that are open.
static OPEN: ForkLock<Vec<ListedDescriptor>> =
    ForkLock::with_child(Order::Descriptors, Vec::new(), close);

/// A descriptor's number, and what it was opened for; none where that can't be told.
type ListedDescriptor = (RawFd, Option<Id>);

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
    /// See [`ListedDescriptor`].
    id: Option<Id>,
}

impl<F: AsRawFd> CloseOnFork<F> {
    /// Takes the file that `open` opens. It must not wait.
    pub(crate) fn new(open: impl FnOnce() -> io::Result<F>) -> io::Result<Self> {
        let mut list = OPEN.lock();
        let file = open()?;
        let id = id_of_descriptor(file.as_raw_fd());
        list.push((file.as_raw_fd(), id));
        Ok(Self { file: Some(file), process: process::id(), id })
    }

    /// Returns the file; none in a child, which has closed it, and where the program has.
    pub(crate) fn if_open(&self) -> Option<&F> {
        self.file.as_ref().filter(|_| self.is_open())
    }

    /// Returns the same to change it.
    pub(crate) fn if_open_mut(&mut self) -> Option<&mut F> {
        let is_open = self.is_open();
        self.file.as_mut().filter(|_| is_open)
    }

    /// Returns whether the descriptor is still that of the file.
    pub(crate) fn is_open(&self) -> bool {
        let is_same = |file: &F| id_of_descriptor(file.as_raw_fd()) == self.id;
        self.process == process::id() && self.file.as_ref().is_some_and(is_same)
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
        let listed = (self.as_raw_fd(), self.id);
        list.retain(|open| *open != listed);
        if self.is_open() {
            drop(self.file.take());
        } else {
            std::mem::forget(self.file.take());
        }
    }
}

/// Closes a child's copies.
fn close(open: &mut Vec<ListedDescriptor>) {
    for (number, id) in open.drain(..) {
        if id_of_descriptor(number) != id {
            continue;
        }
        // SAFETY: *listed*: the descriptor is open, and that of the same file. The thread that uses
        // it is not in the child, so nobody does.
        unsafe { libc::close(number) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::FromRawFd;
    use std::os::unix::net::UnixStream;

    /// Another number for the same file stays open, so the kernel gives the inode to nobody else.
    #[test]
    fn a_descriptor_that_the_program_gave_to_another_file_is_left_alone() {
        let dir = protolog_testkit::temp_dir();
        let (one, _other) = UnixStream::pair().unwrap();
        let mut own = CloseOnFork::new(|| Ok(one)).unwrap();
        assert!(own.if_open().is_some() && own.if_open_mut().is_some());
        let number = own.as_raw_fd();
        let file = File::create(dir.path().join("file")).unwrap();
        // SAFETY: takes and gives numbers; that of `own` is a copy of the file's from here on.
        assert_eq!(unsafe { libc::dup2(file.as_raw_fd(), number) }, number);
        drop(file);
        assert!(own.if_open().is_none() && own.if_open_mut().is_none());
        drop(own);
        // SAFETY: it is that of the file, and `own` did not close it.
        let mut file = unsafe { File::from_raw_fd(number) };
        file.write_all(b"of the program").unwrap();
    }
}
