//! The memory of a session's buffer, in a recording or in memory that ends with the process; and
//! the memory that a message may take.
//!
//! Invariant: a session that streams starts also where there is no room for a recording.

use crate::error::Error;
use crate::session::builder::Builder;
use crate::session::earlier::leftover;
use crate::session::file::file_place::FilePlace;
use crate::session::filter::Filter;
use crate::session::recording::form::{BufferForm, Buffers};
use crate::session::recording::recorder::{Recorded, RecordingPath};
use crate::session::recording::state::RecordingState;
use crate::sys::create::directory;
use crate::sys::environment::variable;
use crate::sys::file::copies_on_write;
use crate::sys::process::has_memory_of_container;
use protolog_core::FillPolicy;

/// The default size of the buffer of a session that streams, in bytes: four threads that log as
/// fast as they can, in a debug build on two processors, fill at most 14 MiB of it in 800,000
/// messages.
const STREAM_BUFFER: usize = 16 << 20;
/// The default size of a buffer that keeps messages, in bytes.
const KEPT_BUFFER: usize = 4 << 20;
/// The default for the most bytes of a string argument.
pub(super) const MAX_STRING_BYTES: usize = 4096;

/// The place of the recording of a session that streams: see [`Builder::recording_in`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingPlace {
    /// `/dev/shm`: memory that outlives the process, up to the end of the machine or of the
    /// container. On Windows, which has none, the user's directory for temporary files.
    Memory,
    /// The directory of the trace.
    BesideTrace,
}

/// The variable with the place, for all sessions that do not name one.
const VARIABLE: &str = "PROTOLOG_RECORDING";

impl Builder {
    /// Sets where the recording of a session that streams lives, which completes the trace after a
    /// crash ([`Session::recording`]). Where it can't be there, it is in the other place.
    ///
    /// By default it is in memory, so that no call ever waits for a disk. In a container it is
    /// beside the trace: the memory of a container ends with it, and the restart after a crash
    /// would find no recording; so it is on Windows.
    ///
    /// The variable `PROTOLOG_RECORDING`, which is `memory` or `beside`,
    /// sets the place of sessions that do not name one. systemd removes the memory of a user who
    /// logs out (`RemoveIPC`), unless that is a system user: such a program, too, has its recording
    /// beside the trace.
    ///
    /// Beside the trace, the notes on disks of [`Self::record_at`] hold. On file systems that copy
    /// on write (btrfs, ZFS), a disk that is full can end the program (`SIGBUS`), so there it is in
    /// memory by default in a container, too.
    ///
    /// [`Session::recording`]: crate::Session::recording
    ///
    /// ```
    /// # use protolog_rt::{RecordingPlace, Session};
    /// # let dir = std::env::temp_dir().join(format!("protolog-place-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir).expect("a folder");
    /// let session = Session::builder().file(dir.join("app.pftrace")).recording_in(RecordingPlace::BesideTrace).start()?;
    /// assert!(session.recording().is_some_and(|path| path.starts_with(&dir)));
    /// # session.stop()?;
    /// # std::fs::remove_dir_all(dir).ok();
    /// # Ok::<(), protolog_rt::Error>(())
    /// ```
    pub fn recording_in(mut self, place: RecordingPlace) -> Self {
        self.recording_place = Some(place);
        self
    }

    fn recording_place(&self, trace: &FilePlace) -> RecordingPlace {
        let by_variable = || match variable(VARIABLE)?.to_str()? {
            "memory" => Some(RecordingPlace::Memory),
            "beside" => Some(RecordingPlace::BesideTrace),
            _ => None,
        };
        let by_default = || {
            if has_memory_of_container() && !copies_on_write(directory(trace.path())) {
                RecordingPlace::BesideTrace
            } else {
                RecordingPlace::Memory
            }
        };
        self.recording_place.or_else(by_variable).unwrap_or_else(by_default)
    }

    /// Sets the most bytes of a string argument, 4 KiB by default. A longer one is truncated, with
    /// an ellipsis, and counted.
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
    /// Strings that make a message larger than half of the buffer are truncated, too, to equal
    /// shares of that half.
    ///
    /// A message of more than 4 KiB is put together before it is divided among chunks, and a value
    /// of more than 1 KiB is formatted before that, so they allocate as much memory for a moment.
    /// Without it, strings are truncated. Other messages allocate nothing once their thread has
    /// logged to the session, except for templates interned at run time.
    pub fn max_string_bytes(mut self, bytes: usize) -> Self {
        self.max_string_bytes = bytes;
        self
    }

    /// Makes the buffers, in a recording if there is to be one.
    pub(super) fn buffers(
        &self,
        session_id: [u8; 16],
        filter: &Filter,
        place: Option<&FilePlace>,
    ) -> Result<(Recorded, Buffers), Error> {
        let is_stream = self.fill_policy == FillPolicy::Stream;
        let bytes = self.buffer.unwrap_or(if is_stream { STREAM_BUFFER } else { KEPT_BUFFER });
        let pinned_bytes = self.pinned_bytes();
        let fill_policy = self.fill_policy;
        let form = BufferForm { bytes, pinned_bytes, fill_policy, session_id, filter };
        let create = |place: &RecordingPath| leftover::create_recorder(place, form, self.keep);
        if let Some(place) = &self.record {
            return create(place).map(|(recorder, buffers)| (recorder.into(), buffers));
        }
        if let Some(files) = self.triggers.as_ref().filter(|all| all.waits_for_signals) {
            // Where the one can't be, the other one: a container loses its memory with it.
            let place = FilePlace::of_file(&files.path)?;
            let beside = || create(&RecordingPath::Beside(place.clone()));
            let in_memory = || create(&RecordingPath::Memory);
            let created = match self.recording_place(&place) {
                RecordingPlace::Memory => in_memory().or_else(|_| beside()),
                RecordingPlace::BesideTrace => beside().or_else(|_| in_memory()),
            };
            return created.map(|(recorder, buffers)| (recorder.into(), buffers));
        }
        if let (FillPolicy::Stream, false, Some(place)) =
            (self.fill_policy, self.without_recording, place)
        {
            // Where the one can't be, the other one; where neither can, the trace is all there is.
            let beside = || create(&RecordingPath::Beside(place.clone()));
            let in_memory = || create(&RecordingPath::Memory);
            let created = match self.recording_place(place) {
                RecordingPlace::Memory => in_memory().or_else(|_| beside()),
                RecordingPlace::BesideTrace => beside().or_else(|_| in_memory()),
            };
            if let Ok((recorder, buffers)) = created {
                return Ok((recorder.into(), buffers));
            }
        }
        let (state, buffers) = RecordingState::in_memory(form)?;
        Ok((Recorded { recorder: None, state }, buffers))
    }
}
