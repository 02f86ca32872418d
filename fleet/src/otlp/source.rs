//! One trace, sent part by part, as far as it is written.
//!
//! A trace is read from its beginning, since a part needs the state that those before it have left;
//! what was sent by an earlier run is passed over. One that is compressed as a whole, damaged, or
//! made of a recording is read whole instead.
//!
//! Invariants: a part ends where a packet does, and is noted when all of it is handed over; memory
//! is that of a part, and of the trace where it is read whole.

use std::cmp::Ordering;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use protolog_core::hash;
use protolog_reader::{ByteSource, FileBytes, Follower, Item, Log, Recording, session_id};

use super::output::{Output, Stop};
use super::reading::Reading;
use super::records::Recorder;
use super::ring::source_of_recording;
use super::state::Sent;
use crate::failure::Failure;
use crate::traces::{Completion, IDENTITY, TraceLog, TracePath, completed, identity};

/// The most bytes of a part, but for a packet that is larger.
const PART: usize = 1 << 20;

/// Looks without a change until it is asked whether the process still runs, at first and at last:
/// the number doubles.
const FIRST_CHECK: u32 = 5;
const LAST_CHECK: u32 = 160;

/// A trace that is smaller than what tells it from others, or that is read whole, is taken as it is
/// when nothing was added for so long: it may be compressed just now.
const SETTLED: Duration = Duration::from_secs(5);

/// The first byte of every trace.
const PACKET: u8 = 0x0a;

/// A trace that can be read part by part.
pub(super) struct TraceSource {
    pub(super) path: TracePath,
    /// The size that the file had when it was looked for; that of a link, if it is one.
    pub(super) listed: u64,
    file: File,
    /// The first bytes, by which it is known again.
    head: Vec<u8>,
    session: [u8; 16],
    follower: Follower,
    recorder: Recorder,
    pub(super) source: Arc<str>,
    at: u64,
    /// The end of the part that is sent.
    end: u64,
    part: usize,
    sent: Sent,
    idle: u32,
    next_check: u32,
    /// All of it could be read, so far.
    pub(super) is_whole: bool,
}

/// The outlook of a trace after a look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// There is more at once.
    More,
    /// Nothing was added; it may be.
    Idle,
    /// Nothing will be added.
    Ended,
    /// A part of it can't be read part by part.
    Damaged,
}

/// The result of opening a file.
pub(super) enum Opened {
    Parts(Box<TraceSource>),
    /// It is to be read whole.
    Whole,
    /// Not all of what is needed may be there yet.
    NotYet,
}

impl TraceSource {
    pub(super) fn open(
        path: &TracePath,
        mut file: File,
        reading: &Reading,
        out: &mut Output,
    ) -> Result<Opened, Failure> {
        let failed = |error: io::Error| Failure::cant_read(&path.path, &error);
        let mut head = Vec::new();
        file.by_ref().take(IDENTITY as u64).read_to_end(&mut head).map_err(failed)?;
        // Others are read whole, and again whenever they have grown.
        if reading.follow && (head.len() < IDENTITY || head.first() != Some(&PACKET)) {
            let age = file.metadata().and_then(|it| it.modified()).map(|time| time.elapsed());
            if !age.is_ok_and(|age| age.is_ok_and(|age| age > SETTLED)) {
                return Ok(Opened::NotYet);
            }
        }
        let session = session_id(&head);
        // Others may have their dictionary at the end.
        if head.first() != Some(&PACKET) || !reading.follow && session == [0; 16] {
            return Ok(Opened::Whole);
        }
        let bytes = FileBytes::new(file.try_clone().map_err(failed)?).map_err(failed)?;
        let source: Arc<str> = identity(&bytes).map_err(failed)?.into();
        let sent = out.sent(&source);
        out.count_again(&source);
        Ok(Opened::Parts(Box::new(Self {
            path: path.clone(),
            listed: 0,
            file,
            head,
            session,
            follower: Follower::new(reading.dictionaries.clone()),
            recorder: Recorder::new(&source, &reading.labels),
            source,
            at: 0,
            end: u64::MAX,
            part: PART,
            sent,
            idle: 0,
            next_check: FIRST_CHECK,
            is_whole: true,
        })))
    }

