//! The traces that are sent: those that were named, and those of directories as they come.
//!
//! A file is known by its number in the file system, so that a segment that gets another name is
//! read on, and one that is removed is read to its end. A trace that was replaced, or written anew,
//! is another one.
//!
//! Invariant: with `follow`, a trace that can't be read is named once, and keeps no other from
//! being sent.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protolog_reader::Recording;

use super::output::{Output, Stop};
use super::reading::Reading;
use super::ring::RingSource;
use super::source::{Look, Opened, Rest, TraceSource, send_whole};
use crate::failure::{Failure, say};
use crate::traces::{self, TracePath, is_recorded_now};

/// The most traces that are read at one time: others that are not open yet wait.
const MOST_BUSY: usize = 32;

/// The number of a file: of its device, and its own.
type FileId = (u64, u64);

/// Traces.
pub(super) struct Watch {
    paths: Vec<PathBuf>,
    reading: Reading,
    files: BTreeMap<FileId, Watched>,
    /// The traces that there was more of at once when they were looked at last.
    busy: usize,
    /// Paths that can't be looked at, and were named.
    unreadable: BTreeSet<PathBuf>,
    /// Additions from now on are not sent.
    is_ending: bool,
    /// All that was read could be read whole.
    pub(super) is_complete: bool,
}

/// A file.
enum Watched {
    Parts(Box<TraceSource>),
    Ring(Box<RingSource>),
    /// All of it is sent: the size that it had, and what tells it from others.
    Done(u64, Option<Arc<str>>),
}

impl Watch {
    pub(super) fn new(paths: Vec<PathBuf>, reading: Reading) -> Self {
        Self {
            paths,
            reading,
            files: BTreeMap::new(),
            busy: 0,
            unreadable: BTreeSet::new(),
            is_ending: false,
            is_complete: true,
        }
    }

    /// Sends no more than there is now.
    pub(super) fn end(&mut self) {
        if std::mem::replace(&mut self.is_ending, true) {
            return;
        }
        for watched in self.files.values_mut() {
            if let Watched::Parts(source) = watched {
                source.end();
            }
        }
    }

    /// Sends a part of each trace. Returns whether there is more at once.
    pub(super) fn look(&mut self, out: &mut Output) -> Result<bool, Stop> {
        let mut seen = BTreeSet::new();
        let mut has_more = false;
        for path in self.paths_now()? {
            let file = match path.metadata() {
                Ok(file) => {
                    self.unreadable.remove(&path.path);
                    file
                }
                // It may be there again; one that was found has gone since.
                Err(error) if error.kind() == ErrorKind::NotFound && self.reading.follow => {
                    continue;
                }
                Err(_) if path.is_gone() => continue,
                Err(error) => {
                    self.skip_path(&path.path, Failure::cant_read(&path.path, &error))?;
                    continue;
                }
            };
            let id = (file.dev(), file.ino());
            if !seen.insert(id) {
                continue;
            }
            match self.files.get_mut(&id) {
                Some(Watched::Parts(source)) if source.is_same() => {
                    (source.path, source.listed) = (path, file.len());
                }
                Some(Watched::Done(size, _)) if !self.reading.follow || *size == file.len() => {}
                Some(Watched::Ring(_)) => {}
                Some(Watched::Done(..)) | None if self.busy >= MOST_BUSY => has_more = true,
                Some(Watched::Parts(_) | Watched::Done(..)) | None => {
                    if let Some(watched) = self.begin(&path, file.len(), out)? {
                        self.busy += 1;
                        self.files.insert(id, watched);
                        has_more = true;
                    }
                }
            }
        }
        self.busy = 0;
        let ids: Vec<FileId> = self.files.keys().copied().collect();
        for id in ids {
            self.busy += usize::from(self.look_at(id, seen.contains(&id), out)?);
        }
        Ok(has_more || self.busy > 0)
    }

    /// Sends what the recordings of processes that died have of their traces.
    pub(super) fn complete(&mut self, out: &mut Output) -> Result<(), Stop> {
        let ids: Vec<FileId> = self.files.keys().copied().collect();
        for id in ids {
            let Some(Watched::Parts(source)) = self.files.get_mut(&id) else { continue };
            let done = source.complete(out);
            if !source.is_whole {
                self.is_complete = false;
                say(&traces::damaged(&source.path.path).as_warning());
            }
            if let Err(stop) = done {
                self.skip(stop)?;
            }
        }
        Ok(())
    }

    /// Notes that the traces are still there.
    pub(super) fn renew(&self, out: &mut Output) -> Result<(), Stop> {
        for watched in self.files.values() {
            match watched {
                Watched::Parts(source) => out.renew(&source.source)?,
                Watched::Done(_, Some(source)) => out.renew(source)?,
                Watched::Done(_, None) | Watched::Ring(_) => {}
            }
        }
        Ok(())
    }

    /// The traces that there are now. A directory that is followed may be empty.
    fn paths_now(&mut self) -> Result<Vec<TracePath>, Stop> {
        if !self.reading.follow {
            return Ok(traces::expand(&self.paths)?);
        }
        let mut all = Vec::new();
        for path in self.paths.clone() {
            match traces::expand_now(&path) {
                Ok(found) => {
                    if path.is_dir() {
                        self.unreadable.remove(&path);
                    }
                    all.extend(found);
                }
                Err(failure) => self.skip_path(&path, failure)?,
            }
        }
        Ok(all)
    }

