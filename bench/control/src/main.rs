//! The programs of `cargo xtask bench control`, in one: what a switch from outside costs, and whom.
//!
//! ```text
//! listen THREADS    a program that logs: its threads call all the time, and note when a switch reaches them
//! sit               a program that listens and does nothing else
//! toggle THREADS    an operator: starts a `listen`, switches a group of it many times, prints figures
//! store             an operator: how long a switch takes it, in nanoseconds
//! log               a program that logs without a pause
//! flood             operators: start a `log`, leave it alone, hold connections, and ask without a pause
//! start NUMBER      starts so many programs that sit, says `ready`, and ends them when its input ends
//! ```
//!
//! Figures are lines of `NAME VALUE`.

mod flood;
mod listen;
mod toggle;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if run(&words).is_some() {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: no such thing to measure: `{}`", words.join(" "));
    eprintln!("help: use `cargo xtask bench control`");
    ExitCode::from(2)
}

fn run(words: &[&str]) -> Option<()> {
    match *words {
        ["listen", threads] => listen::run(threads.parse().ok()?),
        ["sit"] => listen::sit(),
        ["toggle", threads] => toggle::run(threads.parse().ok()?),
        ["log"] => flood::log(),
        ["flood"] => flood::run(),
        ["store"] => toggle::store(),
        ["start", number] => toggle::start(number.parse().ok()?),
        _ => return None,
    }
    Some(())
}

/// Nanoseconds of a clock that all processes share.
fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
