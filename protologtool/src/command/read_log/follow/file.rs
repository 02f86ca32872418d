//! A trace file that is followed.
//!
//! It may be replaced, or emptied, when the program starts again: then the new one is followed from its beginning. When its process dies,
//! the messages that did not reach it are taken from the recording of its session.
//!
//! Invariant: no byte of the file is shown twice; a packet that is not whole yet is left for the next look.

use super::{Growing, Outlook, Reading, Shower, Stopped};
use crate::command::complete::{Completed, Completion, HEAD, complete_by};
use crate::command::inputs::cant_read;
use crate::command::recover::counted;
use crate::system::System;
use protolog_reader::{Follower, Recording, printable, session_id};
use std::io;
use std::path::{Path, PathBuf};

/// The bytes that are read at once, unless a packet is larger.
const PART: usize = 32 << 20;
/// Looks without a change until it is asked whether the process still runs.
const IDLE_LOOKS: u32 = 5;

/// A file that grows.
pub(super) struct GrowingFile {
    path: PathBuf,
    reading: Reading,
    follower: Follower,
    /// The file's number and size at the last look.
    known: (u64, u64),
    taken: u64,
    /// Looks since the last change.
    idle: u32,
    recording: Option<PathBuf>,
    /// Its process died, and what its recording has is shown.
    is_complete: bool,
}

impl GrowingFile {
    pub(super) fn new(path: PathBuf, reading: Reading, system: &dyn System) -> io::Result<Self> {
        Ok(Self {
            known: system.identity(&path)?,
            follower: reading.follower(),
            path,
            reading,
            taken: 0,
            idle: 0,
            recording: None,
            is_complete: false,
        })
    }

    /// Begins anew, with the file that is there now.
    fn begin(&mut self) {
        self.follower = self.reading.follower();
        (self.taken, self.recording, self.is_complete) = (0, None, false);
    }

    /// Reads the file as the one that follows `before` in a set of segments.
    pub(super) fn go_on_from(&mut self, before: Self) {
        self.follower = before.follower;
        self.follower.next_trace();
    }

    /// Goes on under another name of the same file.
    pub(super) fn rename(&mut self, path: PathBuf) {
        self.path = path;
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether all that is in the file is shown.
    pub(super) fn is_read(&self) -> bool {
        self.idle > 0
    }

    /// Reads on to the end of the file.
    fn read_on(&mut self, show: &mut Shower<'_>, system: &dyn System) -> Result<(), Stopped> {
        let mut size = PART;
        loop {
            let bytes = system.read_from(&self.path, self.taken, size);
            let bytes = bytes.map_err(|error| cant_read(&self.path, &error))?;
            if bytes.is_empty() {
                return Ok(());
            }
            let taken = show.read(&mut self.follower, &bytes, &self.path)?;
            self.taken += taken as u64;
            if bytes.len() < size {
                return Ok(());
            }
            size = if taken == 0 { size.saturating_mul(2) } else { PART };
        }
    }

    /// Shows what did not reach the file, if its process has died.
    fn complete(&mut self, show: &mut Shower<'_>, system: &dyn System) -> Result<(), Stopped> {
        if self.recording.is_none() {
            let head = system.read_from(&self.path, 0, HEAD).unwrap_or_default();
            self.recording = system.find_recording(&self.path, session_id(&head));
        }
        let Some(recording) = self.recording.clone() else { return Ok(()) };
        let head = system.read_from(&recording, 0, super::HEAD).unwrap_or_default();
        let Ok(parsed) = Recording::parse(&head) else { return Ok(()) };
        // To try the file's lock is to hold it for a moment, in which the program can't start again.
        if system.is_directory(Path::new(&format!("/proc/{}", parsed.header().pid))) {
            return Ok(());
        }
        let Ok(mut bytes) = system.read(&self.path) else { return Ok(()) };
        let done = complete_by(&self.path, recording, &mut bytes, system);
        let Ok(Completion::Done(Completed { report, .. })) = done else { return Ok(()) };
        let added = counted(report.messages, "message", "messages");
        let shown = printable(&self.path.to_string_lossy());
        system.print_error(&format!(
            "note: the process of `{shown}` died; {added} more from its recording\n"
        ));
        if let Some(rest) = bytes.get(self.taken as usize..) {
            self.taken += show.read(&mut self.follower, rest, &self.path)? as u64;
        }
        self.is_complete = true;
        Ok(())
    }
}

impl Growing for GrowingFile {
    fn read(&mut self, show: &mut Shower<'_>, system: &dyn System) -> Result<Outlook, Stopped> {
        // A program that starts again removes the file before it makes the new one.
        let Ok(now) = system.identity(&self.path) else { return Ok(Outlook::Open) };
        if now.0 != self.known.0 || now.1 < self.taken && !self.is_complete {
            system.print_error("note: the file was replaced; this is the new one\n");
            self.begin();
        }
        let has_changed = self.taken == 0 || now != self.known;
        self.known = now;
        if has_changed {
            self.idle = 0;
            self.read_on(show, system)?;
        }
        self.idle += 1;
        if self.idle.is_multiple_of(IDLE_LOOKS) && !self.is_complete {
            self.complete(show, system)?;
        }
        Ok(Outlook::Open)
    }
}
