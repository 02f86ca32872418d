//! `cargo xtask bench`: its benches and their tools. The work is that of `bench/runner`, which only
//! they compile.

use crate::install::{self, Tool};
use crate::tools::{
    BABELTRACE, CC, CXX, FLEET_WHEELS, JAVA, JDK_SOURCE, KOTLIN, LOGGERS, LTTNG, LTTNG_UST, NODE,
    NPM, PYTHON, SPDLOG, STRACE, TIME, VALGRIND, WHEELS, ZSTD,
};
use crate::{Result, shell};

/// A bench: its name, its subject, and the tools that it needs.
type Bench = (&'static str, &'static str, &'static [Tool]);

/// All benches.
pub(crate) const BENCHES: [Bench; 11] = [
    (
        "tool",
        "protologtool over the sources of a JDK and of Kotlin, beside the floor: reading the same files",
        &[CC, PYTHON, TIME, JDK_SOURCE, NPM, KOTLIN],
    ),
    (
        "runtime",
        "log calls off and on, beside a load, a clock and seven peers; threads, bytes, sudden ends",
        &[CC, VALGRIND],
    ),
    (
        "read",
        "traces to text, to JSON, filtered, beside cat, zstd, trace_processor, babeltrace2 and defmt",
        &[CC, TIME, NODE, ZSTD],
    ),
    ("protozero", "the protobuf writer beside C++ ProtoZero and prost", &[CXX, VALGRIND]),
    ("compile", "compile time and code of log calls, beside `log` and `tracing`", &[CC]),
    (
        "experiments",
        "ways that the write path could have gone: ids of texts, chunks, prefetch, encoding later",
        &[CC],
    ),
    (
        "control",
        "a switch from outside, beside a Binder transaction; 1,000 programs listed and switched",
        &[CC, STRACE],
    ),
    (
        "java",
        "the Java runtime beside java.util.logging, Log4j 2, Logback and JFR",
        &[CC, JAVA, NPM, LOGGERS],
    ),
    (
        "perfetto",
        "messages into Perfetto's tracing service, beside its SDK for Rust and the layer for `tracing`; build and size",
        &[CC, CXX, TIME],
    ),
    (
        "fleet",
        "archives beside text and clp-s: bytes, searches in 10 million messages, 1,000 machines; logs to a collector",
        &[CC, PYTHON, TIME, ZSTD, WHEELS, FLEET_WHEELS],
    ),
    ("server", "a server under load, with each logger and without", &[CC, JAVA, NPM, LOGGERS]),
];

/// Tools of the peers of the bench `runtime`. A peer whose tool is missing is left out.
const PEERS: [Tool; 5] = [CXX, SPDLOG, LTTNG, LTTNG_UST, BABELTRACE];

/// Runs the benches named in `only`, or all, each after the other. With `json`, tables of benches
/// that return them are written to a file too.
pub(crate) fn run(only: &[String], json: bool) -> Result<()> {
    let is_chosen = |name: &str| only.is_empty() || only.iter().any(|word| word == name);
    let chosen = || BENCHES.iter().filter(|(name, ..)| is_chosen(name));
    let needs: Vec<Tool> = chosen().flat_map(|(.., needs)| *needs).copied().collect();
    if !install::prepare(&needs, false).is_empty() {
        return Err(
            "the bench needs what is missing\nhelp: run `cargo xtask setup bench`".to_owned()
        );
    }
    if is_chosen("runtime") {
        install::prepare(&PEERS, false);
    }
    let mut runner = shell::cargo(&["run", "-q", "--locked", "-p", "protolog-bench-runner", "--"]);
    runner.args(chosen().map(|(name, ..)| name)).args(json.then_some("--json"));
    shell::run_quietly(&mut runner)
}

/// The tools of all benches, and those of their peers.
pub(crate) fn needs() -> Vec<Tool> {
    BENCHES.iter().flat_map(|(.., needs)| *needs).chain(&PEERS).copied().collect()
}
