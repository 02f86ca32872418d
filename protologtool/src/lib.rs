//! Rewrites log calls, makes dictionaries, reads traces.
//!
//! The command's way: [`cli`] parses arguments, [`command`] runs them, [`pipeline`] takes each
//! source through [`lang`] (find, emit), [`call`] (check) and [`rewrite`] (plan, apply), [`output`]
//! writes what came of it. [`groups`] says which groups there are, [`ids`] makes ids, [`inject`]
//! the class that rewritten Android code calls, [`diagnostic`] says what is wrong, `target` which
//! dialect a run has, [`system`] is everything outside: files, environment, output. [`worker`] runs
//! many commands in one process.
//!
//! Invariants: bytes outside an edit never change, no line moves, rewriting rewritten code changes
//! nothing. Every problem of every file is found in one run. Outputs are written whole, all of
//! them, or not at all. Nothing in here prints or exits except through [`system::System`].
#![forbid(unsafe_code)]
// What serves terminals and operators is not used where there are none.
#![cfg_attr(not(unix), allow(dead_code))]

mod args;
pub mod binary;
pub mod call;
pub mod call_counts;
mod cells;
pub mod cli;
mod colors;
pub mod command;
pub mod diagnostic;
mod differences;
pub mod encoding;
mod exit;
pub mod first_process;
pub mod groups;
pub mod ids;
mod incremental;
pub mod inject;
pub mod lang;
pub mod lint;
mod logs;
pub mod output;
pub mod pipeline;
pub mod rewrite;
pub mod source;
mod suggest;
pub mod system;
mod target;
pub mod worker;

/// The response of a connection to `view` to any bytes, for the fuzz target.
#[cfg(fuzzing)]
pub use command::view::exchange;
