//! Rust:
//!
//! - calls and group enums, as pairs of texts before and after
//! - programs built with proc macros and from rewritten sources, which must log the same
//! - the crate and the module of a file
//! - real sources from the crate registry
//! - any bytes

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
