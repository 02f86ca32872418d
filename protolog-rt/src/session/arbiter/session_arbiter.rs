//! A session's part of the [`Arbiter`] that it shares with its writers: filter, file, and the
//! thread that reads the buffer.

mod pinned_owner;

use self::pinned_owner::PinnedOwner;
use crate::clock;
use crate::loss::{LossCounters, Mirror, UnattributedSnapshot};
use crate::session::arbiter::causes::Causes;
use crate::session::arbiter::chunk_wait::ChunkWait;
use crate::session::arbiter::requests::Requests;
use crate::session::filter::Filter;
use crate::session::pinned::Pinned;
use crate::session::recording::form::Buffers;
use crate::session::recording::recorder::{Recorded, Recorder};
use crate::session::recording::state::RecordingState;
use crate::sync::AtomicU64;
use crate::sys::errno::KeptErrno;
use crate::sys::process::random_id;
use crate::writer::arbiter::Arbiter;
use crate::writer::owner::{Event, Owner};
use crate::writer::{UNATTRIBUTED, Writer, free_retired};
use protolog_core::FillPolicy;
use protolog_core::control::byte_limit::ByteLimit;
use protolog_core::control::protocol::JoinWindow;
use protolog_core::control::session_setting::SessionSetting;
use protolog_recording::EventKey;
use protolog_shmem::{Buffer, WriteChunk};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

/// The shared part of a session: the part that its writers know of, and the rest.
#[derive(Debug)]
pub(crate) struct Core {
    pub(in crate::session) arbiter: Arc<Arbiter>,
    pub(in crate::session) owner: Arc<SessionOwner>,
}

impl Deref for Core {
    type Target = Arbiter;

    fn deref(&self) -> &Arbiter {
        &self.arbiter
    }
}

/// A session, as the owner of its writers.
#[derive(Debug)]
pub(crate) struct SessionOwner {
    /// A random id.
    pub(in crate::session) session_id: [u8; 16],
    /// When the session started, in nanoseconds of BOOTTIME.
    pub(in crate::session) started: u64,
    /// Unattributed drops of before the session.
    pub(in crate::session) before: UnattributedSnapshot,
    pub(in crate::session) filter: Filter,
    /// Messages that wait for a chunk.
    pub(in crate::session) waits: ChunkWait,
    /// Messages that were lost are reported on standard error at the end.
    pub(in crate::session) reports_losses: bool,
    /// An operator started it, not the program.
    pub(in crate::session) is_for_operator: bool,
    /// Only threads that have entered are recorded.
    is_scoped: bool,
    /// The file that the buffer is in, if it is in one.
    pub(in crate::session) recorder: Option<Arc<Recorder>>,
    /// The state of that recording, or of one that ends with the process.
    pub(in crate::session) recording: Option<Arc<RecordingState>>,
    /// The same, if it counts the messages of completed chunks.
    counting: Option<Arc<RecordingState>>,
    /// The causes at which a file is written, if it has triggers.
    pub(in crate::session) causes: Option<Arc<Causes>>,
    /// The messages that are kept in a ring of their own.
    pins: Option<Pinned>,
    /// The limit of the bytes of its messages that are not pinned, as the program has set it; none
    /// where nobody can set one.
    own_limit: Option<SessionSetting>,
    /// The file that is written all the time, or at the end.
    path: Option<PathBuf>,
    drain: OnceLock<DrainThread>,
}

/// The thread that makes a file of the buffer.
#[derive(Debug)]
struct DrainThread {
    thread: Thread,
    requests: Arc<Requests>,
}

impl SessionOwner {
    /// A session that starts now, and records the messages that `filter` lets through.
    pub(crate) fn new(filter: Filter) -> Self {
        Self {
            session_id: random_id(),
            started: clock::boottime(),
            before: UNATTRIBUTED.snapshot(),
            filter,
            waits: ChunkWait::new(None),
            reports_losses: false,
            is_for_operator: false,
            is_scoped: false,
            recorder: None,
            recording: None,
            counting: None,
            causes: None,
            pins: None,
            own_limit: None,
            path: None,
            drain: OnceLock::new(),
        }
    }

