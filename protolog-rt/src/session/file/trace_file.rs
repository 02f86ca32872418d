//! A trace file in the making: packets become `Trace.packet` fields with the id of their sequence.
//!
//! The file grows as the session goes on, under its own name: packets written before a crash can be
//! read, since every packet is whole but the last, which readers skip.
//!
//! Invariant: after an error the file ends with a whole packet, the last one that there was room
//! for, and nothing more is written before the next retry; messages given to the file meanwhile are
//! counted as dropped.

mod fitting;
mod kept;
mod outside;

pub(in crate::session) use outside::OutsideChange;
use outside::{Outside, links};

use crate::error::{Error, clone_io_error};
use crate::session::file::claim;
use crate::session::file::claim::Claim;
use crate::session::file::epilogue::Epilogue;
use crate::session::file::file_place::FilePlace;
use crate::session::file::temporary;
use crate::session::file::write_behind::{WriteBehind, WriteBehindResult};
use crate::session::packets::bundles::{Bundles, bundles};
use crate::session::packets::for_file::{AROUND, Seal};
use crate::session::packets::gap::Gap;
use crate::session::packets::message_counts::Counts;
use crate::sys::file::always_append;
use crate::sys::own_file::OwnFile;
use protolog_files::{Location, OutputAccess, OutputKind};
use protolog_shmem::MAX_PAYLOAD;
use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes gathered before they are written.
const BUFFER: usize = 256 * 1024;

/// The same for write-behind, where each hand-over wakes a thread.
const WRITE_BEHIND_BUFFER: usize = 512 * 1024;

/// Room after the gathered bytes for one more chunk, of the shortest packets.
const ROOM: usize = Seal::room(MAX_PAYLOAD);

/// The least time between attempts to write but for a flush's: each begins the trace once more.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Attempts to open a file that others create and remove at the same time.
const ATTEMPTS: usize = 100;

/// Room for the trailer of a trace, in bytes, and for each sequence in it.
const TRAILER: usize = 1024;
const SEQUENCE_TRAILER: usize = 160;

/// The form of a session's files.
#[derive(Clone, Debug)]
pub(in crate::session) struct FileForm {
    /// zlib's compression level, if files are compressed.
    pub(in crate::session) compression: Option<u32>,
    /// The permissions of new files.
    pub(in crate::session) mode: u32,
    /// Makes what is appended to complete files.
    pub(in crate::session) epilogue: Option<Epilogue>,
}

/// See the module.
#[derive(Debug)]
pub(in crate::session) struct TraceFile {
    path: PathBuf,
    /// Before `_claim`, so that it is closed first.
    file: OwnFile,
    /// Where it is, if it has its name from the start.
    place: Option<Location>,
    /// It had a name when it was opened.
    linked: bool,
    /// The offset of its first byte, of a descriptor: bytes before it are not its own.
    start: Option<u64>,
    /// The first `used` bytes are not written yet.
    buffer: Vec<u8>,
    used: usize,
    /// Bytes to gather before they are written.
    gather: usize,
    written: u64,
    error: Option<io::Error>,
    /// The time of the last attempt that failed.
    failed_at: Instant,
    /// The file was cut back to its last whole packet after the error, so that it can be continued.
    can_continue: bool,
    on_full: OnFull,
    _claim: Option<Claim>,
    /// The name that the file gets when it is complete.
    name: Option<Unnamed>,
    /// An incomplete file stays.
    keeps_incomplete: bool,
    /// The name that the session was given, of a segment.
    segments_of: Option<String>,
    /// Compresses packets, if the session asks for it.
    bundles: Option<Bundles>,
    epilogue: Option<Epilogue>,
    /// The thread that writes, if it is not this one.
    write_behind: Option<WriteBehind>,
    /// The largest size that is wanted, in bytes.
    limit: u64,
    /// Its size when it held nothing but the beginning of a trace.
    beginning: u64,
    /// The messages that were given to it.
    pub(in crate::session) counts: Counts,
    /// Those of them that it does not have.
    pub(in crate::session) lost: Counts,
    /// Those of them, and of earlier files, that no trace reports yet.
    pub(in crate::session) gap: Gap,
    outside: Outside,
}

/// The packets that are written where there is no room for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnFull {
    /// Those that fit.
    Fill,
    /// None: in an attempt after an error, which begins with packets that are of use together.
    GiveUp,
}

