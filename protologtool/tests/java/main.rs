//! Java, as pairs of texts: sources with the tool's output, and bad sources with its diagnostics.
//!
//! `cases/*.txt` hold sources before and after. Every pair is checked: no line moves, bytes outside
//! edits stay, a second run changes nothing, and line ends and byte order marks make no difference.
//! All are compiled by javac and run, before and after, with the guard on and off, and must do the
//! same.
//!
//! `newer/*.txt` hold syntax that an older javac does not know; `errors/*.txt` bad sources and the
//! diagnostics; `effects/*.txt` arguments that change something; `groups/*.txt` enums and the
//! groups read from them. `UPDATE_EXPECT=1` rewrites the tool's part. `real/` does the same to the
//! sources of a JDK.

#[path = "../harness/cases.rs"]
mod cases;
#[path = "../harness/trace.rs"]
mod trace;
#[path = "../harness/unit.rs"]
mod unit;

mod case;
mod constants;
mod effects;
mod encodings;
mod errors;
mod groups;
mod holds;
mod inputs;
mod invariants;
mod meant;
mod pairs;
mod real;
mod refused;
mod run;
mod statements;
