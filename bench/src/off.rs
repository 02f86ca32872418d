//! Calls that are switched off.

use crate::measure::median;
use protolog_rt::{ProtoLogGroup, Session, d};
use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

const CALLS: u64 = 20_000_000;
const ROUNDS: usize = 9;

#[derive(ProtoLogGroup)]
enum Off {
    Group,
}

type Candidate = (&'static str, fn() -> f64);

static WORD: AtomicU32 = AtomicU32::new(0);

/// Nanoseconds per turn of a loop with each candidate in it.
pub(crate) fn table() -> String {
    // The groups have registered, and no session wants them.
    drop(Session::builder().file("/dev/null").start());
    let candidates: [Candidate; 5] = [
        ("empty loop", || time(|_| ())),
        ("one relaxed load and branch", || {
            time(|number| {
                if WORD.load(Ordering::Relaxed) != 0 {
                    black_box(number);
                }
            })
        }),
        ("protolog", || time(|number| d!(Off::Group, "%d %d", number, 7))),
        ("log", || time(|number| log::debug!("{} {}", number, 7))),
        ("tracing", || time(|number| tracing::debug!("{} {}", number, 7))),
    ];
    let mut rounds: Vec<Vec<f64>> = candidates.iter().map(|_| Vec::new()).collect();
    for _ in 0..ROUNDS {
        for ((_, run), times) in candidates.iter().zip(&mut rounds) {
            times.push(run());
        }
    }
    let mut text = String::from("### Switched off\n\n| candidate | ns per turn |\n|---|--:|\n");
    for ((name, _), times) in candidates.iter().zip(rounds) {
        let _ = writeln!(text, "| {name} | {:.2} |", median(times.into_iter()));
    }
    text
}

#[inline(always)]
#[allow(clippy::inline_always)] // The loop is part of what is measured.
fn time(call: impl Fn(u64)) -> f64 {
    let start = Instant::now();
    for number in 0..CALLS {
        call(black_box(number));
    }
    start.elapsed().as_nanos() as f64 / CALLS as f64
}
