//! Perfetto's socket protocol, as producers and consumers of its tracing service (`traced`) speak
//! it.
//!
//! ```text
//! socket   u32 length, little-endian, then so many bytes: an IPCFrame
//! frame    BindService "ProducerPort" -> the ids of its methods; InvokeMethod -> one reply, or a stream of them
//! ```
//!
//! [`frame`] has the frames, [`places`] the sockets and whom to trust there, and [`Consumer`]
//! starts sessions and reads traces. The producer's side is in `protolog-rt`, which sends and
//! receives for itself, since it passes file descriptors.
//!
//! Invariants: bytes of a peer never cause a panic; a frame is at most [`frame::MAX_FRAME`] bytes,
//! or [`frame::MAX_REPLY`] to a consumer, and what does not fit that is an error.

// What the service is asked is not used where there is none.
#![cfg_attr(not(unix), allow(dead_code))]

mod config;
#[cfg(unix)]
mod consumer;
mod error;
pub mod frame;
mod packet;
#[cfg(unix)]
pub mod places;

pub use config::{
    ConfigNames, FileSettings, PROTOLOG_SOURCE, SessionConfig, asked_names, buffer_bytes,
    check_config, take_file_settings,
};
#[cfg(unix)]
pub use consumer::{CloneTarget, Consumer};
pub use error::Error;
