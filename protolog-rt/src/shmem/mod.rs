//! Memory that writers and readers share: a mapping, divided into pages and chunks as [`protolog_core::chunk`] says.
//!
//! - [`memory`]: the mapping itself.
//! - [`page`]: the state machine of a page's header; safe code over one atomic word.
//! - [`buffer`]: acquiring and completing chunks; the writers' side.
//! - [`drain`]: claiming, reading and releasing chunks; the one reader's side.
//! - [`ring`]: taking the oldest chunks again, and reading those of such a buffer.
//!
//! Invariants
//! - *owner*: a chunk in state Writing belongs to the one writer that moved it there, one in state Reading to the reader;
//!   nobody else writes its bytes.
//! - *committed*: bytes of packets that the count covers, but the last one while the chunk is being written, do not
//!   change until the chunk is released.
//! - *clean*: the header of a free chunk is zero, and so is, on an undivided page, every place where a layout has a header.
#![allow(unsafe_code)] // Mapped memory is reached through pointers; each use names the invariant that it rests on.

pub(crate) mod buffer;
pub(crate) mod drain;
mod flow;
pub(crate) mod memory;
mod page;
pub(crate) mod ring;
