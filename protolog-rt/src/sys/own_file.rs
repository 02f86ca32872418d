//! Files of ours that stay open, in a program that may close any descriptor: one that becomes a
//! daemon closes all, and opens others, which get the same numbers.
//!
//! Invariant: a number that the program has given to another file is neither used nor closed.
//! Between the look and the use is a moment in which it may do so.

use super::file::{Id, id_of_descriptor};
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;

/// See the module. `F` is a file or a socket.
#[derive(Debug)]
pub(crate) struct OwnFile<F: AsRawFd = File> {
    file: ManuallyDrop<F>,
    /// The file that it was opened for; none where that can't be told, or where the program had
    /// closed it by then.
    id: Option<Id>,
}

impl<F: AsRawFd> OwnFile<F> {
    /// Takes a file that was opened a moment ago, on the thread that opened it: a thread that is
    /// started with it may run after the program has closed it.
    pub(crate) fn new(file: F) -> Self {
        let id = id_of_descriptor(file.as_raw_fd());
        Self { file: ManuallyDrop::new(file), id }
    }

    /// Returns the file; an error once its descriptor is that of another one, or of none.
    pub(crate) fn get(&self) -> io::Result<&F> {
        if self.is_own() { Ok(&self.file) } else { Err(closed()) }
    }

    /// Returns the same to change it.
    pub(crate) fn get_mut(&mut self) -> io::Result<&mut F> {
        if self.is_own() { Ok(&mut self.file) } else { Err(closed()) }
    }

    fn is_own(&self) -> bool {
        self.id.is_some() && id_of_descriptor(self.file.as_raw_fd()) == self.id
    }
}

impl<F: AsRawFd> Drop for OwnFile<F> {
    fn drop(&mut self) {
        if self.is_own() {
            // SAFETY: nothing uses the value after this.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

fn closed() -> io::Error {
    io::Error::other("the program has closed the descriptor of the file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::FromRawFd;

    #[test]
    fn a_descriptor_that_the_program_gave_to_another_file_is_left_alone() {
        let dir = protolog_testkit::temp_dir();
        let create = |name: &str| File::create(dir.path().join(name)).unwrap();
        let mut own = OwnFile::new(create("own"));
        own.get_mut().unwrap().write_all(b"ours").unwrap();
        let (number, other) = (own.file.as_raw_fd(), create("other"));
        // SAFETY: takes and gives numbers; that of `own` is a copy of the other's from here on.
        assert_eq!(unsafe { libc::dup2(other.as_raw_fd(), number) }, number);
        drop(other);
        assert!(own.get().is_err() && own.get_mut().is_err());
        drop(own);
        // SAFETY: it is that of the other file, and `own` did not close it.
        let mut other = unsafe { File::from_raw_fd(number) };
        other.write_all(b"of the program").unwrap();
        assert_eq!(std::fs::read(dir.path().join("own")).unwrap(), b"ours");
    }

    #[test]
    fn a_descriptor_that_was_closed_before_is_nobody_s() {
        let file = ManuallyDrop::new(File::open("/dev/null").unwrap());
        let number = file.as_raw_fd();
        // SAFETY: takes a number, which nothing else here has.
        assert_eq!(unsafe { libc::close(number) }, 0);
        // SAFETY: what it says of the number is what is tested: it is neither used nor closed.
        let own = OwnFile::new(unsafe { File::from_raw_fd(number) });
        assert!(own.get().is_err());
    }
}
