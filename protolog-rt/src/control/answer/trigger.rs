//! Answers to `trigger` and `trigger-at`: an event that an operator names.

use super::Refusal;
use crate::session::life::{events, running_sessions};
use crate::writer::owner::Event;
use crate::writer::running;
use protolog_recording::EventKey;

/// Fires the triggers of the sessions.
pub(super) fn fire(cause: &str) -> Result<(), Refusal> {
    check(cause)?;
    if events::trigger(cause) > 0 { Ok(()) } else { Err(refused(cause)) }
}

/// As [`fire`], of an event that others know by its time, in nanoseconds since 1970. One that came
/// from a program of the family has its file already.
pub(super) fn fire_at(nanos: u64, cause: &str) -> Result<(), Refusal> {
    check(cause)?;
    let key = EventKey::new(nanos, cause);
    let is_known = running_sessions::all().iter().any(|core| core.has_event(&key));
    let files = running::report_event(Event::Known(cause, &key));
    if files > 0 || is_known { Ok(()) } else { Err(refused(cause)) }
}

fn check(cause: &str) -> Result<(), Refusal> {
    if cause.trim().is_empty() {
        let help = "name the cause, as in `trigger slow today`";
        return Err(Refusal { what: "no cause".into(), help });
    }
    if running_sessions::all().iter().any(|core| core.has_triggers()) {
        return Ok(());
    }
    let what = "no session has triggers".into();
    Err(Refusal { what, help: "start one with `Builder::triggers` in the program" })
}

fn refused(cause: &str) -> Refusal {
    Refusal {
        what: format!("`{cause}` has fired a moment ago, and is counted"),
        help: "wait for the interval of the triggers, or name another cause",
    }
}
