//! Sizes of chunks: the cost of their beginnings, in bytes and time, and the memory of a thread
//! that logged once.

use crate::ring::Ring;
use crate::{ROUNDS, best, head};
use harness::cpu;

const MESSAGES: u64 = 200_000;
const SIZES: [usize; 7] = [256, 512, 1024, 2048, 4096, 16 << 10, 64 << 10];

/// Prints the table.
pub(crate) fn run() {
    head("Two integers: size of chunks", &["ns", "bytes", "held by 1000 idle threads, KiB"]);
    let mut times = [const { Vec::new() }; SIZES.len()];
    let mut bytes = [0.0; SIZES.len()];
    for _ in 0..ROUNDS {
        for (at, size) in SIZES.iter().enumerate() {
            let mut ring = Ring::new(256 << 10, *size, 0);
            ring.take();
            let start = cpu();
            (0..MESSAGES).for_each(|number| ring.two_ints(number));
            times[at].push((cpu() - start) as f64 / MESSAGES as f64);
            bytes[at] = ring.bytes as f64 / MESSAGES as f64;
        }
    }
    for ((size, times), bytes) in SIZES.iter().zip(times).zip(bytes) {
        println!("| {size} | {:.1} | {bytes:.1} | {} |", best(times), size * 1000 / 1024);
    }
}
