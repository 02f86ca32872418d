//! A session whose chunks another part of the process passes on as they are, in place of a file:
//! the forwarder, which has a thread of its own.
//!
//! To its writers it is a session like any other: filter, buffer, drops. The forwarder reads the
//! buffer, and gets from here the packets that a trace needs besides.
//!
//! Invariants
//! - Only the forwarder's thread reads the buffer.
//! - Whoever ends the session but the forwarder asks it to, and waits no longer than it was told.

pub(crate) mod counts;
mod kept;

use crate::clock;
use crate::error::Error;
use crate::level;
use crate::loss::{LossCount, UnattributedSnapshot};
use crate::session::arbiter::chunk_wait::never_wait_here;
use crate::session::arbiter::requests::{Requests, SoFar};
use crate::session::arbiter::session_arbiter::{Core, SessionOwner};
use crate::session::filter::{Config, Filter};
use crate::session::finish::loss_report;
use crate::session::life::running_sessions::{self, RunningSession};
use crate::session::packets::dictionary::{self, Dictionary};
use crate::session::packets::own::{append_instant, append_losses, append_sequence_end};
use crate::session::packets::process_packet::describe_process;
use crate::sys::mapping::Mapping;
use crate::sys::process::asked_id;
use crate::sys::{barrier, fork, pin};
use crate::writer::{UNATTRIBUTED, Writer};
use counts::ForwardedCounts;
use protolog_core::FillPolicy;
use protolog_shmem::{Buffer, Memory};
use protozero::{Heap, Message};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// One in so many parts of the time that an exit waits is for the report of what is lost.
const END_PART: u32 = 8;

/// The time that threads have to finish the messages that they are within, where another session
/// takes the place of theirs; a preempted one needs a while.
const LONGEST_MESSAGE: Duration = Duration::from_millis(100);

/// The most bytes of a string argument.
const MAX_STRING_BYTES: usize = 4096;

/// When the exit of the process waits no longer, in nanoseconds of BOOTTIME; 0 before an exit.
static EXIT: AtomicU64 = AtomicU64::new(0);

