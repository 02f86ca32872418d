//! Times as text: one after the other, mostly of the same second.

use std::fmt;

use jiff::Timestamp;

use crate::clocks::relations::Stretch;
use crate::formatting::fixed_decimals;
use crate::formatting::line::Line;
use crate::formatting::snippet::Snippet;
use crate::log::Log;
use crate::times::wall_times::WallTimes;
use crate::times::{NS, Times};

/// The form of a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeFormat {
    /// `11-20 18:27:01.123`; seconds since boot with six decimals.
    #[default]
    Millis,
    /// `11-20 18:27:01.123456`
    Micros,
    /// `11-20 18:27:01.123456789`; seconds since boot with nine decimals.
    Nanos,
    /// `2026-11-20T18:27:01.123456789+01:00`; seconds since boot with nine decimals.
    Iso,
}

/// Writes times of a log.
#[derive(Clone, Debug)]
pub struct TimeWriter {
    times: Times,
    format: TimeFormat,
    /// The last second, with the texts before and after its decimals.
    second: Option<i64>,
    head: String,
    tail: String,
    text: Vec<u8>,
}

/// The text that a time had last, and the times that have the same.
#[derive(Clone, Debug)]
pub(crate) struct LastTime {
    walls: WallTimes,
    stretch: Stretch,
    text: Snippet,
}

impl Default for LastTime {
    fn default() -> Self {
        let nothing = Stretch { first: 0, last: -1, ahead: 0 };
        Self { walls: WallTimes::default(), stretch: nothing, text: Snippet::new("") }
    }
}

impl TimeWriter {
    /// A writer of `times`, to the millisecond.
    pub fn new(times: Times) -> Self {
        Self {
            times,
            format: TimeFormat::Millis,
            second: None,
            head: String::new(),
            tail: String::new(),
            text: Vec::new(),
        }
    }

    /// Sets the form.
    #[must_use]
    pub fn with_format(mut self, format: TimeFormat) -> Self {
        (self.format, self.second) = (format, None);
        self
    }

    /// Appends a time of `log`: of the wall clock if that is to be shown and the log knows it, or
    /// else the seconds since boot.
    pub fn write(&mut self, log: &Log, time: i64, out: &mut String) -> fmt::Result {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        self.push(log, time, &mut text);
        out.push_str(str::from_utf8(&text).map_err(|_| fmt::Error)?);
        self.text = text;
        Ok(())
    }

    /// Appends a time of `log`, as it was written last where it is the same. `last` belongs to this
    /// writer and this log.
    #[inline]
    pub(crate) fn push_again(
        &mut self,
        last: &mut LastTime,
        log: &Log,
        time: i64,
        line: &mut Line<'_>,
    ) {
        if !last.stretch.has(time) {
            self.renew(last, log, time);
        }
        last.text.push(line);
    }

    /// Writes a time, with the times around it that have the same text.
    #[cold]
    fn renew(&mut self, last: &mut LastTime, log: &Log, time: i64) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        self.push(log, time, &mut text);
        last.text = Snippet::new(String::from_utf8_lossy(&text));
        self.text = text;
        let unit = match self.format {
            TimeFormat::Millis => 1_000_000,
            TimeFormat::Micros => 1000,
            TimeFormat::Nanos | TimeFormat::Iso => 1,
        };
        let is_wall = matches!(self.times, Times::Zone(_));
        let around = last.walls.stretch(log, time).filter(|_| is_wall);
        let first_and_last = around.and_then(|around| {
            let first = time.checked_sub(time.checked_add(around.ahead)?.rem_euclid(unit))?;
            Some((first.max(around.first), first.checked_add(unit - 1)?.min(around.last)))
        });
        let (first, end) = first_and_last.unwrap_or((time, time));
        last.stretch = Stretch { first, last: end, ahead: 0 };
    }

    /// The same for bytes.
    pub(crate) fn push(&mut self, log: &Log, time: i64, out: &mut Vec<u8>) {
        let wall = match &self.times {
            Times::Zone(_) => log.wall_time(time),
            Times::Boot => None,
        };
        let Some(wall) = wall else { return boot_time(out, time, self.boot_decimals()) };
        let second = wall.div_euclid(NS);
        if self.second != Some(second) && self.begin_second(second).is_none() {
            return boot_time(out, time, self.boot_decimals());
        }
        out.extend_from_slice(self.head.as_bytes());
        push_decimals(out, wall.rem_euclid(NS) as u32, self.format);
        out.extend_from_slice(self.tail.as_bytes());
    }

    /// Makes the texts of a second; none beyond the calendar.
    fn begin_second(&mut self, second: i64) -> Option<()> {
        let Times::Zone(zone) = &self.times else { return None };
        let date = Timestamp::from_second(second).ok()?.to_zoned(zone.clone());
        let form = match self.format {
            TimeFormat::Iso => "%Y-%m-%dT%H:%M:%S",
            _ => "%m-%d %H:%M:%S",
        };
        self.head = date.strftime(form).to_string();
        self.tail = match self.format {
            TimeFormat::Iso => date.strftime("%:z").to_string(),
            _ => String::new(),
        };
        self.second = Some(second);
        Some(())
    }

    fn boot_decimals(&self) -> u32 {
        match self.format {
            TimeFormat::Millis | TimeFormat::Micros => 6,
            TimeFormat::Nanos | TimeFormat::Iso => 9,
        }
    }
}

/// Appends the point and the digits of `ns` that a form has.
fn push_decimals(out: &mut Vec<u8>, ns: u32, format: TimeFormat) {
    let (number, digits) = match format {
        TimeFormat::Millis => (ns / 1_000_000, 3),
        TimeFormat::Micros => (ns / 1000, 6),
        TimeFormat::Nanos | TimeFormat::Iso => (ns, 9),
    };
    out.push(b'.');
    fixed_decimals::push_digits(out, number, digits);
}

/// The least width of seconds since boot, before the point.
const BOOT_WIDTH: usize = 6;

/// Appends seconds with six or nine decimals.
fn boot_time(out: &mut Vec<u8>, time: i64, decimals: u32) {
    let (is_negative, ns) = (time < 0, time.unsigned_abs());
    let mut buffer = itoa::Buffer::new();
    let seconds = buffer.format(ns / NS as u64);
    let width = seconds.len() + usize::from(is_negative);
    out.extend(std::iter::repeat_n(b' ', BOOT_WIDTH.saturating_sub(width)));
    if is_negative {
        out.push(b'-');
    }
    out.extend_from_slice(seconds.as_bytes());
    out.push(b'.');
    let fraction = ns % NS as u64 / 10_u64.pow(9 - decimals);
    fixed_decimals::push_digits(out, fraction as u32, decimals as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boot_times() {
        let text = |time| {
            let mut out = Vec::new();
            boot_time(&mut out, time, 6);
            String::from_utf8(out).unwrap()
        };
        let mut nanos = Vec::new();
        boot_time(&mut nanos, 1_001_000_001, 9);
        assert_eq!(nanos, b"     1.001000001");
        assert_eq!(text(1_234_567_890), "     1.234567");
        assert_eq!(text(-1_500), "    -0.000001");
        assert_eq!(text(0), "     0.000000");
        assert_eq!(text(12_345_678_000_001_000), "12345678.000001");
        assert_eq!(text(i64::MIN), "-9223372036.854775");
    }
}
