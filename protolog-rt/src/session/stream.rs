//! A session's thread: it turns chunks into a file until the session ends.
//!
//! It sleeps until half of the buffer waits for it, a writer finds no free chunk, or the session's owner wants something.
//!
//! Invariant: only this thread reads the buffer and writes the file.

use super::chunk_wait;
use super::core::Core;
use super::counts::Counts;
use super::drain::Drain;
use super::file;
use super::segments::Segments;
use super::trace::{End, Trace};
use crate::error::Error;
use crate::loss::LossCount;
use crate::stats::{GroupStats, Summary};
use crate::sys::thread::block_signals;
use crate::writer::Writer;
use crate::writer::reclaim::LOOK_NANOS;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The session's thread, before it runs.
#[derive(Debug)]
pub(super) struct Stream {
    core: Arc<Core>,
    requests: Arc<Requests>,
    trace: Trace,
    drain: Drain,
    /// Where the trace is several files.
    segments: Option<Segments>,
    /// What became of those before this one.
    whole: Summary,
    /// The losses that they tell of.
    told: Vec<LossCount>,
    /// Why one of them is not whole, or not there.
    gone: Option<Error>,
    /// Whether it is time for the next file, and that could not be begun.
    is_stuck: bool,
    /// When to look for idle chunks again, if room is scarce and there are none.
    patience: Duration,
}

/// How long a chunk is idle before it is taken back, if room is scarce.
const LOOK: Duration = Duration::from_nanos(LOOK_NANOS);

/// The most that this may grow to while there is nothing to take back.
const LONGEST_LOOK: Duration = Duration::from_millis(128);

/// What the session's owner wants of the thread.
#[derive(Debug, Default)]
pub(super) struct Requests {
    state: Mutex<State>,
    flushed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    stop: bool,
    /// Flushes wanted so far.
    wanted: u64,
    /// Flushes done so far.
    done: u64,
    /// Why the last flush failed, if it did.
    failed: Option<io::Error>,
    so_far: SoFar,
}

/// How far the file had come at the last flush.
#[derive(Clone, Debug, Default)]
pub(super) struct SoFar {
    /// Messages in it.
    pub(super) messages: u64,
    /// Its size in bytes.
    pub(super) bytes: u64,
    /// Losses of threads that ended.
    pub(super) told: Vec<LossCount>,
    /// What files before this one had.
    pub(super) whole: Vec<GroupStats>,
    /// What this one has.
    pub(super) counts: Counts,
    /// What could not be written, and no file tells of yet.
    pub(super) lost: Counts,
}

impl Requests {
    /// Makes the thread end.
    pub(super) fn stop(&self) {
        self.lock().stop = true;
        self.flushed.notify_all();
    }

    /// Makes the thread write what is committed, with `wake`, and waits for it. An error where the file can't be written.
    pub(super) fn flush(&self, wake: impl FnOnce()) -> io::Result<()> {
        let mut state = self.lock();
        state.wanted += 1;
        let ticket = state.wanted;
        drop(state);
        wake();
        let state = self.lock();
        let until = self.flushed.wait_while(state, |state| state.done < ticket && !state.stop);
        let state = until.unwrap_or_else(PoisonError::into_inner);
        state.failed.as_ref().map_or(Ok(()), |error| Err(file::copy(error)))
    }

    /// As [`Self::flush`], but waits at most `limit`, and says nothing.
    pub(super) fn flush_within(&self, limit: Duration, wake: impl FnOnce()) {
        let mut state = self.lock();
        state.wanted += 1;
        let ticket = state.wanted;
        drop(state);
        wake();
        let is_pending = |state: &mut State| state.done < ticket && !state.stop;
        drop(self.flushed.wait_timeout_while(self.lock(), limit, is_pending));
    }

