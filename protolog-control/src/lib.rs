//! The operator's side of the control path: finds target processes, sends them requests, and
//! switches their groups.
//!
//! ```no_run
//! use protolog_control::{Program, REPLY_TIMEOUT, Whose, find_sockets};
//!
//! for socket in find_sockets(Whose::All).sockets {
//!     let mut program = Program::connect_to(&socket, REPLY_TIMEOUT)?;
//!     let groups = program.groups()?;
//!     let pages = program.pages()?;
//!     for group in &groups {
//!         pages.set_text_levels(group, 0b11_1000); // WARN and up; the process itself does nothing
//!     }
//! }
//! # Ok::<(), protolog_control::Error>(())
//! ```
//!
//! `docs/design/control.md` has the protocol and the layout of the pages.
//!
//! Invariants: the kernel says which process listens, and only one of this user or root is asked
//! (for root, one of the user that the directory belongs to). Sockets and files are used by way of
//! the directory that was checked, never by their paths ([`find_sockets`]). A target process is not
//! trusted. Any reply, or the lack of one, takes the caller at most [`REPLY_TIMEOUT`] and
//! [`MAX_REPLY_BYTES`], and texts from it contain no characters that a terminal obeys. One of
//! another user sends no open files; but before Linux 6.16 the kernel does not refuse them, and any
//! read, and the drop of a [`Program`], may wait for the end of one.

// Unix sockets with a kernel that names their peers.
#![cfg(unix)]

mod error;
mod group;
mod pages;
mod paths;
mod peer;
mod program;
mod session;
mod site;
mod sockets;

pub use error::Error;
pub use group::Group;
pub use pages::Pages;
pub use paths::state_file;
pub use program::{MAX_REPLY_BYTES, Program, REPLY_TIMEOUT};
pub use session::Session;
pub use site::{Rule, Rules, Site};
pub use sockets::{Found, Socket, Whose, find_sockets};