    /// Returns whether the file still begins as it did: it may have been written anew.
    pub(super) fn is_same(&self) -> bool {
        let mut head = vec![0; self.head.len()];
        self.file.read_exact_at(&mut head, 0).is_ok() && head == self.head
    }

    /// Sends no more than there is now.
    pub(super) fn end(&mut self) {
        self.end = self.size();
    }

    /// Sends the next part.
    pub(super) fn look(&mut self, out: &mut Output) -> Result<Look, Stop> {
        let bytes = self.next_bytes().map_err(|error| self.failed(&error))?;
        let is_large = bytes.len() >= self.part;
        let Some(taken) = self.send(&bytes, out)? else { return Ok(Look::Damaged) };
        if taken == 0 && self.at < self.sent.bytes && !bytes.is_empty() {
            // What was sent does not end with a packet of this file: from here on it is sent again.
            self.sent = Sent { bytes: self.at, ..Sent::default() };
            return Ok(Look::More);
        }
        // A packet that is not whole is larger than a part, or still being written.
        self.part = if taken == 0 && is_large { self.part * 2 } else { PART };
        if taken > 0 || is_large {
            (self.idle, self.next_check) = (0, FIRST_CHECK);
            return Ok(Look::More);
        }
        self.idle += 1;
        let is_ended = self.follower.is_unended() == Some(false) && !self.has_rest();
        Ok(if is_ended { Look::Ended } else { Look::Idle })
    }

    /// Sends what is in the recording of a process that died. None if it is not time to ask again.
    pub(super) fn complete_if_due(&mut self, out: &mut Output) -> Result<Option<Rest>, Stop> {
        if self.idle < self.next_check {
            return Ok(None);
        }
        self.next_check = self.idle + (self.next_check * 2).min(LAST_CHECK);
        self.complete(out).map(Some)
    }

    /// Sends what is in the recording of the process, if it died.
    pub(super) fn complete(&mut self, out: &mut Output) -> Result<Rest, Stop> {
        let bytes = self.file.try_clone().and_then(FileBytes::new);
        let bytes = bytes.map_err(|error| self.failed(&error))?;
        let done = completed(&self.path.path, self.session, &bytes);
        match done.map_err(|error| self.failed(&error))? {
            Completion::Running => Ok(Rest::Running),
            Completion::Unknown => Ok(Rest::Unknown),
            Completion::Complete(trace) => {
                let rest = trace.get(self.at as usize..).unwrap_or_default();
                // A run before this one may have sent a part of it.
                let new = (self.sent.bytes.saturating_sub(self.at) as usize).min(rest.len());
                let (old, new) = rest.split_at(new);
                let is_read = self.send(old, out)?.is_some() && self.send(new, out)?.is_some();
                Ok(if is_read { Rest::Sent } else { Rest::Unknown })
            }
        }
    }

    /// The size of the file.
    pub(super) fn size(&self) -> u64 {
        self.file.metadata().map_or(self.at, |file| file.len())
    }

    /// Returns whether there are bytes that are no whole packet.
    pub(super) fn has_rest(&self) -> bool {
        self.file.metadata().is_ok_and(|file| file.len() > self.at)
    }