    /// How far the file had come at the last flush.
    pub(super) fn so_far(&self) -> SoFar {
        self.lock().so_far.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    /// A thread that goes on with `trace`, and then with further `segments`.
    pub(super) fn new(
        core: Arc<Core>,
        requests: Arc<Requests>,
        trace: Trace,
        segments: Option<Segments>,
    ) -> Self {
        let (drain, whole, told) = (Drain::default(), Summary::default(), Vec::new());
        let (gone, is_stuck, patience) = (None, false, LOOK);
        Self { core, requests, trace, drain, segments, whole, told, gone, is_stuck, patience }
    }

    /// Copies until the session is stopped; then writes what is left to say.
    pub(super) fn run(mut self) -> Result<Summary, Error> {
        block_signals();
        chunk_wait::never_wait_here();
        loop {
            let State { stop, wanted, done, .. } = *self.requests.lock();
            if stop {
                return self.end();
            }
            let flush = wanted > done;
            self.try_again(flush);
            let failed = self.trace.file.has_failed();
            let left = self.segments.as_ref().filter(|_| !failed).and_then(Segments::left);
            let old = left.is_some_and(|left| left.is_zero());
            self.round(flush || old);
            if old {
                self.grow_old();
            }
            if flush {
                let so_far = self.so_far();
                let mut state = self.requests.lock();
                state.done = wanted;
                state.so_far = so_far;
                state.failed = self.trace.file.failure();
                self.requests.flushed.notify_all();
            } else if !self.core.buffer.is_half_full() {
                match left.filter(|_| !old) {
                    Some(left) => self.rest(left),
                    None if old => {}
                    None => self.rest(Duration::MAX),
                }
            }
        }
    }

    /// How far the file has come.
    fn so_far(&self) -> SoFar {
        let file = &self.trace.file;
        let counts = file.counts.except(&file.lost);
        SoFar {
            messages: self.whole.messages + counts.messages(),
            bytes: self.whole.bytes + file.written(),
            told: [self.told.clone(), self.trace.told()].concat(),
            whole: self.whole.groups.clone(),
            counts,
            lost: file.gap.messages.clone(),
        }
    }

    /// Goes on with a file that could not be written, where it can be written again.
    fn try_again(&mut self, at_once: bool) {
        if !self.trace.file.try_again(at_once) {
            return;
        }
        if self.is_stuck {
            return self.rotate(&[]);
        }
        self.trace.go_on_after_gap();
        self.drain.set_up_again();
    }

    /// Copies what the buffer has to the file; to one that can't be written too, so that what is lost is counted by group.
    fn round(&mut self, unfinished_too: bool) {
        self.trace.follow_wall_clock();
        self.trace.seen();
        self.copy(unfinished_too, &[]);
        let ended = self.core.take_ended();
        self.bury(&ended);
        self.trace.catch_up();
        self.trace.file.flush();
    }

    /// Copies what the buffer has, to as many files as it takes; `ended` are writers that no list has any more.
    fn copy(&mut self, unfinished_too: bool, ended: &[Arc<Writer>]) {
        while !self.drain.copy(&self.core, &mut self.trace.file, unfinished_too) {
            self.rotate(ended);
        }
    }

    /// Sleeps until there is something to do, at most so long. While room is scarce it takes chunks back from threads that
    /// leave them idle.
    fn rest(&mut self, most: Duration) {
        if !self.core.buffer.is_scarce() {
            self.patience = LOOK;
            return if most == Duration::MAX { thread::park() } else { thread::park_timeout(most) };
        }
        if self.core.reclaim() > 0 {
            self.patience = LOOK;
            return;
        }
        thread::park_timeout(self.patience.min(most));
        self.patience = (2 * self.patience).min(LONGEST_LOOK);
    }

    /// Writes what is left to say of threads that ended, once their last chunk is copied.
    fn bury(&mut self, ended: &[Arc<Writer>]) {
        if ended.is_empty() {
            return;
        }
        // They ended after the copy began, maybe.
        self.copy(false, ended);
        for writer in ended {
            self.trace.farewell(writer, None);
            if let Some(identity) = writer.identity() {
                self.core.retire(identity);
            }
        }
    }

    /// Ends the file if there is something in it.
    fn grow_old(&mut self) {
        if !self.drain.written.is_empty() {
            self.rotate(&[]);
        } else if let Some(segments) = &mut self.segments {
            segments.begin_again();
        }
    }

    /// Ends the file and goes on with the next one, if this one has all that it was given.
    fn rotate(&mut self, ended: &[Arc<Writer>]) {
        let Some(segments) = &mut self.segments else { return };
        // One that can't be written now may be whole later.
        self.trace.file.flush();
        if self.trace.file.has_failed() {
            return;
        }
        let file = match segments.open() {
            Ok(file) => file,
            Err(error) => {
                self.is_stuck = true;
                return self.trace.file.fail(error);
            }
        };
        self.is_stuck = false;
        self.trace.images();
        for writer in self.core.all_writers().iter().chain(ended) {
            if self.drain.written.contains(&writer.id) {
                self.trace.farewell(writer, None);
            }
        }
        let next = Trace::go_on(Arc::clone(&self.core), file);
        let old = std::mem::replace(&mut self.trace, next);
        let End { summary, told, before, gap, error } = old.end("protolog session goes on");
        self.whole.add(summary);
        self.told.extend(told);
        self.trace.file.gap.add(gap);
        self.trace.lost_before(before);
        // It is told at the end; what comes has files of its own.
        self.gone = self.gone.take().or(error);
        self.drain.next_file();
    }

    fn end(mut self) -> Result<Summary, Error> {
        self.try_again(true);
        self.trace.seen();
        self.trace.images();
        self.copy(true, &[]);
        for writer in self.core.take_writers() {
            self.trace.farewell(&writer, None);
        }
        self.core.buffer.discard();
        let End { summary, error, .. } = self.trace.end("protolog session stopped");
        self.whole.add(summary);
        self.gone.or(error).map_or(Ok(self.whole), Err)
    }
}
