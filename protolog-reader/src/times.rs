//! Times for people: display, and parsing of what people write.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::log::Log;

/// Nanoseconds in a second.
pub(crate) const NS: i64 = 1_000_000_000;

/// The times to show.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Times {
    /// Date and time in this zone; seconds since boot if the trace has no wall clock.
    Zone(TimeZone),
    /// Seconds since boot: the trace's clock.
    Boot,
}

/// A point in time, of either clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePoint {
    /// Nanoseconds of the trace's clock.
    Trace(i64),
    /// Nanoseconds since 1970 (UTC).
    Wall(i64),
}

impl Times {
    /// Date and time in UTC.
    pub fn utc() -> Self {
        Self::Zone(TimeZone::UTC)
    }

    /// Date and time in the zone of this machine.
    pub fn local() -> Self {
        Self::Zone(TimeZone::system())
    }

    /// Parses a point in time: seconds since boot (`12.5`), a date and time of this zone (`2026-11-20 18:27:01.5`;
    /// the year, or the whole date, may be that of the log's first entry: `11-20 18:27:01.5`, `18:27`), or a date and time
    /// with its offset (`2026-11-20T18:27:01Z`).
    pub fn parse(&self, text: &str, log: &Log) -> Option<TimePoint> {
        if let Some(ns) = seconds(text) {
            return Some(TimePoint::Trace(ns));
        }
        if let Ok(timestamp) = text.parse::<Timestamp>() {
            return Some(TimePoint::Wall(i64::try_from(timestamp.as_nanosecond()).ok()?));
        }
        let zone = match self {
            Self::Zone(zone) => zone.clone(),
            Self::Boot => TimeZone::system(),
        };
        let first = log.entries().find_map(|entry| entry.wall_time()).and_then(|wall| {
            let timestamp = Timestamp::from_nanosecond(i128::from(wall)).ok()?;
            Some(timestamp.to_zoned(zone.clone()))
        });
        let date = complete(text, first.as_ref())?.parse::<DateTime>().ok()?;
        let timestamp = date.to_zoned(zone).ok()?.timestamp();
        Some(TimePoint::Wall(i64::try_from(timestamp.as_nanosecond()).ok()?))
    }
}

/// `12` or `12.5`, as nanoseconds.
fn seconds(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let fraction: i64 = format!("{fraction:0<9}").parse().ok()?;
    whole.parse::<i64>().ok()?.checked_mul(NS)?.checked_add(fraction)
}

/// A complete date and time: the parts that `text` omits are those of `first`.
fn complete(text: &str, first: Option<&Zoned>) -> Option<String> {
    let Some((date, time)) = text.trim().split_once([' ', 'T']) else {
        let is_date = text.matches('-').count() == 2;
        return if is_date {
            Some(format!("{text}T00:00:00"))
        } else {
            Some(format!("{}T{}", first?.date(), with_seconds(text)))
        };
    };
    let year = if date.matches('-').count() == 1 {
        format!("{:04}-", first?.year())
    } else {
        String::new()
    };
    Some(format!("{year}{date}T{}", with_seconds(time)))
}

fn with_seconds(time: &str) -> String {
    let seconds = if time.matches(':').count() == 1 { ":00" } else { "" };
    format!("{time}{seconds}")
}
