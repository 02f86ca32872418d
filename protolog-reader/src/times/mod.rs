//! Times for people: display, and parsing of times as people write them.

pub(crate) mod ago;
pub(crate) mod time_writer;
pub(crate) mod wall_times;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
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

    /// Returns whether the zone of this machine is not known, so that UTC takes its place.
    pub fn is_local_unknown() -> bool {
        TimeZone::try_system().is_err()
    }

    /// Date and time of `nanos` since 1970, in UTC and to the second: `2026-11-20T18:27:01Z`. None
    /// beyond the calendar.
    pub fn utc_date(nanos: i64) -> Option<String> {
        Some(Timestamp::from_second(nanos.div_euclid(NS)).ok()?.to_string())
    }

    /// Parses a point in time: seconds since boot (`12.5`), a date and time of this zone
    /// (`2026-11-20 18:27:01.5`) or with its offset (`2026-11-20T18:27:01Z`), or a span before
    /// `now`, in nanoseconds since 1970 (`10m`, `2h30m ago`, `now`, `today`, `yesterday`). The
    /// year, or the whole date, may be that of the log's first entry (`11-20 18:27:01.5`, `18:27`).
    pub fn parse(&self, text: &str, log: &Log, now: i64) -> Option<TimePoint> {
        if let Some(ns) = seconds(text) {
            return Some(TimePoint::Trace(ns));
        }
        if let Ok(timestamp) = text.parse::<Timestamp>() {
            return Some(TimePoint::Wall(i64::try_from(timestamp.as_nanosecond()).ok()?));
        }
        if let Some(span) = ago::parse(text) {
            return Some(TimePoint::Wall(now.checked_sub(span)?));
        }
        if let Some(wall) = day(text, now, &self.zone()) {
            return Some(TimePoint::Wall(wall));
        }
        let first = || log.span().and_then(|(first, _)| log.wall_time(first));
        self.parse_date(text, first())
    }

    /// The date and time that `text` is taken for, if it is one that the clocks of the zone went
    /// over.
    pub fn after_gap(&self, text: &str, log: &Log) -> Option<String> {
        let zone = self.zone();
        let is_other = seconds(text).is_some() || text.parse::<Timestamp>().is_ok();
        let first = log.span().and_then(|(first, _)| log.wall_time(first));
        let date = complete(text, self.first(first).as_ref()).filter(|_| !is_other)?;
        let date = date.parse::<DateTime>().ok()?;
        let offset = zone.to_ambiguous_zoned(date).offset();
        let time = timestamp_of(date, &zone)?.to_zoned(zone);
        let is_gap = matches!(offset, AmbiguousOffset::Gap { .. });
        is_gap.then(|| format!("{} {}", time.date(), time.time()))
    }

    /// Returns whether `text` is a point in time, of which a log may have to say the date.
    pub fn is_time(&self, text: &str, now: i64) -> bool {
        let is_other = seconds(text).is_some() || ago::parse(text).is_some();
        is_other
            || text.parse::<Timestamp>().is_ok()
            || day(text, now, &self.zone()).is_some()
            || self.parse_date(text, Some(now)).is_some()
    }

    /// Parses a date and time; what it leaves out is of the date of `first`, in nanoseconds since
    /// 1970.
    fn parse_date(&self, text: &str, first: Option<i64>) -> Option<TimePoint> {
        let zone = self.zone();
        let date = complete(text, self.first(first).as_ref())?.parse::<DateTime>().ok()?;
        let timestamp = timestamp_of(date, &zone)?;
        Some(TimePoint::Wall(i64::try_from(timestamp.as_nanosecond()).ok()?))
    }

    /// A time of the wall clock, in nanoseconds since 1970, in the zone.
    fn first(&self, wall: Option<i64>) -> Option<Zoned> {
        let timestamp = Timestamp::from_nanosecond(i128::from(wall?)).ok()?;
        Some(timestamp.to_zoned(self.zone()))
    }

    /// Writes a time of the trace in a form that [`parse`](Self::parse) takes: date and time to the
    /// second, or seconds since boot.
    pub fn display(&self, time: i64, log: &Log) -> String {
        let date = || {
            let wall = log.wall_time(time).filter(|_| matches!(self, Self::Zone(_)))?;
            let time = Timestamp::from_second(wall.div_euclid(NS)).ok()?.to_zoned(self.zone());
            Some(format!("{} {}", time.date(), time.time()))
        };
        date().unwrap_or_else(|| (time.div_euclid(NS)).to_string())
    }

    /// The zone of dates that name none.
    fn zone(&self) -> TimeZone {
        match self {
            Self::Zone(zone) => zone.clone(),
            Self::Boot => TimeZone::system(),
        }
    }
}

/// The moment of a date and time. Of one that the clocks went over, in spring, that at which they
/// did; of one that came twice, the first.
fn timestamp_of(date: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    let ambiguous = zone.to_ambiguous_zoned(date);
    if !matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. }) {
        return Some(ambiguous.compatible().ok()?.timestamp());
    }
    let after = ambiguous.later().ok()?.timestamp();
    Some(zone.preceding(after).next().map_or(after, |change| change.timestamp()))
}

/// `now`, or the beginning of `today` or `yesterday`, in nanoseconds since 1970.
fn day(text: &str, now: i64, zone: &TimeZone) -> Option<i64> {
    let today =
        || Timestamp::from_nanosecond(i128::from(now)).ok().map(|it| it.to_zoned(zone.clone()));
    let begin = match text {
        "now" => return Some(now),
        "today" => today()?.start_of_day().ok()?,
        "yesterday" => today()?.yesterday().ok()?.start_of_day().ok()?,
        _ => return None,
    };
    i64::try_from(begin.timestamp().as_nanosecond()).ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_the_clocks_went_over_is_that_of_the_jump() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let moment = |date: &str| timestamp_of(date.parse().unwrap(), &zone).unwrap().to_string();
        assert_eq!(moment("2026-03-29T01:59:59"), "2026-03-29T00:59:59Z");
        assert_eq!(moment("2026-03-29T02:30:00"), "2026-03-29T01:00:00Z");
        assert_eq!(moment("2026-03-29T03:00:00"), "2026-03-29T01:00:00Z");
        // In autumn the first of the two.
        assert_eq!(moment("2026-10-25T02:30:00"), "2026-10-25T00:30:00Z");
    }
}
