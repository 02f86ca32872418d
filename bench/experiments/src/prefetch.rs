//! Asking for lines before they are written, in rings of different sizes.

use crate::ring::Ring;
use crate::{ROUNDS, head, median};
use harness::bursts;

const SIZES: [(&str, usize); 3] =
    [("256 KiB", 256 << 10), ("4 MiB", 4 << 20), ("32 MiB", 32 << 20)];
const AHEAD: [usize; 4] = [0, 128, 512, 1024];

/// Prints the table.
pub(crate) fn run() {
    head(
        "Two integers, bursts: lines asked for so many bytes ahead",
        &["p50 ns", "p99 ns", "p99.9 ns"],
    );
    for (name, size) in SIZES {
        let mut rings = AHEAD.map(|ahead| Ring::new(size, 4096, ahead));
        let mut figures = AHEAD.map(|_| [const { Vec::new() }; 3]);
        for _ in 0..ROUNDS {
            for (ring, figures) in rings.iter_mut().zip(&mut figures) {
                if ring.taken == 0 {
                    ring.take();
                }
                let parts = bursts(|number| ring.two_ints(number));
                figures.iter_mut().zip(parts).for_each(|(all, one)| all.push(one));
            }
        }
        for (ahead, figures) in AHEAD.iter().zip(figures) {
            let [p50, p99, p999] = figures.map(median);
            println!("| {name}, {ahead} | {p50:.1} | {p99:.1} | {p999:.0} |");
        }
    }
}
