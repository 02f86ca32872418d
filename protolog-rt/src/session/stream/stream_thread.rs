//! The thread of a session that streams: it copies chunks into a file until the session ends.
//!
//! It sleeps until 2 MiB of the buffer are complete, or half of a small one, a writer finds no free
//! chunk, the session is flushed or stopped, or a second has passed in which something was logged.
//! While nobody logs it has the chunks of idle threads reclaimed, and then sleeps without a limit:
//! the next message takes a chunk, which wakes it.
//!
//! Invariant: only this thread reads the buffer and writes the file.

mod outside;

pub(in crate::session) use outside::Reopen;

use crate::error::Error;
use crate::loss::LossCount;
use crate::session::arbiter::chunk_wait;
use crate::session::arbiter::requests::{Pending, Requests, SoFar};
use crate::session::arbiter::session_arbiter::Core;
use crate::session::file::segments::Segments;
use crate::session::file::trace_file::TraceFile;
use crate::session::finish::loss_report;
use crate::session::finish::stop_error::StopError;
use crate::session::packets::dictionary::Dictionary;
use crate::session::recording::progress::Progress;
use crate::session::stream::drain::Drain;
use crate::session::stream::trace::{Trace, TraceEnd};
use crate::stats::Summary;
use crate::sys::thread::block_signals;
use crate::writer::Writer;
use crate::writer::reclaim::POLL_NANOS;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

/// The session's thread, before it runs.
#[derive(Debug)]
pub(in crate::session) struct Stream {
    core: Arc<Core>,
    requests: Arc<Requests>,
    trace: Trace,
    drain: Drain,
    /// The files of the trace, if it is several.
    segments: Option<Segments>,
    /// The way to another file, if it is one.
    reopen: Option<Reopen>,
    /// Messages and drops of the segments before this one.
    earlier: Summary,
    /// The drops that those segments report.
    reported: Vec<LossCount>,
    /// Those of them that this one reports again, since the file that did is deleted, or lacks
    /// them.
    again: Vec<LossCount>,
    /// The first error of an earlier file.
    failed_file: Option<Error>,
    /// The file was deleted, and there is no other one yet.
    is_deleted: bool,
    /// The next segment is due, and could not be created.
    is_rotation_pending: bool,
    /// When the packets of chunks that are still being written are copied next.
    next_write: Instant,
    /// Nothing was logged for a while.
    is_quiet: bool,
    /// The time until the next look for idle chunks, while free chunks are scarce.
    poll_interval: Duration,
}

/// The longest time for which a message is in the buffer only.
const WRITE_INTERVAL: Duration = Duration::from_secs(1);

/// The time for which a chunk is idle before it is reclaimed, while free chunks are scarce.
const POLL_INTERVAL: Duration = Duration::from_nanos(POLL_NANOS);

/// The most that it grows to while there is nothing to reclaim.
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(128);

impl Stream {
    /// A thread that continues `trace`, and then further `segments`, or other files if somebody
    /// takes this one away.
    pub(in crate::session) fn new(
        core: Arc<Core>,
        requests: Arc<Requests>,
        trace: Trace,
        segments: Option<Segments>,
        reopen: Option<Reopen>,
    ) -> Self {
        let mut trace = trace;
        let mut drain = Drain::new(
            core.stream_recording().map(|recording| Progress::new(Arc::clone(recording))),
        );
        drain.begin_file(&mut trace.file, &[]);
        Self {
            core,
            requests,
            trace,
            drain,
            segments,
            reopen,
            earlier: Summary::default(),
            reported: Vec::new(),
            again: Vec::new(),
            failed_file: None,
            is_deleted: false,
            is_rotation_pending: false,
            next_write: Instant::now() + WRITE_INTERVAL,
            is_quiet: false,
            poll_interval: POLL_INTERVAL,
        }
    }

    /// Copies until the session is stopped; then writes the trailer. The stream is given to the
    /// thread once it is complete, and never if the start of the session failed.
    pub(in crate::session) fn run_given(given: &Receiver<Self>) -> Result<Summary, StopError> {
        block_signals();
        given.recv().map_or_else(|_| Ok(Summary::default()), Self::run)
    }

