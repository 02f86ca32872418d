//! Answers to `join`: an event of another program of a family.

use super::Refusal;
use crate::session::life::running_sessions;
use protolog_core::control::name::characters;
use protolog_core::control::protocol::Join;
use protolog_recording::EventKey;

/// Has the sessions of the family write what they keep.
pub(super) fn join(Join { family, pid, event, window }: Join<'_>) -> Result<(), Refusal> {
    let key: EventKey = event.parse().map_err(|_| Refusal {
        what: format!("`{event}` is no event"),
        help: "name it by nanoseconds since 1970, a hyphen, and its cause",
    })?;
    let family: String = characters(family).collect();
    let all = running_sessions::all();
    let joined: Vec<bool> =
        all.iter().filter_map(|core| core.join(&family, &key, (pid, window))).collect();
    if joined.is_empty() {
        let what = format!("no session is of the family `{family}`");
        return Err(Refusal {
            what,
            help: "start one with triggers of this family in the program",
        });
    }
    if !joined.contains(&true) {
        let what = format!("`{event}` is too long ago, or came a moment after another one");
        return Err(Refusal { what, help: "wait for the interval of the triggers" });
    }
    Ok(())
}
