//! Clocks, and the conversion of timestamps.
//!
//! A timestamp counts ticks of a clock: the trace's own, another clock of the operating system, or
//! a custom one, which a snapshot defines (unit, absolute or incremental, value at a moment).
//! Custom clocks 64 to 127 belong to one sequence, those from 128 up to the whole trace. Timestamps
//! are converted in two steps:
//!
//! 1. While packets are read, in their order: ticks become nanoseconds of a clock that the whole
//!    trace shares, by the last snapshot of the sequence ([`CustomClock`]). An incremental clock
//!    advances from packet to packet.
//! 2. After the last packet, because snapshots may come late: nanoseconds of a shared clock become
//!    those of the trace's clock, by the last snapshot of both that is not later ([`relations`]).
//!
//! Invariant: all arithmetic wraps. An unknown time becomes a guess, which is marked, never an
//! error.

pub(crate) mod relations;

use protolog_core::schema::{clock, clock_id, clock_snapshot, packet_defaults};
use protozero::{DecodeError, Field, Reader};

/// First id of the custom clocks.
const CUSTOM: u32 = 64;
/// First id of the custom clocks of the whole trace.
const SHARED_CUSTOM: u32 = 128;
/// Maximum number of clocks in a snapshot; the operating system has about ten.
pub(crate) const MAX_CLOCKS_OF_SNAPSHOT: usize = 64;

/// The trace's own clock, whichever that is.
pub(crate) const TRACE_CLOCK: u32 = 0;

/// A moment in a shared clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) ns: i64,
    /// The shared clock that `ns` counts in, or [`TRACE_CLOCK`].
    pub(crate) clock: u32,
    /// True if the time is that of a neighbouring packet, because this one has no usable timestamp.
    pub(crate) guessed: bool,
}

impl Moment {
    /// The moment if nothing is known of the time. Records with it stand at the first time that
    /// follows.
    pub(crate) const UNKNOWN: Self = Self { ns: 0, clock: TRACE_CLOCK, guessed: true };

    pub(crate) fn guess(self) -> Self {
        Self { guessed: true, ..self }
    }
}

/// True if the clock belongs to one sequence.
pub(crate) fn is_of_sequence(clock: u32) -> bool {
    (CUSTOM..SHARED_CUSTOM).contains(&clock)
}

/// True if the clock is one that the trace defines for all of its sequences.
pub(crate) fn is_shared_custom(clock: u32) -> bool {
    clock >= SHARED_CUSTOM
}

/// The clock id in `TracePacketDefaults`.
pub(crate) fn default_clock(defaults: Field<'_>) -> Result<Option<u32>, DecodeError> {
    let mut id = None;
    for field in defaults.as_message()? {
        let field = field?;
        if field.number == packet_defaults::TIMESTAMP_CLOCK_ID {
            id = Some(field.as_u32()?).filter(|id| *id != TRACE_CLOCK);
        }
    }
    Ok(id)
}

/// A clock that snapshots define.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CustomClock {
    id: u32,
    incremental: bool,
    unit_ns: i64,
    /// Value of an incremental clock at the last timestamp, in nanoseconds.
    now: i64,
    /// A shared clock in the same snapshot, and its offset.
    anchor: Option<(u32, i64)>,
}

impl CustomClock {
    /// The moment of a timestamp; none if the snapshot had no shared clock. Advances an incremental
    /// clock either way.
    #[inline]
    pub(crate) fn moment(&mut self, ticks: u64) -> Option<Moment> {
        let ns = (ticks as i64).wrapping_mul(self.unit_ns);
        let value = if self.incremental { self.now.wrapping_add(ns) } else { ns };
        self.now = value;
        let (clock, offset) = self.anchor?;
        Some(Moment { ns: value.wrapping_add(offset), clock, guessed: false })
    }
}

/// The custom clocks of one sequence, or those of the whole trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct CustomClocks(Vec<CustomClock>);

impl CustomClocks {
    /// The moment of a timestamp in the custom clock `id`; none without a snapshot of it.
    pub(crate) fn moment(&mut self, id: u32, ticks: u64) -> Option<Moment> {
        self.0.iter_mut().find(|clock| clock.id == id)?.moment(ticks)
    }

    /// As [`moment`](Self::moment), for shared clocks, including those that need no snapshot.
    pub(crate) fn shared_moment(&mut self, id: u32, ticks: u64) -> Option<Moment> {
        if id < CUSTOM {
            return Some(Moment { ns: ticks as i64, clock: id, guessed: false });
        }
        self.moment(id, ticks)
    }

    /// The custom clock `id`, to be [put back](Self::put_back); none if it gives no moments.
    pub(crate) fn get(&self, id: u32) -> Option<CustomClock> {
        self.0.iter().find(|clock| clock.id == id && clock.anchor.is_some()).copied()
    }

    /// As [`get`](Self::get), for shared clocks.
    pub(crate) fn get_shared(&self, id: u32) -> Option<CustomClock> {
        if id < CUSTOM {
            let anchor = Some((id, 0));
            return Some(CustomClock { id, incremental: false, unit_ns: 1, now: 0, anchor });
        }
        self.get(id)
    }

    /// Replaces a clock by one that has advanced.
    pub(crate) fn put_back(&mut self, clock: CustomClock) {
        if let Some(old) = self.0.iter_mut().find(|old| old.id == clock.id) {
            *old = clock;
        }
    }

    /// True if a snapshot has defined `id` as a clock that advances from packet to packet.
    pub(crate) fn is_incremental(&self, id: u32) -> bool {
        self.0.iter().any(|clock| clock.id == id && clock.incremental)
    }

