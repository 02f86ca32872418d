//! A trace file that is followed.
//!
//! When its process dies, the messages that did not reach it are taken from the recording of its
//! session. When the program starts again, the file may be replaced, or written anew: the rest of
//! the old one is shown first, and then the new one is followed from its beginning.
//!
//! ```text
//!   same content           read on; if nothing comes, ask whether the process lives
//!   name of another file   read on to the end of this one, complete it by its recording, go on with
//!                          the other
//!   other content          go on with it from its beginning
//!   cut off                wait: it is completed, or written anew
//!   no name                read on, until there is one again
//! ```
//!
//! Invariant: no byte of a trace is shown twice; a packet that is not whole yet is left for the
//! next look.

use super::super::block_output::Stopped;
use super::held::{Comparison, HeldFile};
use super::log::FollowedLog;
use super::{Growing, GrowingPages, Outlook, Reading};
use crate::logs::completion::{Completed, Completion, HEAD, complete_by};
use crate::logs::rescue::counted;
use crate::output::cant_read;
use crate::system::System;
use protolog_reader::{Recording, TraceHead, printable};
use std::io;
use std::path::{Path, PathBuf};

/// The bytes that are read at once, unless a packet is larger.
const PART: usize = 32 << 20;
/// Looks without a change until it is asked whether the process still runs.
const IDLE_LOOKS: u32 = 5;

/// A file that grows.
pub(super) struct GrowingFile {
    held: HeldFile,
    reading: Reading,
    log: FollowedLog,
    /// The session that writes it, when its first bytes were read.
    head: Option<TraceHead>,
    /// The session before, and whether its process died, until the one after it is known.
    before: Option<(TraceHead, bool)>,
    /// The file's size at the last look.
    size: u64,
    /// Looks since the last change.
    idle: u32,
    recording: Option<PathBuf>,
    /// Its process died, and the messages of its recording are shown.
    is_complete: bool,
}

impl GrowingFile {
    pub(super) fn new(path: PathBuf, reading: Reading, system: &dyn System) -> io::Result<Self> {
        Ok(Self {
            held: HeldFile::open(path, system)?,
            log: reading.log(),
            reading,
            head: None,
            before: None,
            size: 0,
            idle: 0,
            recording: None,
            is_complete: false,
        })
    }

    /// Reads the file as the one that follows `before` in a set of segments.
    pub(super) fn go_on_from(&mut self, before: Self) {
        let (own, other) = (self.read_head(), before.head.unwrap_or_default());
        if own.session_id == other.session_id {
            self.log = before.log;
            self.log.next_trace();
        } else {
            self.before = before.session();
        }
    }

    /// Closes the file until the next look.
    pub(super) fn close(&mut self) {
        self.held.close();
    }

    /// Goes on under another name of the same file.
    pub(super) fn rename(&mut self, path: PathBuf) {
        self.held.rename(path);
    }

    pub(super) fn path(&self) -> &Path {
        self.held.path()
    }

    /// Returns whether all that is in the file is shown.
    pub(super) fn is_read(&self) -> bool {
        self.idle > 0
    }

    /// The session that writes the file, and whether its process died.
    fn session(&self) -> Option<(TraceHead, bool)> {
        let is_unended = self.is_complete || self.log.is_unended();
        self.head.map(|head| (head, is_unended)).or(self.before)
    }

    fn read_head(&self) -> TraceHead {
        TraceHead::of(&self.held.read_start(HEAD).unwrap_or_default())
    }

    /// Begins anew, with the file that is there now. False if there is none.
    fn begin(&mut self, system: &dyn System) -> bool {
        let path = self.held.path().to_owned();
        let Ok(mut next) = Self::new(path, self.reading.clone(), system) else { return false };
        next.before = self.session();
        *self = next;
        true
    }

    /// Says which session the file is of, if another one was there before.
    fn announce(&mut self, system: &dyn System) {
        let head = self.read_head();
        self.head = Some(head);
        let Some((before, died)) = self.before.take() else { return };
        let is_same = head.session_id == before.session_id && head.session_id != [0; 16];
        let line = match (before.pid, head.pid) {
            // Somebody emptied or took away the file that it writes.
            (Some(old), Some(_)) if is_same => format!("process {old} goes on in a new trace"),
            (Some(old), Some(new)) if died && old != new => {
                format!("process {old} died, and {new} began")
            }
            (Some(old), Some(_)) if died => format!("process {old} died, and began again"),
            (Some(old), Some(new)) if old != new => {
                format!("process {old} ended its session, and {new} began one")
            }
            (Some(old), Some(_)) => format!("process {old} began another session"),
            _ => "the file was replaced; this is the new one".to_owned(),
        };
        system.print_error(&format!("note: {line}\n"));
    }