    /// The same, with messages that wait for a free chunk for so long.
    pub(in crate::session) fn with_timeout(self, timeout: Option<Duration>) -> Self {
        Self { waits: ChunkWait::new(timeout), ..self }
    }

    /// The same, with its buffer in this recording.
    pub(in crate::session) fn with_recording(self, recorded: Recorded) -> Self {
        let (recorder, recording) = (recorded.recorder, recorded.state);
        let counting = recording.clone().filter(|it| !it.reads_writers());
        Self { recorder, recording, counting, ..self }
    }

    /// The same, with a line on standard error at the end if messages were lost, if `reports` says
    /// so.
    pub(in crate::session) fn reporting_losses(self, reports: bool) -> Self {
        Self { reports_losses: reports, ..self }
    }

    /// The same, started by an operator if `is` says so.
    pub(in crate::session) fn for_operator(self, is: bool) -> Self {
        Self { is_for_operator: is, ..self }
    }

    /// The same, for threads that enter alone if `is` says so.
    pub(in crate::session) fn scoped(self, is: bool) -> Self {
        Self { is_scoped: is, ..self }
    }

    /// The same, with triggers that fire at `causes`.
    pub(in crate::session) fn with_causes(self, causes: Option<Arc<Causes>>) -> Self {
        Self { causes, ..self }
    }

    /// The same, with these messages in a ring of their own.
    pub(in crate::session) fn with_pins(self, pins: Option<Pinned>) -> Self {
        Self { pins, ..self }
    }

    /// The same, with this limit of the bytes of messages that are not pinned.
    pub(in crate::session) fn with_byte_limit(self, byte_limit: Option<ByteLimit>) -> Self {
        Self { own_limit: Some(SessionSetting::Limit(byte_limit)), ..self }
    }

    /// The same, with this as the file that it writes.
    pub(in crate::session) fn with_path(self, path: Option<PathBuf>) -> Self {
        Self { path, ..self }
    }
}

impl Owner for SessionOwner {
    fn enabled_levels(&self, group: &str) -> u8 {
        self.filter.levels(group) & !self.pinned_levels(group)
    }

    #[cfg(feature = "log")]
    fn levels_of_any_group(&self) -> u8 {
        self.filter.levels_of_any_group()
    }

    fn is_scoped(&self) -> bool {
        self.is_scoped
    }

    fn collects_stacks(&self) -> bool {
        self.filter.collects_stacks()
    }

    fn collects_stack(&self, group: &str) -> bool {
        self.filter.collects_stack(group)
    }

    fn add_group(&self) {
        // A library's texts are in the recording before its first message.
        self.recording.iter().for_each(|recording| recording.write_module_texts());
    }

    fn watched_levels(&self, group: &str) -> u8 {
        self.causes.as_ref().map_or(0, |causes| causes.watched_levels(group))
    }

    fn pinned_levels(&self, group: &str) -> u8 {
        self.pins.as_ref().map_or(0, |pins| pins.levels(group))
    }

    fn may_be_limited(&self) -> bool {
        self.own_limit.is_some()
    }

    fn byte_limit(&self) -> Option<ByteLimit> {
        match self.own_limit {
            Some(SessionSetting::Limit(limit)) => limit,
            Some(SessionSetting::Default) | None => None,
        }
    }

    fn note_event(&self, event: Event<'_>) -> bool {
        self.causes.as_ref().is_some_and(|causes| match event {
            Event::Message { id, group, level } => causes.fire_message(id, group, level),
            Event::Named(cause) => causes.fire(cause),
            Event::Known(cause, key) => causes.fire_event(cause, key),
            Event::Joined(key) => causes.join(key, 0, None),
            Event::Panic => causes.fire_panic(),
            Event::FailedRequest(failed) => causes.fire_request(failed),
        })
    }

