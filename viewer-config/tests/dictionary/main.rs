//! The dictionary from the outside: its formats byte for byte, refused files, properties of all
//! formats, and Perfetto's view of it. One program, so that it links once and boots one
//! trace_processor.

mod common;
mod formats;
mod oracle;
mod properties;
mod refusals;