    /// Reads on to the end of the file.
    fn read_on(
        &mut self,
        show: &mut GrowingPages<'_, '_>,
        system: &dyn System,
    ) -> Result<(), Stopped> {
        let mut size = PART;
        loop {
            let bytes = self.held.read(size);
            let bytes = bytes.map_err(|error| cant_read(self.held.path(), &error))?;
            if bytes.is_empty() {
                return Ok(());
            }
            if self.head.is_none() {
                self.announce(system);
            }
            let taken = show.read(&mut self.log, &bytes, self.held.path())?;
            self.held.take(&bytes[..taken]);
            if bytes.len() < size {
                return Ok(());
            }
            size = if taken == 0 { size.saturating_mul(2) } else { PART };
        }
    }

    /// Shows the messages that did not reach the file, if its process has died.
    fn complete(
        &mut self,
        show: &mut GrowingPages<'_, '_>,
        system: &dyn System,
    ) -> Result<(), Stopped> {
        let path = self.held.path().to_owned();
        if self.recording.is_none() {
            self.recording = system.find_recording(&path, self.read_head().session_id);
        }
        let Some(recording) = self.recording.clone() else { return Ok(()) };
        let Ok(head) = system.read_recording(&recording, &path, super::HEAD as u64) else {
            return Ok(());
        };
        let Ok(parsed) = Recording::parse(&head) else { return Ok(()) };
        // To try the file's lock is to hold it for a moment, in which the program can't start
        // again. But within a container, and seen from outside of it, another process may have the
        // number.
        let process = PathBuf::from(format!("/proc/{}", parsed.header().pid));
        if system.is_directory(&process) && system.is_in_use(&recording) {
            return Ok(());
        }
        let Ok(mut bytes) = self.held.read_start(usize::MAX) else { return Ok(()) };
        let done = complete_by(&path, recording, &mut bytes, system);
        let Ok(Completion::Done(Completed { report, .. })) = done else { return Ok(()) };
        let added = counted(report.messages, "message", "messages");
        let shown = printable(&path.to_string_lossy());
        system.print_error(&format!(
            "note: the process of `{shown}` died; {added} more from its recording\n"
        ));
        if let Some(rest) = bytes.get(self.held.taken() as usize..) {
            let taken = show.read(&mut self.log, rest, &path)?;
            self.held.take(&rest[..taken]);
        }
        self.is_complete = true;
        Ok(())
    }

    /// Reads the additions to this file. True if there is another one in its place, which is next.
    fn look(
        &mut self,
        show: &mut GrowingPages<'_, '_>,
        system: &dyn System,
    ) -> Result<bool, Stopped> {
        let failed = |path: &Path, error: &io::Error| cant_read(path, error);
        // Before it is read: all bytes added until then are read.
        let is_replaced = self.held.is_replaced(system);
        let content = self.held.compare().map_err(|error| failed(self.held.path(), &error))?;
        if content == Comparison::Other {
            // One that its program has ended had nothing added.
            if !is_replaced && self.log.is_unended() {
                let shown = printable(&self.held.path().to_string_lossy());
                system.print_error(&format!(
                    "warning: `{shown}` was written anew; what was added to it since the last look is not shown\n"
                ));
            }
            return Ok(self.begin(system));
        }
        let size = self.held.size().map_err(|error| failed(self.held.path(), &error))?;
        if content == Comparison::Same && size != self.size {
            self.idle = 0;
            self.read_on(show, system)?;
        }
        self.size = size;
        if is_replaced {
            if !self.is_complete {
                self.complete(show, system)?;
            }
            return Ok(self.begin(system));
        }
        self.idle += 1;
        if self.idle.is_multiple_of(IDLE_LOOKS) && !self.is_complete {
            self.complete(show, system)?;
        }
        Ok(false)
    }
}

impl Growing for GrowingFile {
    fn read(
        &mut self,
        show: &mut GrowingPages<'_, '_>,
        system: &dyn System,
    ) -> Result<Outlook, Stopped> {
        // A program that starts again removes the file before it makes the new one.
        if !self.held.is_open() && self.held.open_again(system).is_err() {
            return Ok(Outlook::Open);
        }
        while self.look(show, system)? {}
        if !show.holds_files {
            self.held.close();
        }
        Ok(Outlook::Open)
    }
}