    fn wake(&self) {
        if let Some(drain) = self.drain.get() {
            drain.thread.unpark();
        }
    }

    fn wait_for_chunk(
        &self,
        buffer: &Buffer,
        acquire: &mut dyn FnMut() -> Option<WriteChunk>,
    ) -> Option<WriteChunk> {
        if !self.waits.may_wait() {
            return None;
        }
        let _errno = KeptErrno::new();
        self.wake();
        self.waits.wait(buffer, acquire)
    }

    fn count_messages(&self, sequence: u16, new: u64, all: u64) {
        self.counting.iter().for_each(|recording| recording.count_messages(sequence, new, all));
    }

    fn count_forgotten(&self, sequence: u16, messages: u64) {
        self.recording.iter().for_each(|recording| recording.forget(sequence, messages));
    }

    fn note_counters(&self, sequence: u16, counters: Option<(&LossCounters, &AtomicU64)>) {
        self.recording.iter().for_each(|recording| recording.note_counters(sequence, counters));
    }

    fn mirror_of_writers(&self) -> Option<Arc<dyn Mirror>> {
        let reads_writers = self.recording.as_ref().is_some_and(|it| it.reads_writers());
        self.mirror().filter(|_| !reads_writers)
    }

    fn mirror(&self) -> Option<Arc<dyn Mirror>> {
        self.recording.as_ref().map(|recording| Arc::clone(recording) as Arc<dyn Mirror>)
    }
}

impl Core {
    /// The shared part of a session that starts now.
    pub(crate) fn new(buffer: Buffer, max_string_bytes: usize, owner: SessionOwner) -> Self {
        Self::with_pinned(Buffers { main: buffer, pinned: None }, max_string_bytes, owner)
    }

    /// The same, with a ring for messages that are pinned if there is one.
    pub(in crate::session) fn with_pinned(
        buffers: Buffers,
        max_string_bytes: usize,
        owner: SessionOwner,
    ) -> Self {
        let owner = Arc::new(owner);
        let pinned = buffers.pinned.map(|buffer| {
            let owner = Arc::new(PinnedOwner(Arc::clone(&owner)));
            Arc::new(Arbiter::of_pinned(buffer, max_string_bytes, owner))
        });
        let arbiter = Arbiter::new(buffers.main, max_string_bytes, Arc::clone(&owner) as _);
        Self { arbiter: Arc::new(arbiter.with_pinned(pinned)), owner }
    }

    /// Returns the writers of all rings.
    pub(in crate::session) fn all_writers(&self) -> Vec<Arc<Writer>> {
        self.arbiter.rings().flat_map(|ring| ring.all_writers()).collect()
    }

    /// Takes all writers off the lists, to which none come any more.
    pub(in crate::session) fn take_writers(&self) -> Vec<Arc<Writer>> {
        self.arbiter.rings().flat_map(|ring| ring.take_writers()).collect()
    }

    /// Forgets what is in the buffers.
    pub(in crate::session) fn discard(&self) {
        self.arbiter.rings().for_each(|ring| ring.buffer.discard());
    }

    /// Returns the file that the session writes, now or in the end; none where it only records.
    pub(crate) fn path(&self) -> Option<&Path> {
        let recording = || self.owner.recorder.as_ref().map(|recorder| recorder.path());
        self.owner.path.as_deref().or_else(recording)
    }

    /// Has the bytes of its messages limited in this way from now on.
    pub(in crate::session) fn limit_bytes(&self, setting: SessionSetting) {
        let Some(bucket) = self.arbiter.byte_limit() else { return };
        bucket.set_limit(match setting {
            SessionSetting::Limit(limit) => limit,
            SessionSetting::Default => self.owner.byte_limit(),
        });
    }

