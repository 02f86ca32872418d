//! A session whose chunks another part of the process passes on as they are, in place of a file:
//! the forwarder, which has a thread of its own.
//!
//! To its writers it is a session like any other: filter, buffer, drops. The forwarder reads the
//! buffer, and gets from here the packets that a trace needs besides.
//!
//! Invariants
//! - Only the forwarder's thread reads the buffer.
//! - Whoever ends the session but the forwarder asks it to, and waits no longer than it was told.

use crate::clock;
use crate::error::Error;
use crate::level;
use crate::loss::{LossCount, UnattributedSnapshot};
use crate::session::arbiter::chunk_wait::never_wait_here;
use crate::session::arbiter::requests::{Requests, SoFar};
use crate::session::arbiter::session_arbiter::{Core, SessionOwner};
use crate::session::filter::{Config, Filter, GroupOverride};
use crate::session::life::running_sessions::{self, RunningSession};
use crate::session::packets::copied::split;
use crate::session::packets::dictionary::{self, Dictionary};
use crate::session::packets::message_counts::Counts;
use crate::session::packets::own::{append_instant, append_losses, append_sequence_end};
use crate::session::packets::process_packet::describe_process;
use crate::session::stream::drain::{PacketSink, Sequence};
use crate::sys::mapping::Mapping;
use crate::sys::{barrier, fork, pin};
use crate::writer::{UNATTRIBUTED, Writer};
use protolog_core::FillPolicy;
use protolog_shmem::{Buffer, Committed, Memory};
use protozero::{Heap, Message};
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::Duration;

/// The most bytes of a string argument.
const MAX_STRING_BYTES: usize = 4096;

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

/// The messages that were forwarded, by id: counted where their chunks are copied.
#[derive(Debug, Default)]
pub(crate) struct ForwardedCounts {
    sequences: HashMap<u16, Sequence>,
    sink: PacketTally,
}

/// Counts packets.
#[derive(Debug, Default)]
struct PacketTally {
    counts: Counts,
    bytes: u64,
}

#[derive(Debug, Default)]
struct EndState {
    is_requested: bool,
    is_done: bool,
}

impl ForwardedSession {
    /// Starts a session that `thread` forwards.
    pub(crate) fn start(settings: Settings, thread: Thread) -> Result<Arc<Self>, Error> {
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
        let owner = SessionOwner::new(filter).with_timeout(settings.chunk_timeout);
        let buffer = Buffer::new(memory, FillPolicy::Stream);
        let core = Arc::new(Core::new(buffer, MAX_STRING_BYTES, owner));
        let requests = Arc::<Requests>::default();
        core.set_drain(thread, Arc::clone(&requests));
        let (reported, end) = (Mutex::default(), Mutex::default());
        let session = Arc::new(Self { core, requests, reported, end, changed: Condvar::new() });
        running_sessions::add(Arc::clone(&session) as _);
        Ok(session)
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
            let PacketTally { counts, bytes } = &forward().sink;
            let (messages, reported) = (counts.messages(), self.reported().clone());
            let counts = counts.clone();
            let so_far = SoFar { messages, bytes: *bytes, reported, counts, ..SoFar::default() };
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

    /// Returns the packet that names process and session, with the filter.
    pub(crate) fn describe(&self) -> Vec<u8> {
        let owner = &self.core.owner;
        packet(|to| describe_process(to, self.core.pid, &owner.session_id, &owner.filter, None))
    }

    /// Returns an instant, which names a moment of the session.
    pub(crate) fn instant(&self, what: &str) -> Vec<u8> {
        packet(|to| append_instant(to, self.core.pid, clock::boottime(), what))
    }

    /// Returns the last packet of a writer's sequence: the name of its thread, and drops that no
    /// packet reports yet.
    pub(crate) fn sequence_end(&self, writer: &Writer) -> Vec<u8> {
        let losses = take(|accept| writer.losses.take(accept));
        self.note(&losses);
        packet(|to| append_sequence_end(to, self.core.pid, &writer.thread, &losses))
    }

    /// Returns a packet with the drops of threads that had no sequence since `before`, which it
    /// moves on; none where there are none.
    pub(crate) fn unattributed(&self, before: &mut UnattributedSnapshot) -> Option<Vec<u8>> {
        let mut losses = take(|accept| self.core.unattributed.take(accept));
        let names = Dictionary::known();
        losses.extend(UNATTRIBUTED.take_since(before, |group, severity| {
            let levels = names.group(group).map(|name| self.core.owner.filter.levels(name));
            levels.is_none_or(|levels| levels & 1 << severity != 0)
        }));
        self.note(&losses);
        (!losses.is_empty()).then(|| packet(|to| append_losses(to, &losses)))
    }

    /// Returns the mark from which [`Self::unattributed`] counts first.
    pub(crate) fn unattributed_before(&self) -> UnattributedSnapshot {
        self.core.owner.before.clone()
    }

    fn note(&self, losses: &[LossCount]) {
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

impl ForwardedCounts {
    /// Counts what is new of a writer's next chunk, of which `committed` was forwarded.
    pub(crate) fn count(&mut self, writer: u16, committed: &Committed<'_>, is_complete: bool) {
        let sequence = self.sequences.entry(writer).or_default();
        sequence.copy(committed, is_complete, &mut self.sink);
        if is_complete {
            sequence.next(false);
        }
    }
}

impl PacketSink for PacketTally {
    fn packet(&mut self, packet: &[u8]) {
        self.bytes += packet.len() as u64;
        self.counts.packet(packet, packet.len());
    }

    fn packets(&mut self, mut sized: &[u8], count: u16) {
        for _ in 0..count {
            let Some((packet, rest)) = split(sized) else { return };
            self.packet(packet);
            sized = rest;
        }
    }
}

impl RunningSession for ForwardedSession {
    fn core(&self) -> &Arc<Core> {
        &self.core
    }

    fn end_within(&self, limit: Duration) {
        if self.core.pid != std::process::id() {
            return;
        }
        let mut end = self.lock();
        end.is_requested = true;
        self.core.wake();
        drop(self.changed.wait_timeout_while(end, limit, |end| !end.is_done));
    }
}

/// Prepares the forwarder's thread, which waits for no chunk: it would wait for itself.
pub(crate) fn prepare_thread() {
    never_wait_here();
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
fn filter_of(mut config: Config) -> Result<Filter, Error> {
    let known = dictionary::known_groups();
    loop {
        match Filter::new(&config, &known) {
            Err(Error::AmbiguousGroup { name, candidates }) => {
                let named = config.group_overrides.iter().rev().find(|it| it.group == name);
                let log_from = named.and_then(|it| it.log_from);
                config.group_overrides.retain(|it| it.group != name);
                let new = candidates.into_iter().filter(|group| *group != name);
                config.group_overrides.extend(new.map(|group| GroupOverride { group, log_from }));
            }
            Err(Error::NoGroupName { name }) => {
                config.group_overrides.retain(|it| it.group != name);
                config.collect_stacktrace.retain(|it| *it != name);
            }
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

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