/// A file that gets its name when it is complete.
#[derive(Debug)]
struct Unnamed {
    /// The name that it has until then.
    place: Location,
    /// The path that it gets.
    name: PathBuf,
    /// It may get the name of another file.
    replaces: bool,
}

/// The outcome of a file.
#[derive(Debug)]
pub(in crate::session) struct Finished {
    /// Its size.
    pub(in crate::session) bytes: u64,
    /// The messages that were given to it.
    pub(in crate::session) counts: Counts,
    /// Those of them that it does not have.
    pub(in crate::session) lost: Counts,
    /// Drops that it does not report.
    pub(in crate::session) gap: Gap,
    /// The error, if it is incomplete.
    pub(in crate::session) error: Option<Error>,
}

impl TraceFile {
    /// Creates the file with `mode`, or empties an existing one that has it; one with another mode
    /// is replaced, and one on which a user who may only read it has a lock. [`Error::FileInUse`]
    /// if another session writes it, or is going to.
    pub(in crate::session) fn create(place: &FilePlace, mode: u32) -> Result<Self, Error> {
        let path = place.path();
        let failed = |error| Error::File { path: path.to_path_buf(), error };
        let in_use = || Error::FileInUse { path: path.to_path_buf() };
        for _ in 0..ATTEMPTS {
            if Claim::is_taken(place, None) {
                return Err(in_use());
            }
            let output = place.open(OutputAccess::ReadWrite, mode).map_err(failed)?;
            let Some(claim) = Claim::new(&output.file).map_err(failed)? else {
                let is_removed = |it: &Location| it.remove_if(&output.file).is_ok();
                if Claim::is_obstructed(&output.file) && place.location().is_ok_and(is_removed) {
                    continue;
                }
                return Err(in_use());
            };
            if !place.is_ready(&output, mode).map_err(failed)? {
                // *closed first*
                drop(output);
                continue;
            }
            let (file, kind) = (output.file, output.kind);
            // Some file systems write a truncated file to disk when it is closed.
            if kind == OutputKind::File && file.metadata().map_err(failed)?.len() > 0 {
                file.set_len(0).map_err(failed)?;
            }
            if kind == OutputKind::File {
                // Or there would be a hole where somebody empties it between a look and a write.
                always_append(&file);
            }
            let mut new = Self::new(path, file, Some(claim), None);
            new.place = place.location().ok().cloned();
            new.start_at_position(kind).map_err(failed)?;
            return Ok(new);
        }
        Err(failed(io::ErrorKind::AlreadyExists.into()))
    }

    /// Creates the file `part`, which must not exist; finished, it gets `name`, if that is free.
    pub(in crate::session) fn segment(
        (place, part): (Location, &Path),
        name: &Path,
        limit: Option<u64>,
        mode: u32,
    ) -> Result<Self, Error> {
        let failed = |error| Error::File { path: part.to_path_buf(), error };
        let exists = || failed(io::ErrorKind::AlreadyExists.into());
        let complete = place.sibling(name.file_name().unwrap_or_default()).map_err(failed)?;
        if complete.is_taken().map_err(failed)? {
            return Err(exists());
        }
        let file = place.create_new(mode).map_err(failed)?;
        let Some(claim) = Claim::new(&file).map_err(failed)? else {
            if Claim::is_obstructed(&file) {
                let _ = place.remove_if(&file);
            }
            return Err(exists());
        };
        if links(&file) == 0 {
            // Removed by a process that took it for one that a dead process left. *closed first*
            drop(file);
            return Err(exists());
        }
        always_append(&file);
        let named = Unnamed { place, name: name.to_path_buf(), replaces: false };
        let mut new = Self::new(part, file, Some(claim), Some(named));
        new.keeps_incomplete = true;
        new.limit = limit.unwrap_or(u64::MAX);
        Ok(new)
    }

    fn new(path: &Path, file: File, claim: Option<Claim>, name: Option<Unnamed>) -> Self {
        Self {
            path: path.to_path_buf(),
            place: None,
            linked: links(&file) > 0,
            start: None,
            file: OwnFile::new(file),
            buffer: vec![0; BUFFER + ROOM],
            used: 0,
            gather: BUFFER,
            written: 0,
            error: None,
            failed_at: Instant::now(),
            can_continue: true,
            on_full: OnFull::Fill,
            _claim: claim,
            name,
            keeps_incomplete: false,
            bundles: None,
            segments_of: None,
            epilogue: None,
            write_behind: None,
            limit: u64::MAX,
            beginning: 0,
            counts: Counts::default(),
            lost: Counts::default(),
            gap: Gap::default(),
            outside: Outside::default(),
        }
    }

