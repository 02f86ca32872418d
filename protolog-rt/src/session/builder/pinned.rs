//! The messages that a session keeps in a ring of their own.
//!
//! Invariant: a session of which nothing is pinned has no such ring.

use crate::error::Error;
use crate::session::builder::{Builder, MIN_BUFFER, triggers};
use crate::session::pinned::Pinned;
use protolog_core::FillPolicy;

impl Builder {
    /// As [`Self::keep_newest`], with the messages that `pinned` names in a ring of their own:
    /// other messages never overwrite them, however many there are. A trace, a trigger's file and a
    /// recording have both, by time.
    ///
    /// ```
    /// # use protolog_rt::{Level, Pinned, ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let name = format!("protolog-pin-{}.pftrace", std::process::id());
    /// # let path = std::env::temp_dir().join(name);
    /// let builder = Session::builder().file(&path).enable_all().buffer_size(64 << 10);
    /// let session = builder.pin(Pinned::new().level(Level::Error)).start()?;
    /// protolog_rt::e!(AppLog::Net, "no answer from %s", "db-1");
    /// for packet in 0..100_000 {
    ///     protolog_rt::d!(AppLog::Net, "packet %d", packet);
    /// }
    /// let buffer = session.summary().pinned_buffer.expect("a pinned ring");
    /// assert_eq!(buffer.chunks_overwritten, 0);
    /// session.stop()?; // the error is in the trace
    /// # std::fs::remove_file(path).ok();
    /// # Ok::<(), protolog_rt::Error>(())
    /// ```
    ///
    /// Its own newer messages overwrite the ring's oldest, and are counted as in any ring. Strings
    /// that make a message larger than half of it are cut. Spans of `tracing` are not pinned. Not
    /// for sessions that keep the first messages, or that are of chosen threads
    /// ([`Error::NotWithPinned`]).
    pub fn pin(mut self, pinned: Pinned) -> Self {
        self.pins = Some(pinned);
        self.keep_newest()
    }

    /// Refuses settings that have no meaning for pinned messages.
    pub(super) fn check_pins(&self) -> Result<(), Error> {
        let Some(pins) = &self.pins else { return Ok(()) };
        let others = [
            ("keep_first", self.fill_policy == FillPolicy::Discard),
            ("this_thread", self.is_scoped),
        ];
        match others.iter().find(|(_, is_set)| *is_set) {
            Some((option, _)) => Err(Error::NotWithPinned { option }),
            None if pins.is_empty() => Err(Error::NothingPinned),
            None => Ok(()),
        }
    }

    /// Says which groups that are pinned nobody knows yet.
    pub(super) fn warn_of_unknown_pins(&self) {
        let patterns = self.pins.iter().flat_map(Pinned::patterns);
        triggers::warn_of_unknown(patterns, |pattern| {
            format!("messages of the group `{pattern}` are pinned")
        });
    }

    /// Returns the size of their ring.
    pub(super) fn pinned_bytes(&self) -> Option<usize> {
        self.pins.as_ref().map(|pins| pins.bytes.max(MIN_BUFFER))
    }
}