/// The settings of a forwarded session.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The levels of groups.
    pub(crate) config: Config,
    /// The longest that a message waits for a free chunk; none where it is dropped at once.
    pub(crate) chunk_timeout: Option<Duration>,
    /// The size of the buffer, in bytes.
    pub(crate) buffer: usize,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct ForwardedSession {
    core: Arc<Core>,
    requests: Arc<Requests>,
    /// The drops that the session itself has reported.
    reported: Mutex<Vec<LossCount>>,
    end: Mutex<EndState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct EndState {
    is_requested: bool,
    is_done: bool,
}

impl ForwardedSession {
    /// Starts a session that `thread` forwards, in the place of one that [keeps](Self::keep)
    /// messages, if there is one: each message goes to one of them.
    pub(crate) fn start(
        settings: Settings,
        thread: Thread,
        kept: Option<&Self>,
    ) -> Result<Arc<Self>, Error> {
        let before = kept.map(|kept| kept.core.owner.before.clone());
        let session = Self::new(settings, before)?;
        session.core.set_drain(thread, Arc::clone(&session.requests));
        match kept {
            None => running_sessions::add(Arc::clone(&session) as _),
            Some(kept) => running_sessions::replace(&kept.core, Arc::clone(&session) as _),
        }
        Ok(session)
    }

    /// Starts a session that keeps the first messages, for another one. Nobody waits for its end.
    pub(crate) fn keep(settings: Settings) -> Result<Arc<Self>, Error> {
        let session = Self::new(settings, None)?;
        session.lock().is_done = true;
        running_sessions::add(Arc::clone(&session) as _);
        Ok(session)
    }

    /// A session that does not run yet, which reports drops of threads without a sequence since
    /// `before`, or else since now.
    fn new(settings: Settings, before: Option<UnattributedSnapshot>) -> Result<Arc<Self>, Error> {
        if fork::is_incomplete() {
            return Err(Error::IncompleteFork);
        }
        pin::keep_runtime_loaded();
        level::look_for_session();
        let filter = filter_of(settings.config)?;
        clock::prepare();
        barrier::prepare();
        let memory = Mapping::anonymous(protolog_shmem::size(settings.buffer));
        let memory = Memory::new(memory.map_err(Error::Resources)?);
        let mut owner = SessionOwner::new(filter).with_timeout(settings.chunk_timeout);
        owner.before = before.unwrap_or(owner.before);
        let buffer = Buffer::new(memory, FillPolicy::Stream);
        let core = Arc::new(Core::new(buffer, MAX_STRING_BYTES, owner));
        let requests = Arc::<Requests>::default();
        let (reported, end) = (Mutex::default(), Mutex::default());
        Ok(Arc::new(Self { core, requests, reported, end, changed: Condvar::new() }))
    }

    /// The chunks to forward.
    pub(crate) fn buffer(&self) -> &Buffer {
        &self.core.buffer
    }

    /// Wakes writers that wait for a chunk, after some were freed.
    pub(crate) fn announce_freed(&self) {
        self.core.buffer.rewind();
        self.core.announce_freed();
    }

    /// Takes the writers whose threads have ended off the list.
    pub(crate) fn take_ended(&self) -> Vec<Arc<Writer>> {
        self.core.take_ended()
    }

    /// Lets the sequence of a writer that ended be used again, once all of it is forwarded.
    pub(crate) fn retire(&self, writer: &Writer) {
        if let Some(identity) = writer.identity() {
            self.core.retire(identity);
        }
    }

    /// Takes back the chunks of idle threads, for the forwarder. Returns their number.
    pub(crate) fn reclaim(&self) -> usize {
        self.core.reclaim()
    }

    /// Has the next message that takes a chunk wake the forwarder; false where a thread has one, or
    /// might take one unnoticed.
    pub(crate) fn begin_sleep(&self) -> bool {
        self.core.begin_sleep()
    }

    /// Ends what [`Self::begin_sleep`] began.
    pub(crate) fn end_sleep(&self) {
        self.core.end_sleep();
    }

    /// Runs `forward`, if somebody has asked for a flush, and answers with what it has counted.
    pub(crate) fn answer_flush<'a>(&self, forward: impl FnOnce() -> &'a ForwardedCounts) {
        if let Some(flush) = self.requests.pending().flush {
            let so_far = forward().so_far();
            let so_far = SoFar { reported: self.reported().clone(), ..so_far };
            self.requests.finish_flush(flush, so_far, None);
        }
    }

    /// Returns whether the process asks for the end of the session.
    pub(crate) fn must_end(&self) -> bool {
        self.lock().is_requested
    }

    /// Ends the session for its writers, which may finish the message that they are at. The rest is
    /// still to be forwarded.
    pub(crate) fn begin_end(&self) {
        running_sessions::begin_end(&self.core);
        self.core.stop();
    }

    /// Goes on to keep messages, where the session that took its place has failed at once.
    pub(crate) fn resume(&self) {
        running_sessions::resume(&self.core);
    }

    /// Ends the session for its writers, where another one has taken its place.
    pub(crate) fn stop_writers(&self) {
        self.core.stop();
        // A message that is not finished when its chunk is read is in neither.
        let by = Instant::now() + LONGEST_MESSAGE;
        while Instant::now() < by && self.core.all_writers().iter().any(|it| it.is_busy()) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Takes all writers off the list, to which none come any more.
    pub(crate) fn take_writers(&self) -> Vec<Arc<Writer>> {
        self.core.take_writers()
    }

    /// Ends the session, after everything was forwarded that can be.
    pub(crate) fn finish(&self) {
        self.requests.stop();
        drop(self.core.take_writers());
        self.core.buffer.discard();
        running_sessions::remove(&self.core);
        self.lock().is_done = true;
        self.changed.notify_all();
    }

    /// Returns the dictionary of the groups that the session enables.
    pub(crate) fn dictionary(&self) -> Dictionary {
        Dictionary::of(self.core.owner.filter.clone())
    }

    /// Likewise, of these messages alone.
    pub(crate) fn dictionary_of(&self, ids: HashSet<u64>) -> Dictionary {
        self.dictionary().with_only(ids)
    }

    /// Returns the packet that names process and session, with the filter.
    pub(crate) fn describe(&self) -> Vec<u8> {
        let owner = &self.core.owner;
        packet(|to| describe_process(to, self.core.pid, &owner.session_id, &owner.filter, None))
    }

    /// Returns an instant, which names a moment of the session.
    pub(crate) fn instant(&self, what: &str) -> Vec<u8> {
        packet(|to| append_instant(to, self.core.pid, clock::boottime(), what))
    }

    /// Returns the last packet of the session: an instant, and drops that no packet reports yet.
    pub(crate) fn last(&self, losses: &[LossCount]) -> Vec<u8> {
        packet(|to| {
            append_instant(to, self.core.pid, clock::boottime(), "protolog session stopped");
            append_losses(to, losses);
        })
    }

    /// Returns a packet with drops.
    pub(crate) fn losses(losses: &[LossCount]) -> Vec<u8> {
        packet(|to| append_losses(to, losses))
    }

    /// Takes the drops of a writer that no packet reports yet: the caller's packets will.
    pub(crate) fn take_losses(&self, writer: &Writer) -> Vec<LossCount> {
        let losses = take(|accept| writer.losses.take(accept));
        self.note(&losses);
        losses
    }

    /// Takes the messages that limits suppressed or sampling passed over since they were reported
    /// last, with their writers: the caller's packets report them.
    pub(crate) fn take_held_back(&self) -> Vec<(Arc<Writer>, Vec<LossCount>)> {
        let mut held_back = Vec::new();
        for writer in self.core.all_writers() {
            let losses = writer.losses.take_held_back(true);
            if !losses.is_empty() {
                self.note(&losses);
                held_back.push((writer, losses));
            }
        }
        held_back
    }

    /// Returns the last packet of a writer's sequence, or a report in it: the name of its thread,
    /// and drops.
    pub(crate) fn sequence_end(&self, writer: &Writer, losses: &[LossCount]) -> Vec<u8> {
        packet(|to| append_sequence_end(to, self.core.pid, &writer.thread, losses))
    }

    /// Takes the drops of threads that had no sequence since `before`, which it moves on: the
    /// caller's packets report them.
    pub(crate) fn take_unattributed(&self, before: &mut UnattributedSnapshot) -> Vec<LossCount> {
        let mut losses = take(|accept| self.core.unattributed.take(accept));
        let names = Dictionary::known();
        losses.extend(UNATTRIBUTED.take_since(before, |group, severity| {
            let levels = names.group(group).map(|name| self.core.owner.filter.levels(name));
            levels.is_none_or(|levels| levels & 1 << severity != 0)
        }));
        self.note(&losses);
        losses
    }

    /// Returns what was lost on the way, and the drops that it was to report: the caller's packets
    /// do.
    pub(crate) fn take_lost(&self, counts: &ForwardedCounts) -> Vec<LossCount> {
        let (losses, reported) = counts.losses();
        self.note(&losses);
        [&losses[..], reported].concat()
    }

    /// Says on standard error that so many messages were lost on the way, if there are any: since
    /// the connection ended for this reason, or since the service was slow.
    pub(crate) fn report_lost(reason: Option<&str>, counts: &ForwardedCounts, lost: u64) {
        loss_report::not_forwarded(reason, lost, lost + counts.messages());
    }

    /// Returns the mark from which [`Self::take_unattributed`] counts first.
    pub(crate) fn unattributed_before(&self) -> UnattributedSnapshot {
        self.core.owner.before.clone()
    }

    /// Counts drops that packets of the session report.
    pub(crate) fn note(&self, losses: &[LossCount]) {
        let mut reported = self.reported();
        for lost in losses {
            lost.add_to(&mut reported);
        }
    }

    fn reported(&self) -> MutexGuard<'_, Vec<LossCount>> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, EndState> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningSession for ForwardedSession {
    fn core(&self) -> &Arc<Core> {
        &self.core
    }

    fn request_end(&self, limit: Duration) {
        if self.core.pid != asked_id() {
            return;
        }
        // It has to count and to report what it can't forward in that time.
        let limit = limit.saturating_sub(limit / END_PART);
        let by = clock::boottime().saturating_add(limit.as_nanos() as u64);
        let _ = EXIT.compare_exchange(0, by, Ordering::Relaxed, Ordering::Relaxed);
        self.lock().is_requested = true;
        self.core.wake();
    }

    fn end_within(&self, limit: Duration) {
        if self.core.pid != asked_id() {
            return;
        }
        self.request_end(limit);
        drop(self.changed.wait_timeout_while(self.lock(), limit, |end| !end.is_done));
    }
}

/// Returns the time from which nothing may wait any more, since the process exits; none before an
/// exit.
pub(crate) fn exit_deadline() -> Option<Instant> {
    let by = Some(EXIT.load(Ordering::Relaxed)).filter(|by| *by > 0)?;
    let left = Duration::from_nanos(by.saturating_sub(clock::boottime()));
    Some(Instant::now() + left)
}

/// Prepares the forwarder's thread, which waits for no chunk: it would wait for itself. And what
/// takes a process some 50 ms once, so that its first session does not wait for that.
pub(crate) fn prepare_thread() {
    never_wait_here();
    clock::prepare();
    barrier::prepare();
}

/// Returns all losses that `take` takes.
fn take(take: impl FnOnce(&mut dyn FnMut(LossCount) -> bool)) -> Vec<LossCount> {
    let mut all = Vec::new();
    take(&mut |lost| {
        all.push(lost);
        true
    });
    all
}

fn packet(fill: impl FnOnce(&mut Message<'_, Heap>)) -> Vec<u8> {
    let mut writer = protozero::Writer::new(Heap::new());
    fill(&mut writer.message());
    writer.into_vec().unwrap_or_default()
}

/// Returns the filter for a configuration that many programs get: a name that stands for several
/// groups of this one means all of them, and one that can't be a name means none.
pub(crate) fn filter_of(config: Config) -> Result<Filter, Error> {
    Filter::of_many(config, &dictionary::known_groups())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::session::filter::GroupOverride;

    #[test]
    fn a_name_of_nothing_is_left_out() {
        let log_from = Some(Level::Debug);
        let names = ["", "a*b", "Net"];
        let group_overrides =
            names.map(|name| GroupOverride { group: name.into(), log_from }).to_vec();
        let filter = filter_of(Config { group_overrides, ..Config::default() }).expect("a filter");
        assert_eq!(filter.levels("app::Log::Net"), 0b11_1110);
        assert_eq!(filter.levels("app::Log::Disk"), 0b10_0000);
    }
}
