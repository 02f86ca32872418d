//! Facts of a file that change with its content.

/// Time between the ticks of a file system's clock, at most, and for one that counts in seconds
/// (FAT: two), in nanoseconds.
const TICKS: [i64; 2] = [50_000_000, 2_000_000_000];

/// Place, size and times of a file. A file that is written to gets another stamp, unless that
/// happens within one tick of the file system's clock: see [`is_settled`](Self::is_settled).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The device and the number of the file on it.
    pub file: (u64, u64),
    /// In bytes.
    pub size: u64,
    /// Time of the last write, in nanoseconds since 1970 (UTC). Programs can set it.
    pub modified: i64,
    /// Time of the last change of content, times or names. No program sets it.
    pub changed: i64,
}

impl Stamp {
    /// Returns whether any write from now on gives another stamp.
    pub fn is_settled(&self, now: i64) -> bool {
        let last = self.modified.max(self.changed);
        let counts_seconds =
            self.modified % 1_000_000_000 == 0 && self.changed % 1_000_000_000 == 0;
        last.saturating_add(TICKS[usize::from(counts_seconds)]) < now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_the_last_tick_are_not_settled() {
        let stamp = |modified, changed| Stamp { file: (0, 0), size: 0, modified, changed };
        let second = 1_000_000_000;
        for (modified, changed, now, expected) in [
            (5, 7, 7 + 50_000_000, false),
            (5, 7, 8 + 50_000_000, true),
            // Times set back or forward do not deceive.
            (5, 3 * second + 1, 3 * second + 2, false),
            (9 * second + 1, 7, 8 * second, false),
            (second, second, 3 * second, false),
            (second, second, 3 * second + 1, true),
        ] {
            assert_eq!(stamp(modified, changed).is_settled(now), expected, "{modified} {changed}");
        }
    }
}