    fn set(&mut self, clock: CustomClock) {
        match self.0.iter().position(|old| old.id == clock.id) {
            Some(at) => self.0[at] = clock,
            None if self.0.len() < MAX_CLOCKS_OF_SNAPSHOT => self.0.push(clock),
            None => {}
        }
    }
}

/// A parsed `ClockSnapshot`.
#[derive(Debug, Default)]
pub(crate) struct ClockSnapshot {
    readings: Vec<Reading>,
    /// The trace's clock, if the snapshot names it.
    pub(crate) primary: Option<u32>,
    /// Clocks beyond [`MAX_CLOCKS_OF_SNAPSHOT`].
    pub(crate) ignored: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    id: u32,
    ns: i64,
    incremental: bool,
    unit_ns: i64,
}

impl ClockSnapshot {
    pub(crate) fn parse(snapshot: Field<'_>) -> Result<Self, DecodeError> {
        let mut parsed = Self::default();
        for field in snapshot.as_message()? {
            let field = field?;
            match field.number {
                clock_snapshot::CLOCKS => {
                    let reading = Reading::parse(field.as_message()?)?;
                    if parsed.readings.len() < MAX_CLOCKS_OF_SNAPSHOT {
                        parsed.readings.push(reading);
                    } else {
                        parsed.ignored += 1;
                    }
                }
                clock_snapshot::PRIMARY_TRACE_CLOCK => {
                    parsed.primary = Some(field.as_u32()?).filter(|id| *id != TRACE_CLOCK);
                }
                _ => {}
            }
        }
        Ok(parsed)
    }

    /// The ids of all clocks.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> {
        self.readings.iter().map(|reading| reading.id)
    }

    /// The shared clocks, with their nanoseconds.
    pub(crate) fn shared(&self) -> impl Iterator<Item = (u32, i64)> {
        let shared = self.readings.iter().filter(|reading| !is_of_sequence(reading.id));
        shared.filter(|reading| reading.id != TRACE_CLOCK).map(|reading| (reading.id, reading.ns))
    }

    /// The moment of the snapshot itself, in the best clock for an anchor: `preferred` if it is
    /// there, or else one that runs while the machine sleeps, or else any.
    pub(crate) fn moment(&self, preferred: Option<u32>) -> Option<Moment> {
        let find = |id| self.shared().find(|shared| shared.0 == id);
        let (clock, ns) = preferred
            .and_then(find)
            .or_else(|| find(clock_id::BOOTTIME))
            .or_else(|| find(clock_id::MONOTONIC))
            .or_else(|| self.shared().next())?;
        Some(Moment { ns, clock, guessed: false })
    }

    /// Returns whether it has custom clocks.
    pub(crate) fn has_custom(&self) -> bool {
        self.readings.iter().any(|reading| reading.id >= CUSTOM)
    }

    /// Returns whether it has custom clocks that all sequences share.
    pub(crate) fn has_shared_custom(&self) -> bool {
        let mut ids = self.readings.iter().map(|reading| reading.id);
        ids.any(|id| id >= CUSTOM && !is_of_sequence(id))
    }

    /// Defines the custom clocks of the snapshot: those of the sequence in `own`, those of the
    /// trace in `shared`.
    pub(crate) fn define(
        &self,
        anchor: Option<Moment>,
        own: &mut CustomClocks,
        shared: &mut CustomClocks,
    ) {
        for reading in self.readings.iter().filter(|reading| reading.id >= CUSTOM) {
            let Reading { id, ns, incremental, unit_ns } = *reading;
            // A shared custom clock is related to the others at the end, as the operating system's
            // are.
            let anchor = match anchor {
                Some(anchor) if is_of_sequence(id) => {
                    Some((anchor.clock, anchor.ns.wrapping_sub(ns)))
                }
                _ if is_of_sequence(id) => None,
                _ => Some((id, 0)),
            };
            let clocks = if is_of_sequence(id) { &mut *own } else { &mut *shared };
            clocks.set(CustomClock { id, incremental, unit_ns, now: ns, anchor });
        }
    }
}

/// Returns the ids of the clocks in a snapshot and their values in ticks, as they stand there.
pub(crate) fn clock_values(
    snapshot: Field<'_>,
) -> Result<impl Iterator<Item = Result<(u32, u64), DecodeError>>, DecodeError> {
    let is_clock = |field: &Result<Field<'_>, _>| {
        field.as_ref().map_or(true, |field| field.number == clock_snapshot::CLOCKS)
    };
    let value = |clock: Result<Field<'_>, DecodeError>| {
        let (mut id, mut ticks) = (0, 0);
        for field in clock?.as_message()? {
            let field = field?;
            match field.number {
                clock::CLOCK_ID => id = field.as_u32()?,
                clock::TIMESTAMP => ticks = field.as_u64()?,
                _ => {}
            }
        }
        Ok((id, ticks))
    };
    Ok(snapshot.as_message()?.filter(is_clock).map(value))
}

impl Reading {
    fn parse(fields: Reader<'_>) -> Result<Self, DecodeError> {
        let mut reading = Self { unit_ns: 1, ..Self::default() };
        let mut ticks = 0;
        for field in fields {
            let field = field?;
            match field.number {
                clock::CLOCK_ID => reading.id = field.as_u32()?,
                clock::TIMESTAMP => ticks = field.as_i64()?,
                clock::IS_INCREMENTAL => reading.incremental = field.as_bool()?,
                clock::UNIT_MULTIPLIER_NS => reading.unit_ns = field.as_i64()?.max(1),
                _ => {}
            }
        }
        // The operating system's clocks always count nanoseconds.
        if reading.id < CUSTOM {
            (reading.unit_ns, reading.incremental) = (1, false);
        }
        reading.ns = ticks.wrapping_mul(reading.unit_ns);
        Ok(reading)
    }
}
