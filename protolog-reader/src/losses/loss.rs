//! Losses: messages that are missing from the log, with position and reason.

use std::fmt;

pub use protolog_core::LossCause;
use protolog_core::schema::{clock_id, loss, loss_cause};
use protozero::{DecodeError, Field};

use crate::clocks::Moment;
use crate::dictionary::Dictionary;
use crate::formatting::printable::printable;

/// Messages or packets that were logged and can't be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// Nanoseconds of the trace's clock. The lost messages came before.
    pub time: i64,
    /// The reason.
    pub reason: LossReason,
    /// Id of the messages' group, if it is known.
    pub group: Option<u32>,
    /// Number of messages or packets; none if it is not known.
    pub count: Option<u64>,
    /// Nanoseconds of the trace's clock when the first of them was lost, if that is known; the last
    /// was lost at `time` then.
    pub from: Option<i64>,
    /// Of messages that say the same as one before: its id, if it is the same of all of them.
    /// [`Log::repeated`](crate::Log::repeated) finds it.
    pub message: Option<u64>,
    pub(crate) thread: u32,
    pub(crate) guessed: bool,
}

/// The reason for a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LossReason {
    /// The writer reported the loss.
    Reported(LossCause),
    /// The writer reported the loss, with the number of a cause that this reader does not know.
    ReportedUnknown(u32),
    /// Packets of the sequence did not reach the trace, as the tracing service or the writer
    /// reports.
    Dropped,
    /// The message refers to state that was lost before, such as its strings.
    MissingState,
    /// The packet can't be decoded.
    Malformed,
}

impl LossReason {
    fn from_wire(number: u32) -> Self {
        match number {
            loss_cause::FOUND_DROPPED => Self::Dropped,
            loss_cause::FOUND_MISSING_STATE => Self::MissingState,
            loss_cause::FOUND_MALFORMED => Self::Malformed,
            _ => LossCause::from_wire(number).map_or(Self::ReportedUnknown(number), Self::Reported),
        }
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reported(cause) => cause.name(),
            Self::ReportedUnknown(_) => "other",
            Self::Dropped => "dropped",
            Self::MissingState => "missing_state",
            Self::Malformed => "malformed",
        }
    }

    /// The tag of its lines: a message of which an argument was cut is there.
    pub fn tag(self) -> &'static str {
        if self.is_cut() {
            "CUT"
        } else if self.is_repeat() {
            "SAME"
        } else {
            "LOST"
        }
    }

    /// True if they say the same as a message that is there.
    pub fn is_repeat(self) -> bool {
        self == Self::Reported(LossCause::Repeated)
    }

    /// True if the log has the messages, or says what was in them.
    pub fn is_in_log(self) -> bool {
        matches!(self, Self::Reported(cause) if cause.is_in_log())
    }

    /// True if the message is there, with less of its arguments.
    pub fn is_cut(self) -> bool {
        self == Self::Reported(LossCause::Truncated)
    }

    /// True if losses for this reason come with a count.
    pub(crate) fn is_counted(self) -> bool {
        self != Self::Dropped
    }

    /// True if the count is of packets of any kind, not of messages.
    fn counts_packets(self) -> bool {
        matches!(self, Self::Dropped | Self::Malformed)
    }
}

/// The reason in a sentence for people.
impl fmt::Display for LossReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reported(cause) => cause.description(),
            Self::ReportedUnknown(number) => return write!(f, "cause {number}"),
            Self::Dropped => "lost on the way to the trace",
            Self::MissingState => "interned strings were lost before",
            Self::Malformed => "corrupt",
        })
    }
}

impl Loss {
    /// True if the time is a guess from neighbouring packets.
    pub fn time_is_guess(&self) -> bool {
        self.guessed
    }

    /// The loss in words, as in `3 messages of demo::AppLog::Net: the buffer was full`;
    /// [`Log::describe`](crate::Log::describe) has the message that is repeated, too.
    pub fn describe(&self, dictionary: &Dictionary) -> String {
        let mut text = String::new();
        describe(&mut text, dictionary, self.reason, self.group, self.count)
            .expect("a string takes every write");
        text
    }
}

/// `3 messages of demo::AppLog::Net: the buffer was full`
pub(crate) fn describe(
    out: &mut dyn fmt::Write,
    dictionary: &Dictionary,
    reason: LossReason,
    group: Option<u32>,
    count: Option<u64>,
) -> fmt::Result {
    let noun = if reason.counts_packets() { "packet" } else { "message" };
    match count {
        Some(1) => write!(out, "1 {noun}")?,
        Some(count) => write!(out, "{count} {noun}s")?,
        None => write!(out, "an unknown number of {noun}s")?,
    }
    if let Some(group) = group {
        write!(out, " of {}", printable(&dictionary.group_name(group)))?;
    }
    write!(out, ": {reason}")
}

