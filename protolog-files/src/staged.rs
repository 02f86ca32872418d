//! Files that are complete before they get their name: written whole or not at all.
//!
//! ```text
//! open(directory, O_TMPFILE)   no name: gone with the process, however it ends
//!   write
//! link(file, .prefix-*)        whole, under a name of its own
//! rename(.prefix-*, name)
//! ```
//!
//! Not every file system makes files without a name, and each open one takes a descriptor. So where
//! it can't be done, and where the caller has a place for unfinished files, the file has a name
//! from the start.
//!
//! Invariant: a rename replaces the name, never the target of a link at the name.

use crate::location::Location;
use crate::sys::{self, Use};
use std::fs::File;
use std::io;

/// A file that is not in its place yet. Dropping it removes it.
#[derive(Debug)]
pub struct StagedFile {
    unfinished: Unfinished,
}

#[derive(Debug)]
enum Unfinished {
    /// It has no name yet, but gets one with this prefix.
    Nameless(File, &'static str),
    Named(Name),
}

/// A name that is removed unless it was given away.
#[derive(Debug)]
struct Name(Option<Location>);

impl StagedFile {
    /// Creates a file for a name in the directory of `location`, with `mode`.
    pub fn new(location: &Location, prefix: &'static str, mode: u32) -> io::Result<(Self, File)> {
        let Some(file) = sys::nameless_at(location, mode) else {
            return Self::named(location, prefix, mode);
        };
        let to_write = file.try_clone()?;
        Ok((Self { unfinished: Unfinished::Nameless(file, prefix) }, to_write))
    }

    /// The same, of a file that has a name from the start, in the directory of `scratch`.
    pub fn named(scratch: &Location, prefix: &str, mode: u32) -> io::Result<(Self, File)> {
        loop {
            let name = scratch.unknown_sibling(prefix);
            match sys::create_at(&name, name.name(), Use::Write, mode) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => {
                    let unfinished = Unfinished::Named(Name(Some(name)));
                    return file.map(|file| (Self { unfinished }, file));
                }
            }
        }
    }

    /// Moves the file to `place`, over an existing entry, in one step.
    pub fn commit(self, place: &Location) -> io::Result<()> {
        let mut name = match self.unfinished {
            Unfinished::Named(name) => name,
            Unfinished::Nameless(file, prefix) => link(&file, place, prefix)?,
        };
        if let Some(unfinished) = &name.0 {
            unfinished.move_to(place)?;
        }
        name.0 = None;
        Ok(())
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        if let Some(location) = &self.0 {
            // Nothing can be done about an error, and its name says what it is.
            let _ = location.remove();
        }
    }
}

/// Gives the file a name beside `place`.
fn link(file: &File, place: &Location, prefix: &str) -> io::Result<Name> {
    loop {
        let name = place.unknown_sibling(prefix);
        match sys::name_at(file, &name, name.name()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            named => return named.map(|()| Name(Some(name))),
        }
    }
}
