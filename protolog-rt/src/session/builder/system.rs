//! What sessions lack on some systems: Windows and WASI have no fatal signals, and WASI
//! has no recordings and no threads.
//!
//! Invariant: a session that starts does all that was asked of it; but where there is no thread to
//! write its file, that is written at its end, and what the buffer has no room for is counted.

use super::Builder;
use crate::error::Error;
use crate::sys;
use protolog_core::FillPolicy;

impl Builder {
    /// Refuses what this system has not.
    pub(super) fn check_system(&self) -> Result<(), Error> {
        let waits_for_signals = self.triggers.as_ref().is_some_and(|all| all.waits_for_signals);
        let lacks = [
            ("record", self.record.is_some() && !sys::HAS_RECORDINGS),
            ("triggers", self.triggers.is_some() && !sys::HAS_THREADS),
            ("on_fatal_signal", waits_for_signals && !sys::HAS_SIGNALS),
            ("segment_bytes", self.limits.bytes.is_some() && !sys::HAS_THREADS),
            ("segment_age", self.limits.age.is_some() && !sys::HAS_THREADS),
            ("wait_at_most", self.chunk_timeout.is_some() && !sys::HAS_THREADS),
        ];
        match lacks.iter().find(|(_, is_lacking)| *is_lacking) {
            Some((option, _)) => Err(Error::Unsupported { option }),
            None => Ok(()),
        }
    }

    /// Leaves out what nobody asked for: a recording of what is not in the file yet, where there
    /// are none; and the file until the end, where no thread can write it.
    pub(super) fn leave_out(&mut self) {
        self.without_recording |= !sys::HAS_RECORDINGS;
        if !sys::HAS_THREADS && self.fill_policy == FillPolicy::Stream {
            self.fill_policy = FillPolicy::Discard;
        }
    }
}
