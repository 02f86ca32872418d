//! The parts that all measured loggers share: the messages, the modes of the programs, the clock.
//!
//! Each candidate is a type with [`Logger`]; a program made of some of them understands
//!
//! ```text
//! PROGRAM measure CANDIDATE SHAPE FILE    bursts, then a loop; prints one line of JSON
//! PROGRAM kill CANDIDATE FILE             logs 10,000 messages, prints `written`, and waits to be killed
//! PROGRAM serve CANDIDATE SHAPE THREADS MESSAGES  logs to a tracing service (`serve.rs`)
//! ```
//!
//! A process measures one candidate once. So whatever a logger keeps for the process is set up as
//! its users do, CPU time of all its threads is that of the process, and no candidate warms
//! anything up for another one. The programs in C++ (`bench/peers/cpp`) do the same with the same
//! numbers.

mod measure;
mod serve;

use std::io::{Read, Write};
use std::path::Path;

pub use measure::{bursts, cpu, measure};
pub use serve::{BEFORE, Joined, JoinedCandidate, run_joined};

/// Messages that are logged before the process is killed.
const BEFORE_THE_END: u64 = 10_000;

/// The values that messages are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `%d of %d`
    TwoInts,
    /// `%d of %s`, one of 8 texts of 4 to 7 bytes.
    IntAndText,
    /// `%d of %d in %f`
    TwoIntsAndFloat,
    /// `text %s`, 40 bytes.
    LongText,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::TwoInts, Self::IntAndText, Self::TwoIntsAndFloat, Self::LongText];

    /// The word that names it on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::TwoInts => "two-ints",
            Self::IntAndText => "int-and-text",
            Self::TwoIntsAndFloat => "two-ints-and-float",
            Self::LongText => "long-text",
        }
    }

    /// The shape of this word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.word() == word)
    }
}

const TEXTS: [&str; 8] = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"];
const LONG: &str = "0123456789012345678901234567890123456789";

/// A candidate.
pub trait Logger: Sized {
    /// Sets everything up, with the log in the file or the directory `path`.
    fn open(path: &Path) -> Self;

    /// Logs a message of [`Shape::TwoInts`].
    fn two_ints(&self, number: u64, of: u64);

    /// Logs a message of [`Shape::IntAndText`].
    fn int_and_text(&self, number: u64, of: &str);

    /// Logs a message of [`Shape::TwoIntsAndFloat`].
    fn two_ints_and_float(&self, number: u64, of: u64, time: f64);

    /// Logs a message of [`Shape::LongText`].
    fn long_text(&self, text: &str);

    /// Returns when everything is written that will be.
    fn settle(&mut self) {}

    /// Ends the log.
    fn close(self) {}
}

/// Calls `f` with a function that logs message after message of `shape`; it gets a number for each.
pub fn with_calls<L: Logger, C: Calls>(logger: &L, shape: Shape, f: C) -> C::Output {
    match shape {
        Shape::TwoInts => f.run(|number| logger.two_ints(number, 7)),
        Shape::IntAndText => {
            f.run(|number| logger.int_and_text(number, TEXTS[number as usize % TEXTS.len()]))
        }
        Shape::TwoIntsAndFloat => {
            f.run(|number| logger.two_ints_and_float(number, 7, number as f64))
        }
        Shape::LongText => f.run(|_| logger.long_text(LONG)),
    }
}

/// Something to be done with a function that logs, whatever its type.
pub trait Calls {
    /// The result.
    type Output;

    /// Does it.
    fn run(self, call: impl FnMut(u64)) -> Self::Output;
}

/// A candidate as a row of a program's table.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The word that names it on the command line.
    pub name: &'static str,
    /// Runs [`measure()`].
    pub measure: fn(Shape, &Path),
    /// Runs [`kill`].
    pub kill: fn(&Path),
}

impl Candidate {
    /// The candidate that `L` is.
    pub const fn new<L: Logger>(name: &'static str) -> Self {
        Self { name, measure: measure::<L>, kill: kill::<L> }
    }
}

/// Does what the command line says; false where that is nothing of what is described above.
pub fn run(words: &[String], candidates: &[Candidate]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let named = |name: &str| candidates.iter().find(|candidate| candidate.name == name);
    match words[..] {
        ["measure", name, shape, path] => match (named(name), Shape::of(shape)) {
            (Some(candidate), Some(shape)) => (candidate.measure)(shape, path.as_ref()),
            _ => return false,
        },
        ["kill", name, path] => match named(name) {
            Some(candidate) => (candidate.kill)(path.as_ref()),
            None => return false,
        },
        _ => return false,
    }
    true
}

/// Logs messages and says so; whoever reads that kills the process.
pub fn kill<L: Logger>(path: &Path) {
    let logger = L::open(path);
    for number in 0..BEFORE_THE_END {
        logger.two_ints(number, 7);
    }
    let mut out = std::io::stdout();
    out.write_all(b"written\n").and_then(|()| out.flush()).expect("say that all is logged");
    // Forever, or until whoever started this is gone.
    let _ = std::io::stdin().read(&mut [0]);
    std::process::abort();
}
