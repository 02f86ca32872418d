//! Kotlin, as pairs of texts: what the tool makes of a source, and what it says of a bad one.
//!
//! `cases/*.txt` hold sources before and after. All are compiled by kotlinc and run, before and
//! after, with the guard on and off, and must leave the same texts. Every pair is checked for what
//! always holds. `errors/*.txt` hold bad sources and the diagnostics. `UPDATE_EXPECT=1` rewrites
//! what the tool says.

#[path = "../harness/cases.rs"]
mod cases;
#[path = "../harness/trace.rs"]
mod trace;
#[path = "../harness/unit.rs"]
mod unit;

mod case;
mod compiler;
mod holds;
mod inputs;
mod invariants;
mod meant;
mod pairs;
mod real;
mod run;
mod runtime;
