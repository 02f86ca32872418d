//! The cost of a text that a chunk does not have, beside one that it has: messages of an integer
//! and a text; and that of names of hosts, of which a program sees a few or thousands.

use crate::hot::{self, Repeat};
use crate::loggers::Protolog;
use harness::{Calls, Logger, bursts};
use std::path::Path;

/// Texts in turn, more than a chunk holds: by the time one is logged again, its chunk is long gone.
const TEXTS: usize = 1024;

/// Hosts in turn, as those of `bench/java`.
const HOSTS: usize = 10_000;

/// Bytes of the texts, and how many there are, by the word on the command line.
const CASES: [(&str, usize, usize); 4] =
    [("same-8", 8, 1), ("new-8", 8, TEXTS), ("same-40", 40, 1), ("new-40", 40, TEXTS)];

/// The texts that are logged, in turn; as many whether they repeat or not, so that to choose one
/// costs the same.
enum Texts {
    Numbers(Vec<String>),
    Hosts(Vec<String>),
}

fn texts(case: &str) -> Option<Texts> {
    if let Some(kinds) = case.strip_prefix("hosts-") {
        let kinds: usize = kinds.parse().ok()?;
        let host = |number: usize| format!("host-{:05}.example.org", number % kinds);
        return Some(Texts::Hosts((0..HOSTS).map(host).collect()));
    }
    let (_, bytes, kinds) = CASES.into_iter().find(|(word, ..)| *word == case)?;
    let number = |number: usize| format!("{:0bytes$}", number % kinds * 7919);
    Some(Texts::Numbers((0..TEXTS).map(number).collect()))
}

fn with_calls<C: Calls>(logger: &Protolog, texts: &Texts, f: C) -> C::Output {
    // The divisors are constants.
    match texts {
        Texts::Numbers(texts) => {
            f.run(|number| logger.int_and_text(number, &texts[number as usize % TEXTS]))
        }
        Texts::Hosts(texts) => {
            f.run(|number| logger.int_and_text(number, &texts[number as usize % HOSTS]))
        }
    }
}

struct Bursts;

impl Calls for Bursts {
    type Output = [f64; 3];

    fn run(self, call: impl FnMut(u64)) -> [f64; 3] {
        bursts(call)
    }
}

/// Logs so many messages, for valgrind.
pub(crate) fn calls(case: &str, calls: u64) -> Option<()> {
    let texts = texts(case)?;
    let dir = tempfile::tempdir().expect("make a temporary directory");
    let logger = hot::session(&dir.path().join("trace"));
    with_calls(&logger, &texts, Repeat(calls));
    logger.close();
    Some(())
}

/// Logs bursts of messages to a file, and prints the 50th percentile of the nanoseconds of one, and
/// its bytes in the file.
pub(crate) fn time(case: &str, path: &Path) -> Option<()> {
    let texts = texts(case)?;
    let logger = Protolog::open(path);
    let [p50, ..] = with_calls(&logger, &texts, Bursts);
    let summary = logger.0.stop().expect("complete the trace");
    let bytes = summary.bytes as f64 / summary.messages as f64;
    println!(r#"{{"p50": {p50}, "bytes": {bytes}}}"#);
    Some(())
}
