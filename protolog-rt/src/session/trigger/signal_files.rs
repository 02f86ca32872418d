//! The files of sessions that fatal signals ended: made of their recordings when the next session
//! with the same triggers starts.
//!
//! Invariants
//! - A recording is removed when its file is complete on the disk; until then the same can be done
//!   again. Only recordings of this user are read, of processes that are dead, whose session had
//!   its triggers' files at the same path.
//! - Of the files of signals, as many stay as the triggers keep, those of earlier runs included: a
//!   program that crashes at each start fills no disk.
//! - No error here keeps a session from starting.

use crate::session::earlier::previous::claim_dead;
use crate::session::file::claim::Claim;
use crate::session::file::file_place::FilePlace;
use crate::session::file::temporary;
use crate::session::trigger::settings::KeptFiles;
use crate::sys::create::is_own;
use crate::sys::process::user;
use crate::text_queue;
use protolog_core::recorder::RING_AT;
use protolog_files::{Location, read_with_holes};
use protolog_recording::{FatalSignal, Recording, is_fatal_signal_file, is_recording_name, memory};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// The names to try where others are taken.
const NAMES: usize = 100;

/// The files to make.
#[derive(Debug)]
pub(in crate::session) struct SignalFiles<'a> {
    /// The place of the triggers' files.
    pub(in crate::session) place: &'a FilePlace,
    /// The recording at a path of its own, if sessions have it there.
    pub(in crate::session) recording: Option<&'a Path>,
    pub(in crate::session) mode: u32,
    pub(in crate::session) keep: KeptFiles,
    /// Whether standard error says what was made.
    pub(in crate::session) reports: bool,
}

impl SignalFiles<'_> {
    /// Makes them.
    pub(in crate::session) fn write(&self) {
        let mut is_any = false;
        for (place, path) in self.recordings() {
            let made = self.write_one(&place, &path).transpose();
            is_any |= matches!(made, Some(Ok(_)));
            let line = match made {
                None => continue,
                Some(Ok((file, signal))) => format!(
                    "protolog: the last run ended by {signal}; its messages are in `{}`\n",
                    file.display()
                ),
                Some(Err(error)) => {
                    let (path, of) = (path.display(), self.place.path().display());
                    format!(
                        "protolog: can't make a file beside `{of}` of the recording `{path}`: {error}\n\
                         help: run `protologtool recover {path} -o crash.pftrace`\n"
                    )
                }
            };
            if self.reports {
                text_queue::write_line(line.as_bytes());
            }
        }
        if is_any {
            self.remove_old();
        }
    }

    /// Returns the files that may be recordings.
    fn recordings(&self) -> Vec<(Location, PathBuf)> {
        let beside = self.place.path().parent().unwrap_or(Path::new("/"));
        let mut all = Vec::new();
        for directory in [memory(), beside] {
            let Ok(any) = Location::of(&directory.join("any")) else { continue };
            let names = any.siblings().unwrap_or_default();
            for name in names.iter().filter(|name| is_recording_name(name)) {
                all.extend(any.sibling(name).map(|place| (place, directory.join(name))));
            }
        }
        if let Some(path) = self.recording {
            all.extend(Location::of(path).map(|place| (place, path.to_path_buf())));
        }
        all.sort_by(|(_, one), (_, other)| one.cmp(other));
        all.dedup_by(|(_, one), (_, other)| one == other);
        all
    }

    /// Makes the file of a recording; none if there is nothing to do.
    fn write_one(
        &self,
        place: &Location,
        path: &Path,
    ) -> io::Result<Option<(PathBuf, &'static str)>> {
        if self.signal_of(place).is_none() {
            return Ok(None);
        }
        let Some(file) = claim_dead(place, path)? else { return Ok(None) };
        let bytes = read_with_holes(&file, 0, Recording::MAX_BYTES)?;
        let Some((recording, signal)) = self.parse(&bytes) else { return Ok(None) };
        let made = self.make(&recording, &signal)?;
        place.remove_if(&file)?;
        Ok(Some((made, signal.name)))
    }

    /// Returns the signal that ended a session with these triggers; none of other files.
    fn signal_of(&self, place: &Location) -> Option<FatalSignal> {
        // One of a session of this process is not even opened, since closing it releases the lock.
        if place.look().ok()?.owner() != user() || Claim::is_taken_at(place, None) {
            return None;
        }
        let file: File = place.open_regular().ok().filter(|file| is_own(file).unwrap_or(false))?;
        let mut bytes = Vec::new();
        file.take(RING_AT as u64).read_to_end(&mut bytes).ok()?;
        self.parse(&bytes).map(|(_, signal)| signal)
    }

    fn parse<'a>(&self, bytes: &'a [u8]) -> Option<(Recording<'a>, FatalSignal)> {
        let recording = Recording::parse(bytes).ok()?;
        let signal = recording.fatal_signal()?;
        (signal.files == self.place.path()).then_some((recording, signal))
    }

    /// Writes the trace under the first name that is free.
    fn make(&self, recording: &Recording<'_>, signal: &FatalSignal) -> io::Result<PathBuf> {
        let mut trace = Vec::new();
        recording.write(&mut trace)?;
        let at = self.place.location()?;
        let first = signal.path(1);
        let place = at.sibling(first.file_name().unwrap_or_default())?;
        let (mut file, part) = temporary::create(&place, self.mode)?;
        let written = file.write_all(&trace).and_then(|()| file.sync_data()).and_then(|()| {
            for number in 1..NAMES {
                let path = signal.path(number);
                match part.rename_to_free(path.file_name().unwrap_or_default()) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                    renamed => return renamed.map(|()| path),
                }
            }
            Err(ErrorKind::AlreadyExists.into())
        });
        if written.is_err() {
            let _ = part.remove_if(&file);
        }
        written
    }

    /// Removes the oldest files of signals that are too many.
    fn remove_old(&self) {
        let Ok(at) = self.place.location() else { return };
        let names = at.siblings().unwrap_or_default();
        let mut all: Vec<_> = names
            .into_iter()
            .filter(|name| is_fatal_signal_file(self.place.path(), name))
            .filter_map(|name| {
                let place = at.sibling(&name).ok()?;
                let file =
                    place.open_regular().ok().filter(|file| is_own(file).unwrap_or(false))?;
                let metadata = file.metadata().ok()?;
                Some((metadata.modified().ok()?, metadata.len(), place, file))
            })
            .collect();
        all.sort_by(|(one, ..), (other, ..)| other.cmp(one));
        let mut sum = 0u64;
        for (index, (_, bytes, place, file)) in all.iter().enumerate() {
            sum = sum.saturating_add(*bytes);
            if index >= self.keep.files || sum > self.keep.bytes && index > 0 {
                // That it can't be removed is no reason not to start.
                let _ = place.remove_if(file);
            }
        }
    }
}