    /// Returns the limit of its bytes.
    pub(crate) fn byte_limit(&self) -> Option<ByteLimit> {
        self.arbiter.byte_limit()?.limit()
    }

    /// Returns whether events can make it write files.
    pub(crate) fn has_triggers(&self) -> bool {
        self.owner.causes.is_some()
    }

    /// Returns whether a file comes of an event that others know, too.
    pub(crate) fn has_event(&self, key: &EventKey) -> bool {
        self.owner.causes.as_ref().is_some_and(|causes| causes.has_event(key))
    }

    /// Has its triggers fire for an event of another program of its family. Returns whether a file
    /// comes of it, of `window` if there is one; none if it is of another family.
    pub(crate) fn join(
        &self,
        family: &str,
        key: &EventKey,
        (pid, window): (u32, Option<JoinWindow>),
    ) -> Option<bool> {
        let causes = self.owner.causes.as_ref()?;
        (causes.family() == Some(family)).then(|| causes.join(key, pid, window))
    }

    /// Returns the levels (bit = severity) that the session enables of the group with this full
    /// name, registered or not.
    pub(crate) fn levels_of(&self, group: &str) -> u8 {
        self.owner.filter.levels(group)
    }

    /// Takes the writers whose threads have ended off the list. Frees the memory that threads have
    /// left in any session, which they don't.
    pub(in crate::session) fn take_ended(&self) -> Vec<Arc<Writer>> {
        free_retired();
        self.arbiter.take_ended()
    }

    /// Wakes writers that wait for a chunk; some were freed.
    pub(in crate::session) fn announce_freed(&self) {
        self.owner.waits.announce();
    }

    /// Ends the session for its writers, and gives them a moment to finish their messages.
    pub(in crate::session) fn stop(&self) {
        let writers: Vec<_> = self.arbiter.rings().flat_map(|ring| ring.stop_writers()).collect();
        self.owner.waits.end_all();
        // A message is a matter of nanoseconds, unless its thread was preempted; a later one is
        // after the stop.
        for _ in 0..100 {
            if !writers.iter().any(|writer| writer.is_busy()) {
                break;
            }
            std::thread::yield_now();
        }
    }

    /// Makes the session's thread write the committed packets, and waits for it, unless this is
    /// that thread.
    pub(in crate::session) fn flush_within(&self, limit: Duration) {
        let Some(drain) = self.owner.drain.get() else { return };
        if drain.thread.id() != std::thread::current().id() {
            drain.requests.flush_within(limit, || self.wake());
        }
    }

    /// Returns the requests to the thread that reads the buffer, if there is one.
    pub(in crate::session) fn requests(&self) -> Option<&Requests> {
        self.owner.drain.get().map(|drain| &*drain.requests)
    }

    /// Says which thread reads the buffer.
    pub(in crate::session) fn set_drain(&self, thread: Thread, requests: Arc<Requests>) {
        let _ = self.owner.drain.set(DrainThread { thread, requests });
    }

    /// Returns the recording that completes the trace file of a session that streams, if there is
    /// one.
    pub(in crate::session) fn stream_recorder(&self) -> Option<&Arc<Recorder>> {
        self.owner.recorder.as_ref().filter(|_| self.is_stream())
    }

    /// Returns the state of such a recording, or of one that ends with the process.
    pub(in crate::session) fn stream_recording(&self) -> Option<&Arc<RecordingState>> {
        self.owner.recording.as_ref().filter(|_| self.is_stream())
    }

    /// Returns the recording of a session that keeps its messages there.
    pub(in crate::session) fn kept_recorder(&self) -> Option<&Arc<Recorder>> {
        self.owner.recorder.as_ref().filter(|_| !self.is_stream())
    }

    /// Returns whether the buffer's thread frees chunks as they are completed.
    pub(in crate::session) fn is_stream(&self) -> bool {
        self.buffer.fill_policy() == FillPolicy::Stream
    }
}