    fn run(mut self) -> Result<Summary, StopError> {
        let _running = self.requests.running();
        chunk_wait::never_wait_here();
        loop {
            let Pending { stop, flush } = self.requests.pending();
            if stop {
                return self.end();
            }
            self.follow_outside_change(false);
            self.retry_if_due(flush.is_some());
            let failed = self.trace.file.has_failed();
            let left = self.segments.as_ref().filter(|_| !failed).and_then(Segments::left);
            let old = left.is_some_and(|left| left.is_zero());
            let is_due = self.next_write <= Instant::now();
            let is_more_there = self.core.buffer.grow_if_half_used();
            self.copy_round(flush.is_some() || old || is_due);
            if is_more_there {
                self.core.announce_freed();
            }
            if is_due || flush.is_some() {
                loss_report::deleted_recording(&self.core);
            }
            if is_due {
                self.next_write = Instant::now() + WRITE_INTERVAL;
                let is_held_back = self.trace.report_held_back(&self.drain.written);
                self.is_quiet = !self.drain.take_copied() && !is_held_back;
            }
            if old {
                self.rotate_if_due();
            }
            if let Some(flush) = flush {
                let error = self.trace.file.failure();
                self.requests.finish_flush(flush, self.so_far(), error);
            } else if !self.core.buffer.is_due() {
                match left.filter(|_| !old) {
                    Some(left) => self.sleep(left),
                    None if old => {}
                    None => self.sleep(Duration::MAX),
                }
            }
        }
    }

    /// Returns the state of the file.
    fn so_far(&self) -> SoFar {
        let file = &self.trace.file;
        let counts = file.counts.except(&file.lost);
        SoFar {
            messages: self.earlier.messages + counts.messages(),
            bytes: self.earlier.bytes + file.written(),
            reported: [self.reported.clone(), self.trace.reported()].concat(),
            earlier: self.earlier.groups.clone(),
            counts,
            unreported: file.gap.clone(),
        }
    }

    /// Continues a file that could not be written, if it is time for an attempt.
    fn retry_if_due(&mut self, at_once: bool) {
        if !self.trace.file.retry(at_once) {
            return;
        }
        if self.is_rotation_pending {
            return self.rotate(&[]);
        }
        self.trace.continue_after_gap();
        self.drain.mark_states_stale();
    }

    /// Copies what the buffer has to the file; also to one that can't be written, so that drops are
    /// counted by group.
    fn copy_round(&mut self, unfinished_too: bool) {
        self.trace.follow_wall_clock();
        self.trace.write_interned();
        self.copy(unfinished_too, &[]);
        let ended = self.core.take_ended();
        self.finish_sequences(&ended);
        self.trace.write_missing_texts();
        self.trace.file.flush();
    }

    /// Copies the buffer's packets, to as many files as needed; `ended` are writers that were taken
    /// off the list.
    fn copy(&mut self, unfinished_too: bool, ended: &[Arc<Writer>]) {
        while !self.drain.copy(&self.core, &mut self.trace.file, unfinished_too) {
            self.rotate(ended);
        }
    }

    /// Sleeps until there is something to do, at most for `most`. While free chunks are scarce it
    /// reclaims those of idle threads.
    fn sleep(&mut self, most: Duration) {
        if !self.core.buffer.is_scarce() {
            self.poll_interval = POLL_INTERVAL;
            return self.sleep_until_write(most);
        }
        let most = most.min(self.next_write.saturating_duration_since(Instant::now()));
        if self.core.reclaim() > 0 {
            self.poll_interval = POLL_INTERVAL;
            return;
        }
        thread::park_timeout(self.poll_interval.min(most));
        self.poll_interval = (2 * self.poll_interval).min(MAX_POLL_INTERVAL);
    }

    /// Sleeps until the next write is due, at most for `most`; without a limit of its own once no
    /// thread has a chunk.
    fn sleep_until_write(&mut self, most: Duration) {
        if self.is_quiet && self.core.reclaim() > 0 {
            // They are freed first.
            return;
        }
        if self.is_quiet && self.core.begin_sleep() {
            if most == Duration::MAX {
                thread::park();
            } else {
                thread::park_timeout(most);
            }
            self.core.end_sleep();
            self.is_quiet = false;
            self.next_write = Instant::now() + WRITE_INTERVAL;
            return;
        }
        let left = self.next_write.saturating_duration_since(Instant::now());
        thread::park_timeout(left.min(most));
    }

