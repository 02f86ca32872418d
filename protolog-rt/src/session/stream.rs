//! A session's thread: it turns chunks into a file until the session ends.
//!
//! It sleeps until half of the buffer waits for it, a writer finds no free chunk, or the session's owner wants something.
//!
//! Invariant: only this thread reads the buffer and writes the file.

use super::core::Core;
use super::dictionary::Dictionary;
use super::drain::{Drain, OWN_SEQUENCE, sequence};
use super::file::TraceFile;
use crate::clock;
use crate::error::Error;
use crate::loss::{Counted, Losses, Mark};
use crate::stats::{Loss, Summary};
use crate::writer::own::loss_record;
use crate::writer::{STRAYS, Writer};
use protolog_core::schema::{
    clock as clock_field, clock_id, clock_snapshot, packet, process_descriptor, sequence_flags,
    sequence_info, thread_descriptor, track_descriptor, track_event,
};
use protozero::{Heap, Message};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The session's thread, before it runs.
#[derive(Debug)]
pub(super) struct Stream {
    core: Arc<Core>,
    requests: Arc<Requests>,
    file: TraceFile,
    drain: Drain,
    dictionary: Dictionary,
    /// Losses of before the session.
    strays: Mark,
}

/// What the session's owner wants of the thread.
#[derive(Debug, Default)]
pub(super) struct Requests {
    state: Mutex<State>,
    flushed: Condvar,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    stop: bool,
    /// Flushes wanted so far.
    wanted: u64,
    /// Flushes done so far.
    done: u64,
    failed: bool,
}

impl Requests {
    /// Makes the thread end.
    pub(super) fn stop(&self) {
        self.lock().stop = true;
        self.flushed.notify_all();
    }

