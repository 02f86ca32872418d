//! A trace file in the making: packets become `Trace.packet` fields with the id of their sequence.
//!
//! The file grows as the session goes on, under its own name: what is written before a crash can be read, since every
//! packet is whole but the last, which readers drop.
//!
//! Invariant: after an error the file ends with a whole packet, and nothing more is written until somebody tries again; what is
//! given to the file then is counted.

use super::behind::{Behind, Written};
use super::bundles::Bundles;
use super::counts::Counts;
use super::drain::OWN_SEQUENCE;
use super::gap::Gap;
use super::packets::{AROUND, Seal};
use super::running::Claim;
use crate::error::Error;
use crate::shmem::buffer::MAX_PAYLOAD;
use crate::sync::{AtomicU32, Ordering};
use crate::sys::file::{lock, not_found};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How many bytes are gathered before they are written.
const BUFFER: usize = 256 * 1024;

/// The same, where another thread writes them: waking it takes a while.
const BEHIND: usize = 512 * 1024;

/// Room for what comes after so many bytes, before they are written: a chunk of the shortest packets.
const ROOM: usize = Seal::room(MAX_PAYLOAD);

/// How long nobody tries again to write a file that could not be written, unless asked to: each time takes what a trace
/// begins with.
const AGAIN: Duration = Duration::from_secs(1);

/// Room for what a trace ends with, in bytes, and for what it says of each sequence then.
const END: usize = 1024;
const FAREWELL: usize = 160;

/// See the module.
#[derive(Debug)]
pub(super) struct TraceFile {
    path: PathBuf,
    file: File,
    /// Whether it had a name when it was opened.
    linked: bool,
    /// What is not written yet: the first `used` bytes.
    buffer: Vec<u8>,
    used: usize,
    /// How many bytes are gathered.
    gather: usize,
    written: u64,
    error: Option<io::Error>,
    /// Since when, or when it was tried last.
    failed: Instant,
    /// Whether what is written next follows what was written before the error.
    can_go_on: bool,
    _claim: Option<Claim>,
    /// The name that the file gets when it is whole.
    name: Option<PathBuf>,
    /// Whether what there is of it stays where it does not become whole.
    keep: bool,
    /// What packets go through, where they are compressed.
    bundles: Option<Bundles>,
    /// Who writes them, where it is not this thread.
    behind: Option<Behind>,
    /// The most bytes that it should have.
    limit: u64,
    /// Its size when nothing was in it but what a trace begins with.
    beginning: u64,
    /// The messages that were given to it.
    pub(super) counts: Counts,
    /// Those of them that could not be written.
    pub(super) lost: Counts,
    /// What of that, and of files before, no trace tells of.
    pub(super) gap: Gap,
}

/// What became of a file.
#[derive(Debug)]
pub(super) struct Finished {
    /// Its size.
    pub(super) bytes: u64,
    /// The messages that were given to it.
    pub(super) counts: Counts,
    /// Those of them that could not be written.
    pub(super) lost: Counts,
    /// What it does not tell of.
    pub(super) gap: Gap,
    /// What went wrong, if it is not whole.
    pub(super) error: Option<Error>,
}

