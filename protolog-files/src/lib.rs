//! Files and directories with log content: opened once, checked, and used by descriptor from then
//! on.
//!
//! A path that was checked may lead elsewhere when it is used: another user renames a directory and
//! puts a link in its place. So whoever opens something here gets a descriptor of what was checked,
//! and each later step (open, create, remove, rename) starts from it.
//!
//! Invariants
//! - What is returned was looked at by its descriptor (`fstat`), never by its name alone.
//! - No call waits for another process: pipes and devices are opened without blocking, or refused.
//! - Nothing is truncated, removed or replaced before it was checked.
//! - No unsafe code.

mod directory;
mod entry;
mod private;
mod socket;

pub use directory::{Access, Directory};
pub use entry::{Entry, Identity};