/// A record of `TracePacket.LOSS`.
#[derive(Debug, Default)]
pub(crate) struct LossRecord {
    pub(crate) group: Option<u32>,
    pub(crate) cause: u32,
    pub(crate) count: u64,
    /// When the first and the last were lost, in nanoseconds of a clock.
    first: Option<u64>,
    last: Option<u64>,
    clock: Option<u32>,
    message: Option<u64>,
}

impl LossRecord {
    pub(crate) fn parse(record: Field<'_>) -> Result<Self, DecodeError> {
        let mut parsed = Self::default();
        for field in record.as_message()? {
            let field = field?;
            match field.number {
                loss::GROUP_ID => parsed.group = Some(field.as_u32()?).filter(|id| *id != 0),
                loss::CAUSE => parsed.cause = field.as_u32()?,
                loss::COUNT => parsed.count = field.as_u64()?,
                loss::FIRST => parsed.first = Some(field.as_u64()?),
                loss::LAST => parsed.last = Some(field.as_u64()?),
                loss::CLOCK_ID => parsed.clock = Some(field.as_u32()?),
                loss::MESSAGE_ID => parsed.message = Some(field.as_fixed64()?),
                _ => {}
            }
        }
        Ok(parsed)
    }

    /// When the last was lost, and nanoseconds since the first, if the writer noted that.
    fn times(&self) -> Option<(Moment, u64)> {
        let (first, last) = self.first.zip(self.last)?;
        let clock = self.clock.unwrap_or(clock_id::BOOTTIME);
        let moment = Moment { ns: last as i64, clock, guessed: false };
        Some((moment, last.saturating_sub(first)))
    }
}

/// The losses in the order of their discovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses(pub(crate) Vec<FoundLoss>);

/// A loss whose moment is not converted to the trace's clock yet.
#[derive(Clone, Debug)]
pub(crate) struct FoundLoss {
    pub(crate) moment: Moment,
    pub(crate) loss: Loss,
    /// Nanoseconds since the first was lost, if that is known.
    span: Option<u64>,
}

impl FoundLoss {
    /// The loss, with its moment in the trace's clock.
    pub(crate) fn converted(&self, Moment { ns: time, guessed, .. }: Moment) -> Loss {
        let from = self.span.map(|span| time.wrapping_sub(span as i64));
        Loss { time, from, guessed, ..self.loss }
    }
}

impl Losses {
    /// Adds a loss that the writer reported. True if it explains that a packet is missing.
    pub(crate) fn add_reported(
        &mut self,
        record: &LossRecord,
        thread: u32,
        moment: Moment,
    ) -> bool {
        let reason = LossReason::from_wire(record.cause);
        let count = Some(record.count).filter(|_| reason.is_counted());
        let times = record.times();
        self.push(reason, record.group, count, thread, times.map_or(moment, |(last, _)| last));
        if let Some(found) = self.0.last_mut() {
            found.span = times.map(|(_, span)| span);
            found.loss.message = record.message;
        }
        // What a limit suppressed was no packet.
        !reason.is_in_log() && reason != LossReason::Reported(LossCause::Limited)
    }

    /// Adds a loss of an unknown number of packets.
    pub(crate) fn add_dropped(&mut self, thread: u32, moment: Moment) {
        self.push(LossReason::Dropped, None, None, thread, moment);
    }

    /// Counts one more message or packet of a run that is shown as one loss. `run` is the index of
    /// the run's loss, set when the run starts.
    pub(crate) fn extend_run(
        &mut self,
        run: &mut Option<u32>,
        reason: LossReason,
        thread: u32,
        moment: Moment,
    ) {
        match run.and_then(|index| self.0.get_mut(index as usize)) {
            Some(FoundLoss { loss: Loss { count: Some(count), .. }, .. }) => *count += 1,
            _ => {
                *run = Some(self.0.len() as u32);
                self.push(reason, None, Some(1), thread, moment);
            }
        }
    }

    fn push(
        &mut self,
        reason: LossReason,
        group: Option<u32>,
        count: Option<u64>,
        thread: u32,
        moment: Moment,
    ) {
        let loss = Loss {
            time: 0,
            reason,
            group,
            count,
            from: None,
            message: None,
            thread,
            guessed: false,
        };
        self.0.push(FoundLoss { moment, loss, span: None });
    }
}
