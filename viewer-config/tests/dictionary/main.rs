//! The dictionary from the outside: its formats byte for byte, what is refused, what holds for all
//! of them, and what Perfetto makes of it. One program, so that it links once and boots one
//! trace_processor.

mod common;
mod formats;
mod oracle;
mod properties;
mod refusals;
