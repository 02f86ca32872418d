//! Loggers that write Perfetto's traces by other means, as candidates of
//! `cargo xtask bench runtime` and `bench perfetto`; the harness says how the program is called.

mod layer;
mod perfetto;

use self::layer::{Layer, Sdk, Writing};
use self::perfetto::{InProcess, Packets, System, TrackEvents};
use harness::{Candidate, JoinedCandidate};
use std::process::ExitCode;

const CANDIDATES: [Candidate; 3] = [
    Candidate::new::<TrackEvents<InProcess>>("track-event"),
    Candidate::new::<Packets<InProcess>>("data-source"),
    Candidate::new::<Layer<Writing>>("tracing-perfetto"),
];

const JOINED: [JoinedCandidate; 3] = [
    JoinedCandidate::new::<TrackEvents<System>>("track-event"),
    JoinedCandidate::new::<Packets<System>>("data-source"),
    JoinedCandidate::new::<Layer<Sdk>>("tracing-perfetto-sdk"),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if harness::run(&words, &CANDIDATES) || harness::run_joined(&words, &JOINED) {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: no such thing to measure: `{}`", words.join(" "));
    eprintln!("help: use `cargo xtask bench runtime`");
    ExitCode::from(2)
}
