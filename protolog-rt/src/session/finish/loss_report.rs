//! The line on standard error about messages that a session lost, or that its file could not be
//! completed, for programs that look at no summary; and one for each name in its configuration that
//! no group had.
//!
//! Invariant: nothing before the session's end, and nothing if it was told not to.

use crate::error::Error;
use crate::level;
use crate::loss::LossCause;
use crate::session::arbiter::session_arbiter::Core;
use crate::session::finish::diagnosis;
use crate::stats::Summary;
use crate::text_queue;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Reports the messages that a session lost, and the names that no group had, if there are any.
pub(in crate::session) fn end(core: &Core, summary: &Summary) {
    if !core.owner.reports_losses {
        return;
    }
    let path = core.path().map(|path| path.display().to_string());
    let path = path.as_deref().unwrap_or("a session");
    let mut lines = line(path, summary).unwrap_or_default();
    // An operator names groups of several programs, and gets an answer of each; and a group of a
    // bridge may only have been silent.
    if !core.owner.is_for_operator && !level::has_observers() {
        for unknown in diagnosis::unknown(summary) {
            let _ = writeln!(lines, "protolog: `{path}`: {unknown}"); // Writing to a string can't fail.
        }
    }
    text_queue::write_line(lines.as_bytes());
}

/// Reports messages that a tracing service did not take before a session of its ended, of `all`
/// that the session recorded, if there are any: since the connection ended before for this reason,
/// or since the service was slow.
pub(in crate::session) fn not_forwarded(reason: Option<&str>, lost: u64, all: u64) {
    if lost == 0 {
        return;
    }
    let line = match reason {
        None => format!(
            "protolog: the tracing service did not take {lost} of {all} messages in time: its trace lacks them\n"
        ),
        Some(reason) => format!(
            "protolog: Perfetto's trace lacks {lost} messages, since {reason} before it had them\n"
        ),
    };
    text_queue::write_line(line.as_bytes());
}

/// Reports that somebody else has changed the session's file while it was written, which had so
/// many messages.
pub(in crate::session) fn changed_outside(core: &Core, what: &str, had: u64) {
    if core.owner.reports_losses && had > 0 {
        let path = core.path().map(|path| path.display().to_string()).unwrap_or_default();
        let messages = if had == 1 { "1 message is" } else { &format!("{had} messages are") };
        let line = format!(
            "protolog: `{path}` was {what} while it was written: {messages} not in it any more\n"
        );
        text_queue::write_line(line.as_bytes());
    }
}

/// Reports that somebody has deleted the session's recording while it is in use, once.
pub(in crate::session) fn deleted_recording(core: &Core) {
    let Some(recorder) = core.owner.recorder.as_ref().filter(|_| core.owner.reports_losses) else {
        return;
    };
    if recorder.take_deletion() {
        let line = format!(
            "protolog: the recording `{}` was deleted while it is used: after a crash, nothing can be recovered from it; systemd does so \
             when a user logs out (RemoveIPC), `Builder::recording_in` and `record_at` put it elsewhere\n",
            recorder.path().display()
        );
        text_queue::write_line(line.as_bytes());
    }
}

/// Reports that the session could not be ended properly. Nobody else gets the error.
pub(in crate::session) fn failure(core: &Core, error: &Error) {
    if core.owner.reports_losses {
        let line = format!("protolog: a trace is not complete: {error}\n");
        text_queue::write_line(line.as_bytes());
    }
}

/// Returns the line; none if nothing was lost but what a ring is made to overwrite.
fn line(path: &str, summary: &Summary) -> Option<String> {
    let mut causes: BTreeMap<LossCause, u64> = BTreeMap::new();
    let is_reported = |cause: LossCause| !cause.is_in_log() && cause != LossCause::Overwritten;
    for loss in summary.losses.iter().filter(|loss| is_reported(loss.cause)) {
        *causes.entry(loss.cause).or_default() += loss.count;
    }
    let lost: u64 = causes.values().sum();
    let all = lost + summary.messages;
    let one = |(cause, count): (&LossCause, &u64)| format!("{count}: {}", cause.description());
    let causes = causes.iter().map(one).collect::<Vec<_>>().join("; ");
    (lost > 0).then(|| format!("protolog: `{path}` lacks {lost} of {all} messages ({causes})\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Loss;

    /// The Java runtime reads the same table.
    #[test]
    fn the_line_has_what_was_lost() {
        let vectors = include_str!("../../../../protolog-core/testdata/losses.tsv");
        for row in vectors.lines().skip(1) {
            let cells: Vec<&str> = row.split('\t').collect();
            let [messages, losses, expected] = cells[..] else { panic!("three cells: {row}") };
            let number = |text: &str| text.parse::<u64>().expect("a number");
            let loss = |(at, text): (usize, &str)| {
                let (cause, count) = text.split_once(' ').expect("a cause and a count");
                let cause = LossCause::from_wire(number(cause) as u32).expect("a cause");
                Loss { group: Some(at.to_string()), cause, count: number(count) }
            };
            let losses = losses.split_terminator(';').enumerate().map(loss).collect();
            let summary = Summary { messages: number(messages), losses, ..Summary::default() };
            let line = line("app.pftrace", &summary).unwrap_or_default();
            let line = line.strip_prefix("protolog: `app.pftrace` ").unwrap_or(&line);
            assert_eq!(line.trim_end(), expected, "{row}");
        }
    }
}
