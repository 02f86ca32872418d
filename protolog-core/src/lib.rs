//! The vocabulary that all other crates share:
//!
//! - levels, templates and their rendering, parameter kinds, ids
//! - the field numbers of the trace schema
//! - the layouts of shared buffers and recordings
//! - the control protocol
//! - the note that a Rust binary carries for each log call
//!
//! ```
//! use protolog_core::{Level, Template, group_id, message_id};
//!
//! let template = Template::parse("sent %d bytes to %s in %8.3f ms").unwrap();
//! assert_eq!(template.mask().bits(), 0b10_00_01); // float, string, integer
//! assert_eq!(template.bare().to_string(), "sent %d bytes to %s in %f ms");
//! assert!(Level::Verbose < Level::Debug, "severity, not the number on the wire");
//!
//! let id = message_id("demo::net", template.text(), Level::Debug, "demo::AppLog::Net");
//! assert_eq!(id, message_id("demo::net", template.text(), Level::Debug, "demo::AppLog::Net"));
//! assert_ne!(group_id("demo::AppLog::Net"), group_id("demo::AppLog::Disk"));
//! ```
//!
//! Invariants: nothing here allocates, reads a clock or a file, or is unsafe; every function is
//! total; the input of an id never changes without a new version of the test vectors in
//! `testdata/`.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod braces;
mod buffer;
pub mod chunk;
pub mod control;
pub mod escape;
pub mod filter;
mod float;
mod id;
mod level;
mod literal;
mod loss;
mod names;
pub mod note;
mod param;
pub mod printf;
pub mod randomness;
pub mod recorder;
mod render;
pub mod schema;
mod span;
mod template;
mod template_error;
pub mod volume;

pub use braces::{Braces, Placeholder, as_log_call, braces, first_placeholder, named_argument};
pub use buffer::{BufferStats, FillPolicy};
pub use float::FixedDigits;
pub use id::{group_id, hash, identity, identity_len, message_id, named_message_id, process_track};
pub use level::{Level, UnknownLevel};
pub use literal::{LiteralChars, StrLiteral};
pub use loss::{LossCause, Unwritten};
pub use names::{ArgumentNames, is_name};
pub use param::{MAX_PARAMS, ParamKind, ParamMask};
pub use render::{Arg, MISSING, render, render_one};
pub use span::span_name;
pub use template::{Conversion, Piece, Pieces, Template, Verb};
pub use template_error::{Replacement, TemplateError, TemplateProblem};
