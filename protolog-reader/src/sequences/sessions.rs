//! The sessions of a trace, and whether they have an end.
//!
//! A session writes an instant where its file begins and one where it ends, the latter after the
//! statistics of its buffer. Where there is no end, its process was killed, or still runs. A
//! segment that another one continues has an end, too.
//!
//! ```text
//!  none, closed --"started", "goes on"--> open --statistics--> ending --"stopped", "goes on"--> closed
//! ```
//!
//! Invariant: a session counts as without an end only if the trace has its beginning.

use std::collections::BTreeMap;

use protolog_core::schema::{buffer_stats, trace_stats, track_event};
use protozero::Field;

use crate::packets::trace_packet::Packet;
use crate::sequences::session_filter::CommonFilter;
use crate::sequences::thread;

/// The sessions so far, by sequence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sessions {
    by_sequence: BTreeMap<u32, Session>,
    filter: CommonFilter,
    /// True if a span begins or ends.
    has_spans: bool,
}

/// The session that writes on a sequence.
#[derive(Clone, Debug, Default)]
struct Session {
    pid: u32,
    stage: Stage,
    /// The times of its beginning and end, in the trace's clock.
    started: Option<u64>,
    stopped: Option<u64>,
    /// The process died, and its recording has completed the trace.
    is_recovered: bool,
    /// The end of a session that begins on another sequence, as in a trace that was merged of
    /// parts.
    ends_another: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    None,
    Open,
    Ending,
    Closed,
}

impl Sessions {
    /// Takes note of a packet.
    pub(crate) fn note(&mut self, sequence: u32, packet: &Packet<'_>) {
        if let (Some(_), Some(info)) = (packet.process, packet.sequence_info)
            && let Ok(thread) = thread::parse_sequence_info(info)
        {
            self.of(sequence).pid = thread.pid.unwrap_or(0);
            self.filter.note(info);
        }
        if packet.trace_stats.is_some_and(is_of_session) {
            let session = self.of(sequence);
            if session.stage == Stage::Open {
                session.stage = Stage::Ending;
            }
        }
        let event = packet.track_event.map_or((None, 0), name_and_type);
        self.has_spans |=
            [track_event::TYPE_SLICE_BEGIN, track_event::TYPE_SLICE_END].contains(&event.1);
        match event.0 {
            Some(b"protolog session started") => {
                let session = self.of(sequence);
                (session.stage, session.started) = (Stage::Open, packet.timestamp);
            }
            Some(b"protolog session goes on") => {
                let session = self.of(sequence);
                session.stage = match session.stage {
                    Stage::Ending => Stage::Closed,
                    _ => Stage::Open,
                };
            }
            // The latter is where a recording completed the file of a process that died.
            Some(event @ (b"protolog session stopped" | b"protolog session recovered")) => {
                let is_stop = event == b"protolog session stopped";
                let session = self.of(sequence);
                session.is_recovered |= !is_stop;
                session.ends_another |= session.stage == Stage::None;
                (session.stage, session.stopped) = (Stage::Closed, packet.timestamp);
            }
            _ => {}
        }
    }

    /// Returns whether a span begins or ends.
    pub(crate) fn has_spans(&self) -> bool {
        self.has_spans
    }

    /// The processes of sessions without an end, each once.
    pub(crate) fn unended(&self) -> Vec<u32> {
        let mut open: BTreeMap<u32, i64> = BTreeMap::new();
        for session in self.by_sequence.values() {
            let count = open.entry(session.pid).or_default();
            *count += i64::from(session.stage == Stage::Open) - i64::from(session.ends_another);
        }
        open.into_iter().filter(|(_, count)| *count > 0).map(|(pid, _)| pid).collect()
    }

    /// Returns whether a session was not ended by its program; none if there is no session.
    pub(crate) fn is_unended(&self) -> Option<bool> {
        let is_dead = |session: &Session| session.is_recovered || session.stage == Stage::Open;
        (!self.by_sequence.is_empty()).then(|| self.by_sequence.values().any(is_dead))
    }

    /// The filter of all sessions.
    pub(crate) fn filter(&self) -> &CommonFilter {
        &self.filter
    }

    /// The nanoseconds for which the session ran; none if there are several, or it has no end.
    pub(crate) fn duration(&self) -> Option<u64> {
        let mut sessions = self.by_sequence.values();
        let session = sessions.next().filter(|_| sessions.next().is_none())?;
        session.stopped?.checked_sub(session.started?)
    }

    fn of(&mut self, sequence: u32) -> &mut Session {
        self.by_sequence.entry(sequence).or_default()
    }
}

/// The name and type of a track event, as far as it has them.
fn name_and_type(event: Field<'_>) -> (Option<&[u8]>, u32) {
    let (mut name, mut kind) = (None, 0);
    for field in event.as_message().into_iter().flatten().map_while(Result::ok) {
        match field.number {
            track_event::NAME => name = name.or(field.as_bytes().ok()),
            track_event::TYPE => kind = field.as_u32().unwrap_or(kind),
            _ => {}
        }
    }
    (name, kind)
}

/// Returns whether these are the statistics of a session of protolog.
fn is_of_session(stats: Field<'_>) -> bool {
    let buffer = nested(stats, trace_stats::BUFFER_STATS);
    buffer.is_some_and(|buffer| nested(buffer, buffer_stats::HIGH_WATER).is_some())
}

fn nested(message: Field<'_>, number: u32) -> Option<Field<'_>> {
    let fields = message.as_message().into_iter().flatten().map_while(Result::ok);
    fields.filter(|field| field.number == number).last()
}

/// Says that the session of a process has no end.
pub(crate) fn describe_unended(pid: u32) -> String {
    format!("the session of process {pid} has no end: the process was killed, or logs still")
}
