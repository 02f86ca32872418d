//! Traces that were never ended, and what their recordings complete them with.

use crate::inflate::{StreamEnd, inflate};
use protolog_recording::{Flaw, Recording, Recovered, TraceSurvey};
use std::io;

/// Maximum size of an inflated bundle of packets, in bytes.
const MAX_BUNDLE: u64 = 16 << 20;

/// The id of the session that wrote a trace, which is also in its recording; zero if the trace has none. The first megabyte of
/// a trace is enough.
pub fn session_id(trace: &[u8]) -> [u8; 16] {
    TraceSurvey::session_id_of(trace, &bundle)
}

/// Replaces what follows the valid bytes of `trace` by what its `recording` has: each message is in the trace once then, and the trace
/// has an end. None of a recording that is not of a session that streams; `trace` is as it was then.
pub fn complete(trace: &mut Vec<u8>, recording: &Recording<'_>) -> Option<io::Result<Recovered>> {
    let valid = recording.trace()?.bytes;
    let missing = valid.saturating_sub(trace.len() as u64);
    trace.truncate(usize::try_from(valid).unwrap_or(usize::MAX));
    let mut survey = if recording.has_losses() {
        TraceSurvey::of(trace, &bundle)
    } else {
        TraceSurvey::default()
    };
    survey.is_cut = missing > 0;
    Some(recording.write_rest(&survey, trace).map(|mut report| {
        report.flaws.extend((missing > 0).then_some(Flaw::TraceTruncated(missing)));
        report
    }))
}

fn bundle(bytes: &[u8]) -> Option<Vec<u8>> {
    let inflated = inflate(bytes, MAX_BUNDLE);
    (inflated.end == StreamEnd::Whole).then_some(inflated.bytes)
}
