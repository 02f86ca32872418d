//! What is missing from the log, where, and why.

use std::fmt;

use protolog_core::schema::{loss, loss_cause};
use protozero::{DecodeError, Field};

use crate::clock::Moment;
use crate::dictionary::Dictionary;

/// Something that was logged and can't be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// Nanoseconds of the trace's clock. What was lost came before.
    pub time: i64,
    /// Why.
    pub cause: Cause,
    /// Id of the group that the messages belong to, where it is known.
    pub group: Option<u32>,
    /// How many; nothing where nobody counted.
    pub count: Option<u64>,
    pub(crate) thread: u32,
    pub(crate) guessed: bool,
}

/// Why something is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// The buffer had no free chunk. This and the following are what the writer said.
    Full,
    /// The buffer went round before the messages were read.
    Overwritten,
    /// The thread was inside another log call.
    Nested,
    /// An argument was too long; the message is there, but not all of it.
    Cut,
    /// The thread was at its end.
    Dead,
    /// The process was forked in the middle of a call.
    Forked,
    /// Too many distinct messages without a dictionary entry of their own.
    Templates,
    /// The file could not be written.
    Unwritten,
    /// A cause that this reader does not know, by its number.
    Other(u32),
    /// Packets of the sequence did not reach the trace, as the tracing service or the writer found.
    Dropped,
    /// The message needs what was lost before, such as its strings.
    State,
    /// The packet can't be decoded.
    Malformed,
}

impl Cause {
    fn from_wire(number: u32) -> Self {
        match number {
            loss_cause::FULL => Self::Full,
            loss_cause::OVERWRITTEN => Self::Overwritten,
            loss_cause::NESTED => Self::Nested,
            loss_cause::CUT => Self::Cut,
            loss_cause::DEAD => Self::Dead,
            loss_cause::FORKED => Self::Forked,
            loss_cause::TEMPLATES => Self::Templates,
            loss_cause::UNWRITTEN => Self::Unwritten,
            number => Self::Other(number),
        }
    }

    /// One word for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Overwritten => "overwritten",
            Self::Nested => "nested",
            Self::Cut => "cut",
            Self::Dead => "dead",
            Self::Forked => "forked",
            Self::Templates => "templates",
            Self::Unwritten => "unwritten",
            Self::Other(_) => "other",
            Self::Dropped => "dropped",
            Self::State => "state",
            Self::Malformed => "malformed",
        }
    }

    /// Whether somebody counts what is lost for this cause.
    pub(crate) fn is_counted(self) -> bool {
        self != Self::Dropped
    }

    /// Whether it counts packets of any kind, not messages.
    fn counts_packets(self) -> bool {
        matches!(self, Self::Dropped | Self::Malformed)
    }
}

/// Why, for people.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the buffer was full",
            Self::Overwritten => "overwritten before being read",
            Self::Nested => "logged inside another log call",
            Self::Cut => "cut, since an argument was too long",
            Self::Dead => "logged when the thread was at its end",
            Self::Forked => "the process was forked in the middle of a call",
            Self::Templates => "too many distinct messages without a dictionary entry",
            Self::Unwritten => "the file could not be written",
            Self::Other(number) => return write!(f, "cause {number}"),
            Self::Dropped => "lost on the way to the trace",
            Self::State => "interned texts were lost before",
            Self::Malformed => "corrupt",
        })
    }
}

/// `3 messages of demo::AppLog::Net: the buffer was full`
pub(crate) fn describe(
    out: &mut dyn fmt::Write,
    dictionary: &Dictionary,
    cause: Cause,
    group: Option<u32>,
    count: Option<u64>,
) -> fmt::Result {
    let noun = if cause.counts_packets() { "packet" } else { "message" };
    match count {
        Some(1) => write!(out, "1 {noun}")?,
        Some(count) => write!(out, "{count} {noun}s")?,
        None => write!(out, "an unknown number of {noun}s")?,
    }
    if let Some(group) = group {
        write!(out, " of {}", dictionary.group_name(group))?;
    }
    write!(out, ": {cause}")
}

/// A record of `TracePacket.LOSS`.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) group: Option<u32>,
    pub(crate) cause: u32,
    pub(crate) count: u64,
}

impl Record {
    pub(crate) fn parse(record: Field<'_>) -> Result<Self, DecodeError> {
        let mut parsed = Self::default();
        for field in record.as_message()? {
            let field = field?;
            match field.number {
                loss::GROUP_ID => parsed.group = Some(field.as_u32()?).filter(|id| *id != 0),
                loss::CAUSE => parsed.cause = field.as_u32()?,
                loss::COUNT => parsed.count = field.as_u64()?,
                _ => {}
            }
        }
        Ok(parsed)
    }
}

/// The losses in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct Losses(pub(crate) Vec<Found>);

/// A loss whose time is not yet one of the trace's clock.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) moment: Moment,
    pub(crate) loss: Loss,
}

impl Losses {
    /// Notes a loss that the writer recorded. Whether it explains that a packet is missing.
    pub(crate) fn recorded(&mut self, record: &Record, thread: u32, moment: Moment) -> bool {
        let cause = Cause::from_wire(record.cause);
        self.push(cause, record.group, Some(record.count), thread, moment);
        cause != Cause::Cut
    }

    /// Notes that an unknown number of packets is missing.
    pub(crate) fn dropped(&mut self, thread: u32, moment: Moment) {
        self.push(Cause::Dropped, None, None, thread, moment);
    }

    /// Counts one more message or packet of a run that is shown as one loss. `run` is where the run was noted, and is set
    /// when it starts.
    pub(crate) fn count(
        &mut self,
        run: &mut Option<u32>,
        cause: Cause,
        thread: u32,
        moment: Moment,
    ) {
        match run.and_then(|index| self.0.get_mut(index as usize)) {
            Some(Found { loss: Loss { count: Some(count), .. }, .. }) => *count += 1,
            _ => {
                *run = Some(self.0.len() as u32);
                self.push(cause, None, Some(1), thread, moment);
            }
        }
    }

    fn push(
        &mut self,
        cause: Cause,
        group: Option<u32>,
        count: Option<u64>,
        thread: u32,
        moment: Moment,
    ) {
        let loss = Loss { time: 0, cause, group, count, thread, guessed: false };
        self.0.push(Found { moment, loss });
    }
}
