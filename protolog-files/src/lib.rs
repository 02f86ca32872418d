//! Files and directories with log content: opened once, checked, and used by descriptor from then
//! on.
//!
//! A path that was checked may lead elsewhere when it is used: another user renames a directory and
//! puts a link in its place. So each open here returns a descriptor of the checked entry, and each
//! later step (open, create, remove, rename) starts from it.
//!
//! | for | use |
//! |---|---|
//! | an output of any kind | [`Output`] |
//! | one that appears when it is complete | [`Output::find`], [`StagedFile`] |
//! | files below a directory of outputs | [`Tree`] |
//! | a file at a known path | [`Location`] |
//! | sockets and files in a private directory | [`Directory`] |
//! | the socket of another program | [`unconnected`], [`connect`], [`Peer`] |
//!
//! Invariants
//! - A returned file was looked at by its descriptor (`fstat`), never by its name alone.
//! - No call waits for another process: pipes and devices are opened without blocking, or refused.
//!   But the reader of a pipe may come a moment late ([`READER_TIMEOUT`]).
//! - Nothing is truncated, removed or replaced before it was checked.
//! - Unsafe code is in `sys` only: the system's calls that the standard library lacks.

mod at;
mod beneath;
pub mod descriptor;
mod directory;
mod entry;
mod held_directory;
mod holes;
mod location;
mod output;
#[cfg(unix)]
mod private;
mod refused;
#[cfg(unix)]
mod socket;
mod staged;
mod status;
mod sys;
mod tree;
mod walk;

pub use at::FileExt;
pub use beneath::{Root, open_regular_file};
pub use directory::{Access, Directory};
pub use entry::{Entry, look, set_mode};
pub use holes::read_with_holes;
pub use location::Location;
pub use output::{Found, Output, OutputAccess, OutputKind, READER_TIMEOUT};
pub use refused::{Kind, Refused};
#[cfg(unix)]
pub use socket::{Peer, admit_files, connect, unconnected};
pub use staged::StagedFile;
pub use status::{Identity, Status};
pub use tree::{Tree, open_lock_file};
