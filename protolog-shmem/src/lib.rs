//! A shared memory buffer: pages and chunks as [`protolog_core::chunk`] lays them out, behind types
//! that carry their ownership.
//!
//! ```text
//! Memory            bytes that somebody mapped or allocated (`Backing`); words in it are atomics
//!   Buffer          pages and chunks in it; hands out chunks
//!     WriteChunk    a chunk that one writer owns: acquire -> open -> complete
//!     ChunkCell     holds the chunk of a writer that may be idle, for the writer or a reclaimer to take
//!     BufferReader        the one reader of a buffer
//!       ReadChunk   a chunk of a stream: claimed when it is read, released when it is dropped
//!       PinnedChunk a chunk that no writer takes again while somebody looks at it
//!   ServiceMemory   chunks that a tracing service in another process takes and frees
//! ```
//!
//! The crate makes no system call: memory is handed in, and tests run over the heap.
//!
//! # Invariants
//!
//! - *owner*: a chunk in state Writing belongs to the one [`WriteChunk`] of it, one in state
//!   Reading to the [`BufferReader`] or to the writer that takes it again; nobody else writes its
//!   bytes.
//! - *committed*: the bytes of packets that the count covers, but those of the last packet while
//!   the chunk is being written, do not change until the chunk is free.
//! - *clean*: the header of a free chunk is zero, and so is, on an undivided page, every place
//!   where a layout has a header.
//! - *mapped*: the bytes of a [`Memory`] can be read and written as long as it lives.
//!
//! # Remaining obligations
//!
//! A writer stores a message without a call into this crate, through the addresses that
//! [`Buffer::open`] lends ([`OpenChunk`]). Those stores, [`PacketCount::publish`] and
//! [`Buffer::peek`] are `unsafe`; everything else is safe, and misuse is a panic or a refusal.

mod buffer;
mod chunk;
mod counters;
mod growth;
mod memory;
mod page;
mod position;
mod reader;
mod ring;
mod service;
mod slot;
mod sync;

pub use buffer::Buffer;
pub use chunk::{ChunkCell, OpenChunk, PacketCount, Request, WriteChunk};
pub use memory::{Backing, Heap, Memory};
pub use reader::{BufferReader, ChunkInfo, Committed, HeldChunk, PinnedChunk, ReadChunk};
pub use service::{ServiceChunk, ServiceMemory, layout_for};
pub use slot::{MAX_BUFFER, MAX_PAYLOAD, PAGE, size};
