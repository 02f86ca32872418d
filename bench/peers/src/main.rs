//! Loggers that write Perfetto's traces by other means, as candidates of
//! `cargo xtask bench runtime`; the harness says how the program is called.

mod layer;
mod perfetto;

use harness::Candidate;
use std::process::ExitCode;

const CANDIDATES: [Candidate; 3] = [
    Candidate::new::<perfetto::TrackEvents>("track-event"),
    Candidate::new::<perfetto::Packets>("data-source"),
    Candidate::new::<layer::Layer>("tracing-perfetto"),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if harness::run(&words, &CANDIDATES) {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: no such thing to measure: `{}`", words.join(" "));
    eprintln!("help: use `cargo xtask bench runtime`");
    ExitCode::from(2)
}