impl TraceFile {
    /// Makes the file, or empties the one that is there, which no other session may be writing.
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let failed = |error| Error::File { path: path.to_path_buf(), error };
        let in_use = || Error::FileInUse { path: path.to_path_buf() };
        // Not even opened: to close it again would end the lock of the session that writes it.
        if std::fs::metadata(path).is_ok_and(|metadata| Claim::is_taken(&metadata)) {
            return Err(in_use());
        }
        let open = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = open.map_err(failed)?;
        let claim = Claim::new(&file).map_err(failed)?.ok_or_else(in_use)?;
        if !lock(&file) {
            return Err(in_use());
        }
        // Of a file that was cut to nothing, some file systems write all when it is closed, to be safe in a crash of the system.
        if file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
            file.set_len(0).map_err(failed)?;
        }
        Ok(Self::new(path, file, Some(claim), None))
    }

    /// Makes the file `part`, which must not be there, and which gets its `name` when it is finished.
    pub(super) fn segment(part: &Path, name: &Path, limit: Option<u64>) -> Result<Self, Error> {
        let failed = |error| Error::File { path: part.to_path_buf(), error };
        if name.exists() {
            return Err(failed(io::ErrorKind::AlreadyExists.into()));
        }
        let file = File::create_new(part).map_err(failed)?;
        let mut new = Self::new(part, file, None, Some(name.to_path_buf()));
        new.keep = true;
        new.limit = limit.unwrap_or(u64::MAX);
        Ok(new)
    }

    fn new(path: &Path, file: File, claim: Option<Claim>, name: Option<PathBuf>) -> Self {
        Self {
            path: path.to_path_buf(),
            linked: links(&file) > 0,
            file,
            buffer: vec![0; BUFFER + ROOM],
            used: 0,
            gather: BUFFER,
            written: 0,
            error: None,
            failed: Instant::now(),
            can_go_on: true,
            _claim: claim,
            name,
            keep: false,
            bundles: None,
            behind: None,
            limit: u64::MAX,
            beginning: 0,
            counts: Counts::default(),
            lost: Counts::default(),
            gap: Gap::default(),
        }
    }

    /// Tells early what would keep [`Self::whole`] from making the file. A pipe is left alone: its reader would take this for
    /// the end of the trace.
    pub(super) fn try_whole(path: &Path) -> Result<(), Error> {
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.file_type().is_fifo() => Ok(()),
            _ => Self::whole(path).map(drop),
        }
    }

    /// Makes a file that appears under its name when it is finished, and not at all where that fails.
    pub(super) fn whole(path: &Path) -> Result<Self, Error> {
        // Through links; and what is no file, such as a pipe, is not to be replaced.
        let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Self::create(path);
        }
        let failed = |error| Error::File { path: path.clone(), error };
        if path.file_name().is_none() {
            return Err(failed(not_found()));
        }
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}-{number}.part", std::process::id()));
        let part = PathBuf::from(name);
        let file = File::create(&part).map_err(failed)?;
        Ok(Self::new(&part, file, None, Some(path.clone())))
    }

    /// Appends a packet that a thread wrote. Whether it is a message.
    pub(super) fn copy(&mut self, sequence: u32, bytes: &[u8]) -> bool {
        self.packet(sequence, bytes);
        self.counts.packet(bytes, Seal::new(sequence).size(bytes.len()))
    }

    /// Appends a packet of sequence `sequence`.
    pub(super) fn packet(&mut self, sequence: u32, bytes: &[u8]) {
        let seal = Seal::new(sequence);
        if bytes.len() + AROUND > ROOM {
            // Once for a message of many chunks.
            self.flush();
            let mut whole = Vec::with_capacity(bytes.len() + AROUND);
            seal.one(bytes, |part| whole.extend_from_slice(part));
            return match &self.behind {
                Some(behind) => _ = behind.write(whole),
                None => self.hand_over(&whole),
            };
        }
        seal.one(bytes, |part| {
            self.buffer[self.used..][..part.len()].copy_from_slice(part);
            self.used += part.len();
        });
        self.flush_if_full();
    }

    /// Appends the first `count` packets in `sized`, each with its size before it, of at most a chunk. Gives the number of
    /// messages.
    pub(super) fn packets(&mut self, sequence: u32, sized: &[u8], count: u16) -> u64 {
        let to = self.buffer.get_mut(self.used..).unwrap_or_default();
        let done = Seal::new(sequence).all(sized, count, to, &mut self.counts);
        self.used += done.length;
        self.flush_if_full();
        done.messages
    }

    /// Bytes written and gathered.
    fn size(&self) -> u64 {
        self.written + self.used as u64
    }

    /// Notes that all that a trace begins with has been written.
    pub(super) fn begin(&mut self) {
        self.flush();
        self.beginning = self.size();
    }

    /// Whether `bytes` more, and then the end of a trace with so many `sequences`, stay below the limit, if there is one. One
    /// chunk has room in any file, so that it goes on, and all of them in one that can't be written.
    pub(super) fn has_room(&mut self, bytes: impl FnOnce() -> usize, sequences: usize) -> bool {
        if self.limit == u64::MAX || self.error.is_some() || self.size() == self.beginning {
            return true;
        }
        let rest = (bytes() + END + (sequences + 1) * FAREWELL) as u64;
        if self.size().saturating_add(rest) <= self.limit {
            return true;
        }
        if self.bundles.is_none() || self.used == 0 {
            return false;
        }
        // Compressed, it may be little.
        self.flush();
        self.size().saturating_add(rest) <= self.limit
    }

    /// Compresses what comes.
    pub(super) fn compress(&mut self, bundles: Option<Bundles>) {
        self.bundles = bundles;
    }

    /// Has another thread write what comes, if there can be one. Errors are then known at the end.
    pub(super) fn write_behind(&mut self) {
        let Ok(file) = self.file.try_clone() else { return };
        if self.bundles.is_none() {
            self.flush();
            self.gather = BEHIND;
            self.buffer.resize(BEHIND + ROOM, 0);
        }
        self.behind = Behind::start(file, &mut self.bundles, Vec::with_capacity(BEHIND + ROOM));
    }

    /// Forgets that writing failed, so that it is tried again: at once, or if the last time is a while ago. Whether it is to be
    /// tried. What a pipe or a device did not take can't be taken back, so nothing is written to those any more.
    pub(super) fn try_again(&mut self, at_once: bool) -> bool {
        let now = self.error.is_some() && (at_once || self.failed.elapsed() >= AGAIN);
        now && self.can_go_on && self.error.take().is_some()
    }

    /// Writes no more until it is tried again, because of `error`.
    pub(super) fn fail(&mut self, error: Error) {
        self.failed = Instant::now();
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

    /// Hands everything to the system.
    pub(super) fn flush(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        match &self.behind {
            Some(behind) => {
                buffer.truncate(self.used);
                buffer = behind.write(buffer);
            }
            None => self.hand_over(&buffer[..self.used]),
        }
        // What comes back is as long as what was in it.
        buffer.resize(self.gather + ROOM, 0);
        self.buffer = buffer;
        self.used = 0;
    }

    fn hand_over(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            let packed = match &mut self.bundles {
                Some(bundles) => bundles.pack(bytes),
                None => bytes,
            };
            match self.file.write_all(packed) {
                Ok(()) => return self.written += packed.len() as u64,
                Err(error) => self.error = Some(error),
            }
            self.failed = Instant::now();
            // The file ends with a whole packet, and what is counted as lost is not there.
            let cut = self.file.set_len(self.written);
            self.can_go_on =
                cut.and_then(|()| self.file.seek(SeekFrom::Start(self.written))).is_ok();
        }
        let lost = self.gap.add_packets(bytes, Seal::new(OWN_SEQUENCE).bytes());
        self.lost.add(&lost);
    }

    /// That somebody took the file away while it was written, if so.
    fn removed(&self) -> Option<io::Error> {
        let gone = self.linked && links(&self.file) == 0;
        gone.then(|| io::Error::new(io::ErrorKind::NotFound, "somebody removed it meanwhile"))
    }

    /// Bytes that the system has.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Why it can't be written at the moment, if so.
    pub(super) fn failure(&self) -> Option<io::Error> {
        self.error.as_ref().map(copy)
    }

    /// Whether writing failed.
    pub(super) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Hands everything to the system, and gives the file its name.
    pub(super) fn finish(mut self) -> Finished {
        self.flush();
        if let Some(behind) = self.behind.take() {
            let Written { bytes, error } = behind.end();
            self.written += bytes;
            self.error = self.error.take().or(error);
        }
        self.error = match (self.error.take(), &self.name) {
            (None, Some(name)) => std::fs::rename(&self.path, name).err(),
            (None, None) => self.removed(),
            (error, _) => error,
        };
        let path = self.name.as_ref().unwrap_or(&self.path).clone();
        let error = self.error.take().map(|error| Error::File { path, error });
        if error.is_none() {
            self.name = None;
        }
        let (counts, lost) = (std::mem::take(&mut self.counts), std::mem::take(&mut self.lost));
        Finished { bytes: self.written, counts, lost, gap: std::mem::take(&mut self.gap), error }
    }
}

/// The same error, as far as the system told it.
pub(super) fn copy(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

/// The number of names that a file has.
fn links(file: &File) -> u64 {
    file.metadata().map_or(1, |metadata| metadata.nlink())
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        if self.name.is_some() && !self.keep {
            // It was not finished.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