    /// Begins with a file. None if it is too early.
    fn begin(
        &mut self,
        path: &TracePath,
        size: u64,
        out: &mut Output,
    ) -> Result<Option<Watched>, Stop> {
        let begun = self.open(path, size, out);
        match begun {
            Ok(watched) => Ok(watched),
            Err(Stop::Trace(_)) if path.is_gone() => Ok(None),
            Err(stop) => {
                self.skip(stop)?;
                Ok(Some(Watched::Done(size, None)))
            }
        }
    }

    fn open(
        &mut self,
        path: &TracePath,
        size: u64,
        out: &mut Output,
    ) -> Result<Option<Watched>, Stop> {
        let failed = |error| Failure::cant_read(&path.path, &error);
        let file = path.open().map_err(failed)?;
        let head = traces::head(&file).map_err(failed)?;
        if Recording::matches(&head) {
            if traces::is_of_trace(&head) {
                // Its trace is sent.
                return Ok(Some(Watched::Done(size, None)));
            }
            if self.reading.follow && is_recorded_now(&file) {
                let ring = RingSource::new(path, (file, &head), &self.reading, out);
                return Ok(Some(Watched::Ring(Box::new(ring))));
            }
            return self.send_whole(path, size, out).map(Some);
        }
        match TraceSource::open(path, file, &self.reading, out)? {
            Opened::Parts(mut source) => {
                out.renew(&source.source)?;
                source.listed = size;
                if self.is_ending {
                    source.end();
                }
                Ok(Some(Watched::Parts(source)))
            }
            Opened::Whole => self.send_whole(path, size, out).map(Some),
            Opened::NotYet => Ok(None),
        }
    }

    fn send_whole(
        &mut self,
        path: &TracePath,
        size: u64,
        out: &mut Output,
    ) -> Result<Watched, Stop> {
        let (source, is_whole) = send_whole(path, &self.reading, out)?;
        if !is_whole {
            say(&traces::damaged(&path.path).as_warning());
            self.is_complete = false;
        }
        Ok(Watched::Done(size, Some(source)))
    }

    fn look_at(&mut self, id: FileId, is_there: bool, out: &mut Output) -> Result<bool, Stop> {
        let look = match self.files.get_mut(&id) {
            Some(Watched::Parts(source)) => source.look(out),
            Some(Watched::Ring(ring)) => ring.look(out).map(|()| Look::Idle),
            Some(Watched::Done(..)) if is_there => return Ok(false),
            Some(Watched::Done(_, source)) => {
                let source = source.take();
                self.files.remove(&id);
                // It may be there in another file, as one that was compressed.
                if let Some(source) = source.filter(|source| !self.has(source)) {
                    out.settle(&source);
                }
                return Ok(false);
            }
            None => return Ok(false),
        };
        match look.and_then(|look| self.after(id, look, is_there, out)) {
            Ok(has_more) => Ok(has_more),
            Err(stop) => {
                self.finish(id);
                self.skip(stop)?;
                Ok(false)
            }
        }
    }

    fn after(
        &mut self,
        id: FileId,
        look: Look,
        is_there: bool,
        out: &mut Output,
    ) -> Result<bool, Stop> {
        if look == Look::More {
            return Ok(true);
        }
        let follow = self.reading.follow;
        let Some(Watched::Parts(source)) = self.files.get_mut(&id) else {
            if !is_there && let Some(Watched::Ring(ring)) = self.files.remove(&id) {
                out.settle(&ring.source);
            }
            return Ok(false);
        };
        let is_done = match look {
            Look::Damaged => {
                // What there is of it is said once.
                source.is_whole = true;
                let path = source.path.clone();
                if is_there {
                    let size = path.metadata().map_or(0, |file| file.len());
                    self.send_whole(&path, size, out)?;
                }
                true
            }
            Look::Ended => true,
            _ if follow && is_there => source.complete_if_due(out)? == Some(Rest::Sent),
            _ => {
                let rest = source.complete(out)?;
                source.is_whole &= rest != Rest::Unknown || !source.has_rest();
                true
            }
        };
        if is_done {
            self.finish(id);
        }
        Ok(false)
    }

    /// Returns whether a trace is in one of the files.
    fn has(&self, source: &str) -> bool {
        self.files.values().any(|watched| match watched {
            Watched::Parts(parts) => *parts.source == *source,
            Watched::Ring(ring) => *ring.source == *source,
            Watched::Done(_, done) => done.as_deref() == Some(source),
        })
    }

    /// Returns whether all that was named is there: a directory may be mounted later.
    pub(super) fn is_all_there(&self) -> bool {
        self.paths.iter().all(|path| path.exists())
    }

    /// Closes a file; it is looked at again when its size changes.
    fn finish(&mut self, id: FileId) {
        let (size, source) = match self.files.get(&id) {
            Some(Watched::Parts(source)) => {
                if !source.is_whole {
                    self.is_complete = false;
                    say(&traces::damaged(&source.path.path).as_warning());
                }
                (source.listed, Some(source.source.clone()))
            }
            _ => (0, None),
        };
        self.files.insert(id, Watched::Done(size, source));
    }

    /// Goes on without what a path leads to, which is named once.
    fn skip_path(&mut self, path: &Path, failure: Failure) -> Result<(), Stop> {
        if self.unreadable.insert(path.to_owned()) { self.skip(failure.into()) } else { Ok(()) }
    }

    /// Goes on without a trace, if it is one of several that are followed.
    fn skip(&mut self, stop: Stop) -> Result<(), Stop> {
        match stop {
            Stop::Trace(failure) if self.reading.follow => {
                say(&failure.as_warning());
                self.is_complete = false;
                Ok(())
            }
            stop => Err(stop),
        }
    }
}
