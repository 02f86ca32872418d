//! The dictionary of messages and groups ("viewer config"): collect, merge, read and write.
//!
//! A trace holds ids and arguments; the dictionary holds the texts. It is made at build time,
//! travels as a file or inside the trace, and turns entries back into text.
//!
//! ```
//! use protolog_core::{Level, group_id, message_id};
//! use viewer_config::{Collector, Dictionary, Format, Group, Location, Message};
//!
//! let (place, template, group) = ("com/foo/Net.java", "sent %04d bytes to %s", "com.foo.AppLog.NET");
//! let id = message_id(place, template, Level::Debug, group);
//! let call = |line| Message {
//!     id,
//!     template: template.into(),
//!     names: String::new(),
//!     unsigned: 0,
//!     level: Level::Debug,
//!     group: group.into(),
//!     place: place.into(),
//!     locations: vec![Location::line(place, line)],
//! };
//!
//! let mut collector = Collector::new();
//! collector.add_group(Group { id: group_id(group), name: group.into(), tag: "Net".into() });
//! collector.add_message(call(40));
//! collector.add_message(call(12)); // the same message again, on another line
//! let dictionary = collector.finish()?.dictionary;
//! assert_eq!(dictionary.message(id).unwrap().locations[0].to_string(), "com/foo/Net.java:12,40");
//!
//! let bytes = dictionary.to_bytes(Format::Pb); // or `Json`, or `JsonGz`
//! assert_eq!(Dictionary::read(&bytes)?.dictionary, dictionary);
//! # Ok::<(), viewer_config::ReadError>(())
//! ```
//!
//! Invariants of every [`Dictionary`]: one entry per id; one group per name and per group id; the
//! group of every message is declared; the order of messages and groups does not depend on the
//! order in which they came. All three formats hold all of it, so that each can be made from each
//! other. Any bytes may be read: no panic, and memory in proportion to the input.
#![forbid(unsafe_code)]

mod collector;
mod dictionary;
mod entry;
mod error;
mod file;
mod format;
mod gzip;
mod json;
mod location;
mod pb;
mod problem;

pub use collector::{Collected, Collector};
pub use dictionary::Dictionary;
pub use entry::{Group, Message};
pub use error::ReadError;
pub use format::Format;
pub use json::Statements;
pub use location::Location;
pub use problem::{Problem, Problems};
