//! The local time of a line.
//!
//! Invariants: nothing is allocated, and no lock is taken but where the zone is asked for, so that
//! a signal handler may print. The zone is asked for at most once in a quarter of an hour, since
//! offsets change at no other times.

use crate::sys::zone;
use core::cell::Cell;
use core::fmt;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

/// A quarter of an hour, in seconds.
const QUARTER: i64 = 900;

/// A time of day, `11-20 18:27:01.123`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LocalTime {
    month: u8,
    day: u8,
    second_of_day: u32,
    millisecond: u16,
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (minutes, second) = (self.second_of_day / 60, self.second_of_day % 60);
        let (hour, minute) = (minutes / 60, minutes % 60);
        write!(f, "{:02}-{:02} {hour:02}:{minute:02}:{second:02}", self.month, self.day)?;
        write!(f, ".{:03}", self.millisecond)
    }
}

/// A time in the zone of the process.
pub(super) fn local_time(time: SystemTime) -> LocalTime {
    let time = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let second = time.as_secs() as i64;
    civil(second + zone_offset(second), time.subsec_millis() as u16)
}

/// The time of day, `second` seconds after the epoch in its own zone. The calendar is counted in
/// years that begin in March, so that the leap day ends them.
fn civil(second: i64, millisecond: u16) -> LocalTime {
    const DAYS_TO_MARCH_0000: i64 = 719_468;
    const DAYS_IN_400_YEARS: i64 = 146_097;
    let day = (second.div_euclid(86_400) + DAYS_TO_MARCH_0000).rem_euclid(DAYS_IN_400_YEARS);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    LocalTime {
        month: if month < 10 { month + 3 } else { month - 9 } as u8,
        day: (day_of_year - (153 * month + 2) / 5 + 1) as u8,
        second_of_day: second.rem_euclid(86_400) as u32,
        millisecond,
    }
}

/// Seconds that the zone of the process is ahead of UTC at `second`.
fn zone_offset(second: i64) -> i64 {
    /// A quarter of an hour since the epoch and the offset in it, packed: quarter × 2^18 + offset +
    /// 2^17.
    static KNOWN: AtomicI64 = AtomicI64::new(-1 << 18);
    thread_local! {
        static ASKING: Cell<bool> = const { Cell::new(false) };
    }
    let quarter = second.div_euclid(QUARTER);
    let known = KNOWN.load(Relaxed);
    let offset_of = |known: i64| (known & 0x3ffff) - 0x20000;
    let last = if known < 0 { 0 } else { offset_of(known) };
    // A signal handler that interrupts the question below would wait for itself in the C library.
    if known >> 18 == quarter || ASKING.replace(true) {
        return last;
    }
    let asked = zone::offset(second);
    if let Some(offset) = asked {
        KNOWN.store(quarter << 18 | (offset + 0x20000), Relaxed);
    }
    ASKING.set(false);
    asked.unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (second, expected) in [
            (0, "01-01 00:00:00.007"),
            (951_782_400, "02-29 00:00:00.007"), // 2000-02-29
            (951_868_799, "02-29 23:59:59.007"),
            (951_868_800, "03-01 00:00:00.007"),
            (1_709_210_096, "02-29 12:34:56.007"), // 2024-02-29
            (1_798_761_599, "12-31 23:59:59.007"), // 2026-12-31
            (4_107_542_400, "03-01 00:00:00.007"), // 2100-03-01, no leap year
            (4_107_542_399, "02-28 23:59:59.007"),
        ] {
            assert_eq!(civil(second, 7).to_string(), expected);
        }
    }

    #[test]
    fn the_offset_is_remembered_for_its_quarter() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
        let offset = zone::offset(now).expect("no fork");
        assert_eq!((zone_offset(now), zone_offset(now)), (offset, offset));
    }
}
