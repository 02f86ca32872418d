//! Messages that sampling passed over. They are not lost: those that were kept stand for them, and
//! say at which rate ([`Entry::rate`](crate::Entry::rate)).
//!
//! Invariant: memory is that of one number for each thread, group, level and hour, since a program
//! writes a record with nearly each chunk.

use std::collections::BTreeMap;

use protolog_core::Level;
use protolog_core::schema::passed_over;
use protozero::{DecodeError, Field};

use crate::clocks::Moment;

/// Messages of one thread, group and level that sampling passed over within an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PassedOver {
    /// Nanoseconds of the trace's clock. The messages came before.
    pub time: i64,
    /// Id of the messages' group, if it is known.
    pub group: Option<u32>,
    /// Their level, if it is known.
    pub level: Option<Level>,
    /// Number of messages.
    pub count: u64,
    pub(crate) thread: u32,
    pub(crate) guessed: bool,
}

impl PassedOver {
    /// True if the time is a guess from neighbouring packets.
    pub fn time_is_guess(&self) -> bool {
        self.guessed
    }
}

/// The id of a group and a level, as far as they are known.
pub(crate) type Kind = (Option<u32>, Option<Level>);

/// Counts whose moments are not converted to the trace's clock yet: the last one of each hour.
#[derive(Clone, Debug, Default)]
pub(crate) struct PassedOverCounts(BTreeMap<CountKey, (Moment, u64)>);

/// A thread, the kind of messages, and the clock and the hour of a moment.
type CountKey = (u32, Kind, u32, i64);

/// Nanoseconds of an hour.
const HOUR: i64 = 3_600_000_000_000;

impl PassedOverCounts {
    pub(crate) fn add(&mut self, thread: u32, kind: Kind, moment: Moment, count: u64) {
        let key = (thread, kind, moment.clock, moment.ns.div_euclid(HOUR));
        let (last, sum) = self.0.entry(key).or_insert((moment, 0));
        if last.ns <= moment.ns {
            *last = moment;
        }
        *sum = sum.saturating_add(count);
    }

    /// The size of the table, in bytes.
    pub(crate) fn table_bytes(&self) -> usize {
        self.0.len() * size_of::<(CountKey, (Moment, u64))>()
    }

    /// The counts by time, with moments that `convert` has put on the trace's clock.
    pub(crate) fn converted(self, mut convert: impl FnMut(&mut Moment)) -> Vec<PassedOver> {
        let of =
            |((thread, (group, level), ..), (mut moment, count)): (CountKey, (Moment, u64))| {
                convert(&mut moment);
                let Moment { ns: time, guessed, .. } = moment;
                PassedOver { time, group, level, count, thread, guessed }
            };
        let mut all: Vec<PassedOver> = self.0.into_iter().map(of).collect();
        all.sort_by_key(|it| it.time);
        all
    }
}

/// Parses a record of `TracePacket.PASSED_OVER`: the kind of the messages, and their number.
pub(crate) fn parse(record: Field<'_>) -> Result<(Kind, u64), DecodeError> {
    let (mut group, mut level, mut count) = (None, None, 0);
    for field in record.as_message()? {
        let field = field?;
        match field.number {
            passed_over::GROUP_ID => group = Some(field.as_u32()?).filter(|id| *id != 0),
            passed_over::LEVEL => level = Level::from_wire(field.as_u64()?),
            passed_over::COUNT => count = field.as_u64()?,
            _ => {}
        }
    }
    Ok(((group, level), count))
}
