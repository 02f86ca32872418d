//! Changes of the file by others while it is written: it was emptied or cut (`copytruncate`), deleted, or moved (`logrotate`).
//!
//! Nobody says so to who writes it, and writing goes on without an error: behind a hole of zeros, or into a file that nobody can open
//! any more. So the file is looked at before each round of writes.
//!
//! Invariant: a file without a name, one that was given as a descriptor, and what is no regular file is not looked at.

use super::TraceFile;
use crate::error::Error;
use crate::loss::LossCount;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;

/// A change by somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum OutsideChange {
    /// It is shorter than what was written: so many bytes are left.
    Cut(u64),
    /// It has no name any more.
    Deleted,
    /// Its path is that of another file, or of none.
    Moved,
}

impl TraceFile {
    /// Returns what somebody else has done to the file; none while bytes are gathered that it lacks.
    pub(in crate::session) fn outside_change(&self) -> Option<OutsideChange> {
        if self.start.is_some() || !self.linked || self.used > 0 || self.write_behind.is_some() {
            return None;
        }
        let found = self.file.metadata().ok().filter(fs::Metadata::is_file)?;
        if found.nlink() == 0 {
            return Some(OutsideChange::Deleted);
        }
        if found.len() < self.written {
            return Some(OutsideChange::Cut(found.len()));
        }
        // A name that a file has until it is complete is not anybody's concern. Who renames the directory does not move the file in it.
        let is_other = match self.place.as_ref()?.look() {
            Ok(there) => {
                (there.metadata().dev(), there.metadata().ino()) != (found.dev(), found.ino())
            }
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        is_other.then_some(OutsideChange::Moved)
    }

    /// Counts all messages that the file has as lost, and has the next one report them and the drops that this one `reported`. Returns their
    /// number.
    pub(in crate::session) fn lose_all(&mut self, reported: &[LossCount]) -> u64 {
        let had = self.counts.except(&self.lost);
        self.lost.add(&had);
        self.gap.messages.add(&had);
        for lost in reported {
            lost.add_to(&mut self.gap.reported);
        }
        had.messages()
    }

    /// Writes nothing more, because of `error`.
    pub(in crate::session) fn give_up(&mut self, error: Error) {
        self.fail(error);
        self.can_continue = false;
    }

    /// Goes on in a file of which so many bytes are left, after the last whole packet.
    pub(in crate::session) fn go_on_after_cut(&mut self, left: u64) -> io::Result<()> {
        let end = if left == 0 { 0 } else { end_of_packets(&self.file, left)? };
        self.file.set_len(end)?;
        self.file.seek(SeekFrom::Start(end))?;
        self.written = end;
        Ok(())
    }
}

/// Returns the end of the last whole packet in the first `length` bytes of a trace.
fn end_of_packets(file: &File, length: u64) -> io::Result<u64> {
    let mut file = file;
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::new(file.take(length));
    let mut end = 0;
    while let Some(packet) = skip_packet(&mut reader)? {
        end += packet;
    }
    Ok(end)
}

/// Skips a packet, and returns its size with tag and length; none at the end, within a packet, or at what is no packet.
fn skip_packet(reader: &mut BufReader<io::Take<&File>>) -> io::Result<Option<u64>> {
    let (mut size, mut length, mut shift) = (1, 0u64, 0);
    let mut byte = [0];
    if reader.read(&mut byte)? == 0 || byte != [PACKET_TAG] {
        return Ok(None);
    }
    loop {
        if reader.read(&mut byte)? == 0 || shift > 28 {
            return Ok(None);
        }
        size += 1;
        length |= u64::from(byte[0] & 0x7f) << shift;
        shift += 7;
        if byte[0] & 0x80 == 0 {
            break;
        }
    }
    let mut left = length;
    while left > 0 {
        let here = reader.fill_buf()?.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if here == 0 {
            return Ok(None);
        }
        reader.consume(here);
        left -= here as u64;
    }
    Ok(Some(size + length))
}

/// The tag of `Trace.packet`.
const PACKET_TAG: u8 = 0x0a;
