//! Pids and names of processes that share their pid with another one of a merged trace, for readers
//! that know a process by its pid.
//!
//! Invariant: they are made of the pid and the fingerprint alone, so that a process has the same
//! ones whatever it is merged with.

use crate::inputs::thread_ids::mix;

/// The numbers beyond all pids of a machine, which has them up to 2^22.
const BEYOND: u64 = 1 << 22;
/// The pids of most first processes and of the processes that they start.
const SMALL: u64 = 100_000;

/// The pid of a process, by its fingerprint, for readers that know processes by their pids. Its
/// last digits are those of a small pid.
pub(crate) fn pid_apart(pid: u32, process: u64) -> u32 {
    if u64::from(pid) >= BEYOND {
        // It is that of no process of a machine, or it is apart already.
        return pid;
    }
    let width = if u64::from(pid) < SMALL { SMALL } else { BEYOND };
    let (first, end) = (BEYOND.div_ceil(width), (1 << 31) / width);
    let place = first + mix(process) % (end - first);
    (place * width) as u32 + pid
}

/// The end of a name that says the true pid.
pub(crate) fn name_suffix(pid: u32) -> String {
    format!(" (pid {pid})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pids_apart_are_those_of_no_process() {
        assert_eq!(pid_apart(u32::MAX, 7), u32::MAX);
        for pid in [1, 17, 99_999, 100_000, 4_194_303] {
            let apart: Vec<u32> = (0..500).map(|process| pid_apart(pid, process)).collect();
            assert!(apart.iter().all(|it| (BEYOND..1 << 31).contains(&u64::from(*it))), "{pid}");
            let mut different = apart.clone();
            different.sort_unstable();
            different.dedup();
            assert!(different.len() > 250, "{pid}: {}", different.len());
        }
        assert_eq!(pid_apart(17, 5) % 100_000, 17);
    }
}