    fn next_bytes(&mut self) -> io::Result<Vec<u8>> {
        let most = match self.at.cmp(&self.sent.bytes) {
            Ordering::Less => self.sent.bytes - self.at,
            // The part of which some items were sent.
            Ordering::Equal if self.sent.items > 0 => self.sent.of,
            _ => u64::MAX,
        };
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(self.at))?;
        let part = if most == self.sent.of { most } else { most.min(self.part as u64) };
        let part = part.min(self.end.saturating_sub(self.at));
        (&self.file).take(part).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Sends the items of the next bytes, or passes over them if they were sent. Returns the number
    /// that were taken; none if they are damaged.
    fn send(&mut self, bytes: &[u8], out: &mut Output) -> Result<Option<usize>, Stop> {
        if bytes.is_empty() {
            return Ok(Some(0));
        }
        let (recorder, is_new) = (&mut self.recorder, self.at >= self.sent.bytes);
        let is_whole = &mut self.is_whole;
        let of = bytes.len() as u64;
        let known = self.at == self.sent.bytes && self.sent.of == of;
        let mut before = if known { self.sent.items } else { 0 };
        if is_new {
            out.begin_part(&self.source, Sent { bytes: self.at, items: before, of, ..self.sent });
        }
        let show = |log: &Log| {
            *is_whole &= log.is_complete();
            for item in log.items() {
                if !is_new || before > 0 && is_record(&item) {
                    before = before.saturating_sub(1);
                    recorder.pass(log, &item, out);
                } else {
                    recorder.push(log, &item, out.observed, out);
                }
            }
            recorder.count_passed_over(log, out);
        };
        let Ok(taken) = self.follower.read(bytes, |_| None, show) else {
            out.end_part();
            return Ok(None);
        };
        self.at += taken as u64;
        if is_new && taken > 0 {
            self.sent = Sent { bytes: self.at, ..Sent::default() };
            out.mark(&self.source, self.sent)?;
        }
        out.end_part();
        Ok(Some(taken))
    }

    fn failed(&self, error: &dyn Display) -> Stop {
        Failure::cant_read(&self.path.path, error).into()
    }
}

/// Returns whether an item becomes a record.
fn is_record(item: &Item<'_>) -> bool {
    matches!(item, Item::Entry(_) | Item::Loss(_))
}

/// The rest of a trace, as its recording has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// The process runs.
    Running,
    /// The process died, and all that it left is sent.
    Sent,
    /// There is no recording, or it has nothing more.
    Unknown,
}

/// Sends a trace that can't be read part by part, but for the items that were sent before. Returns
/// what tells it from others, and whether all of it could be read.
pub(super) fn send_whole(
    path: &TracePath,
    reading: &Reading,
    out: &mut Output,
) -> Result<(Arc<str>, bool), Stop> {
    let failed = |error: io::Error| Failure::cant_read(&path.path, &error);
    let bytes = path.open().and_then(FileBytes::new).map_err(failed)?;
    let head = bytes.read_at(0, IDENTITY).map_err(failed)?;
    let mut trace = TraceLog::open(path, &reading.dictionaries)?;
    let is_recording = Recording::matches(&head);
    let (source, content) = if is_recording {
        // It has the same size whatever is in it.
        let content = bytes.read_at(0, Recording::MAX_BYTES as usize).map_err(failed)?;
        (source_of_recording(&head), hash(&content))
    } else {
        (trace.source.as_str().into(), bytes.size())
    };
    let mut recorder = Recorder::new(&source, &reading.labels);
    let mut sent = out.sent(&source);
    if is_recording {
        recorder.count_after(out.count_on(&source));
    } else {
        out.count_again(&source);
    }
    // It was sent part by part, and compressed since.
    let is_sent = sent.bytes > 0 && sent.bytes >= trace.size;
    let mut before = if sent.of == content { sent.items } else { 0 };
    if is_sent {
        before = u64::MAX;
    } else {
        (sent.items, sent.of) = (before, content);
    }
    out.begin_part(&source, sent);
    while trace.next_page()? {
        let log = trace.pages.log();
        for item in log.items().filter(is_record) {
            if before > 0 {
                before -= 1;
                recorder.pass(log, &item, out);
            } else {
                sent.items += 1;
                recorder.push(log, &item, out.observed, out);
            }
        }
        if out.is_gone() {
            return Err(Stop::Sender);
        }
    }
    recorder.count_passed_over(trace.pages.log(), out);
    out.mark(&source, sent)?;
    Ok((source, trace.pages.log().is_complete()))
}
