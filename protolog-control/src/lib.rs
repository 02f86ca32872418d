//! The operator's side of the control path: finds the programs that log, asks them, and switches their groups.
//!
//! ```no_run
//! use protolog_control::{Program, sockets};
//!
//! for socket in sockets(&protolog_control::directories())? {
//!     let mut program = Program::connect(&socket)?;
//!     let groups = program.groups()?;
//!     let pages = program.pages()?;
//!     for group in &groups {
//!         pages.print(group, 0b11_1000); // WARN and up; the program itself does nothing
//!     }
//! }
//! # Ok::<(), protolog_control::Error>(())
//! ```
//!
//! `docs/design/control.md` has the protocol and the layout of the pages.
//!
//! Invariants: a program is a stranger: whatever it answers or fails to answer costs its caller at most [`PATIENCE`] and
//! [`MOST_ANSWER`] bytes, and texts that come from it have no control characters.

mod error;
mod group;
mod pages;
mod place;
mod program;

pub use error::Error;
pub use group::Group;
pub use pages::Pages;
pub use place::{directories, sockets, state_file};
pub use program::{MOST_ANSWER, PATIENCE, Program};
