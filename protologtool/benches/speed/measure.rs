//! CPU time of this thread, and medians of it.

/// Of each contestant; odd, so that there is a median run.
const ROUNDS: usize = 7;

/// The median CPU seconds of each.
pub(super) fn measure<const N: usize>(contestants: [&dyn Fn(); N]) -> [f64; N] {
    let mut times = [(); N].map(|()| Vec::new());
    // One round before those that count, to warm caches.
    for round in 0..=ROUNDS {
        for (contestant, times) in contestants.iter().zip(&mut times) {
            let begun = cpu_seconds();
            contestant();
            let taken = cpu_seconds() - begun;
            if round > 0 {
                times.push(taken);
            }
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    })
}

/// The processor time of this thread.
fn cpu_seconds() -> f64 {
    let text =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts CPU time");
    let nanoseconds = text.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
    nanoseconds.expect("the first number is the time on a processor") as f64 / 1e9
}
