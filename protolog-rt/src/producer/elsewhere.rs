//! Systems without Perfetto's tracing service.

use super::{Connect, Status};
use std::sync::atomic::{AtomicBool, Ordering};

/// The program has asked for it.
static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// Notes that the program has asked for the service.
pub(super) fn connect_with(_: Connect) {
    IS_ASKED.store(true, Ordering::Relaxed);
}

/// Returns the state of the connection, of which there is none.
pub(super) fn current_status() -> Status {
    let reason = || "Perfetto's tracing service is not joined on this system".to_owned();
    let last_error = IS_ASKED.load(Ordering::Relaxed).then(reason);
    Status { last_error, ..Status::default() }
}