    /// Finishes the sequences of threads that ended, once their last chunk is copied.
    fn finish_sequences(&mut self, ended: &[Arc<Writer>]) {
        if ended.is_empty() {
            return;
        }
        // They may have ended after the copy began.
        self.copy(false, ended);
        for writer in ended {
            self.trace.finish_sequence(writer, None);
            if let Some(identity) = writer.identity() {
                self.core.retire(identity);
            }
        }
    }

    /// Ends the file if there is something in it; its age is up.
    fn rotate_if_due(&mut self) {
        if !self.drain.written.is_empty() {
            self.rotate(&[]);
        } else if let Some(segments) = &mut self.segments {
            segments.restart_age();
        }
    }

    /// Ends the file and begins the next one, if this one could be written.
    fn rotate(&mut self, ended: &[Arc<Writer>]) {
        let Some(segments) = &mut self.segments else { return };
        // A file that can't be written now may be complete later.
        self.trace.file.flush();
        if self.trace.file.has_failed() {
            return;
        }
        let file = match segments.open() {
            Ok(file) => file,
            Err(error) => {
                self.is_rotation_pending = true;
                return self.trace.file.fail(error);
            }
        };
        self.is_rotation_pending = false;
        self.finish_file(ended);
        // `stop` returns it; the next session has files of its own.
        let error = self.continue_in(file);
        self.failed_file = self.failed_file.take().or(error);
    }

    /// Writes the ends of all sequences that the file has; `ended` are writers that were taken off
    /// the list.
    fn finish_file(&mut self, ended: &[Arc<Writer>]) {
        self.trace.write_module_texts();
        for writer in self.core.all_writers().iter().chain(ended) {
            if self.drain.written.contains(&writer.id) {
                self.trace.finish_sequence(writer, None);
            }
        }
    }

    /// Ends the file, and continues in the next one. Returns the error of the file that has ended.
    fn continue_in(&mut self, file: TraceFile) -> Option<Error> {
        let next = Trace::continued(Arc::clone(&self.core), file);
        let old = std::mem::replace(&mut self.trace, next);
        self.drain.lost_before += old.file.lost.messages();
        self.drain.removed_before += old.file.removed_messages();
        let TraceEnd { summary, reported, before, gap, error } =
            old.end("protolog session goes on");
        self.earlier.add(summary);
        for lost in reported {
            lost.add_to(&mut self.reported);
        }
        self.again.clone_from(&gap.reported);
        self.trace.file.take_over(gap);
        self.trace.skip_unattributed_before(before);
        self.begin_file();
        error
    }

    /// Has the recording follow a file that begins, or begins once more.
    fn begin_file(&mut self) {
        let mut elsewhere = self.reported.clone();
        self.again.iter().for_each(|lost| lost.take_from(&mut elsewhere));
        self.drain.begin_file(&mut self.trace.file, &elsewhere);
    }

    fn end(mut self) -> Result<Summary, StopError> {
        self.follow_outside_change(true);
        self.retry_if_due(true);
        if self.core.stream_recorder().is_some() {
            self.drain.keep_unwritten();
        }
        self.trace.write_interned();
        self.trace.write_module_texts();
        self.copy(true, &[]);
        // Threads that are within a message may finish it.
        while self.drain.take_copied() {
            self.copy(true, &[]);
        }
        for writer in self.core.take_writers() {
            self.trace.finish_sequence(&writer, None);
        }
        match self.core.stream_recorder().filter(|_| self.drain.is_left(&self.trace.file)) {
            Some(recorder) => recorder.leave(),
            None => {
                self.drain.release_pieces(&self.core);
                self.core.buffer.discard();
            }
        }
        let TraceEnd { summary, error, gap, .. } = self.trace.end("protolog session stopped");
        self.earlier.add(summary);
        let Some(error) = self.failed_file.or(error) else { return Ok(self.earlier) };
        // No trace reports the messages that this one lacks. The drops are among the losses of the
        // files already.
        let dictionary = Dictionary::known();
        let losses = dictionary.losses(dictionary.unwritten(&gap));
        let buffer = self.earlier.buffer;
        self.earlier.add(Summary { losses, buffer, ..Summary::default() });
        Err(StopError::new(error, self.earlier))
    }
}
