//! The time zone of the process. Apart from [`super::time`], since asking for it takes a lock that
//! forks know, and forks need the time.

use super::fork::{ForkLock, Order, is_incomplete};

/// Asks the C library how many seconds the zone of the process is ahead of UTC, `second` seconds
/// after the epoch. None in a child of a fork that was not complete, which may wait for that
/// library's lock for ever.
pub(crate) fn offset(second: i64) -> Option<i64> {
    /// Held while the C library has its own lock on the zone, which not every one makes free in a
    /// forked child.
    static ZONE: ForkLock<()> = ForkLock::new(Order::Zone, ());
    if is_incomplete() {
        return None;
    }
    let _zone = ZONE.lock_unless_forking();
    // SAFETY: a tm is integers and a pointer; all zeros are valid for it.
    let mut time: libc::tm = unsafe { core::mem::zeroed() };
    // SAFETY: both pointers are to values of ours that live through the call.
    let known = unsafe { libc::localtime_r(&raw const second, &raw mut time) };
    // Zones are within a day of UTC.
    let is_unknown = known.is_null() || time.tm_gmtoff.abs() > 86_400;
    Some(if is_unknown { 0 } else { time.tm_gmtoff })
}