    /// A descriptor is written where it stands, and not cut: others may have written before it.
    fn start_at_position(&mut self, kind: OutputKind) -> io::Result<()> {
        if kind == OutputKind::Descriptor && self.file.get()?.metadata()?.is_file() {
            self.start = Some(self.file.get_mut()?.stream_position()?);
        }
        Ok(())
    }

    /// Appends a packet that a thread wrote. Returns whether it is a message.
    pub(in crate::session) fn copy(&mut self, sequence: u32, bytes: &[u8]) -> bool {
        self.packet(sequence, bytes);
        self.counts.packet(bytes, Seal::new(sequence).size(bytes.len()))
    }

    /// Appends a packet of sequence `sequence`.
    pub(in crate::session) fn packet(&mut self, sequence: u32, bytes: &[u8]) {
        let seal = Seal::new(sequence);
        if bytes.len() + AROUND > ROOM {
            // Rare: a message of many chunks.
            self.flush();
            let mut whole = Vec::with_capacity(bytes.len() + AROUND);
            seal.one(bytes, |part| whole.extend_from_slice(part));
            return match &self.write_behind {
                Some(thread) => _ = thread.write(whole),
                None => self.write_out(&whole),
            };
        }
        seal.one(bytes, |part| {
            self.buffer[self.used..][..part.len()].copy_from_slice(part);
            self.used += part.len();
        });
        self.flush_if_full();
    }

    /// Appends the first `count` packets of a chunk, each after its size; returns the messages.
    pub(in crate::session) fn packets(&mut self, sequence: u32, sized: &[u8], count: u16) -> u64 {
        let to = self.buffer.get_mut(self.used..).unwrap_or_default();
        let done = Seal::new(sequence).convert(sized, count, to, &mut self.counts);
        self.used += done.length;
        self.note_drops(sized);
        self.flush_if_full();
        done.messages
    }

    /// Bytes written and gathered.
    fn size(&self) -> u64 {
        self.written + self.used as u64
    }

    /// Marks the end of the beginning of the trace.
    pub(in crate::session) fn begin(&mut self) {
        self.flush();
        self.beginning = self.size();
    }

    /// Returns whether `bytes` more and the trailer for so many `sequences` stay below the limit.
    /// One chunk has room in any file, for progress, and all in one that can't be written.
    pub(in crate::session) fn has_room(
        &mut self,
        bytes: impl FnOnce() -> usize,
        sequences: usize,
    ) -> bool {
        if self.limit == u64::MAX || self.error.is_some() || self.size() == self.beginning {
            return true;
        }
        let rest = (bytes() + TRAILER + (sequences + 1) * SEQUENCE_TRAILER) as u64;
        if self.size().saturating_add(rest) <= self.limit {
            return true;
        }
        if self.bundles.is_none() || self.used == 0 {
            return false;
        }
        // The gathered bytes may be few once they are compressed.
        self.flush();
        self.size().saturating_add(rest) <= self.limit
    }

    /// Gives everything that is appended after this call the form, but for the permissions.
    pub(in crate::session) fn set_segments_of(&mut self, set: &Path) {
        let name = set.file_name().unwrap_or_default();
        self.segments_of = Some(name.to_string_lossy().into_owned());
    }

    /// The name that the session was given, if the file is one of its segments.
    pub(in crate::session) fn segments_of(&self) -> Option<&str> {
        self.segments_of.as_deref()
    }

    pub(in crate::session) fn set_form(&mut self, form: &FileForm) {
        self.bundles = bundles(form.compression);
        self.epilogue.clone_from(&form.epilogue);
    }

    /// Moves writing to another thread, if one can be started. Errors are then known at the end.
    pub(in crate::session) fn start_write_behind(&mut self) {
        let Ok(file) = self.file.get().and_then(File::try_clone) else { return };
        if self.bundles.is_none() {
            self.flush();
            self.gather = WRITE_BEHIND_BUFFER;
            self.buffer.resize(WRITE_BEHIND_BUFFER + ROOM, 0);
        }
        self.write_behind = WriteBehind::start(
            OwnFile::new(file),
            &mut self.bundles,
            Vec::with_capacity(WRITE_BEHIND_BUFFER + ROOM),
        );
    }

