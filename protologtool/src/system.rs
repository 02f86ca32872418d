//! Files and environment, behind a trait: the real ones, and ones in memory, so that whole runs of the command are tested
//! without touching a disk.
//!
//! Output is made in two steps. [`System::stage`] takes the whole content of a file and puts it aside; [`Staged::commit`]
//! moves it to its place. A run stages everything before it commits anything, and what is dropped uncommitted leaves no
//! trace: outputs are written whole or not at all.

mod memory;
mod real;

pub use memory::Memory;
pub use real::Real;

use std::io::{self, Write};
use std::path::Path;

/// What the command needs from its surroundings.
pub trait System: Sync {
    /// The content of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The whole of standard input.
    fn read_input(&self) -> io::Result<Vec<u8>>;

    /// Puts a file's content aside, to be moved to `path` by [`Staged::commit`]. Directories on the way are made.
    /// `fill` writes the content.
    fn stage(&self, path: &Path, fill: &mut Fill<'_>) -> io::Result<Box<dyn Staged>>;

    /// An environment variable.
    fn variable(&self, name: &str) -> Option<String>;

    /// Whether standard error is a terminal.
    fn errors_to_terminal(&self) -> bool;

    /// Whether standard output is a terminal.
    fn output_to_terminal(&self) -> bool;

    /// How many threads are worth having.
    fn threads(&self) -> usize;

    /// Standard output.
    fn print(&self, text: &str);

    /// Standard output, for what may be long: whoever writes it wants to know when nobody reads it any more.
    fn write_output(&self, bytes: &[u8]) -> io::Result<()>;

    /// Standard error.
    fn print_error(&self, text: &str);
}

/// Writes the content of a staged file; the sink can seek since archives need it.
pub type Fill<'a> = dyn FnMut(&mut dyn Sink) -> io::Result<()> + 'a;

/// Where staged content goes.
pub trait Sink: Write + io::Seek {}

impl<T: Write + io::Seek> Sink for T {}

/// A file whose content is complete but which is not in its place yet. Dropping it removes it.
pub trait Staged {
    /// Moves the file to its place, over what is there, in one step.
    fn commit(self: Box<Self>) -> io::Result<()>;
}
