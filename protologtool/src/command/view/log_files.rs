//! The files of a log, watched for changes.
//!
//! A file that is written to has another size or time. Two do not: a recording is memory that its
//! process maps, and a trace becomes longer when its process dies, by the packets of its recording.
//! Directories have files that change, and others later.
//!
//! Invariant: reads the contents of recordings that are shown and in use alone; all else are facts
//! of files.

use crate::logs::completion::HEAD;
use crate::logs::trace_paths::expand;
use crate::system::System;
use protolog_reader::{Recording, session_id};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

/// The files that were named, and those in directories that were.
pub(super) struct LogFiles<'a> {
    paths: &'a [PathBuf],
    system: &'a dyn System,
    recordings: RefCell<Recordings>,
}

/// The recordings of a log: those that are traces of it, and those of its traces.
#[derive(Default)]
struct Recordings {
    /// The state of the files when these were looked for.
    files: String,
    found: Vec<LogRecording>,
}

/// A recording.
struct LogRecording {
    path: PathBuf,
    /// True if the log is its content, and not only its addition to a trace when its process is
    /// dead.
    is_shown: bool,
}

impl<'a> LogFiles<'a> {
    pub(super) fn new(paths: &'a [PathBuf], system: &'a dyn System) -> Self {
        Self { paths, system, recordings: RefCell::default() }
    }

    /// A text that changes whenever the log may have changed. It is short, however many files there
    /// are.
    pub(super) fn version(&self) -> String {
        let files = expand(self.paths, self.system);
        let files = files.unwrap_or_else(|_| self.paths.to_vec());
        let mut state = String::new();
        for file in &files {
            let _ = writeln!(state, "{} {}", file.display(), self.system.version(file));
        }
        let mut recordings = self.recordings.borrow_mut();
        if recordings.files != state {
            recordings.found = files.iter().filter_map(|file| self.recording_of(file)).collect();
            recordings.files.clone_from(&state);
        }
        for found in &recordings.found {
            let _ = writeln!(state, "{}", self.state_of(found));
        }
        let digest = Sha256::digest(state);
        super::admission::hex(&digest[..16])
    }

    /// The file itself if it is a recording, or else the recording of its session.
    fn recording_of(&self, file: &Path) -> Option<LogRecording> {
        if file == Path::new("-") || self.system.is_pipe(file) {
            return None;
        }
        let head = self.system.read_from(file, 0, HEAD).ok()?;
        if Recording::matches(&head) {
            return Some(LogRecording { path: file.to_owned(), is_shown: true });
        }
        let path = self.system.find_recording(file, session_id(&head))?;
        Some(LogRecording { path, is_shown: false })
    }

    /// The state of a recording: of one that is shown and in use, that of its contents.
    fn state_of(&self, LogRecording { path, is_shown }: &LogRecording) -> String {
        if !self.system.is_in_use(path) {
            return self.system.version(path);
        }
        if !is_shown {
            return "in use".to_owned();
        }
        let most = Recording::MAX_BYTES as usize;
        let content = self.system.read_from(path, 0, most).unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        hasher.write(&content);
        format!("in use {:x}", hasher.finish())
    }
}
