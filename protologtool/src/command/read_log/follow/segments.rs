//! The segments of a session, followed one after the other.
//!
//! ```text
//! app.pftrace   ->   app.0007.pftrace, app.0008.pftrace       complete
//!                    app.0009.pftrace.part                    being written, or left by a crash
//! ```
//!
//! Each is a trace by itself.

use super::super::block_output::Stopped;
use super::file::GrowingFile;
use super::{Growing, GrowingPages, Outlook, Reading};
use crate::logs::segment_names::{Segment, is_part, segments_of, session_of};
use crate::output::cant_read;
use crate::system::System;
use protolog_reader::printable;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Segments of which more come.
pub(super) struct GrowingSegments {
    set: PathBuf,
    /// The session of which they are; any if the set was named, and not one of its files. A number
    /// in a name says nothing: it may be that of a process, or a date.
    session: Option<[u8; 16]>,
    /// Numbers of files of other sessions.
    foreign: BTreeSet<u64>,
    /// The number of the one that is read, or comes next.
    number: u64,
    file: Option<GrowingFile>,
    reading: Reading,
}

impl GrowingSegments {
    /// The segments of all sessions that were given `set`.
    pub(super) fn of_set(set: PathBuf, reading: Reading) -> Self {
        Self { set, session: None, foreign: BTreeSet::new(), number: 0, file: None, reading }
    }

    /// The segments of a session, from this one on.
    pub(super) fn of_session(segment: Segment, session: [u8; 16], reading: Reading) -> Self {
        let Segment { set, number } = segment;
        let (session, foreign) = (Some(session), BTreeSet::new());
        Self { set, session, foreign, number, file: None, reading }
    }

    /// Goes on to the segment that follows; false if there is none yet.
    fn next(
        &mut self,
        segments: &BTreeMap<u64, PathBuf>,
        system: &dyn System,
    ) -> Result<bool, Stopped> {
        let from = self.number + u64::from(self.file.is_some());
        let Some((number, path)) = self.first_from(from, segments, system) else {
            return Ok(false);
        };
        let file = GrowingFile::new(path.clone(), self.reading.clone(), system);
        let mut file = file.map_err(|error| cant_read(path, &error))?;
        if let Some(before) = self.file.take() {
            file.go_on_from(before);
        }
        self.file = Some(file);
        self.number = number;
        Ok(true)
    }

    /// The first segment of the session, of those from a number on.
    fn first_from<'s>(
        &mut self,
        from: u64,
        segments: &'s BTreeMap<u64, PathBuf>,
        system: &dyn System,
    ) -> Option<(u64, &'s PathBuf)> {
        for (number, path) in segments.range(from..) {
            if self.foreign.contains(number) {
                continue;
            }
            // One that has just been begun has no head yet.
            let session = session_of(path, system)?;
            if self.session.is_none_or(|wanted| wanted == session) {
                return Some((*number, path));
            }
            self.foreign.insert(*number);
        }
        None
    }
}

impl Growing for GrowingSegments {
    fn read(
        &mut self,
        show: &mut GrowingPages<'_, '_>,
        system: &dyn System,
    ) -> Result<Outlook, Stopped> {
        loop {
            let segments = segments_of(&self.set, system);
            if self.file.is_none() {
                if self.next(&segments, system)? {
                    continue;
                }
                return Ok(Outlook::Open);
            }
            let from = self.number + 1;
            let is_last = self.first_from(from, &segments, system).is_none();
            let Some(file) = &mut self.file else { return Ok(Outlook::Open) };
            match segments.get(&self.number) {
                Some(path) if path != file.path() => file.rename(path.clone()),
                Some(_) => {}
                None if file.is_read() && !is_part(file.path()) => {}
                None if is_last => return Ok(Outlook::Open),
                None => {
                    let shown = printable(&file.path().to_string_lossy());
                    system.print_error(&format!(
                        "warning: `{shown}` was removed; what was added to it since the last look is not shown\n"
                    ));
                }
            }
            // If it is complete before it is read, it will have nothing added.
            let is_complete = !is_part(file.path());
            file.read(show, system)?;
            if is_last || !is_complete && !file.is_read() || !self.next(&segments, system)? {
                return Ok(Outlook::Open);
            }
        }
    }
}
