//! The recording of a process that runs, and writes no trace: what is added to its ring is sent.
//!
//! Invariants: what was overwritten between two looks is a loss; no place is noted, so another run
//! sends what is in the ring again, with the same ids.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Arc;

use protolog_core::hash;
use protolog_reader::{Follower, Log, Recording, Tail};

use super::output::{Output, Stop};
use super::reading::Reading;
use super::records::Recorder;

use crate::failure::Failure;
use crate::traces::TracePath;

/// A recording that grows.
pub(super) struct RingSource {
    pub(super) source: Arc<str>,
    path: TracePath,
    file: File,
    tail: Tail,
    follower: Follower,
    recorder: Recorder,
    /// The last copy of the file.
    last: Vec<u8>,
}

impl RingSource {
    /// Follows an open recording with this head.
    pub(super) fn new(
        path: &TracePath,
        (file, head): (File, &[u8]),
        reading: &Reading,
        out: &mut Output,
    ) -> Self {
        let source = source_of_recording(head);
        let mut recorder = Recorder::new(&source, &reading.labels);
        recorder.count_after(out.count_on(&source));
        Self {
            source,
            path: path.clone(),
            file,
            tail: Tail::default(),
            follower: Follower::new(reading.dictionaries.clone()),
            recorder,
            last: Vec::new(),
        }
    }

    /// Sends what was added.
    pub(super) fn look(&mut self, out: &mut Output) -> Result<(), Stop> {
        let failed = |error: &dyn std::fmt::Display| Failure::cant_read(&self.path.path, error);
        let first = copy(&self.file).map_err(|error| failed(&error))?;
        if first == self.last {
            return Ok(());
        }
        let second = copy(&self.file).map_err(|error| failed(&error))?;
        let third = copy(&self.file).map_err(|error| failed(&error))?;
        let mut added = Vec::new();
        let read = self.tail.read([&first, &second, &third], &mut added);
        if read.map_err(|error| failed(&error))?.is_err() {
            // A new one may not have its head yet.
            return Ok(());
        }
        let recorder = &mut self.recorder;
        let show = |log: &Log| {
            log.items().for_each(|item| recorder.push(log, &item, out.observed, out));
            recorder.count_passed_over(log, out);
        };
        let read = self.follower.read(&added, |_| None, show);
        read.map_err(|error| failed(&error))?;
        self.last = first;
        if out.is_gone() { Err(Stop::Sender) } else { Ok(()) }
    }
}

/// The bytes of the header that stay the same as long as the recording is there: its process, its
/// clocks and its boot.
const HEADER: usize = 128;

/// The name that tells a recording with this head from others.
pub(super) fn source_of_recording(head: &[u8]) -> Arc<str> {
    format!("{:016x}", hash(&head[..head.len().min(HEADER)])).into()
}

fn copy(mut file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(Recording::MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