    /// Makes the thread write what is committed, with `wake`, and waits for it. False where the file can't be written.
    pub(super) fn flush(&self, wake: impl FnOnce()) -> bool {
        let mut state = self.lock();
        state.wanted += 1;
        let ticket = state.wanted;
        drop(state);
        wake();
        let state = self.lock();
        let until = self.flushed.wait_while(state, |state| state.done < ticket && !state.stop);
        !until.unwrap_or_else(PoisonError::into_inner).failed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    /// Writes the beginning of the file: process, clocks, dictionary.
    pub(super) fn begin(core: Arc<Core>, requests: Arc<Requests>, file: TraceFile) -> Self {
        let (drain, dictionary) = (Drain::default(), Dictionary::default());
        let strays = STRAYS.mark();
        let mut stream = Self { core, requests, file, drain, dictionary, strays };
        let pid = stream.core.pid;
        stream.own_packet(wall_clock);
        stream.own_packet(|to| process(to, pid));
        stream.own_packet(|to| mark(to, "protolog session started"));
        stream.images();
        stream.file.flush();
        stream
    }

    /// Copies until the session is stopped; then writes what is left to say.
    pub(super) fn run(mut self) -> Result<Summary, Error> {
        loop {
            let request = *self.requests.lock();
            if request.stop {
                return self.end();
            }
            let flush = request.wanted > request.done;
            self.round(flush);
            if flush {
                let mut state = self.requests.lock();
                state.done = request.wanted;
                state.failed = self.file.has_failed();
                self.requests.flushed.notify_all();
            } else if !self.core.buffer.is_half_full() {
                std::thread::park();
            }
        }
    }

    fn round(&mut self, unfinished_too: bool) {
        if self.file.has_failed() {
            // What can't be written stays in the buffer, so that writers count what finds no room.
            return;
        }
        self.seen();
        self.drain.copy(&self.core, &mut self.file, unfinished_too);
        let ended = self.core.take_ended();
        self.bury(&ended);
        self.file.flush();
    }

    /// Writes what is left to say of threads that ended, once their last chunk is copied.
    fn bury(&mut self, ended: &[Arc<Writer>]) {
        if ended.is_empty() {
            return;
        }
        // They ended after the copy began, maybe.
        self.drain.copy(&self.core, &mut self.file, false);
        for writer in ended {
            self.farewell(writer);
            if let Some(identity) = writer.identity() {
                self.core.retire(identity);
            }
        }
    }

    fn end(mut self) -> Result<Summary, Error> {
        self.seen();
        self.images();
        self.drain.copy(&self.core, &mut self.file, true);
        for writer in self.core.take_all() {
            self.farewell(&writer);
        }
        self.strays();
        self.own_packet(|to| mark(to, "protolog session stopped"));
        self.core.buffer.discard();
        let losses = self.totals();
        let messages = self.drain.messages;
        Ok(Summary { messages, bytes: self.file.finish()?, losses })
    }

    /// Names the thread, in Perfetto's terms and in ours, and says what was lost since its last chunk began. State is
    /// cleared, since Perfetto skips the name of a sequence that never had any: one that found no chunk at all.
    fn farewell(&mut self, writer: &Writer) {
        let pid = self.core.pid;
        let thread = &writer.thread;
        let losses = Self::take(&writer.losses);
        self.packet(sequence(writer.id), |to| {
            to.uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
            to.nested(packet::THREAD_DESCRIPTOR)
                .uint32(thread_descriptor::PID, pid)
                .uint32(thread_descriptor::TID, thread.id)
                .string(thread_descriptor::THREAD_NAME, thread.name());
            to.nested(packet::SEQUENCE_INFO)
                .uint32(sequence_info::PID, pid)
                .uint32(sequence_info::TID, thread.id)
                .string(sequence_info::THREAD_NAME, thread.name());
            append(to, &losses);
        });
        self.count(&losses);
    }

    /// Writes the losses of threads that had no sequence.
    fn strays(&mut self) {
        let mut losses = Self::take(&self.core.strays);
        losses.extend(STRAYS.since(&self.strays, |group, severity| {
            let levels = self.dictionary.group(group).map(|name| self.core.wanted.levels(name));
            levels.is_none_or(|levels| levels & 1 << severity != 0)
        }));
        if !losses.is_empty() {
            self.own_packet(|to| append(to, &losses));
            self.count(&losses);
        }
    }

    /// Counts losses that the trace tells of.
    fn count(&self, losses: &[Counted]) {
        for lost in losses {
            self.core.totals.add(lost.group, lost.cause, lost.count);
        }
    }

    /// Takes the losses that no packet tells of yet.
    fn take(losses: &Losses) -> Vec<Counted> {
        let mut taken = Vec::new();
        losses.take(|lost| {
            taken.push(lost);
            true
        });
        taken
    }

    fn totals(&self) -> Vec<Loss> {
        let mut losses = Vec::new();
        self.core.totals.take(|Counted { group, cause, count }| {
            let group = self.dictionary.group(group).map(str::to_owned);
            losses.push(Loss { group, cause, count });
            true
        });
        losses.sort();
        losses
    }

    fn images(&mut self) {
        let file = &mut self.file;
        self.dictionary.images(&mut |packet| file.packet(OWN_SEQUENCE, packet));
    }

    fn seen(&mut self) {
        let file = &mut self.file;
        self.dictionary.seen(&mut |packet| file.packet(OWN_SEQUENCE, packet));
    }

    fn own_packet(&mut self, fill: impl FnOnce(&mut Message<'_, Heap>)) {
        self.packet(OWN_SEQUENCE, fill);
    }

    fn packet(&mut self, sequence: u32, fill: impl FnOnce(&mut Message<'_, Heap>)) {
        let mut writer = protozero::Writer::new(Heap::new());
        fill(&mut writer.message());
        if let Ok(packet) = writer.into_vec() {
            self.file.packet(sequence, &packet);
        }
    }
}

/// Appends records of losses.
fn append(to: &mut Message<'_, Heap>, losses: &[Counted]) {
    for lost in losses {
        to.bytes(packet::LOSS, loss_record(*lost).bytes());
    }
}

/// Ties BOOTTIME to the clocks that people and other traces use.
fn wall_clock(to: &mut Message<'_, Heap>) {
    let mut snapshot = to.nested(packet::CLOCK_SNAPSHOT);
    for (id, nanos) in clock::snapshot() {
        snapshot
            .nested(clock_snapshot::CLOCKS)
            .uint32(clock_field::CLOCK_ID, id)
            .uint64(clock_field::TIMESTAMP, nanos);
    }
    snapshot.uint32(clock_snapshot::PRIMARY_TRACE_CLOCK, clock_id::BOOTTIME);
}

/// Names the process, in Perfetto's terms and in ours.
fn process(to: &mut Message<'_, Heap>, pid: u32) {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let name = arguments.first().map_or("", String::as_str);
    let mut track = to.nested(packet::TRACK_DESCRIPTOR);
    track.uint64(track_descriptor::UUID, track_of(pid));
    let mut process = track.nested(track_descriptor::PROCESS);
    process.uint32(process_descriptor::PID, pid);
    for argument in &arguments {
        process.string(process_descriptor::CMDLINE, argument);
    }
    process.string(process_descriptor::PROCESS_NAME, name);
    drop(process);
    drop(track);
    to.nested(packet::SEQUENCE_INFO).uint32(sequence_info::PID, pid);
}

/// An instant on the process's track: with nothing but messages, Perfetto takes a trace for empty.
fn mark(to: &mut Message<'_, Heap>, name: &str) {
    to.uint64(packet::TIMESTAMP, clock::boottime());
    to.nested(packet::TRACK_EVENT)
        .uint32(track_event::TYPE, track_event::TYPE_INSTANT)
        .uint64(track_event::TRACK_UUID, track_of(std::process::id()))
        .string(track_event::NAME, name);
}

/// The process's track: any number that is not 0 and that no other process's trace has.
fn track_of(pid: u32) -> u64 {
    protolog_core::hash(format!("protolog process {pid}").as_bytes()) | 1
}
