//! Java's producer against Perfetto's tracing service: what the programs logged is in the service's
//! trace, as Perfetto's trace_processor and our reader read it.
//!
//! The programs are `app/Connected.java`. Each writes beside the trace what it logged, in plain
//! text.

mod cases;
mod child;
mod dictionary;
mod figures;
mod hostile;
mod losses;
mod places;
mod reconnects;
mod refused;
mod requests;
mod sampled;
mod service;
mod startup;
