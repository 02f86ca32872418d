//! The producer against Perfetto's tracing service: what the programs logged is in the service's
//! trace, as Perfetto's trace_processor and our reader read it.
//!
//! The programs are this one, started again: see [`child`]. Each writes beside the trace what it
//! logged, in plain text.

mod cases;
mod child;
mod closing;
mod dictionary;
mod ends;
mod exhausting;
#[path = "../common/fork.rs"]
#[allow(unsafe_code)] // A fork.
mod fork;
mod hostile;
mod limits;
mod losses;
mod others;
mod programs;
mod proxy;
mod repeated;
mod reported;
#[allow(unsafe_code)] // System calls.
mod rights;
mod sampled;
mod sandboxed;
mod scarce;
mod service;
mod soak;
mod startup;
mod stream;
mod threads;
