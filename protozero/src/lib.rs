//! Protobuf's wire format for hot paths: a writer that puts final bytes into scattered memory, and
//! a reader that borrows.
//!
//! There are no generated types: callers pass field numbers and choose types according to their
//! schema. Nothing allocates except [`Heap`], nothing panics, and there is no unsafe code.
//!
//! # Writing
//!
//! A [`Writer`] gets memory from a [`Delegate`]; fields are set on a [`Message`]; errors are
//! reported at the end.
//!
//! ```
//! use protozero::{Fixed, Writer};
//!
//! let mut memory = [0; 32];
//! let mut writer = Writer::new(Fixed::new(&mut memory));
//! let mut packet = writer.message();
//! packet.uint64(8, 300);                   // 40 ac 02
//! let mut nested = packet.nested(104);     // c2 06, then four bytes for the size
//! nested.fixed64(1, 0x1122334455667788);   // 09 88 77 66 55 44 33 22 11
//! nested.sint64(3, -1).sint64(3, 64);      // 18 01  18 80 01
//! drop(nested);                            // now the size is known: 8e 80 80 00, that is 14
//! packet.string(12, "hi");                 // 62 02 68 69
//! drop(packet);
//!
//! #[rustfmt::skip]
//! assert_eq!(writer.into_slice()?, [
//!     0x40, 0xac, 0x02,
//!     0xc2, 0x06, 0x8e, 0x80, 0x80, 0x00,
//!         0x09, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
//!         0x18, 0x01,
//!         0x18, 0x80, 0x01,
//!     0x62, 0x02, 0x68, 0x69,
//! ]);
//! # Ok::<(), protozero::WriteError>(())
//! ```
//!
//! Delegates:
//!
//! | delegate | memory | when it is full |
//! |---|---|---|
//! | [`Fixed`] | a slice of the caller | an error, with the size that was needed |
//! | [`Heap`] | grows, and becomes a `Vec` | it grows |
//! | your own [`Delegate`] | ranges of any size from 8 bytes up, such as chunks of shared memory | it is asked for the next range |
//!
//! A message can cross from range to range anywhere, even inside a tag or a number. Only the four
//! bytes of a reserved size field stay together. If their range has ended when the size becomes
//! known, the delegate gets a [`Patch`](delegate::Patch). In this example with ranges of 8 bytes,
//! the same nested message begins in the first range and ends in the third:
//!
//! ```
//! use protozero::delegate::{Delegate, Ended, Exhausted, Patch};
//! use protozero::Writer;
//!
//! #[derive(Default)]
//! struct Chunks {
//!     chunks: Vec<[u8; 8]>,
//!     current: [u8; 8],
//! }
//!
//! impl Delegate for Chunks {
//!     fn range(&mut self) -> &mut [u8] {
//!         &mut self.current
//!     }
//!     fn next_range(&mut self, ended: Ended) -> Result<(), Exhausted> {
//!         assert_eq!((ended.used, ended.open_sizes), (8, u32::from(ended.range == 0)));
//!         self.chunks.push(core::mem::take(&mut self.current));
//!         Ok(())
//!     }
//!     fn patch(&mut self, patch: Patch) {
//!         let start = patch.offset as usize;
//!         self.chunks[patch.range as usize][start..start + 4].copy_from_slice(&patch.bytes);
//!     }
//! }
//!
//! let mut writer = Writer::new(Chunks::default());
//! writer.message().nested(104).fixed64(1, 0x1122334455667788).sint64(3, -1).sint64(3, 64);
//! let finished = writer.finish()?;
//! assert_eq!(finished.delegate.chunks[0], [0xc2, 0x06, 0x8e, 0x80, 0x80, 0x00, 0x09, 0x88]);
//! assert_eq!(finished.delegate.chunks[1], [0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x18]);
//! assert_eq!(finished.delegate.current[..finished.ended.used], [0x01, 0x18, 0x80, 0x01]);
//! # Ok::<(), protozero::WriteError>(())
//! ```
//!
//! If the size of a nested message is known in advance, [`Message::nested_exact`] needs neither the
//! four bytes nor a patch. If a whole message is known at compile time, so are its bytes: the
//! functions of [`wire`] are `const`.
//!
//! # Reading
//!
//! ```
//! use protozero::Reader;
//!
//! let packet = [0x40, 0xac, 0x02, 0x62, 0x02, 0x68, 0x69];
//! for field in Reader::new(&packet) {
//!     let field = field?;
//!     match field.number {
//!         8 => assert_eq!(field.as_u64()?, 300),
//!         12 => assert_eq!(field.as_str()?, "hi"),
//!         _ => {} // a field of a newer schema
//!     }
//! }
//! # Ok::<(), protozero::DecodeError>(())
//! ```
//!
//! Any bytes can be read. [`DecodeError`] has the problem, its offset, and tells truncated from
//! corrupt bytes; [`reader`] has the details.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod delegate;
pub mod error;
#[cfg(feature = "alloc")]
mod heap;
pub mod reader;
pub mod scalar;
pub mod wire;
mod writer;

pub use delegate::{Delegate, Fixed};
pub use error::{DecodeError, WriteError};
#[cfg(feature = "alloc")]
pub use heap::Heap;
pub use reader::{Field, Reader, Repeated, Value};
pub use writer::{AsMessage, Exact, Finished, Message, Nested, Writer};
