//! Moving the log calls of other libraries:
//!
//! - calls and imports, as pairs of texts before and after
//! - programs before and after, which must print the same
//! - any bytes

#[path = "../harness/cases.rs"]
mod cases;

mod any;
mod case;
mod command;
mod java;
mod pairs;
mod program;
