//! Protobuf wire format: a writer over scattered memory and a borrowing reader.

#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod delegate;
pub mod error;
mod field;
#[cfg(feature = "alloc")]
mod heap;
mod message;
pub mod reader;
pub mod wire;
mod writer;

pub use delegate::{Delegate, Fixed};
pub use error::{DecodeError, WriteError};
#[cfg(feature = "alloc")]
pub use heap::Heap;
pub use message::Message;
pub use reader::{Field, Reader, Value};
pub use writer::{Finished, Writer};
