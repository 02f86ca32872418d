//! Changes of the file by others while it is written: it was emptied or cut (`copytruncate`),
//! deleted, or moved (`logrotate`).
//!
//! Its writer is not told, and writing goes on without an error: behind a hole of zeros,
//! or into a file that nobody can open any more. So the file is looked at before each round of
//! writes.
//!
//! Invariant: a file without a name, one that was given as a descriptor, and one that is no regular
//! file are not looked at.

use super::TraceFile;
use crate::error::Error;
use crate::loss::LossCount;
use crate::session::packets::copied::{OWN_SEQUENCE, split};
use crate::session::packets::for_file::Seal;
use crate::session::packets::gap::{Gap, records};
use crate::session::packets::remains::Remains;
use protolog_core::schema::packet;
use protolog_files::Status;
use protozero::wire::{WireType, tag};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};

/// The losses by what somebody else does to a file.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// The number of messages that were removed.
    removed: u64,
    /// The drops that it was given to report, but for those of the trace itself: of threads, and of
    /// files before.
    drops: Vec<LossCount>,
}

/// A change by somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum OutsideChange {
    /// It is shorter than the bytes written: so many are left.
    Cut(u64),
    /// It has no name any more.
    Deleted,
    /// Its path is that of another file, or of none.
    Moved,
}

impl TraceFile {
    /// Returns the change that somebody else has made to the file; none while bytes are gathered
    /// that it lacks.
    pub(in crate::session) fn outside_change(&self) -> Option<OutsideChange> {
        if self.start.is_some() || !self.linked || self.used > 0 || self.write_behind.is_some() {
            return None;
        }
        let found = self.file.get().and_then(Status::of).ok().filter(Status::is_file)?;
        if found.nlink() == 0 {
            return Some(OutsideChange::Deleted);
        }
        if found.len() < self.written {
            return Some(OutsideChange::Cut(found.len()));
        }
        // A name that a file has until it is complete is not anybody's concern. A rename of the
        // directory does not move the file in it.
        let is_other = match self.place.as_ref()?.look() {
            Ok(there) => there.identity() != found.identity(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        is_other.then_some(OutsideChange::Moved)
    }

    /// Counts all messages that the file has as lost but those that remain in it, and has the next
    /// one report them and the drops that this one `reported`. Returns their number.
    pub(in crate::session) fn lose_all_but(
        &mut self,
        remains: &Remains,
        reported: Vec<LossCount>,
    ) -> u64 {
        let removed = self.counts.except(&self.lost).except(&remains.messages);
        self.lost.add(&removed);
        self.outside.removed += removed.messages();
        self.gap.removed.add(&removed);
        let mut due = reported;
        self.outside.drops.iter().for_each(|lost| lost.add_to(&mut due));
        // Those that it got and does not have, whatever has kept them from it.
        remains.reported.iter().for_each(|known| known.take_from(&mut due));
        self.gap.reported = due;
        removed.messages()
    }

    /// Returns the number of messages that somebody else has removed from it.
    pub(in crate::session) fn removed_messages(&self) -> u64 {
        self.outside.removed
    }

    /// Reports the gap of the file before, too.
    pub(in crate::session) fn take_over(&mut self, gap: Gap) {
        gap.reported.iter().for_each(|lost| lost.add_to(&mut self.outside.drops));
        self.gap.add(gap);
    }

    /// Notes the drops that a thread reports in the first of these packets, which a chunk begins
    /// with.
    pub(super) fn note_drops(&mut self, sized: &[u8]) {
        if let Some((first, _)) = split(sized).filter(|(first, _)| first.first() == Some(&CLOCKS)) {
            records(first).for_each(|lost| lost.add_to(&mut self.outside.drops));
        }
    }

    /// Writes nothing more, because of `error`.
    pub(in crate::session) fn give_up(&mut self, error: Error) {
        self.fail(error);
        self.can_continue = false;
    }

    /// Returns the remains in the first `length` bytes of the file.
    pub(in crate::session) fn remains(&self, length: u64) -> io::Result<Remains> {
        Remains::read(self.file.get()?, length, Seal::new(OWN_SEQUENCE).bytes())
    }

    /// Goes on at `end`, where a packet ends.
    pub(in crate::session) fn go_on_at(&mut self, end: u64) -> io::Result<()> {
        let file = self.file.get_mut()?;
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        self.written = end;
        Ok(())
    }
}

/// The first byte of the packet that a chunk begins with.
const CLOCKS: u8 = tag(packet::CLOCK_SNAPSHOT, WireType::Bytes) as u8;

/// Returns the number of names that a file has.
pub(super) fn links(file: &File) -> u64 {
    Status::of(file).map_or(1, |found| found.nlink())
}
