//! The memory of a session's buffer: in a recording, or in memory that ends with the process.
//!
//! Invariant: a session that streams starts also where there is no room for a recording.

use super::Builder;
use crate::error::Error;
use crate::session::config::Filter;
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
impl Builder {
    /// Makes the buffer, in a recording if there is to be one.
    pub(super) fn buffer(
        &self,
        session_id: [u8; 16],
        filter: &Filter,
    ) -> Result<(Option<Arc<Recorder>>, Buffer), Error> {
        let is_stream = self.fill_policy == FillPolicy::Stream;
        let bytes = self.buffer.unwrap_or(if is_stream { STREAM_BUFFER } else { KEPT_BUFFER });
        let form = BufferForm { bytes, fill_policy: self.fill_policy, session_id, filter };
        let create = |place: &RecordingPath| leftover::create_recorder(place, form, self.keep);
        if let Some(place) = &self.record {
            return create(place).map(|(recorder, buffer)| (Some(recorder), buffer));
        }
        if let (FillPolicy::Stream, false, Some(path)) =
            (self.fill_policy, self.without_recording, &self.path)
        {
            // Where there is no memory that outlives the process, beside the trace; where that can't be, the trace is all there is.
            let beside = || create(&RecordingPath::Beside(path.clone()));
            if let Ok((recorder, buffer)) = create(&RecordingPath::Memory).or_else(|_| beside()) {
                return Ok((Some(recorder), buffer));
            }
        }
        let memory = Mapping::anonymous(protolog_shmem::size(bytes));
        let memory = Memory::new(memory.map_err(Error::Resources)?);
        Ok((None, Buffer::new(memory, self.fill_policy)))
    }
}
