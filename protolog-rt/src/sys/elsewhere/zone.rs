//! The time zone of the process.

/// Asks the C library how many seconds the zone of the process is ahead of UTC, `second` seconds
/// after the epoch.
#[cfg(windows)]
#[allow(clippy::unnecessary_wraps)] // As on Unix.
pub(crate) fn offset(second: i64) -> Option<i64> {
    // SAFETY: integers, for which zero is a value.
    let mut time: libc::tm = unsafe { core::mem::zeroed() };
    // SAFETY: both pointers are to values of ours that live through the call.
    if unsafe { libc::localtime_s(&raw mut time, &raw const second) } != 0 {
        return Some(0);
    }
    let days = days_before(i64::from(time.tm_year) + 1900, i64::from(time.tm_mon) + 1)
        + i64::from(time.tm_mday)
        - 1;
    let hours = days * 24 + i64::from(time.tm_hour);
    let local = (hours * 60 + i64::from(time.tm_min)) * 60 + i64::from(time.tm_sec);
    let ahead = local - second;
    // Zones are within a day of UTC.
    Some(if ahead.abs() > 86_400 { 0 } else { ahead })
}

/// Days from 1970 to the first of a month, by the proleptic Gregorian calendar.
#[cfg(windows)]
fn days_before(year: i64, month: i64) -> i64 {
    // Years that begin in March have their leap day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_years = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    of_years + (month * 153 + 2) / 5 - 719_468
}

/// That of UTC.
#[cfg(not(windows))]
#[allow(clippy::unnecessary_wraps)] // As on Unix.
pub(crate) fn offset(_: i64) -> Option<i64> {
    Some(0)
}