    /// Clears an error, at once or if it is a while ago, so that the next write is an attempt.
    /// Returns whether it was cleared. A pipe or a device that failed is not tried again, since a
    /// packet that was written in part can't be taken back.
    pub(in crate::session) fn retry(&mut self, at_once: bool) -> bool {
        let now = self.error.is_some() && (at_once || self.failed_at.elapsed() >= RETRY_INTERVAL);
        let begins = now && self.can_continue && self.error.take().is_some();
        if begins {
            self.on_full = OnFull::GiveUp;
        }
        begins
    }

    /// Stops writing before the next retry, because of `error`.
    pub(in crate::session) fn fail(&mut self, error: Error) {
        self.failed_at = Instant::now();
        self.error.get_or_insert(match error {
            Error::File { error, .. } => error,
            other => io::Error::other(other),
        });
    }

    fn flush_if_full(&mut self) {
        if self.used + ROOM >= self.buffer.len() {
            self.flush();
        }
    }

    /// Writes all gathered bytes.
    pub(in crate::session) fn flush(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        match &self.write_behind {
            Some(thread) => {
                buffer.truncate(self.used);
                buffer = thread.write(buffer);
            }
            None => self.write_out(&buffer[..self.used]),
        }
        // A buffer that comes back is as long as its contents were.
        buffer.resize(self.gather + ROOM, 0);
        self.buffer = buffer;
        self.used = 0;
    }

    /// Returns an error if the file was deleted while it was written.
    fn deleted(&self) -> Option<io::Error> {
        let is_deleted = self.linked && self.file.get().is_ok_and(|file| links(file) == 0);
        is_deleted
            .then(|| io::Error::new(io::ErrorKind::NotFound, "the file was deleted meanwhile"))
    }

    /// Returns whether all gathered bytes are written.
    pub(in crate::session) fn is_flushed(&self) -> bool {
        self.used == 0
    }

    /// Returns the path that the file has while it is written.
    pub(in crate::session) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of bytes written.
    pub(in crate::session) fn written(&self) -> u64 {
        self.written
    }

    /// Returns the offset of the end of the written bytes.
    pub(in crate::session) fn position(&self) -> u64 {
        self.start.unwrap_or(0) + self.written
    }

    /// Returns the error that keeps it from being written at the moment, if there is one.
    pub(in crate::session) fn failure(&self) -> Option<io::Error> {
        self.error.as_ref().map(clone_io_error)
    }

    /// Returns whether the last write failed.
    pub(in crate::session) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Returns whether the last write failed, and the missing bytes can be appended later.
    pub(in crate::session) fn can_be_completed(&self) -> bool {
        self.has_failed() && self.can_continue
    }

    /// Appends what the session's owner makes of the complete file.
    fn append_epilogue(&mut self) -> io::Result<()> {
        if let Some(epilogue) = self.epilogue.take().filter(|_| self.error.is_none()) {
            let start = self.start.unwrap_or(0);
            self.written += epilogue.append(self.file.get_mut()?, start, self.written)?;
        }
        Ok(())
    }

    /// Writes all gathered bytes, and gives the file its name.
    pub(in crate::session) fn finish(mut self) -> Finished {
        self.flush();
        if let Some(thread) = self.write_behind.take() {
            let WriteBehindResult { bytes, error } = thread.end();
            self.written += bytes;
            self.error = self.error.take().or(error);
        }
        let appended = self.append_epilogue();
        let path = self.name.as_ref().map_or(&self.path, |unnamed| &unnamed.name).clone();
        let failed = |error| Error::File { path: path.clone(), error };
        let error = match (self.error.take(), &self.name) {
            (None, Some(Unnamed { place, name, replaces })) => {
                let file = self.file.get().inspect(|file| temporary::release(file));
                let file = file.map_err(failed);
                file.and_then(|it| claim::rename(it, place, name, *replaces)).err()
            }
            (None, None) => self.deleted().map(failed),
            (Some(error), _) => Some(failed(error)),
        };
        if error.is_none() {
            self.name = None;
        }
        // The file is whole without it.
        let error = error.or(appended.err().map(failed));
        let (counts, lost) = (std::mem::take(&mut self.counts), std::mem::take(&mut self.lost));
        Finished { bytes: self.written, counts, lost, gap: std::mem::take(&mut self.gap), error }
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        if let Some(Unnamed { place, .. }) = self.name.as_ref().filter(|_| !self.keeps_incomplete) {
            // It was not finished.
            let _ = self.file.get().and_then(|file| place.remove_if(file));
        }
    }
}
