//! The memory of a session's buffer, in a recording or in memory that ends with the process; and the memory that a message may take.
//!
//! Invariant: a session that streams starts also where there is no room for a recording.

use super::Builder;
use crate::error::Error;
use crate::session::config::Filter;
use crate::session::file_place::FilePlace;
use crate::session::leftover;
use crate::session::recorder::{BufferForm, Recorder, RecordingPath};
use crate::sys::mapping::Mapping;
use protolog_core::FillPolicy;
use protolog_shmem::{Buffer, Memory};
use std::sync::Arc;

/// The default size of the buffer of a session that streams, in bytes: four threads that log as fast as they can, in a debug build on
/// two processors, fill at most 14 MiB of it in 800,000 messages.
const STREAM_BUFFER: usize = 16 << 20;
/// The default size of a buffer that keeps messages, in bytes.
const KEPT_BUFFER: usize = 4 << 20;
/// The default for the most bytes of a string argument.
pub(super) const MAX_STRING_BYTES: usize = 4096;

impl Builder {
    /// Sets the most bytes of a string argument, 4 KiB by default. A longer one is truncated, with an ellipsis, and counted.
    ///
    /// ```
    /// # use protolog_rt::{LossCause, ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let path = std::env::temp_dir().join(format!("protolog-text-{}.pftrace", std::process::id()));
    /// let session = Session::builder()
    ///     .file(&path)
    ///     .enable_all()
    ///     .buffer_size(16 << 20)
    ///     .max_string_bytes(6 << 20)
    ///     .start()?;
    /// protolog_rt::d!(AppLog::Net, "whole: %s", "x".repeat(5 << 20));
    /// protolog_rt::d!(AppLog::Net, "with an ellipsis: %s", "x".repeat(7 << 20));
    /// let summary = session.stop()?;
    /// assert_eq!((summary.messages, summary.losses[0].cause), (2, LossCause::Truncated));
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Strings that make a message larger than half of the buffer are truncated, too, to equal shares of that half.
    ///
    /// A message of more than 4 KiB is put together before it is divided among chunks, and a value of more than 1 KiB is formatted
    /// before that, so they allocate as much memory for a moment; without it, strings are truncated. Other messages allocate
    /// nothing once their thread has logged to the session, except for templates interned at run time.
    pub fn max_string_bytes(mut self, bytes: usize) -> Self {
        self.max_string_bytes = bytes;
        self
    }

    /// Makes the buffer, in a recording if there is to be one.
    pub(super) fn buffer(
        &self,
        session_id: [u8; 16],
        filter: &Filter,
        place: Option<&FilePlace>,
    ) -> Result<(Option<Arc<Recorder>>, Buffer), Error> {
        let is_stream = self.fill_policy == FillPolicy::Stream;
        let bytes = self.buffer.unwrap_or(if is_stream { STREAM_BUFFER } else { KEPT_BUFFER });
        let form = BufferForm { bytes, fill_policy: self.fill_policy, session_id, filter };
        let create = |place: &RecordingPath| leftover::create_recorder(place, form, self.keep);
        if let Some(place) = &self.record {
            return create(place).map(|(recorder, buffer)| (Some(recorder), buffer));
        }
        if let (FillPolicy::Stream, false, Some(place)) =
            (self.fill_policy, self.without_recording, place)
        {
            // Where there is no memory that outlives the process, beside the trace; where that can't be, the trace is all there is.
            let beside = || create(&RecordingPath::Beside(place.clone()));
            if let Ok((recorder, buffer)) = create(&RecordingPath::Memory).or_else(|_| beside()) {
                return Ok((Some(recorder), buffer));
            }
        }
        let memory = Mapping::anonymous(protolog_shmem::size(bytes));
        let memory = Memory::new(memory.map_err(Error::Resources)?);
        Ok((None, Buffer::new(memory, self.fill_policy)))
    }
}
