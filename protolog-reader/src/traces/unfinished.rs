//! Traces that were never ended, and the packets of their recordings that complete them.

use crate::bytes::inflate::{Inflated, StreamEnd, inflate};
use crate::damage::limits::Limits;
use protolog_recording::{Flaw, Recording, Recovered, TraceSurvey};
use std::cell::Cell;
use std::io;

/// The size of all inflated bundles in which the id of a session is looked for, in bytes; a
/// session's first one has it.
const MAX_SEARCHED: u64 = 16 << 20;

/// The id of the session that wrote a trace, which is also in its recording; zero if the trace has
/// none. The first megabyte of a trace is enough.
pub fn session_id(trace: &[u8]) -> [u8; 16] {
    TraceSurvey::session_id_of(trace, &bundles(MAX_SEARCHED))
}

/// The session that wrote a trace, as its first bytes say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceHead {
    /// The id of the session; zero if the trace has none.
    pub session_id: [u8; 16],
    /// The id of its process.
    pub pid: Option<u32>,
}

impl TraceHead {
    /// The head of a trace. Its first megabyte is enough.
    pub fn of(trace: &[u8]) -> Self {
        let survey = TraceSurvey::of_head(trace, &bundles(MAX_SEARCHED));
        Self { session_id: survey.session_id, pid: survey.pid }
    }
}

/// Replaces the bytes after the valid ones of `trace` by the packets of its `recording`: each
/// message is in the trace once then, and the trace has an end. None of a recording that is not of
/// a session that streams; `trace` is as it was then.
pub fn complete(trace: &mut Vec<u8>, recording: &Recording<'_>) -> Option<io::Result<Recovered>> {
    let valid = recording.trace()?.bytes;
    let missing = valid.saturating_sub(trace.len() as u64);
    trace.truncate(usize::try_from(valid).unwrap_or(usize::MAX));
    let mut survey = if recording.has_losses() {
        TraceSurvey::of(trace, &bundles(Limits::of_size(valid).inflated_bytes))
    } else {
        TraceSurvey::default()
    };
    survey.is_cut = missing > 0;
    Some(recording.write_rest(&survey, trace).map(|mut report| {
        report.flaws.extend((missing > 0).then_some(Flaw::TraceTruncated(missing)));
        report
    }))
}

/// Inflates bundles up to so many bytes for all of them.
fn bundles(limit: u64) -> impl Fn(&[u8]) -> Option<Vec<u8>> {
    let left = Cell::new(limit);
    move |bytes| {
        let Inflated { bytes, end } = inflate(bytes, left.get());
        left.set(left.get().saturating_sub(bytes.len() as u64));
        if end == StreamEnd::TooLarge {
            left.set(0);
        }
        (end == StreamEnd::Whole).then_some(bytes)
    }
}
