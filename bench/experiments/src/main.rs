//! Ways that the write path could have gone, as programs that can be run: `docs/lab/write-path.md`
//! keeps the figures.
//!
//! ```text
//! cargo xtask bench experiments
//! ```
//!
//! `strings`, `chunks` and `prefetch` write packets as the runtime does, but with protozero's
//! writer into memory of their own ([`ring`]): rows compare with each other, not with the runtime.
//! `deferred` compares with the runtime itself.

mod chunks;
mod deferred;
mod machine;
mod prefetch;
mod ring;
mod strings;

/// Rounds of each row; they take turns.
const ROUNDS: usize = 15;

fn main() {
    strings::run();
    chunks::run();
    prefetch::run();
    deferred::run();
}

/// The least disturbed of times of this process's own, in a loop.
fn best(values: Vec<f64>) -> f64 {
    values.into_iter().fold(f64::INFINITY, f64::min)
}

/// The value in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Prints the head of a table.
fn head(title: &str, columns: &[&str]) {
    println!(
        "\n### {title}\n\n| | {} |\n|---|{}",
        columns.join(" | "),
        "--:|".repeat(columns.len())
    );
}
