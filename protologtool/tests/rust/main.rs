//! Rust: what becomes of calls and group enums, in pairs of texts; programs built with proc macros
//! and from rewritten sources, which must log the same; which module of which crate a file is; real
//! sources from the crate registry; any bytes.

#[path = "../harness/cases.rs"]
mod cases;

mod any;
mod case;
mod errors;
mod pairs;
mod program;
mod real;
mod same;
mod workspace;
